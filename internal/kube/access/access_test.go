package access

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const kubeconfig = `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
 "clusters": [{"name": "k", "cluster": {"server": "https://SERVER:6443"}}],
 "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "team"}}],
 "users": [{"name": "u", "user": {"token": "secret-token"}}]}`

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad_TheFlagWinsOverTheEnvironment(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	flag := write(t, "flag", strings.ReplaceAll(kubeconfig, "SERVER", "flag"))
	environment := write(t, "environment", strings.ReplaceAll(kubeconfig, "SERVER", "environment"))
	missing := filepath.Join(t.TempDir(), "missing")
	cases := map[string]struct {
		flag, variable, host, problem string
	}{
		"flag":                     {flag, environment, "https://flag:6443", ""},
		"environment":              {"", environment, "https://environment:6443", ""},
		"a list in it":             {"", missing + string(filepath.ListSeparator) + environment, "https://environment:6443", ""},
		"neither, outside a pod":   {"", "", "", "this is not a pod"},
		"a file that is not there": {missing, environment, "", "missing"},
		"a file that is none":      {write(t, "none", "{"), "", "", "reading kubeconfig"},
		"a file without a context": {write(t, "empty", "apiVersion: v1\nkind: Config"), "", "", "reading kubeconfig: it names no cluster in a current context"},
		"nothing that is there":    {"", missing, "", "reading kubeconfig"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, err := Load(c.flag, c.variable, "test/1")
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("error %v does not say %q", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if cluster.Config.Host != c.host || cluster.Namespace != "team" || cluster.Config.UserAgent != "test/1" {
				t.Errorf("host %s, namespace %s, user agent %s", cluster.Config.Host, cluster.Namespace, cluster.Config.UserAgent)
			}
		})
	}
}

func TestNamespace_TakesTheFirstThatIsTold(t *testing.T) {
	file := write(t, "namespace", "mounted\n")
	nowhere := filepath.Join(t.TempDir(), "none")
	cases := map[string]struct {
		places  Places
		want    string
		problem string
	}{
		"flag":        {Places{"given", "variable", file, "context"}, "given", ""},
		"variable":    {Places{"", "variable", file, "context"}, "variable", ""},
		"pod":         {Places{"", "", file, "context"}, "mounted", ""},
		"context":     {Places{"", "", nowhere, "context"}, "context", ""},
		"nothing":     {Places{File: nowhere}, "", ErrNoNamespace.Error()},
		"not a name":  {Places{Given: "Team A"}, "", `"Team A" is not the name of a namespace`},
		"a directory": {Places{File: t.TempDir()}, "", "reading the pod's namespace"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.places.Namespace()
			if got != c.want || (err == nil) != (c.problem == "") {
				t.Errorf("%q, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("error %q does not say %q", err, c.problem)
			}
			if c.places == (Places{File: nowhere}) && !errors.Is(err, ErrNoNamespace) {
				t.Errorf("error %v", err)
			}
		})
	}
}
