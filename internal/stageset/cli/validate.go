package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/stagewright/stagewright/internal/flags"
)

// maxShardCap is what the definition of StageInventory allows.
const maxShardCap = 100_000

// validate returns everything that is wrong with the flags, each by its flag.
func (c *config) validate() error {
	problems := []error{
		flags.OneOf("log-format", c.process.logFormat, "json", "text"),
		flags.OneOf("log-level", c.process.logLevel, "debug", "info", "warn", "error"),
		flags.Ratio("tracing-sample-ratio", c.tracing.sampleRatio),
		flags.HostPort("health-probe-bind-address", c.serve.probes, "such as :8081"),
		c.webhook.Validate(),
		c.webhook.ValidateUse(),
		c.images.validate(),
		c.rollback.validate(),
	}
	must := func(ok bool, format string, a ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, a...))
		}
	}
	must(c.reconcile.defaultInterval > 0, "--default-interval %s has to be positive", c.reconcile.defaultInterval)
	must(c.reconcile.maxTeardownWait > 0, "--max-teardown-wait %s has to be positive: without a wait, objects would be left where they are", c.reconcile.maxTeardownWait)
	must(c.reconcile.concurrent > 0, "--concurrent has to be at least 1")
	must(c.reconcile.shardCap > 0 && c.reconcile.shardCap <= maxShardCap, "--inventory-shard-cap %d is not from 1 to %d", c.reconcile.shardCap, maxShardCap)
	if c.serve.metrics != "0" {
		problems = append(problems, flags.HostPort("metrics-bind-address", c.serve.metrics, "0 disables"))
	}
	if c.serve.gate != "" {
		problems = append(problems, flags.HostPort("gate-bind-address", c.serve.gate, "empty disables"))
	}
	if c.tracing.endpoint != "" {
		problems = append(problems, flags.HostPort("tracing-endpoint", c.tracing.endpoint, "without a scheme"))
	}
	must(c.cluster.watchNamespaces == "" || len(c.cluster.namespaces()) > 0,
		"--watch-namespaces, or %s: %q names no namespace; all of them are watched when it is empty", watchVariable, c.cluster.watchNamespaces)
	for _, namespace := range c.cluster.namespaces() {
		must(len(validation.IsDNS1123Label(namespace)) == 0,
			"--watch-namespaces, or %s: %q is not the name of a namespace", watchVariable, namespace)
	}
	for _, glob := range c.actions.allowedHosts {
		must(isHostGlob(glob), "--allowed-action-hosts %q is not a host or a glob of hosts such as *.example.com", glob)
	}
	return errors.Join(problems...)
}

func (i imageConfig) validate() error {
	var problems []error
	for _, registry := range i.insecureRegistries {
		if !isRegistry(registry) {
			problems = append(problems, fmt.Errorf("--image-verification-insecure-registry %q is not of the form host[:port]", registry))
		}
	}
	if i.trustedRoot != "" {
		if info, err := os.Stat(i.trustedRoot); err != nil {
			problems = append(problems, fmt.Errorf("--image-verification-trusted-root: %w", err))
		} else if !info.Mode().IsRegular() {
			problems = append(problems, fmt.Errorf("--image-verification-trusted-root: %s is not a file", i.trustedRoot))
		}
	}
	if i.required {
		// Stages would be applied although their images were not verified, which is what the flag is to prevent.
		problems = append(problems, errors.New("--require-image-verification: this release does not verify images yet"))
	}
	return errors.Join(problems...)
}

func (r rollbackConfig) validate() error {
	problems := []error{flags.OneOf("rollback-store-s3-sse", r.sse, "none", "s3", "kms")}
	add := func(text string) { problems = append(problems, errors.New(text)) }
	if r.kmsKey != "" && r.sse != "kms" {
		add("--rollback-store-s3-sse-kms-key needs --rollback-store-s3-sse=kms")
	}
	if r.path != "" && r.s3.Endpoint != "" {
		add("--rollback-store-path and --rollback-store-s3-endpoint exclude each other")
	}
	switch {
	case r.s3.Endpoint == "":
	case r.s3.Bucket == "":
		add("--rollback-store-s3-endpoint needs --rollback-store-s3-bucket")
	default:
		if err := r.s3.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("--rollback-store-s3-...: %w", err))
		}
	}
	return errors.Join(problems...)
}

var hostGlob = regexp.MustCompile(`^[A-Za-z0-9*]([A-Za-z0-9*._-]*[A-Za-z0-9*])?$`)

// isHostGlob takes names, globs of names, and addresses, those of IPv6 in brackets or not.
func isHostGlob(text string) bool {
	if _, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return true
	}
	return hostGlob.MatchString(text) && !strings.Contains(text, "..")
}

func isRegistry(text string) bool {
	host := text
	if name, port, err := net.SplitHostPort(text); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		host = name
	}
	return !strings.Contains(host, "*") && isHostGlob(host)
}

// warn tells what is set and not acted on yet, and what is probably not meant.
func (c *config) warn(logger *slog.Logger) {
	r := c.rollback
	for _, later := range []struct {
		set        bool
		flag, what string
	}{
		{len(c.actions.allowedHosts) > 0, "allowed-action-hosts", "run actions"},
		{c.reconcile.objectLevelKMS, "object-level-kms", "decrypt files"},
		{len(c.images.insecureRegistries) > 0, "image-verification-insecure-registry", "verify images"},
		{c.images.trustedRoot != "", "image-verification-trusted-root", "verify images"},
		{c.sources.pinned, "require-pinned-migration-sources", "run migrations"},
		{c.sources.verified, "require-verified-migration-sources", "run migrations"},
		{r.path != "", "rollback-store-path", "roll back"},
		{r.s3.Endpoint != "", "rollback-store-s3-endpoint", "roll back"},
	} {
		if later.set {
			logger.Warn("this release does not "+later.what+" yet; a StageSet that asks for it is refused with InvalidSpec", "flag", "--"+later.flag)
		}
	}
	if r.s3.Endpoint == "" && r.s3.Bucket != "" {
		logger.Warn("--rollback-store-s3-bucket is not used without --rollback-store-s3-endpoint")
	}
}
