package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	node "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"

	"github.com/stagewright/stagewright/tools/controlplane/internal/certs"
)

const loopback = "127.0.0.1"

// administrators is the group whose members may do everything, whatever the roles say. The programs belong to it: their
// own roles would need a service account for each controller, which costs a second of every start.
const administrators = "system:masters"

// layout is where everything of one control plane is: files in its directory, servers on ports.
type layout struct {
	directory string
	ports     struct {
		etcd, etcdPeer, apiserver, controllerManager, scheduler, kwok int
	}
	authority []byte     // PEM
	admin     certs.Pair // of whoever uses the cluster
}

// newLayout chooses ports and writes certificates, keys, the programs' kubeconfigs and kwok's stages.
func newLayout(ctx context.Context, directory string) (*layout, error) {
	l := &layout{directory: directory}
	p := &l.ports
	all := []*int{&p.etcd, &p.etcdPeer, &p.apiserver, &p.controllerManager, &p.scheduler, &p.kwok}
	free, err := freePorts(ctx, len(all))
	if err != nil {
		return nil, err
	}
	for i, port := range all {
		*port = free[i]
	}
	files, err := l.files()
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		if err := os.WriteFile(l.path(name), content, 0o600); err != nil {
			return nil, fmt.Errorf("writing into the directory: %w", err)
		}
	}
	return l, nil
}

func (l *layout) files() (map[string][]byte, error) {
	authority, err := certs.NewAuthority(time.Now())
	if err != nil {
		return nil, err
	}
	serving, err := authority.Serving("kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return nil, err
	}
	tokens, err := certs.NewSigningKey()
	if err != nil {
		return nil, err
	}
	if l.admin, err = authority.Client("admin", administrators); err != nil {
		return nil, err
	}
	l.authority = authority.Certificate()
	files := map[string][]byte{
		"ca.crt": l.authority, "serving.crt": serving.Certificate, "serving.key": serving.Key,
		"tokens.key": tokens.Private, "tokens.pub": tokens.Public,
		"stages.yaml": stages(),
	}
	for _, program := range []string{"kube-controller-manager", "kube-scheduler", "kwok"} {
		client, err := authority.Client("system:"+program, administrators)
		if err != nil {
			return nil, err
		}
		files[program+".kubeconfig"] = kubeconfig(l.server(), l.authority, client)
	}
	etcd, err := authority.Client("kube-apiserver-etcd-client")
	if err != nil {
		return nil, err
	}
	files["etcd-client.crt"], files["etcd-client.key"] = etcd.Certificate, etcd.Key
	return files, nil
}

func (l *layout) path(name string) string { return filepath.Join(l.directory, name) }

// server is the URL of the API server.
func (l *layout) server() string { return url(l.ports.apiserver) }

func url(port int) string { return "https://" + loopback + ":" + strconv.Itoa(port) }

// stages are kwok's own: a node and a pod become ready at once, the pod of a Job completes, and what is to be deleted
// is gone.
func stages() []byte {
	return []byte(strings.Join([]string{
		node.DefaultNodeInit, pod.DefaultPodReady, pod.DefaultPodComplete, pod.DefaultPodDelete,
	}, "\n---\n"))
}
