// A Grafana dashboard for a service, made of panels that all teams share. Its result is what Grafana's import takes.
//
//   curl 'http://127.0.0.1:8080/jsonnet/dashboard?team=payments&service=ledger'
local grafana = import 'grafana.libsonnet';
local red = import 'red.libsonnet';

function(team='payments', service='checkout', goal=0.999)
  local share = if std.isString(goal) then std.parseJson(goal) else goal;  // a query sends strings
  assert share > 0 && share < 1 : 'goal is a share between 0 and 1, such as 0.999; it is %s' % goal;

  grafana.dashboard(
    title='%s / %s' % [team, service],
    uid=std.md5(team + '/' + service)[:12],
    tags=['generated', team],
    rows=[
      red.overview(team, service, share),
      red.requests(team, service),
      red.resources(team, service),
    ],
  )
