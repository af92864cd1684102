// A small library of Kubernetes objects, as teams write them for themselves.
{
  local kube = self,

  object(apiVersion, kind, name):: {
    local this = self,
    apiVersion: apiVersion,
    kind: kind,
    metadata: {
      name: name,
      namespace: this.namespace_,
      labels: kube.labels(name, this.team_),
      annotations: kube.annotations(this.annotations_),
    },
    namespace_:: 'default',
    team_:: 'platform',
    annotations_:: {},
  },

  labels(name, team):: {
    'app.kubernetes.io/name': std.asciiLower(name),
    'app.kubernetes.io/part-of': team,
    'app.kubernetes.io/managed-by': 'stagewright',
    'example.com/owner': '%s@%s' % [team, 'example.com'],
  },

  annotations(extra):: std.prune({
    'example.com/docs': 'https://docs.example.com/',
    'example.com/empty': null,
  } + extra),

  env(vars):: [
    { name: name } + (if std.isObject(vars[name]) then { valueFrom: vars[name] } else { value: std.toString(vars[name]) })
    for name in std.objectFields(vars)
  ],

  quantity(millis):: if millis % 1000 == 0 then '%d' % (millis / 1000) else '%dm' % millis,

  resources(cpu, memory):: {
    requests: { cpu: kube.quantity(cpu), memory: '%dMi' % memory },
    limits: { cpu: kube.quantity(cpu * 2), memory: '%dMi' % (memory * 2) },
  },

  probe(path, port, delay=5):: {
    httpGet: { path: path, port: port },
    initialDelaySeconds: delay,
    periodSeconds: 10,
    timeoutSeconds: std.max(1, std.floor(delay / 2)),
  },

  container(name, image, tag):: {
    local this = self,
    name: name,
    image: '%s/%s:%s' % ['registry.example.com', image, tag],
    ports: [{ name: p.key, containerPort: p.value } for p in std.objectKeysValues(this.ports_)],
    env: kube.env(this.env_),
    args: std.flattenArrays([['--' + k, std.toString(this.args_[k])] for k in std.objectFields(this.args_)]),
    ports_:: {},
    env_:: {},
    args_:: {},
    securityContext: {
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
  },

  deployment(name, containers):: kube.object('apps/v1', 'Deployment', name) {
    local this = self,
    spec: {
      replicas: this.replicas_,
      revisionHistoryLimit: 3,
      selector: { matchLabels: { 'app.kubernetes.io/name': this.metadata.labels['app.kubernetes.io/name'] } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      template: {
        metadata: {
          labels: this.metadata.labels,
          annotations: { 'checksum/config': std.md5(std.manifestJsonEx(this.config_, '')) },
        },
        spec: {
          serviceAccountName: name,
          containers: [containers[c] { name: c } for c in std.objectFields(containers)],
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [{
                weight: 100,
                podAffinityTerm: { labelSelector: this.spec.selector, topologyKey: 'kubernetes.io/hostname' },
              }],
            },
          },
          volumes: [{ name: v, configMap: { name: '%s-%s' % [name, v] } } for v in std.sort(std.objectFields(this.config_))],
        },
      },
    },
    replicas_:: 1,
    config_:: {},
  },

  service(name, ports):: kube.object('v1', 'Service', name) {
    spec: {
      type: 'ClusterIP',
      selector: { 'app.kubernetes.io/name': std.asciiLower(name) },
      ports: [
        { name: p, port: ports[p], targetPort: p, protocol: 'TCP' }
        for p in std.objectFields(ports)
      ],
    },
  },

  configMap(name, data):: kube.object('v1', 'ConfigMap', name) {
    data: {
      [std.strReplace(k, '_', '.')]: if std.isString(data[k]) then data[k] else std.manifestYamlDoc(data[k])
      for k in std.objectFields(data)
    },
  },
}
