// One file, served with --snippet under exactly the path that was given:
//
//   renderer --snippet examples/quickstart/hello.jsonnet
//   curl http://127.0.0.1:8080/jsonnet/examples/quickstart/hello.jsonnet
{
  message: 'Hello from a single file.',
  squares: [n * n for n in std.range(1, 5)],
}
