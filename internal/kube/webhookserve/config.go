package webhookserve

import (
	"errors"
	"fmt"
	"time"

	"github.com/stagewright/stagewright/internal/flags"
	"github.com/stagewright/stagewright/internal/kube/webhookcert"
)

// Config is what the flags set.
type Config struct {
	Enabled                       bool
	CertDir, CertMode             string
	CertValidity                  time.Duration
	Port                          int
	ServiceName, ServiceNamespace string
	ConfigName                    string
}

// selfSigned is the mode in which the process makes its certificate.
const selfSigned = "self-signed"

// Defaults are those of a webhook behind a Service.
func Defaults(enabled bool, service string) Config {
	return Config{
		Enabled:      enabled,
		CertDir:      "/tmp/k8s-webhook-server/serving-certs",
		CertMode:     "certmgr",
		CertValidity: 365 * 24 * time.Hour,
		Port:         9443,
		ServiceName:  service,
	}
}

// Words are what the reference says differently for each program.
type Words struct {
	Enable    string // what --enable-webhook does
	Maker     string // who makes a self-signed certificate: operator, controller
	Namespace string // what an empty --webhook-service-namespace falls back to
}

// Flags are the part of a program's table.
func (c *Config) Flags(w Words) flags.Group {
	return flags.Group{Title: "Webhook", Note: "active only with --enable-webhook", Flags: []flags.Flag{
		{Name: "enable-webhook", Target: &c.Enabled, Help: w.Enable},
		{Name: "webhook-cert-dir", Target: &c.CertDir, Help: "directory holding tls.crt and tls.key"},
		{Name: "webhook-cert-mode", Target: &c.CertMode, Help: "certmgr: the cert is mounted from a Secret; self-signed: the " + w.Maker + " generates a CA and serving cert in the pod and patches the caBundle of the ValidatingWebhookConfiguration"},
		{Name: "webhook-cert-validity", Target: &c.CertValidity, Help: "validity of the self-signed cert"},
		{Name: "webhook-port", Target: &c.Port, Help: "port of the webhook server"},
		{Name: "webhook-service-name", Target: &c.ServiceName, Help: "Service name used to build cert SANs in self-signed mode"},
		{Name: "webhook-service-namespace", Target: &c.ServiceNamespace, Help: "namespace of the webhook Service; empty falls back to " + w.Namespace},
		{Name: "webhook-validating-config-name", Target: &c.ConfigName, Help: "ValidatingWebhookConfiguration whose caBundle is patched; required in self-signed mode"},
	}}
}

// Validate says what is wrong with the values whether they are used or not.
func (c *Config) Validate() error {
	problems := []error{flags.OneOf("webhook-cert-mode", c.CertMode, "certmgr", selfSigned)}
	if c.Port <= 0 || c.Port >= 1<<16 {
		problems = append(problems, fmt.Errorf("--webhook-port %d is not a port", c.Port))
	}
	if c.CertValidity <= 0 {
		problems = append(problems, errors.New("--webhook-cert-validity has to be positive"))
	}
	return errors.Join(problems...)
}

// ValidateUse says what is missing for a webhook that is served.
func (c *Config) ValidateUse() error {
	var problems []error
	if c.Enabled && c.CertMode == selfSigned {
		if c.ConfigName == "" {
			problems = append(problems, errors.New("--webhook-cert-mode=self-signed needs --webhook-validating-config-name"))
		}
		if c.ServiceName == "" {
			problems = append(problems, errors.New("--webhook-cert-mode=self-signed needs --webhook-service-name"))
		}
		if c.CertValidity < webhookcert.MinValidity {
			problems = append(problems, fmt.Errorf("--webhook-cert-validity %s is shorter than %s", c.CertValidity, webhookcert.MinValidity))
		}
	}
	return errors.Join(problems...)
}
