package cli

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/stagewright/stagewright/internal/flags"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
	"github.com/stagewright/stagewright/internal/objectstore"
)

type operatorConfig struct {
	enabled               bool
	concurrent            int
	defaultServiceAccount string
	labelSelector         string
	noCrossNamespaceRefs  bool
	readinessRequires     string

	cluster clusterConfig
	publish publishConfig
	storage storageConfig
	s3      s3Config
	webhook webhookserve.Config
	leader  leaderConfig
	observe observeConfig
}

// clusterConfig says where objects are.
type clusterConfig struct {
	kubeconfig, kubeconfigVariable string // the flag, and KUBECONFIG
	watchNamespaces                string
	podNamespace                   string // POD_NAMESPACE
}

type publishConfig struct {
	artifactGCGrace  time.Duration
	maxArtifactBytes int64
	maxWithdrawWait  time.Duration
	rerenderBurst    int
	rerenderRate     string
}

type storageConfig struct {
	backend, baseURL, path string
	server                 serverConfig
	sweepInterval          time.Duration
	sweepMaxTmpAge         time.Duration
}

type s3Config struct {
	accessKey, secretKey, sessionToken string
	anonymous                          bool
	bucket, endpoint, prefix, region   string
	useSSL                             bool
}

type leaderConfig struct {
	enabled       bool
	id, namespace string
}

type observeConfig struct {
	metricsAddress  string
	tracingEndpoint string
	tracingInsecure bool
	sampleRatio     float64
}

func operatorDefaults() operatorConfig {
	return operatorConfig{
		concurrent:           8,
		noCrossNamespaceRefs: true,
		readinessRequires:    "once",
		publish: publishConfig{
			artifactGCGrace: 5 * time.Minute,
			maxWithdrawWait: time.Hour,
			rerenderBurst:   120,
			rerenderRate:    "60/min",
		},
		storage: storageConfig{
			backend:        "local",
			server:         serverConfig{"0.0.0.0", "8082", 30 * time.Second, 5 * time.Minute},
			sweepInterval:  10 * time.Minute,
			sweepMaxTmpAge: 30 * time.Minute,
		},
		s3:      s3Config{useSSL: true},
		webhook: webhookserve.Defaults(false, "renderer-webhook"),
		leader:  leaderConfig{enabled: true, id: "renderer-operator"},
		observe: observeConfig{metricsAddress: ":8083", sampleRatio: 1},
	}
}

// resolve fills in what the environment says where the flags say nothing.
func (o *operatorConfig) resolve(environment []string) {
	for _, entry := range environment {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "KUBECONFIG":
			o.cluster.kubeconfigVariable = value
		case "POD_NAMESPACE":
			o.cluster.podNamespace = value
		case "RENDERER_WATCH_NAMESPACES":
			if o.cluster.watchNamespaces == "" {
				o.cluster.watchNamespaces = value
			}
		}
	}
}

