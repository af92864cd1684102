package cluster

import (
	"os"
	"slices"
	"strconv"

	"github.com/stagewright/stagewright/tools/controlplane/internal/supervise"
)

// program is one of the control plane and how to see that it works.
type program struct {
	name  string
	args  []string
	ready string // a URL that answers 200 when it does
}

func (l *layout) etcd() program {
	client, peer := url(l.ports.etcd), url(l.ports.etcdPeer)
	return program{
		name: "etcd", ready: client + "/health",
		args: []string{
			"--name=controlplane", "--data-dir=" + l.path("etcd"), "--log-level=warn",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=controlplane=" + peer,
			"--cert-file=" + l.path("serving.crt"), "--key-file=" + l.path("serving.key"),
			"--trusted-ca-file=" + l.path("ca.crt"), "--client-cert-auth",
			"--peer-cert-file=" + l.path("serving.crt"), "--peer-key-file=" + l.path("serving.key"),
			"--peer-trusted-ca-file=" + l.path("ca.crt"), "--peer-client-cert-auth",
			"--unsafe-no-fsync",                                 // nothing outlives the process
			"--heartbeat-interval=50", "--election-timeout=500", // it elects itself; no need to wait a second for others
		},
	}
}

func (l *layout) apiserver() program {
	return program{
		name: "kube-apiserver", ready: l.server() + "/readyz",
		args: []string{
			"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(l.ports.apiserver),
			"--advertise-address=" + loopback,
			"--endpoint-reconciler-type=none", // endpoints on loopback are refused
			"--etcd-servers=" + url(l.ports.etcd), "--etcd-cafile=" + l.path("ca.crt"),
			"--etcd-certfile=" + l.path("etcd-client.crt"), "--etcd-keyfile=" + l.path("etcd-client.key"),
			"--client-ca-file=" + l.path("ca.crt"),
			"--tls-cert-file=" + l.path("serving.crt"), "--tls-private-key-file=" + l.path("serving.key"),
			"--authorization-mode=RBAC", "--allow-privileged=true",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-signing-key-file=" + l.path("tokens.key"),
			"--service-account-key-file=" + l.path("tokens.pub"),
			"--service-cluster-ip-range=10.96.0.0/16", "--profiling=false",
		},
	}
}

func (l *layout) controllerManager() program {
	return program{
		name: "kube-controller-manager", ready: url(l.ports.controllerManager) + "/healthz",
		args: slices.Concat(l.client("kube-controller-manager", l.ports.controllerManager), []string{
			"--service-account-private-key-file=" + l.path("tokens.key"), "--root-ca-file=" + l.path("ca.crt"),
			"--kube-api-qps=1000", "--kube-api-burst=2000", "--concurrent-namespace-syncs=20",
			"--node-monitor-grace-period=30m", // on a busy machine a node may be late, and is never really gone
		}),
	}
}

func (l *layout) scheduler() program {
	return program{
		name: "kube-scheduler", ready: url(l.ports.scheduler) + "/healthz",
		args: slices.Concat(l.client("kube-scheduler", l.ports.scheduler), []string{
			"--kube-api-qps=1000", "--kube-api-burst=2000",
		}),
	}
}

// client returns the flags of the programs that are clients of the API server and serve their probes.
func (l *layout) client(name string, port int) []string {
	config := l.path(name + ".kubeconfig")
	return []string{
		"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
		"--authentication-skip-lookup", "--leader-elect=false", "--profiling=false",
		"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + l.path("serving.crt"), "--tls-private-key-file=" + l.path("serving.key"),
	}
}

func (l *layout) kwok() program {
	return program{
		name: "kwok", ready: "http://" + loopback + ":" + strconv.Itoa(l.ports.kwok) + "/healthz",
		args: []string{
			"--kubeconfig=" + l.path("kwok.kubeconfig"), "--config=" + l.path("stages.yaml"),
			"--manage-nodes-with-label-selector=" + nodeLabel + "=" + nodeLabelValue, "--node-ip=" + loopback,
			"--server-address=" + loopback + ":" + strconv.Itoa(l.ports.kwok),
		},
	}
}

// process turns a program into a child process of the given binary. The child's home is its directory: kwok and kubectl
// would read the user's settings otherwise.
func (l *layout) process(binary string, p program) supervise.Process {
	return supervise.Process{
		Name: p.name, Path: binary, Args: append([]string{p.name}, p.args...), Log: l.path(p.name + ".log"),
		Env: []string{
			"HOME=" + l.directory, "KWOK_WORKDIR=" + l.path("kwok"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + l.directory,
		},
	}
}
