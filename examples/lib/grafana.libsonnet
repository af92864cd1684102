// A small vocabulary for Grafana dashboards: rows of panels, placed on Grafana's grid of 24 columns.
//
// A panel is made without a place; dashboard() gives it one, so that panels can be moved between rows freely.
{
  local datasource = { type: 'prometheus', uid: '${datasource}' },
  local gridWidth = 24,

  // target is one query. The legend may use labels: '{{pod}}'.
  target(expr, legend=''):: {
    datasource: datasource,
    expr: expr,
    [if legend != '' then 'legendFormat']: legend,
  },

  local panel(type, title, targets, unit) = {
    type: type,
    title: title,
    datasource: datasource,
    // Grafana tells the queries of a panel apart by letters.
    targets: std.mapWithIndex(function(i, target) target { refId: std.char(std.codepoint('A') + i) }, targets),
    fieldConfig: { defaults: { unit: unit }, overrides: [] },
  },

  timeseries(title, targets, unit='short'):: panel('timeseries', title, targets, unit) {
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  },

  // stat shows the last value, coloured by thresholds: pairs of a value and the colour from there on.
  stat(title, target, unit='short', thresholds=[[null, 'green']]):: panel('stat', title, [target], unit) {
    fieldConfig+: { defaults+: {
      thresholds: { mode: 'absolute', steps: [{ value: step[0], color: step[1] } for step in thresholds] },
    } },
    options: { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value' },
  },

  // row is a heading with panels of equal width below it.
  row(title, panels, height=8):: { title: title, panels: panels, height: height },

  // dashboard places the rows below each other.
  dashboard(title, uid, rows, tags=[]):: {
    local heights = [row.height + 1 for row in rows],
    local place(index) =
      local row = rows[index];
      local top = std.sum(heights[:index]);
      local width = std.floor(gridWidth / std.length(row.panels));
      [{ type: 'row', title: row.title, collapsed: false, panels: [], gridPos: { x: 0, y: top, w: gridWidth, h: 1 } }]
      + std.mapWithIndex(
        function(i, panel) panel { gridPos: { x: i * width, y: top + 1, w: width, h: row.height } },
        row.panels
      ),

    title: title,
    uid: uid,
    tags: tags,
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    // Ids are numbers that are unique in the dashboard.
    panels: std.mapWithIndex(
      function(i, panel) panel { id: i + 1 },
      std.flatMap(place, std.range(0, std.length(rows) - 1))
    ),
  },
}
