// What kind of value an argument has depends on how it comes:
//
//   ?service=cart                 a string; the query knows nothing else
//   ?region=eu&region=us          an array of strings, because the name is repeated
//   ?debug                        the empty string
//   POST {"replicas": 3}          a value of its own type: number, boolean, array, object, null or string
//
// A snippet that wants to be asked both ways converts what may be a string.
local asNumber(value) = if std.isString(value) then std.parseJson(value) else value;
local asArray(value) = if std.isArray(value) then value else [value];
local asFlag(value) = if std.isString(value) then value == '' || value == 'true' else value;

// service has no default: a request without it is refused with the code invalid_arguments.
function(service, region='eu', replicas=1, debug=false) {
  service: service,
  regions: asArray(region),
  replicas: asNumber(replicas),
  debug: asFlag(debug),

  // How the arguments came, before any conversion.
  types: {
    service: std.type(service),
    region: std.type(region),
    replicas: std.type(replicas),
    debug: std.type(debug),
  },
}
