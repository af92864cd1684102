package cluster

import (
	"encoding/base64"
	"fmt"

	"github.com/stagewright/stagewright/tools/controlplane/internal/certs"
)

const kubeconfigTemplate = `apiVersion: v1
kind: Config
current-context: controlplane
contexts:
- name: controlplane
  context:
    cluster: controlplane
    user: controlplane
clusters:
- name: controlplane
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: controlplane
  user:
    client-certificate-data: %s
    client-key-data: %s
`

// kubeconfig returns a file that holds all it refers to.
func kubeconfig(server string, authority []byte, client certs.Pair) []byte {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, kubeconfigTemplate, server, encode(authority), encode(client.Certificate), encode(client.Key))
}
