// An array becomes a stream of documents when YAML is asked for:
//
//   curl -H 'Accept: application/yaml' 'http://127.0.0.1:8080/jsonnet/yaml-stream?team=payments'
//
// Without the header the same array is JSON.
local object(kind, name, body={}) = {
  apiVersion: if kind == 'RoleBinding' then 'rbac.authorization.k8s.io/v1' else 'v1',
  kind: kind,
  metadata: { name: name },
} + body;

function(team='example') [
  object('Namespace', team),
  object('ServiceAccount', 'deployer', { metadata+: { namespace: team } }),
  object('RoleBinding', 'deployer', {
    metadata+: { namespace: team },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace: team }],
  }),
]
