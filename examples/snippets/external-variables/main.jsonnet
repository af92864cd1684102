// External variables are set when the renderer starts and are the same for every request. They are strings:
//
//   renderer --ext-var environment=staging ...
//   RENDERER_EXT_VAR_environment=staging renderer ...
//
// Without the variable, evaluation fails with "Undefined external variable: environment".
local environment = std.extVar('environment');

local sizes = {
  production: { replicas: 6, memory: '2Gi' },
  staging: { replicas: 2, memory: '512Mi' },
};

{
  environment: environment,
  size:
    if std.objectHas(sizes, environment) then sizes[environment]
    else error 'environment %s has no size; known are %s' % [environment, std.join(', ', std.objectFields(sizes))],
}
