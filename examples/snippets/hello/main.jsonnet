// A file that evaluates to a function is called with the arguments of the request. A parameter with a default is
// optional:
//
//   curl 'http://127.0.0.1:8080/jsonnet/hello'
//   curl 'http://127.0.0.1:8080/jsonnet/hello?name=Ada'
function(name='world') {
  greeting: 'Hello, %s!' % name,
}
