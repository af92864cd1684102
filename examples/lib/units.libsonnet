// Quantities as people write them, for any snippet.
{
  local suffixes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'],

  // bytes(1536) is '1.5 KiB'. Whole numbers are shown without a fraction.
  bytes(n)::
    local step(value, unit) =
      if value < 1024 || unit == std.length(suffixes) - 1
      then '%g %s' % [std.round(value * 10) / 10, suffixes[unit]]
      else step(value / 1024, unit + 1);
    step(n, 0),

  // duration(5400) is '1h30m'.
  duration(seconds)::
    local parts = [
      { count: std.floor(seconds / 3600), unit: 'h' },
      { count: std.floor(seconds / 60) % 60, unit: 'm' },
      { count: seconds % 60, unit: 's' },
    ];
    local shown = ['%d%s' % [part.count, part.unit] for part in parts if part.count > 0];
    if shown == [] then '0s' else std.join('', shown),
}
