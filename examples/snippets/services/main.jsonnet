// Sixty services as Kubernetes objects, each a Deployment, a Service and a ConfigMap: what a platform team might keep
// for a whole company. It is the large example of the benchmarks.
//
//   curl http://127.0.0.1:8080/jsonnet/services | kubectl apply -f -
local catalog = import 'catalog.libsonnet';
local k8s = import 'k8s.libsonnet';

// settings are what a service finds in its configuration file.
local settings(team, service, peers) = {
  service: { name: service, team: team, listen: ':8080' },
  log: { level: 'info', format: 'json' },
  tracing: { endpoint: 'otel-collector.observability:4317', ratio: 0.1 },
  database: {
    url: 'postgres://%s@db.%s.svc:5432/%s' % [service, team, service],
    pool: { min: 2, max: 20, idleSeconds: 300 },
  },
  peers: {
    [peer]: { url: 'http://%s-%s' % [team, peer], timeout: '2s', retries: 2 }
    for peer in peers
  },
};

local objects(version, team, service) =
  local name = team + '-' + service;
  local size = catalog.sizes[std.get(catalog.size, name, 'small')];
  local peers = [peer for peer in catalog.teams[team] if peer != service][:3];
  local labels = { team: team };
  local config = std.manifestYamlDoc(settings(team, service, peers), quote_keys=false);
  [
    k8s.configMap(name, { 'config.yaml': config }, labels),
    k8s.deployment(
      name,
      image='%s/%s:%s' % [team, service, version],
      replicas=size.replicas,
      env={ CONFIG: '/etc/%s/config.yaml' % name },
      resources=k8s.resources(size.cpu, size.memory),
      config=name,
      labels=labels,
    ) {
      // Pods roll when their configuration changes.
      spec+: { template+: { metadata+: { annotations: { 'example.com/config-hash': std.md5(config) } } } },
    },
    k8s.service(name, labels=labels),
  ];

function(version='1.0.0')
  k8s.list([
    object
    for team in std.objectFields(catalog.teams)
    for service in catalog.teams[team]
    for object in objects(version, team, service)
  ])
