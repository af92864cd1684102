package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/flags/flagtest"
)

const referencePage = "../../../docs/reference/renderer-flags.md"

func TestFlags_HoldTheContract(t *testing.T) {
	flagtest.Contract{
		File: "testdata/contract.tsv", Flags: 65, Additions: []string{"--max-evaluation-memory", "--concurrent"},
	}.Holds(t, Table())
}

func TestFlags_ReferenceAndHelpAreCurrent(t *testing.T) {
	flagtest.IsCurrent(t, referencePage, Table())
}

func TestExternals_FlagsWinOverTheEnvironment(t *testing.T) {
	environment := []string{"RENDERER_EXT_VAR_A=env", "RENDERER_EXT_VAR_b=env=1", "RENDERER_EXT_VAR_=none", "OTHER=x", "RENDERER_EXT_VAR_E="}
	got, err := externals([]string{"A=flag", "c=1=2", "d="}, environment)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"A": "flag", "b": "env=1", "c": "1=2", "d": "", "E": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("external variables (-want +got):\n%s", diff)
	}
}

func TestMisuse(t *testing.T) {
	operator := "--enable-gitops-integration --storage-path=/tmp/x --storage-base-url=http://x "
	cases := map[string]struct {
		args string
		want string // every line of the complaint, or "" where nothing is wrong
	}{
		"nothing":                  {"", ""},
		"unknown flag":             {"--snipet=x", "unknown flag: --snipet"},
		"an argument":              {"x.jsonnet", `unexpected argument "x.jsonnet": every setting is a flag`},
		"a type":                   {"--max-stack=x", `invalid argument "x" for "--max-stack" flag`},
		"a duration":               {"--evaluation-timeout=5", "--evaluation-timeout"},
		"a variable without value": {"--ext-var=SECRET", "--ext-var number 1 is not of the form KEY=VALUE"},
		"a variable without name":  {"--ext-var==x", "--ext-var number 1 is not of the form KEY=VALUE"},
		"an empty directory":       {"--snippet-directory=", "--snippet-directory is empty"},
		"an empty library path":    {"--library-path=", "--library-path is empty"},
		"an empty file":            {"--snippet=", "--snippet is empty"},
		"log format":               {"--log-format=xml", `--log-format "xml" is none of json, text`},
		"log level":                {"--log-level=loud", `--log-level "loud" is none of debug, info, warn, error`},
		"port":                     {"--port=http", `--port "http" is not a port number`},
		"port out of range":        {"--management-port=65536", "--management-port"},
		"negative limit":           {"--max-concurrent-evals=-1", "--max-concurrent-evals -1 is negative"},
		"negative duration":        {"--shutdown-delay=-1s", "--shutdown-delay -1s is negative"},
		"endpoint path":            {"--jsonnet-endpoint-path=a?b", "--jsonnet-endpoint-path"},
		"all at once":              {"--log-level=x --port=y", "--log-level|--port"},
		"webhook alone":            {"--enable-webhook", "--enable-webhook needs --enable-gitops-integration"},
		"operator alone":           {"--enable-gitops-integration", "--storage-path|--storage-base-url"},
		"s3":                       {operator + "--storage-backend=s3", "--s3-endpoint|--s3-bucket"},
		"backend":                  {"--storage-backend=nfs", `--storage-backend "nfs" is none of local, s3`},
		"self-signed":              {operator + "--enable-webhook --webhook-cert-mode=self-signed", "--webhook-validating-config-name"},
		"rate":                     {"--rerender-rate=60", `--rerender-rate "60" is not of the form N/period`},
		"rate of nothing":          {"--rerender-rate=0/min", "--rerender-rate"},
		"ratio":                    {"--tracing-sample-ratio=1.1", "--tracing-sample-ratio has to be from 0.0 to 1.0"},
		"ratio that is none":       {"--tracing-sample-ratio=NaN", "--tracing-sample-ratio"},
		"s3 keys":                  {operator + "--storage-backend=s3 --s3-endpoint=x --s3-bucket=b --s3-access-key=k", "--s3-...|an access key without a secret key"},
		"s3 scheme":                {operator + "--storage-backend=s3 --s3-endpoint=http://x --s3-bucket=b", "--s3-...|without a scheme"},
		"base URL":                 {operator + "--storage-base-url=renderer:8082", "--storage-base-url is not a URL"},
		"base URL with a user":     {operator + "--storage-base-url=http://u:p@x", "--storage-base-url has a user"},
		"base URL with ?":          {operator + "--storage-base-url=http://x?", "--storage-base-url has a user, a query or a fragment"},
		"base URL with #":          {operator + "--storage-base-url=http://x/#", "--storage-base-url has a user, a query or a fragment"},
		"base URL without a host":  {operator + "--storage-base-url=http://:8082", "--storage-base-url is not a URL"},
		"selector":                 {"--label-selector=a==b==c", "--label-selector"},
		"namespaces":               {operator + "--watch-namespaces=a,B", `--watch-namespaces|"B" is not the name of a namespace`},
		"no namespaces":            {operator + "--watch-namespaces=,", `--watch-namespaces|"," names no namespace`},
		"no workers":               {"--concurrent=0", "--concurrent has to be at least 1"},
		"lease without a name":     {operator + "--leader-election-id=", "--leader-election-id is empty"},
		"metrics address":          {"--metrics-bind-address=8083", "--metrics-bind-address|host:port"},
		"no metrics address":       {"--metrics-bind-address=", "--metrics-bind-address|0 disables"},
		"no metrics":               {"--metrics-bind-address=0", ""},
		"collector with a scheme":  {"--tracing-endpoint=http://x:4317", "--tracing-endpoint|host:port"},
		"webhook port":             {"--webhook-port=70000", "--webhook-port 70000"},
		"validity":                 {"--webhook-cert-validity=0s", "--webhook-cert-validity"},
		"burst":                    {"--rerender-burst=0", "--rerender-burst"},
		"requires":                 {"--readiness-requires-operator=always", "--readiness-requires-operator"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := defaults()
			err := config.table().Parse(strings.Fields(c.args))
			if err == nil {
				_, external := externals(config.snippets.externals, nil)
				err = firstOf(config.validate(), external)
			}
			if c.want == "" {
				if err != nil {
					t.Errorf("error = %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			for part := range strings.SplitSeq(c.want, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestResolve_TheFlagWinsOverTheEnvironment(t *testing.T) {
	cases := map[string]struct {
		args string
		want []string
	}{
		"environment": {"", []string{"a", "b"}},
		"flag":        {"--watch-namespaces=c", []string{"c"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := defaults()
			if err := config.table().Parse(strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			config.operator.resolve([]string{"RENDERER_WATCH_NAMESPACES= a,,b ", "POD_NAMESPACE=p", "KUBECONFIG=k"})
			if diff := cmp.Diff(c.want, config.operator.cluster.namespaces()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if cluster := config.operator.cluster; cluster.podNamespace != "p" || cluster.kubeconfigVariable != "k" {
				t.Errorf("%+v", cluster)
			}
		})
	}
}

func TestPerSecond(t *testing.T) {
	for rate, want := range map[string]float64{"60/min": 1, "2/sec": 2, "3600/hour": 1, "1/hour": 1.0 / 3600} {
		if got, ok := (publishConfig{rerenderRate: rate}).perSecond(); got != want || !ok {
			t.Errorf("%s is %v a second, want %v", rate, got, want)
		}
	}
}