// validate returns everything that is wrong with the flags, each by its flag.
func (o *operatorConfig) validate() error {
	problems := []error{
		flags.OneOf("readiness-requires-operator", o.readinessRequires, "once", "never"),
		flags.OneOf("storage-backend", o.storage.backend, "local", "s3"),
		o.webhook.Validate(),
		o.storage.server.validate("storage-", "storage-"),
		flags.NotNegative("artifact-gc-grace", o.publish.artifactGCGrace),
		flags.NotNegative("max-artifact-bytes", o.publish.maxArtifactBytes),
		flags.NotNegative("max-withdraw-wait", o.publish.maxWithdrawWait),
		flags.NotNegative("storage-sweep-interval", o.storage.sweepInterval),
		flags.NotNegative("storage-sweep-max-tmp-age", o.storage.sweepMaxTmpAge),
		o.observe.validate(),
	}
	must := func(ok bool, format string, a ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, a...))
		}
	}
	_, ok := o.publish.perSecond()
	must(ok, "--rerender-rate %q is not of the form N/period with a period of sec, min or hour, such as 60/min", o.publish.rerenderRate)
	must(o.publish.rerenderBurst > 0, "--rerender-burst has to be at least 1")
	must(o.concurrent > 0, "--concurrent has to be at least 1")
	must(!o.webhook.Enabled || o.enabled, "--enable-webhook needs --enable-gitops-integration")
	if _, err := labels.Parse(o.labelSelector); err != nil {
		must(false, "--label-selector %q is not a selector: %v", o.labelSelector, err)
	}
	if !o.enabled {
		return errors.Join(problems...)
	}
	must(o.storage.path != "", "--enable-gitops-integration needs --storage-path, the directory for artifacts")
	must(o.storage.baseURL != "", "--enable-gitops-integration needs --storage-base-url, where artifacts are fetched from")
	must(!o.leader.enabled || o.leader.id != "", "--leader-election-id is empty")
	must(o.cluster.watchNamespaces == "" || len(o.cluster.namespaces()) > 0,
		"--watch-namespaces, or RENDERER_WATCH_NAMESPACES: %q names no namespace; all of them are watched when it is empty",
		o.cluster.watchNamespaces)
	for _, namespace := range o.cluster.namespaces() {
		must(len(validation.IsDNS1123Label(namespace)) == 0,
			"--watch-namespaces, or RENDERER_WATCH_NAMESPACES: %q is not the name of a namespace", namespace)
	}
	problems = append(problems, baseURL(o.storage.baseURL), o.validateBackend(), o.webhook.ValidateUse())
	return errors.Join(problems...)
}

func (o *operatorConfig) validateBackend() error {
	if o.storage.backend != "s3" {
		return nil
	}
	var problems []error
	if o.s3.endpoint == "" {
		problems = append(problems, errors.New("--storage-backend=s3 needs --s3-endpoint"))
	}
	if o.s3.bucket == "" {
		problems = append(problems, errors.New("--storage-backend=s3 needs --s3-bucket"))
	}
	if len(problems) == 0 {
		if err := o.s3.objectStore().Validate(); err != nil {
			problems = append(problems, fmt.Errorf("--storage-backend=s3 (--s3-...): %w", err))
		}
	}
	return errors.Join(problems...)
}

func (o observeConfig) validate() error {
	problems := []error{flags.Ratio("tracing-sample-ratio", o.sampleRatio)}
	if o.metricsAddress != "0" {
		problems = append(problems, flags.HostPort("metrics-bind-address", o.metricsAddress, "0 disables"))
	}
	if o.tracingEndpoint != "" {
		problems = append(problems, flags.HostPort("tracing-endpoint", o.tracingEndpoint, "without a scheme"))
	}
	return errors.Join(problems...)
}

// baseURL refuses what artifacts cannot be fetched from.
func baseURL(text string) error {
	if text == "" {
		return nil // said already
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil, parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "":
		return errors.New("--storage-base-url is not a URL such as http://renderer.flux-system.svc:8082") // it may have a password
	case parsed.User != nil, strings.ContainsAny(text, "?#"):
		return errors.New("--storage-base-url has a user, a query or a fragment; it is a prefix of addresses that everybody reads")
	}
	return nil
}

var ratePattern = regexp.MustCompile(`^([1-9][0-9]{0,8})/(sec|min|hour)$`)

// perSecond is the rate of --rerender-rate, if that is one.
func (p publishConfig) perSecond() (float64, bool) {
	match := ratePattern.FindStringSubmatch(p.rerenderRate)
	if match == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(match[1], 64)
	period := map[string]time.Duration{"sec": time.Second, "min": time.Minute, "hour": time.Hour}[match[2]]
	return n / period.Seconds(), err == nil
}

// namespaces are those that are watched; none means all.
func (c clusterConfig) namespaces() []string { return flags.List(c.watchNamespaces) }

func (s s3Config) objectStore() objectstore.Config {
	return objectstore.Config{
		Endpoint: s.endpoint, Bucket: s.bucket, Prefix: s.prefix, Region: s.region, UseSSL: s.useSSL,
		AccessKey: s.accessKey, SecretKey: s.secretKey, SessionToken: s.sessionToken, Anonymous: s.anonymous,
	}
}
