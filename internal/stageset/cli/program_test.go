package cli

import (
	"context"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// asProgram makes the test binary be the program.
const asProgram = "STAGEWRIGHT_TEST_AS_STAGESET_CONTROLLER"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func loopback(t *testing.T) netip.AddrPort {
	t.Helper()
	return netip.MustParseAddrPort("127.0.0.1:80")
}

func TestProgram_ServesAndEnds(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t, stagesv1.AddToScheme)
	p := start(t, e, "--object-level-kms")
	p.Shows(t, "probes", "/healthz", http.StatusOK, "alive")
	p.Shows(t, "probes", "/readyz", http.StatusOK, "ready")
	p.Shows(t, "gate", "/gate/"+e.Namespace+"/shop/app", http.StatusServiceUnavailable, `"ready":false`)
	p.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 1")
	p.Shows(t, "metrics", "/metrics", http.StatusOK, `stageset_http_requests_total{code="503",method="GET",server="gate"}`)
	p.Shows(t, "metrics", "/metrics", http.StatusOK, "rest_client_requests_total")
	if !strings.Contains(p.Log(), "this release does not decrypt files yet") {
		t.Error("it does not say what it does not do")
	}
	p.Stop(t)
}

// TestProgram_WithoutACertificateSaysSo: the webhook is on by default, and needs a directory with a certificate.
func TestProgram_WithoutACertificateSaysSo(t *testing.T) {
	e := kubetest.Start(t)
	directory := filepath.Join(t.TempDir(), "none")
	code, _, stderr := run(t, nil, "--kubeconfig="+os.Getenv(kubetest.KubeconfigVariable), "--watch-namespaces="+e.Namespace,
		"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0", "--gate-bind-address=", "--webhook-cert-dir="+directory)
	if code != 1 || !strings.Contains(stderr, "--enable-webhook=false") {
		t.Errorf("%d %s", code, stderr)
	}
}
