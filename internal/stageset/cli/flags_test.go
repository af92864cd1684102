package cli

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/flags/flagtest"
	"github.com/stagewright/stagewright/internal/kube/supervise"
)

func TestFlags_HoldTheContract(t *testing.T) {
	flagtest.Contract{
		File: "testdata/contract.tsv", Flags: 41, Additions: []string{"--kubeconfig", "--concurrent", "--version"},
	}.Holds(t, Table())
}

func TestFlags_ReferenceAndHelpAreCurrent(t *testing.T) {
	flagtest.IsCurrent(t, "../../../docs/reference/stageset-controller-flags.md", Table())
}

// run runs the program as far as it gets without a cluster.
func run(t *testing.T, environment []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Run(t.Context(), args, environment, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestRun_HelpAndVersion(t *testing.T) {
	if code, stdout, stderr := run(t, nil, "--help"); code != 0 || stderr != "" || !strings.Contains(stdout, "--gate-bind-address string (default :8082)") {
		t.Errorf("--help: %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := run(t, nil, "--version"); code != 0 || stderr != "" || !strings.HasPrefix(stdout, "stageset-controller ") {
		t.Errorf("--version: %d\n%s%s", code, stdout, stderr)
	}
}

func TestRun_MisuseExitsWithTheFlag(t *testing.T) {
	directory := t.TempDir()
	s3 := "--rollback-store-s3-endpoint=x --rollback-store-s3-bucket=b "
	for name, c := range map[string]struct{ args, want string }{
		"unknown flag":             {"--leader-election", "unknown flag: --leader-election"},
		"an argument":              {"x", `unexpected argument "x"`},
		"a type":                   {"--inventory-shard-cap=many", "--inventory-shard-cap"},
		"a duration":               {"--default-interval=5", "--default-interval"},
		"log format":               {"--log-format=xml", `--log-format "xml" is none of json, text`},
		"log level":                {"--log-level=loud", "--log-level"},
		"certificate mode":         {"--webhook-cert-mode=acme", `--webhook-cert-mode "acme" is none of certmgr, self-signed`},
		"encryption":               {"--rollback-store-s3-sse=aes", "--rollback-store-s3-sse"},
		"ratio":                    {"--tracing-sample-ratio=1.1", "--tracing-sample-ratio has to be from 0.0 to 1.0"},
		"ratio below":              {"--tracing-sample-ratio=-0.1", "--tracing-sample-ratio"},
		"ratio that is none":       {"--tracing-sample-ratio=NaN", "--tracing-sample-ratio"},
		"two stores":               {s3 + "--rollback-store-path=/x", "--rollback-store-path and --rollback-store-s3-endpoint exclude each other"},
		"an endpoint alone":        {"--rollback-store-s3-endpoint=x", "--rollback-store-s3-endpoint needs --rollback-store-s3-bucket"},
		"a key of nothing":         {s3 + "--rollback-store-s3-sse-kms-key=k", "--rollback-store-s3-sse-kms-key needs --rollback-store-s3-sse=kms"},
		"half a key":               {s3 + "--rollback-store-s3-access-key=k", "--rollback-store-s3-...|an access key without a secret key"},
		"an endpoint with scheme":  {s3 + "--rollback-store-s3-endpoint=http://x", "--rollback-store-s3-..."},
		"self-signed":              {"--webhook-cert-mode=self-signed", "--webhook-cert-mode=self-signed needs --webhook-validating-config-name"},
		"self-signed for nobody":   {"--webhook-cert-mode=self-signed --webhook-validating-config-name=x --webhook-service-name=", "--webhook-service-name"},
		"validity":                 {"--webhook-cert-validity=0s", "--webhook-cert-validity"},
		"a short validity":         {"--webhook-cert-mode=self-signed --webhook-validating-config-name=x --webhook-cert-validity=59s", "--webhook-cert-validity 59s is shorter than 1m0s"},
		"webhook port":             {"--webhook-port=0", "--webhook-port 0"},
		"a cap of nothing":         {"--inventory-shard-cap=0", "--inventory-shard-cap 0 is not from 1 to 100000"},
		"a cap beyond the API":     {"--inventory-shard-cap=100001", "--inventory-shard-cap"},
		"no workers":               {"--concurrent=0", "--concurrent"},
		"no interval":              {"--default-interval=0s", "--default-interval 0s has to be positive"},
		"a negative interval":      {"--default-interval=-1s", "--default-interval"},
		"a negative wait":          {"--max-teardown-wait=-1s", "--max-teardown-wait -1s has to be positive"},
		"no wait":                  {"--max-teardown-wait=0s", "--max-teardown-wait 0s has to be positive"},
		"a host with scheme":       {"--allowed-action-hosts=https://a", `--allowed-action-hosts "https://a"`},
		"an empty host":            {"--allowed-action-hosts=", "--allowed-action-hosts"},
		"a host with path":         {"--allowed-action-hosts=a/b", "--allowed-action-hosts"},
		"a host with dots":         {"--allowed-action-hosts=a..b", "--allowed-action-hosts"},
		"a second host":            {"--allowed-action-hosts=a --allowed-action-hosts=[a", "--allowed-action-hosts \"[a\""},
		"a registry with path":     {"--image-verification-insecure-registry=a/b", "--image-verification-insecure-registry"},
		"a registry of globs":      {"--image-verification-insecure-registry=*.a", "--image-verification-insecure-registry"},
		"a registry's port":        {"--image-verification-insecure-registry=a:http", "--image-verification-insecure-registry"},
		"no trusted root":          {"--image-verification-trusted-root=" + directory + "/none", "--image-verification-trusted-root"},
		"a directory as a root":    {"--image-verification-trusted-root=" + directory, "is not a file"},
		"images":                   {"--require-image-verification", "--require-image-verification: this release does not verify images yet"},
		"no namespace":             {"--watch-namespaces=,", "names no namespace"},
		"namespaces":               {"--watch-namespaces=a,B", `--watch-namespaces|"B" is not the name of a namespace`},
		"probe address":            {"--health-probe-bind-address=", "--health-probe-bind-address"},
		"metrics address":          {"--metrics-bind-address=8080", "--metrics-bind-address|host:port"},
		"gate address":             {"--gate-bind-address=8082", "--gate-bind-address|empty disables"},
		"collector with a scheme":  {"--tracing-endpoint=http://x:4317", "--tracing-endpoint"},
		"several":                  {"--log-level=x --concurrent=0", "--log-level|--concurrent"},
		"environment's namespaces": {"", "STAGESET_WATCH_NAMESPACES|\"B_\" is not the name"},
	} {
		t.Run(name, func(t *testing.T) {
			var environment []string
			if c.args == "" {
				environment = []string{"STAGESET_WATCH_NAMESPACES=a,B_"}
			}
			code, stdout, stderr := run(t, environment, strings.Fields(c.args)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, "--help") {
				t.Errorf("exit code %d, stdout %q", code, stdout)
			}
			for part := range strings.SplitSeq(c.want, "|") {
				if !strings.Contains(stderr, part) {
					t.Errorf("%q does not say %q", stderr, part)
				}
			}
		})
	}
}

func TestValidate_AcceptsWhatIsGood(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root.json")
	if err := os.WriteFile(root, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"nothing":     "",
		"hosts":       "--allowed-action-hosts=*.example.com --allowed-action-hosts=127.0.0.1 --allowed-action-hosts=::1 --allowed-action-hosts=[fe80::1] --allowed-action-hosts=*",
		"registries":  "--image-verification-insecure-registry=registry:5000 --image-verification-insecure-registry=127.0.0.1 --image-verification-insecure-registry=[::1]:5000",
		"a root":      "--image-verification-trusted-root=" + root,
		"no servers":  "--metrics-bind-address=0 --gate-bind-address=",
		"a directory": "--rollback-store-path=/x",
		"a bucket":    "--rollback-store-s3-endpoint=x:9000 --rollback-store-s3-bucket=b --rollback-store-s3-sse=kms --rollback-store-s3-sse-kms-key=k",
		"self-signed": "--webhook-cert-mode=self-signed --webhook-validating-config-name=x",
	} {
		c := defaults()
		if err := c.table().Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if err := c.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWarn_NamesEachFlagOfLaterWork(t *testing.T) {
	for _, args := range []string{
		"--allowed-action-hosts=a", "--object-level-kms", "--image-verification-insecure-registry=a", "--image-verification-trusted-root=/x",
		"--require-pinned-migration-sources", "--require-verified-migration-sources", "--rollback-store-path=/x",
		"--rollback-store-s3-endpoint=x", "--rollback-store-s3-bucket=b",
	} {
		c := defaults()
		if err := c.table().Parse([]string{args}); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		c.warn(slog.New(slog.NewTextHandler(&log, nil)))
		flag, _, _ := strings.Cut(args, "=")
		if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), flag) {
			t.Errorf("%s: %q", args, log.String())
		}
	}
	var log bytes.Buffer
	if defaults().warn(slog.New(slog.NewTextHandler(&log, nil))); log.Len() > 0 {
		t.Errorf("without flags: %s", log.String())
	}
}

func TestResolve_TheFlagWinsOverTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"environment":   {"", []string{"a", "b"}},
		"flag":          {"--watch-namespaces=c", []string{"c"}},
		"an empty flag": {"--watch-namespaces=,", []string{"a", "b"}},
	} {
		config := defaults()
		if err := config.table().Parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		config.resolve([]string{"STAGESET_WATCH_NAMESPACES= a,,b ", "POD_NAMESPACE=p", "KUBECONFIG=k"})
		if diff := cmp.Diff(c.want, config.cluster.namespaces()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if config.cluster.podNamespace != "p" || config.cluster.kubeconfigVariable != "k" {
			t.Errorf("%s: %+v", name, config.cluster)
		}
	}
}

func TestLease_IsWhereThePodIs(t *testing.T) {
	c := defaults()
	if l, err := c.lease("context"); err != nil || l != (supervise.Lease{}) {
		t.Errorf("without election: %+v, %v", l, err)
	}
	c.cluster.leaderElect = true
	want := supervise.Lease{Enabled: true, ID: "stageset-controller.stagewright.dev", Namespace: "context"}
	if l, err := c.lease("context"); err != nil || l != want {
		t.Errorf("of the context: %+v, %v", l, err)
	}
	if _, err := c.lease(""); err == nil || !strings.Contains(err.Error(), "--leader-elect: the namespace of the lease is not known; set POD_NAMESPACE") {
		t.Errorf("of nothing: %v", err)
	}
	c.cluster.podNamespace, want.Namespace = "pod", "pod"
	if l, err := c.lease("context"); err != nil || l != want {
		t.Errorf("of the pod: %+v, %v", l, err)
	}
}

func TestFetches_OnlyADeveloperFetchesFromTheSameMachine(t *testing.T) {
	c := defaults()
	if err := c.fetches().Permit(loopback(t)); err == nil {
		t.Error("in a pod: permitted")
	}
	c.cluster.kubeconfig = "x"
	if err := c.fetches().Permit(loopback(t)); err != nil {
		t.Errorf("with a kubeconfig: %v", err)
	}
}

// TestRun_WithoutAClusterIsAFailure, not a misuse.
func TestRun_WithoutAClusterIsAFailure(t *testing.T) {
	for name, args := range map[string][]string{
		"none":         {"--enable-webhook=false"},
		"a bad one":    {"--kubeconfig=" + filepath.Join(t.TempDir(), "none")},
		"no collector": {"--tracing-endpoint=127.0.0.1:1"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var stderr bytes.Buffer
		code := Run(ctx, args, nil, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		cancel()
		if code != 1 || !strings.Contains(stderr.String(), "--kubeconfig") {
			t.Errorf("%s: %d %s", name, code, stderr.String())
		}
	}
}
