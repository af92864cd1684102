package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stagewright/stagewright/internal/flags"
)

// config is what the flags set. Its fields hold the defaults until then.
type config struct {
	jsonnet    serverConfig
	management serverConfig
	endpoint   string
	snippets   snippetConfig
	limits     limitConfig

	shutdownDelay time.Duration
	logFormat     string
	logLevel      string
	version       bool

	operator operatorConfig
}

type serverConfig struct {
	address, port             string
	readTimeout, writeTimeout time.Duration
}

type snippetConfig struct {
	files, directories, libraries, externals []string
}

type limitConfig struct {
	timeout       time.Duration
	maxConcurrent int
	maxStack      int
	maxMemory     flags.Bytes
}

type operatorConfig struct {
	enabled               bool
	defaultServiceAccount string
	kubeconfig            string
	labelSelector         string
	noCrossNamespaceRefs  bool
	readinessRequires     string
	watchNamespaces       string

	publish publishConfig
	storage storageConfig
	s3      s3Config
	webhook webhookConfig
	leader  leaderConfig
	observe observeConfig
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

type webhookConfig struct {
	enabled                       bool
	certDir, certMode             string
	certValidity                  time.Duration
	port                          int
	serviceName, serviceNamespace string
	configName                    string
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

func defaults() *config {
	return &config{
		jsonnet:       serverConfig{"127.0.0.1", "8080", 10 * time.Second, 10 * time.Second},
		management:    serverConfig{"127.0.0.1", "8081", 10 * time.Second, 10 * time.Second},
		endpoint:      "jsonnet",
		limits:        limitConfig{timeout: 5 * time.Second, maxConcurrent: defaultMaxConcurrent(), maxStack: 500, maxMemory: 512 << 20},
		shutdownDelay: 5 * time.Second,
		logFormat:     "json",
		logLevel:      "info",
		operator: operatorConfig{
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
			s3: s3Config{useSSL: true},
			webhook: webhookConfig{
				certDir:      "/tmp/k8s-webhook-server/serving-certs",
				certMode:     "certmgr",
				certValidity: 365 * 24 * time.Hour,
				port:         9443,
				serviceName:  "renderer-webhook",
			},
			leader:  leaderConfig{enabled: true, id: "renderer-operator"},
			observe: observeConfig{metricsAddress: ":8083", sampleRatio: 1},
		},
	}
}

const defaultMaxConcurrentText = "max(4 x available parallelism, 16)"

// defaultMaxConcurrent is what defaultMaxConcurrentText says. GOMAXPROCS follows a container's CPU limit.
func defaultMaxConcurrent() int { return max(4*runtime.GOMAXPROCS(0), 16) }

var ratePattern = regexp.MustCompile(`^[1-9][0-9]{0,8}/(sec|min|hour)$`)

// validate returns everything that is wrong with the flags, each by its flag.
func (c *config) validate() error {
	return errors.Join(
		oneOf("log-format", c.logFormat, "json", "text"),
		oneOf("log-level", c.logLevel, "debug", "info", "warn", "error"),
		endpointPath(c.endpoint),
		c.jsonnet.validate("", ""),
		c.management.validate("management-", "management-"),
		notNegative("evaluation-timeout", c.limits.timeout),
		notNegative("max-concurrent-evals", c.limits.maxConcurrent),
		notNegative("max-stack", c.limits.maxStack),
		notNegative("shutdown-delay", c.shutdownDelay),
		notEmpty("snippet", c.snippets.files),
		notEmpty("snippet-directory", c.snippets.directories),
		notEmpty("library-path", c.snippets.libraries),
		c.operator.validate(),
	)
}

func (s serverConfig) validate(portPrefix, timeoutPrefix string) error {
	var portError error
	if _, err := strconv.ParseUint(s.port, 10, 16); err != nil {
		portError = fmt.Errorf("--%sport %q is not a port number from 0 to 65535", portPrefix, s.port)
	}
	return errors.Join(
		portError,
		notNegative(timeoutPrefix+"read-timeout", s.readTimeout),
		notNegative(timeoutPrefix+"write-timeout", s.writeTimeout),
	)
}

func (o *operatorConfig) validate() error {
	problems := []error{
		oneOf("readiness-requires-operator", o.readinessRequires, "once", "never"),
		oneOf("storage-backend", o.storage.backend, "local", "s3"),
		oneOf("webhook-cert-mode", o.webhook.certMode, "certmgr", "self-signed"),
		o.storage.server.validate("storage-", "storage-"),
		notNegative("artifact-gc-grace", o.publish.artifactGCGrace),
		notNegative("max-artifact-bytes", o.publish.maxArtifactBytes),
		notNegative("max-withdraw-wait", o.publish.maxWithdrawWait),
		notNegative("storage-sweep-interval", o.storage.sweepInterval),
		notNegative("storage-sweep-max-tmp-age", o.storage.sweepMaxTmpAge),
	}
	must := func(ok bool, format string, a ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, a...))
		}
	}
	must(ratePattern.MatchString(o.publish.rerenderRate),
		"--rerender-rate %q is not of the form N/period with a period of sec, min or hour, such as 60/min", o.publish.rerenderRate)
	must(o.publish.rerenderBurst > 0, "--rerender-burst has to be at least 1")
	must(o.observe.sampleRatio >= 0 && o.observe.sampleRatio <= 1, "--tracing-sample-ratio has to be from 0.0 to 1.0")
	must(o.webhook.port > 0 && o.webhook.port < 1<<16, "--webhook-port %d is not a port", o.webhook.port)
	must(o.webhook.certValidity > 0, "--webhook-cert-validity has to be positive")
	must(!o.webhook.enabled || o.enabled, "--enable-webhook needs --enable-gitops-integration")
	if !o.enabled {
		return errors.Join(problems...)
	}
	must(o.storage.path != "", "--enable-gitops-integration needs --storage-path, the directory for artifacts")
	must(o.storage.baseURL != "", "--enable-gitops-integration needs --storage-base-url, where artifacts are fetched from")
	if o.storage.backend == "s3" {
		must(o.s3.endpoint != "", "--storage-backend=s3 needs --s3-endpoint")
		must(o.s3.bucket != "", "--storage-backend=s3 needs --s3-bucket")
	}
	if o.webhook.enabled && o.webhook.certMode == "self-signed" {
		must(o.webhook.configName != "", "--webhook-cert-mode=self-signed needs --webhook-validating-config-name")
	}
	return errors.Join(problems...)
}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("--%s %q is none of %s", flag, value, strings.Join(allowed, ", "))
}

