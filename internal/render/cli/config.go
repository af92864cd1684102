package cli

import (
	"errors"
	"fmt"
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

func defaults() *config {
	return &config{
		jsonnet:       serverConfig{"127.0.0.1", "8080", 10 * time.Second, 10 * time.Second},
		management:    serverConfig{"127.0.0.1", "8081", 10 * time.Second, 10 * time.Second},
		endpoint:      "jsonnet",
		limits:        limitConfig{timeout: 5 * time.Second, maxConcurrent: defaultMaxConcurrent(), maxStack: 500, maxMemory: 512 << 20},
		shutdownDelay: 5 * time.Second,
		logFormat:     "json",
		logLevel:      "info",
		operator:      operatorDefaults(),
	}
}

const defaultMaxConcurrentText = "max(4 x available parallelism, 16)"

// defaultMaxConcurrent is what defaultMaxConcurrentText says. GOMAXPROCS follows a container's CPU limit.
func defaultMaxConcurrent() int { return max(4*runtime.GOMAXPROCS(0), 16) }

// validate returns everything that is wrong with the flags, each by its flag.
func (c *config) validate() error {
	return errors.Join(
		flags.OneOf("log-format", c.logFormat, "json", "text"),
		flags.OneOf("log-level", c.logLevel, "debug", "info", "warn", "error"),
		endpointPath(c.endpoint),
		c.jsonnet.validate("", ""),
		c.management.validate("management-", "management-"),
		flags.NotNegative("evaluation-timeout", c.limits.timeout),
		flags.NotNegative("max-concurrent-evals", c.limits.maxConcurrent),
		flags.NotNegative("max-stack", c.limits.maxStack),
		flags.NotNegative("shutdown-delay", c.shutdownDelay),
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
		flags.NotNegative(timeoutPrefix+"read-timeout", s.readTimeout),
		flags.NotNegative(timeoutPrefix+"write-timeout", s.writeTimeout),
	)
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
func externals(given, environment []string) (map[string]string, error) {
	variables := map[string]string{}
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		if name, ok := strings.CutPrefix(name, externalPrefix); ok && name != "" {
			variables[name] = value
		}
	}
	for i, entry := range given {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" { // what is there may be a secret
			return nil, fmt.Errorf("--ext-var number %d is not of the form KEY=VALUE", i+1)
		}
		variables[name] = value
	}
	return variables, nil
}
