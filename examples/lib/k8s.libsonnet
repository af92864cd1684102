// A small Kubernetes library: one constructor for each kind, and what they have in common once.
//
// Constructors return plain objects. What a caller wants otherwise is added behind them:
//
//   k8s.deployment('cart', image='cart:1.4.2') { spec+: { minReadySeconds: 10 } }
{
  local k8s = self,

  labels(name, extra={}):: { 'app.kubernetes.io/name': name } + extra,

  local object(apiVersion, kind, name, labels) = {
    apiVersion: apiVersion,
    kind: kind,
    metadata: { name: name, labels: k8s.labels(name, labels) },
  },

  // env turns an object into the list that containers want, in the order of the names.
  env(variables):: [{ name: name, value: std.toString(variables[name]) } for name in std.objectFields(variables)],

  probe(path, port, periodSeconds=10):: {
    httpGet: { path: path, port: port },
    periodSeconds: periodSeconds,
  },

  resources(cpu, memory):: {
    requests: { cpu: cpu, memory: memory },
    limits: { memory: memory },
  },

  container(name, image, port, env={}, resources={}):: {
    name: name,
    image: image,
    ports: [{ name: 'http', containerPort: port }],
    [if env != {} then 'env']: k8s.env(env),
    [if resources != {} then 'resources']: resources,
    readinessProbe: k8s.probe('/ready', 'http'),
    livenessProbe: k8s.probe('/live', 'http', periodSeconds=30),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
  },

  // config names a ConfigMap that is mounted at /etc/<name>.
  deployment(name, image, port=8080, replicas=1, env={}, resources={}, config='', labels={})::
    local mounted = config != '';
    object('apps/v1', 'Deployment', name, labels) {
      spec: {
        replicas: replicas,
        selector: { matchLabels: k8s.labels(name) },
        template: {
          metadata: { labels: k8s.labels(name, labels) },
          spec: {
            containers: [
              k8s.container(name, image, port, env, resources)
              + (if mounted then { volumeMounts: [{ name: 'config', mountPath: '/etc/' + name, readOnly: true }] } else {}),
            ],
            [if mounted then 'volumes']: [{ name: 'config', configMap: { name: config } }],
          },
        },
      },
    },

  service(name, port=80, labels={}):: object('v1', 'Service', name, labels) {
    spec: {
      selector: k8s.labels(name),
      ports: [{ name: 'http', port: port, targetPort: 'http' }],
    },
  },

  configMap(name, data, labels={}):: object('v1', 'ConfigMap', name, labels) { data: data },

  // list is one object that kubectl takes as JSON and as YAML.
  list(items):: { apiVersion: 'v1', kind: 'List', items: items },
}