func notNegative[N int | int64 | time.Duration](flag string, value N) error {
	if value >= 0 {
		return nil
	}
	return fmt.Errorf("--%s %v is negative", flag, value)
}

// notEmpty refuses what an unset variable in a shell or a template leaves: an empty path would be the working directory.
func notEmpty(flag string, paths []string) error {
	if slices.Contains(paths, "") {
		return fmt.Errorf("--%s is empty; write . for the working directory", flag)
	}
	return nil
}

func endpointPath(path string) error {
	if strings.ContainsAny(path, "?#%") || strings.Contains(strings.Trim(path, "/"), "//") {
		return fmt.Errorf("--jsonnet-endpoint-path %q is not a path of plain segments, such as jsonnet or api/jsonnet", path)
	}
	return nil
}

// externalPrefix begins the environment variables that are external variables.
const externalPrefix = "RENDERER_EXT_VAR_"

// externals returns the external variables of the environment, and over them those of --ext-var.
func externals(flags, environment []string) (map[string]string, error) {
	variables := map[string]string{}
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		if name, ok := strings.CutPrefix(name, externalPrefix); ok && name != "" {
			variables[name] = value
		}
	}
	for i, entry := range flags {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" { // what is there may be a secret
			return nil, fmt.Errorf("--ext-var number %d is not of the form KEY=VALUE", i+1)
		}
		variables[name] = value
	}
	return variables, nil
}

func (c *config) level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.logLevel)) // validated
	return level
}
