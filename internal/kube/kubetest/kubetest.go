package kubetest

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// KubeconfigVariable names the environment variable with the kubeconfig of the control plane that tests share.
const KubeconfigVariable = "STAGEWRIGHT_TEST_KUBECONFIG"

// cleanupTimeout bounds what is done after a test.
const cleanupTimeout = 30 * time.Second

// Env is a test's own part of the shared control plane. Its clients are administrators, without rate limits.
type Env struct {
	Namespace string
	Config    *rest.Config // a copy of its own
	Scheme    *runtime.Scheme
	Client    client.Client
}

// Start returns a new namespace, which is deleted after the test. Without a control plane the test is skipped. The
// scheme knows the kinds of Kubernetes and of Flux's sources, and what the functions add.
func Start(t testing.TB, addToScheme ...func(*runtime.Scheme) error) *Env {
	t.Helper()
	kubeconfig := os.Getenv(KubeconfigVariable)
	if kubeconfig == "" {
		t.Skipf("it needs a control plane: run 'make test', or 'hack/with-controlplane go test ./...' (%s is not set)",
			KubeconfigVariable)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatalf("reading the kubeconfig that %s names: %v", KubeconfigVariable, err)
	}
	config.QPS = -1 // tests say how much they ask; a limit would only be felt as a slow controller
	scheme, err := newScheme(addToScheme)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatalf("making a client of the control plane: %v", err)
	}
	e := &Env{Config: config, Scheme: scheme, Client: c}
	e.Namespace = e.NewNamespace(t)
	return e
}

func newScheme(addToScheme []func(*runtime.Scheme) error) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientgo.AddToScheme, sourcev1.AddToScheme}, addToScheme...) {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("adding kinds to the scheme: %w", err)
		}
	}
	return scheme, nil
}

// NewNamespace makes another namespace, for tests of what crosses from one to the other. Pods can be created in it at
// once. It is deleted after the test; nothing waits for it to be gone, because it shares nothing with later tests.
func (e *Env) NewNamespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: namespacePrefix(t.Name())}}
	if err := e.Client.Create(t.Context(), namespace); err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
		defer cancel()
		if err := client.IgnoreNotFound(e.Client.Delete(ctx, namespace)); err != nil {
			t.Errorf("deleting namespace %s: %v", namespace.Name, err)
		}
	})
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace.Name}}
	e.Await(t, account, func() error { return nil }) // without it, pods are refused
	return namespace.Name
}

// Create creates objects, in the test's namespace where they name none and need one.
func (e *Env) Create(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		namespaced, err := e.Client.IsObjectNamespaced(object)
		if err != nil {
			t.Fatalf("creating %T: %v", object, err)
		}
		if namespaced && object.GetNamespace() == "" {
			object.SetNamespace(e.Namespace)
		}
		if err := e.Client.Create(t.Context(), object); err != nil {
			t.Fatalf("creating %T %s: %v", object, object.GetName(), err)
		}
	}
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// namespacePrefix turns a test's name into the beginning of a namespace's: 63 characters at most, with five that the
// API server adds.
func namespacePrefix(test string) string {
	const longest = 63 - 5 - 1
	name := notInNames.ReplaceAllString(strings.ToLower(test), "-")
	return strings.Trim(name[:min(len(name), longest)], "-") + "-"
}
