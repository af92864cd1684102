// The three questions about a service that answers requests: how many (rate), how many wrong (errors), how long
// (duration). The panels read the metrics that HTTP middlewares usually export.
local grafana = import 'grafana.libsonnet';

{
  local selector(team, service) = 'team="%s",service="%s"' % [team, service],

  // goal is the share of requests that has to succeed, such as 0.999.
  overview(team, service, goal):: grafana.row('Now', [
    grafana.stat(
      'Success rate',
      grafana.target('1 - sum(rate(http_requests_total{%(s)s,code=~"5.."}[5m])) / sum(rate(http_requests_total{%(s)s}[5m]))' % { s: selector(team, service) }),
      unit='percentunit',
      thresholds=[[null, 'red'], [goal, 'green']],
    ),
    grafana.stat(
      'Pods ready',
      grafana.target('sum(kube_pod_status_ready{%s,condition="true"})' % selector(team, service)),
    ),
  ], height=4),

  requests(team, service):: grafana.row('Requests', [
    grafana.timeseries('Rate', [
      grafana.target('sum by (code) (rate(http_requests_total{%s}[5m]))' % selector(team, service), '{{code}}'),
    ], unit='reqps'),
    grafana.timeseries('Duration', [
      grafana.target(
        'histogram_quantile(%g, sum by (le) (rate(http_request_duration_seconds_bucket{%s}[5m])))' % [q, selector(team, service)],
        'p%g' % (q * 100)
      )
      for q in [0.5, 0.9, 0.99]
    ], unit='s'),
  ]),

  resources(team, service):: grafana.row('Resources', [
    grafana.timeseries('CPU', [
      grafana.target('sum by (pod) (rate(container_cpu_usage_seconds_total{%s}[5m]))' % selector(team, service), '{{pod}}'),
    ]),
    grafana.timeseries('Memory', [
      grafana.target('sum by (pod) (container_memory_working_set_bytes{%s})' % selector(team, service), '{{pod}}'),
    ], unit='bytes'),
  ]),
}
