package operator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// TestEvaluate_ValuesOfSecretsThatAreCutAreHiddenToo: a long message is cut, maybe inside of a value.
func TestEvaluate_ValuesOfSecretsThatAreCutAreHiddenToo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("hunter2:", 2_000)
	for name, c := range map[string]struct{ program, secret string }{
		"longer than a message":      {`error "it is " + std.extVar("k")`, long},
		"at the end of one":          {`error std.repeat("x", 8180) + std.extVar("k")`, "hunter2hunter2hunter2"},
		"many times":                 {`error std.join(" ", std.repeat([std.extVar("k")], 100))`, long[:1_000]},
		"quoted":                     {`error std.manifestJsonMinified([std.extVar("k")])`, `"` + long},
		"after a value that is none": {`error std.repeat("hunt", 2047) + std.extVar("k")`, "hunter2hunter2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scope{snippet: &renderv1.JsonnetSnippet{}, past: &recollection{}}
			s.snippet.Spec.EntryFile = "main.jsonnet"
			s.files.inline = bundle.Files{"main.jsonnet": bundle.NewFile(c.program)}
			s.external = map[string]jsonnet.Binding{"k": {Kind: jsonnet.BindString, Text: c.secret}}
			s.secrets = []string{c.secret}
			engine := newEngine(jsonnet.Limits{Timeout: 5 * time.Second, MaxStack: 500})
			_, err := (&snippets{options: Options{Evaluator: engine, Now: time.Now}}).evaluate(t.Context(), s)
			if reconcile.ReasonOf(err) != renderv1.ReasonEvaluationFailed || !strings.Contains(err.Error(), "…") {
				t.Fatalf("evaluate: %v", err)
			}
			if strings.Contains(err.Error(), "hunter") {
				t.Errorf("the error tells of the secret: %.100s", err)
			}
		})
	}
}

// TestWithoutSecrets_LooksForALimitedAmount: what is looked for is the author's to choose.
func TestWithoutSecrets_LooksForALimitedAmount(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := 0; lines.Len() <= maxConcealed; i++ {
		fmt.Fprintf(&lines, "%08d\n", i)
	}
	secret := lines.String()[:maxConcealed]
	failed := &jsonnet.Error{Reason: jsonnet.EvaluationFailed, Message: "no such thing as 00000007"}
	if got, want := withoutSecrets(failed, []string{secret, secret}), "RUNTIME ERROR: no such thing as …"; got != want {
		t.Errorf("at the limit: %q, want %q", got, want)
	}
	if got := withoutSecrets(failed, []string{secret, "x"}); !strings.HasPrefix(got, notShown) {
		t.Errorf("above the limit: %q, want a message that is not shown", got)
	}
}
