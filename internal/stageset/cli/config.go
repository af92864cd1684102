package cli

import (
	"strings"
	"time"

	"github.com/stagewright/stagewright/internal/flags"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
	"github.com/stagewright/stagewright/internal/objectstore"
)

const program = "stageset-controller"

// config is what the flags set. Its fields hold the defaults until then.
type config struct {
	cluster   clusterConfig
	reconcile reconcileConfig
	actions   actionConfig
	images    imageConfig
	sources   migrationSourceConfig
	rollback  rollbackConfig
	serve     serveConfig
	webhook   webhookserve.Config
	tracing   tracingConfig
	process   processConfig
}

// clusterConfig says where objects are.
type clusterConfig struct {
	kubeconfig, kubeconfigVariable string // the flag, and KUBECONFIG
	watchNamespaces                string
	podNamespace                   string // POD_NAMESPACE
	leaderElect                    bool
}

func (c clusterConfig) namespaces() []string { return flags.List(c.watchNamespaces) }

type reconcileConfig struct {
	concurrent           int
	defaultInterval      time.Duration
	maxTeardownWait      time.Duration
	shardCap             int
	noCrossNamespaceRefs bool
	objectLevelKMS       bool
}

type actionConfig struct{ allowedHosts []string }

type imageConfig struct {
	required           bool
	insecureRegistries []string
	trustedRoot        string
}

type migrationSourceConfig struct{ pinned, verified bool }

type rollbackConfig struct {
	path        string
	s3          objectstore.Config
	sse, kmsKey string
}

type serveConfig struct{ probes, metrics, gate string }

type tracingConfig struct {
	endpoint    string
	insecure    bool
	sampleRatio float64
}

type processConfig struct {
	logFormat, logLevel string
	version             bool
}

func defaults() *config {
	return &config{
		reconcile: reconcileConfig{
			concurrent:      16,
			defaultInterval: 10 * time.Minute,
			maxTeardownWait: time.Hour,
			shardCap:        5000,
		},
		rollback: rollbackConfig{s3: objectstore.Config{UseSSL: true}, sse: "s3"},
		serve:    serveConfig{probes: ":8081", metrics: ":8080", gate: ":8082"},
		webhook:  webhookserve.Defaults(true, "stageset-controller-webhook"),
		tracing:  tracingConfig{sampleRatio: 1},
		process:  processConfig{logFormat: "json", logLevel: "info"},
	}
}

// watchVariable is used where --watch-namespaces is empty.
const watchVariable = "STAGESET_WATCH_NAMESPACES"

// resolve fills in what the environment says where the flags say nothing.
func (c *config) resolve(environment []string) {
	for _, entry := range environment {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "KUBECONFIG":
			c.cluster.kubeconfigVariable = value
		case "POD_NAMESPACE":
			c.cluster.podNamespace = value
		case watchVariable:
			if len(c.cluster.namespaces()) == 0 {
				c.cluster.watchNamespaces = value
			}
		}
	}
}
