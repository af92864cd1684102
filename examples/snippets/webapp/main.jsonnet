// A web application as Kubernetes objects: Deployment, Service and ConfigMap.
//
//   curl -H 'Accept: application/yaml' 'http://127.0.0.1:8080/jsonnet/webapp?name=shop&image=shop:2.1.0&replicas=3'
//
// The arguments are checked before anything is built from them, so that a mistake is told in the words of the caller.
local k8s = import 'k8s.libsonnet';

local consistsOf(text, allowed) =
  std.setDiff(std.set(std.stringChars(text)), std.set(std.stringChars(allowed))) == [];

local isName(text) =
  std.length(text) > 0 && std.length(text) <= 63
  && consistsOf(text, 'abcdefghijklmnopqrstuvwxyz0123456789-')
  && text[0] != '-' && text[std.length(text) - 1] != '-';

function(name='webapp', image='webapp:1.0.0', replicas=1, logLevel='info', settings={})
  // A query sends the string "3", a POST body the number 3. What is neither is left for the assertion below.
  local isDigits = std.isString(replicas) && std.length(replicas) > 0 && consistsOf(replicas, '0123456789');
  local count = if isDigits then std.parseInt(replicas) else replicas;
  local levels = ['debug', 'info', 'warn', 'error'];

  assert isName(name) : 'name %s: use up to 63 lower-case letters, digits and dashes, without a dash at the ends' % name;
  assert std.isNumber(count) && count >= 0 && count <= 50 && count == std.floor(count) :
         'replicas %s: use a whole number from 0 to 50' % [count];
  assert std.member(levels, logLevel) : 'logLevel %s: use one of %s' % [logLevel, std.join(', ', levels)];
  assert std.isObject(settings) : 'settings: use an object; a query cannot send one, a POST body can';

  local config = { server: { port: 8080 }, log: { level: logLevel } } + settings;

  [
    k8s.configMap(name, { 'config.yaml': std.manifestYamlDoc(config, quote_keys=false) }),
    k8s.deployment(
      name,
      image,
      replicas=count,
      config=name,
      resources=k8s.resources(cpu='100m', memory='128Mi'),
    ),
    k8s.service(name),
  ]
