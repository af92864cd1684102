package access

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is how to reach an API server.
type Cluster struct {
	Config    *rest.Config
	Namespace string // of the kubeconfig's context; empty where it names none, or where there is no kubeconfig
}

// Load reads a kubeconfig: the one that is given, else those that kubeconfigVariable (the value of KUBECONFIG) lists, else
// what a pod is given. Clients made of it ask as fast as they like, because the API server itself shares out its time.
func Load(kubeconfig, kubeconfigVariable, userAgent string) (*Cluster, error) {
	cluster, err := load(kubeconfig, kubeconfigVariable)
	if err != nil {
		return nil, err
	}
	cluster.Config.QPS = -1
	cluster.Config.UserAgent = userAgent
	return cluster, nil
}

func load(kubeconfig, kubeconfigVariable string) (*Cluster, error) {
	var rules clientcmd.ClientConfigLoadingRules
	switch {
	case kubeconfig != "":
		rules.ExplicitPath = kubeconfig
	case kubeconfigVariable != "":
		rules.Precedence = filepath.SplitList(kubeconfigVariable)
	default:
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("finding the cluster: no kubeconfig is given, neither by flag nor by KUBECONFIG, and this is not a pod")
		}
		if err != nil {
			return nil, fmt.Errorf("reading the pod's credentials: %w", err)
		}
		return &Cluster{Config: config}, nil
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&rules, &clientcmd.ConfigOverrides{})
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig: %w", err)
	}
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("reading kubeconfig: it names no cluster in a current context") // the library's advice is for kubectl
	}
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig: %w", err)
	}
	cluster := &Cluster{Config: config}
	if context, ok := raw.Contexts[raw.CurrentContext]; ok {
		cluster.Namespace = context.Namespace
	}
	return cluster, nil
}

// Probe returns a function that asks the API server for its version, which everybody may know.
func (c *Cluster) Probe() (func(context.Context) error, error) {
	client, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(c.Config))
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	return func(ctx context.Context) error {
		return client.RESTClient().Get().AbsPath("/version").Do(ctx).Error()
	}, nil
}

// PodNamespaceFile is where a pod finds its namespace.
const PodNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// ErrNoNamespace says that nothing tells the namespace.
var ErrNoNamespace = errors.New("nothing tells the namespace")

// Places are where a namespace is looked for, in this order. Those that are empty are passed over.
type Places struct {
	Given    string // by a flag
	Variable string // the value of POD_NAMESPACE
	File     string // PodNamespaceFile, but for tests
	Context  string // Cluster.Namespace
}

// Namespace returns the first namespace that is told, or an error that wraps ErrNoNamespace.
func (p Places) Namespace() (string, error) {
	mounted := ""
	if p.File != "" {
		content, err := os.ReadFile(p.File)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("reading the pod's namespace: %w", err)
		}
		mounted = strings.TrimSpace(string(content))
	}
	for _, namespace := range []string{p.Given, p.Variable, mounted, p.Context} {
		if namespace == "" {
			continue
		}
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			return "", fmt.Errorf("%q is not the name of a namespace: %s", namespace, strings.Join(problems, ", "))
		}
		return namespace, nil
	}
	return "", ErrNoNamespace
}
