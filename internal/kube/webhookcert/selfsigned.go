package webhookcert

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// checkInterval is how often the bundle is looked at: an upgrade of a chart may reset it.
	checkInterval = time.Minute
	// settleTime is how long a new authority is in the bundle before its certificate is used: the API server learns of
	// it by a watch, and until then trusts the old one alone.
	settleTime = time.Minute
	firstRetry = time.Second
	// MinValidity is what leaves time to publish a new authority before the old one has expired.
	MinValidity = time.Minute
)

// Options are what a SelfSigned is made of.
type Options struct {
	ServiceName      string
	ServiceNamespace string
	Validity         time.Duration // of authority and certificate; they are replaced after a third of it
	Configuration    string        // the ValidatingWebhookConfiguration
	Client           client.Client // without a cache; it may get and patch the configuration
	// Observe, if set, is told each renewal and each failure to renew or to publish, for metrics.
	Observe func(renewed bool, err error)
}

// SelfSigned makes and renews certificates. Start runs it; a certificate is there before.
type SelfSigned struct {
	options   Options
	current   atomic.Pointer[identity]
	published atomic.Bool // the current authority has been in the bundle

	// These belong to Start.
	pending *identity // is published and not yet used
	since   time.Time // when pending was published
	retry   time.Duration
}

// NewSelfSigned makes the first certificate.
func NewSelfSigned(options Options) (*SelfSigned, error) {
	switch {
	case options.Configuration == "":
		return nil, errors.New("making webhook certificates: the ValidatingWebhookConfiguration has no name")
	case options.ServiceName == "" || options.ServiceNamespace == "":
		return nil, errors.New("making webhook certificates: the Service has no name or no namespace")
	case options.Validity < MinValidity:
		return nil, fmt.Errorf("making webhook certificates: the validity %v is shorter than %v", options.Validity, MinValidity)
	}
	s := &SelfSigned{options: options}
	first, err := s.issue()
	if err != nil {
		return nil, err
	}
	s.current.Store(first)
	return s, nil
}

func (s *SelfSigned) issue() (*identity, error) {
	return issue(s.options.ServiceName, s.options.ServiceNamespace, s.options.Validity, time.Now())
}

// GetCertificate is for tls.Config.
func (s *SelfSigned) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.current.Load().serving, nil
}

// Check is a readiness check: an error until the API server has been told whom to trust.
func (s *SelfSigned) Check(*http.Request) error {
	if !s.published.Load() {
		return errors.New("the webhook's authority is not in its configuration yet")
	}
	return nil
}

// NeedLeaderElection is false: each replica serves.
func (s *SelfSigned) NeedLeaderElection() bool { return false }

// Start publishes and renews until the context ends. It does not fail: what went wrong is tried again.
func (s *SelfSigned) Start(ctx context.Context) error {
	for {
		timer := time.NewTimer(s.advance(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// advance takes the step that is due and returns when the next one is. A new certificate is made, then its authority
// published, then, when that has settled, the certificate used; the old authority stays until it expires.
func (s *SelfSigned) advance(ctx context.Context) time.Duration {
	current := s.current.Load()
	third, pause := s.options.Validity/3, s.options.Validity/10
	if s.pending == nil && (age(current) >= third || age(current) < -clockSkew) {
		renewed, err := s.issue()
		if err != nil {
			return s.failed(ctx, err)
		}
		s.pending = renewed
	}
	authorities := [][]byte{current.authority}
	if s.pending != nil {
		authorities = append(authorities, s.pending.authority)
	}
	if err := s.publish(ctx, authorities); err != nil {
		return s.failed(ctx, err)
	}
	s.retry = 0
	s.published.Store(true)
	settle := min(settleTime, pause)
	switch {
	case s.pending == nil:
		return min(checkInterval, pause, third-age(current))
	case s.since.IsZero():
		s.since = time.Now()
		return settle
	case time.Since(s.since) < settle:
		return settle - time.Since(s.since)
	}
	s.current.Store(s.pending)
	s.pending, s.since = nil, time.Time{}
	s.observe(true, nil)
	return min(checkInterval, pause)
}

// age is how old a certificate is by the clock that the API server compares with, and not by the time that the machine has
// been running. It is negative when the clock was set back: the certificate is not valid yet.
func age(of *identity) time.Duration { return time.Now().Round(0).Sub(of.issued.Round(0)) }

// failed reports an error and returns when to try again.
func (s *SelfSigned) failed(ctx context.Context, err error) time.Duration {
	if ctx.Err() == nil {
		log.FromContext(ctx).Error(err, "the webhook's certificate is not renewed or not trusted yet; trying again")
		s.observe(false, err)
	}
	s.retry = min(max(2*s.retry, firstRetry), checkInterval)
	return s.retry
}

func (s *SelfSigned) observe(renewed bool, err error) {
	if s.options.Observe != nil {
		s.options.Observe(renewed, err)
	}
}

// publish has the webhooks of our Service trust the authorities. It writes only what differs, and only if nobody wrote
// in between, so that what another replica adds at the same time is not lost.
func (s *SelfSigned) publish(ctx context.Context, authorities [][]byte) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var configuration admissionv1.ValidatingWebhookConfiguration
		if err := s.options.Client.Get(ctx, client.ObjectKey{Name: s.options.Configuration}, &configuration); err != nil {
			return fmt.Errorf("reading ValidatingWebhookConfiguration %s: %w", s.options.Configuration, err)
		}
		before := configuration.DeepCopy()
		found, changed := false, false
		for i := range configuration.Webhooks {
			webhook := &configuration.Webhooks[i].ClientConfig
			if !s.isOurs(webhook.Service) {
				continue
			}
			found = true
			bundle := merge(webhook.CABundle, authorities, time.Now())
			changed = changed || !bytes.Equal(bundle, webhook.CABundle)
			webhook.CABundle = bundle
		}
		if !found {
			return fmt.Errorf("reading ValidatingWebhookConfiguration %s: none of its webhooks names Service %s/%s",
				s.options.Configuration, s.options.ServiceNamespace, s.options.ServiceName)
		}
		if !changed {
			return nil
		}
		// A strategic patch names the webhooks and leaves the rest of them as it is.
		patch := client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
		if err := s.options.Client.Patch(ctx, &configuration, patch); err != nil {
			return fmt.Errorf("patching ValidatingWebhookConfiguration %s: %w", s.options.Configuration, err)
		}
		return nil
	})
}

func (s *SelfSigned) isOurs(service *admissionv1.ServiceReference) bool {
	return service != nil && service.Name == s.options.ServiceName && service.Namespace == s.options.ServiceNamespace
}
