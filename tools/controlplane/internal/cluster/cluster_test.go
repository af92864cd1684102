package cluster

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/stagewright/stagewright/tools/controlplane/internal/certs"
)

func TestFreePorts_DiffersAndCanBeUsed(t *testing.T) {
	ports, err := freePorts(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(ports))); len(distinct) != 20 {
		t.Errorf("%d different ports in %v, want 20", len(distinct), ports)
	}
	for _, port := range ports {
		if port < firstPort || port >= lastPort {
			t.Errorf("port %d is outside of %d to %d", port, firstPort, lastPort)
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
	}
}

func TestKubeconfig_IsComplete(t *testing.T) {
	client := certs.Pair{Certificate: []byte("certificate\n"), Key: []byte("key\n")}
	content := kubeconfig("https://127.0.0.1:20000", []byte("authority\n"), client)
	var got struct {
		CurrentContext string `json:"current-context"`
		Contexts       []struct {
			Name    string
			Context struct{ Cluster, User string }
		}
		Clusters []struct {
			Name    string
			Cluster struct {
				Server    string
				Authority []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct {
			Name string
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			}
		}
	}
	if err := yaml.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	c := got.Contexts[0]
	if got.CurrentContext != c.Name || c.Context.Cluster != got.Clusters[0].Name || c.Context.User != got.Users[0].Name {
		t.Errorf("the names do not fit together:\n%s", content)
	}
	if cluster := got.Clusters[0].Cluster; cluster.Server != "https://127.0.0.1:20000" || string(cluster.Authority) != "authority\n" {
		t.Errorf("cluster = %+v", cluster)
	}
	if user := got.Users[0].User; string(user.Certificate) != "certificate\n" || string(user.Key) != "key\n" {
		t.Errorf("user = %+v", user)
	}
}

func TestParse_RefusesWhatCannotWork(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "kubeconfig")
	write(t, file, "somebody's own")
	cases := map[string]struct {
		args []string
		want string
	}{
		"unknown flag":               {[]string{"--crd", directory}, "flag provided but not defined"},
		"second directory, no flag":  {[]string{"--crds", directory, directory}, "repeat --crds"},
		"definitions are missing":    {[]string{"--crds", filepath.Join(directory, "missing")}, "no such file"},
		"kubeconfig would be lost":   {[]string{"--kubeconfig", file}, "nothing is overwritten"},
		"directory would be removed": {[]string{"--directory", directory}, "is not empty"},
		"fewer than no nodes":        {[]string{"--nodes", "-1"}, "--nodes"},
		"no time at all":             {[]string{"--timeout", "0s"}, "--timeout"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := Run(t.Context(), c.args, os.Stdin, &stderr, &stderr); code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			if !strings.Contains(stderr.String(), c.want) {
				t.Errorf("stderr = %q, want %q in it", stderr.String(), c.want)
			}
		})
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "somebody's own" {
		t.Errorf("the existing file is now %q, %v", content, err)
	}
}

func TestReadCRDs_TakesDefinitionsOnly(t *testing.T) {
	const definition = "kind: CustomResourceDefinition\nmetadata:\n  name: "
	directory := filepath.Join(t.TempDir(), "odd [name]*")
	write(t, filepath.Join(directory, "b.yaml"), "---\n"+definition+"b.example.com\n---\nkind: ConfigMap\n--- # last\n"+definition+"c.example.com\n")
	write(t, filepath.Join(directory, "a.yml"), definition+"a.example.com\n")
	write(t, filepath.Join(directory, "kustomization.yaml"), "resources: [a.yml]\n")
	write(t, filepath.Join(directory, "README.md"), definition)
	crds, err := readCRDs(directory)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, crd := range crds {
		got = append(got, strings.TrimPrefix(crd.path, crdPath))
		if !bytes.HasPrefix(crd.content, []byte("kind: Custom")) {
			t.Errorf("%s has the content %q", crd.path, crd.content)
		}
	}
	if want := []string{"a.example.com", "b.example.com", "c.example.com"}; !slices.Equal(got, want) {
		t.Errorf("definitions = %v, want %v", got, want)
	}
}

func TestReadCRDs_SaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct{ content, want string }{
		"no definition": {"kind: ConfigMap\n", "there is no CustomResourceDefinition"},
		"no name":       {"kind: CustomResourceDefinition\n", "has no name"},
		"no YAML":       {"kind: [", "crds.yaml"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "crds.yaml")
			write(t, file, c.content)
			if _, err := readCRDs(file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestEventually_TellsTheLastReasonWhenTimeIsUp(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errTimeout)
	defer cancel()
	reason := errors.New("connection refused")
	err := eventually(ctx, func(context.Context) error { return reason })
	if !errors.Is(err, errTimeout) || !errors.Is(err, reason) {
		t.Errorf("error = %v, want both the timeout and the reason", err)
	}
}

func TestWatchParent_EndsWithIt(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	parents := []int{42, 42, 1}
	watchParent(t.Context(), end, func() int {
		parent := parents[0]
		parents = parents[1:]
		return parent
	})
	if ctx.Err() == nil || len(parents) > 0 {
		t.Errorf("it returned before the parent had changed")
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
