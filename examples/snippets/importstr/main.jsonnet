// importstr reads a file as a string, so that other languages stay in files of their own. The limits of Jsonnet sources
// do not apply to it: up to 64 MiB are read.
local conf = importstr 'nginx.conf';

{
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'nginx',
    // A Deployment that copies this annotation to its pods rolls when the file changes.
    annotations: { 'example.com/config-hash': std.md5(conf) },
  },
  data: { 'nginx.conf': conf },
}
