local kube = import 'kube.libsonnet';

local teams = ['checkout', 'search', 'payments', 'identity', 'shipping'];
local defaults = {
  replicas: 2,
  cpu: 250,
  memory: 256,
  ports: { http: 8080, metrics: 9090 },
  logging: { level: 'info', format: 'json', outputs: ['stdout'] },
  features: { tracing: true, retries: { count: 3, backoff: [0.1, 0.5, 2.5] } },
};

local settings(i) = std.mergePatch(defaults, {
  replicas: 1 + i % 4,
  cpu: 100 * (1 + i % 12),
  ports: if i % 3 == 0 then { grpc: 9000 + i } else {},
  logging: { level: if i % 7 == 0 then 'debug' else null },
  features: { retries: { count: i % 5 } },
});

local config(name, s) = {
  application_yaml: {
    server: { name: name, ports: s.ports, timeouts: { read: '5s', write: '10s', idle: '%ds' % (s.cpu / 10) } },
    logging: s.logging { level: std.get(s.logging, 'level', 'info') },
    features: s.features,
    routes: [
      { path: '/%s/v%d' % [name, v], methods: ['GET', 'POST'], weight: 100 / v, backend: { host: name + '.svc', port: p } }
      for v in [1, 2, 3]
      for p in std.set(std.objectValues(s.ports))
    ],
  },
  banner_txt: std.join('\n', ['%-20s|%5d' % [k, std.length(std.toString(s[k]))] for k in std.objectFields(s)]) + '\n',
};

local app(i) =
  local name = 'service-%03d' % i;
  local team = teams[i % std.length(teams)];
  local s = settings(i);
  local common = { namespace_:: team, team_:: team, annotations_:: { 'example.com/index': '' + i } };
  local main = kube.container(name, team + '/' + name, 'v1.%d.%d' % [i / 10, i % 10]) {
    ports_:: s.ports,
    env_:: {
      SERVICE_NAME: name,
      LOG_LEVEL: std.asciiUpper(std.get(s.logging, 'level', 'info')),
      REPLICAS: s.replicas,
      POD_IP: { fieldRef: { fieldPath: 'status.podIP' } },
    },
    args_:: { 'config-file': '/etc/config/application.yaml', 'listen-port': s.ports.http },
    resources: kube.resources(s.cpu, s.memory),
    readinessProbe: kube.probe('/ready', 'http'),
    livenessProbe: kube.probe('/live', 'http', 15),
    volumeMounts: [{ name: v, mountPath: '/etc/' + v } for v in ['config']],
  };
  local sidecar = kube.container('proxy', 'platform/proxy', 'v3') {
    ports_:: { admin: 15000 },
    env_:: { UPSTREAM: '127.0.0.1:%d' % s.ports.http },
    resources: kube.resources(50, 64),
  };
  {
    deployment: kube.deployment(name, { main: main, proxy: sidecar }) + common + {
      replicas_:: s.replicas,
      config_:: config(name, s),
    },
    service: kube.service(name, s.ports) + common,
    configMap: kube.configMap(name + '-config', config(name, s)) + common,
  };

{
  apiVersion: 'v1',
  kind: 'List',
  items: [
    a[kind]
    for a in [app(i) for i in std.range(1, 60)]
    for kind in ['configMap', 'deployment', 'service']
  ],
}
