package webhookserve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/stagewright/stagewright/internal/kube/access"
	"github.com/stagewright/stagewright/internal/kube/webhookcert"
	"github.com/stagewright/stagewright/internal/serving"
)

const (
	readTimeout  = 10 * time.Second
	writeTimeout = time.Minute
	// maxInFlight requests are decided at a time. They have been read before, because who sends slowly has no claim to a slot.
	maxInFlight = 32
)

// Handler serves an admission handler at a path.
func Handler(path string, decide admission.Handler, logger *slog.Logger) http.Handler {
	hook := &admission.Webhook{
		Handler:        decide,
		LogConstructor: func(logr.Logger, *admission.Request) logr.Logger { return logr.FromSlogHandler(logger.Handler()) },
	}
	slots := make(chan struct{}, maxInFlight)
	mux := http.NewServeMux()
	mux.Handle("POST "+path, newBuffers(maxBuffered).buffered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			hook.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})))
	return mux
}

// Serving is what a webhook is served with.
type Serving struct {
	Handler http.Handler
	Cluster *rest.Config
	Places  access.Places                 // where the namespace of the Service is looked for
	Observe func(renewed bool, err error) // told about certificates
	Logger  *slog.Logger
}

// Listen binds the webhook's server. The function that it returns keeps the certificate valid until its context ends.
func (c *Config) Listen(ctx context.Context, s Serving) (*serving.Server, func(context.Context), error) {
	get, run, err := c.certificate(s)
	if err != nil {
		return nil, nil, err
	}
	bound, err := serving.Listen(ctx, serving.Options{
		Name: "webhook", Address: net.JoinHostPort("", strconv.Itoa(c.Port)), Handler: s.Handler,
		TLS:         &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get},
		ReadTimeout: readTimeout, WriteTimeout: writeTimeout, Logger: s.Logger,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("binding the webhook server (--webhook-port): %w", err)
	}
	return bound, func(ctx context.Context) {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			s.Observe(false, err)
			s.Logger.Error("the webhook's certificate is not renewed any more", "error", err.Error())
		}
	}, nil
}

type (
	getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	renewing       = func(context.Context) error
)

func (c *Config) certificate(s Serving) (getCertificate, renewing, error) {
	if c.CertMode != selfSigned {
		mounted, err := webhookcert.Mounted(c.CertDir)
		if err != nil {
			return nil, nil, fmt.Errorf("--webhook-cert-dir: %w; mount a certificate, or have one made with --webhook-cert-mode=self-signed, "+
				"or do without with --enable-webhook=false", err)
		}
		return mounted.GetCertificate, mounted.Start, nil
	}
	namespace, err := s.Places.Namespace()
	if errors.Is(err, access.ErrNoNamespace) {
		err = errors.New("the namespace of the webhook's Service is not known; set it, or POD_NAMESPACE")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--webhook-service-namespace: %w", err)
	}
	uncached, err := client.New(s.Cluster, client.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for the webhook's configuration: %w", err)
	}
	made, err := webhookcert.NewSelfSigned(webhookcert.Options{
		ServiceName: c.ServiceName, ServiceNamespace: namespace, Validity: c.CertValidity,
		Configuration: c.ConfigName, Client: uncached, Observe: s.Observe,
	})
	if err != nil {
		return nil, nil, err
	}
	return made.GetCertificate, made.Start, nil
}
