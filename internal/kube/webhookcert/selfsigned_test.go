package webhookcert

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// server stands for the API server: it has one configuration.
type server struct {
	client.Client
	mu            sync.Mutex
	configuration admissionv1.ValidatingWebhookConfiguration
	err           error
	patches       int
}

func (s *server) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.configuration.DeepCopyInto(object.(*admissionv1.ValidatingWebhookConfiguration))
	return nil
}

func (s *server) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.patches++
	object.(*admissionv1.ValidatingWebhookConfiguration).DeepCopyInto(&s.configuration)
	return nil
}

func (s *server) bundle() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.configuration.Webhooks[0].ClientConfig.CABundle
}

// set changes what the server does from now on.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// trusts says whether a client with the bundle accepts what is served now.
func (s *server) trusts(t *testing.T, self *SelfSigned) bool {
	t.Helper()
	certificate, err := self.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return verify(t, certificate, s.bundle(), "shop-webhook.team.svc") == nil
}

func verify(t *testing.T, certificate *tls.Certificate, bundle []byte, host string) error {
	t.Helper()
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: time.Now()})
	return err
}

func newServer() *server {
	service := &admissionv1.ServiceReference{Name: "shop-webhook", Namespace: "team"}
	return &server{configuration: admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{
		{Name: "ours", ClientConfig: admissionv1.WebhookClientConfig{Service: service}},
		{Name: "foreign", ClientConfig: admissionv1.WebhookClientConfig{}},
	}}}
}

func newReplica(t *testing.T, c client.Client, validity time.Duration) *SelfSigned {
	t.Helper()
	self, err := NewSelfSigned(Options{
		ServiceName: "shop-webhook", ServiceNamespace: "team", Validity: validity, Configuration: "shop", Client: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	return self
}

func TestStart_IsTrustedAtEveryMomentOfARotation(t *testing.T) {
	const validity = 9 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		api := newServer()
		self := newReplica(t, api, validity)
		renewals := 0
		self.options.Observe = func(renewed bool, err error) {
			if !renewed || err != nil {
				t.Errorf("observed %v, %v", renewed, err)
			}
			renewals++
		}
		go func() { _ = self.Start(t.Context()) }()
		synctest.Wait()
		first := self.current.Load()
		var switched time.Duration
		for start := time.Now(); time.Since(start) < 4*validity; {
			if !api.trusts(t, self) {
				t.Fatalf("after %v what is served is not trusted", time.Since(start))
			}
			if switched == 0 && self.current.Load() != first {
				switched = time.Since(start)
				if !bytes.Contains(api.bundle(), first.authority) {
					t.Error("the authority before is gone while its certificate is valid")
				}
			}
			time.Sleep(30 * time.Second) // of the test's own clock
			synctest.Wait()
		}
		if switched < validity/3 || switched > validity/3+2*time.Minute {
			t.Errorf("renewed after %v, want a third of %v", switched, validity)
		}
		if renewals < 11 || renewals > 12 {
			t.Errorf("%d renewals in 12 thirds", renewals)
		}
		if n := bytes.Count(api.bundle(), []byte("BEGIN")); n > 4 {
			t.Errorf("%d authorities are left, expired ones too", n)
		}
		if api.patches > 40 {
			t.Errorf("%d patches: the bundle is written without a change", api.patches)
		}
		if len(api.configuration.Webhooks[1].ClientConfig.CABundle) > 0 {
			t.Error("a webhook of another service was changed")
		}
	})
}

func TestStart_UsesNoCertificateThatIsNotTrustedYet(t *testing.T) {
	const validity = 9 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		api := newServer()
		self := newReplica(t, api, validity)
		go func() { _ = self.Start(t.Context()) }()
		synctest.Wait()
		first := self.current.Load()
		api.set(func() { api.err = errors.New("gone") })
		time.Sleep(validity / 2)
		synctest.Wait()
		if self.current.Load() != first || !api.trusts(t, self) {
			t.Error("it was renewed although nobody can know")
		}
		api.set(func() { api.err = nil })
		time.Sleep(3 * checkInterval)
		synctest.Wait()
		if self.current.Load() == first || !api.trusts(t, self) {
			t.Error("it was not renewed after the API server came back")
		}
	})
}

// TestStart_RenewsWhatIsNotValidYet: the program started while the machine's clock was ahead, and then it was set right.
func TestStart_RenewsWhatIsNotValidYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer()
		self := newReplica(t, api, 9*time.Hour)
		ahead, err := issue("shop-webhook", "team", 9*time.Hour, time.Now().Add(2*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		self.current.Store(ahead)
		go func() { _ = self.Start(t.Context()) }()
		synctest.Wait()
		if api.trusts(t, self) {
			t.Fatal("the certificate is valid: the test shows nothing")
		}
		time.Sleep(2 * settleTime)
		synctest.Wait()
		if !api.trusts(t, self) {
			t.Error("a certificate is served that is not valid yet")
		}
	})
}

func TestStart_PublishesWhenItCanAndAgainWhenReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer()
		api.err = errors.New("not yet")
		self := newReplica(t, api, time.Hour)
		go func() { _ = self.Start(t.Context()) }()
		synctest.Wait()
		if self.Check(nil) == nil {
			t.Error("it is ready although nothing is published")
		}
		api.set(func() { api.err = nil })
		time.Sleep(firstRetry)
		synctest.Wait()
		if err := self.Check(nil); err != nil || !api.trusts(t, self) {
			t.Errorf("it is not trusted: %v", err)
		}
		api.set(func() { api.configuration.Webhooks[0].ClientConfig.CABundle = nil })
		time.Sleep(checkInterval)
		synctest.Wait()
		if !api.trusts(t, self) {
			t.Error("a bundle that was reset stays so")
		}
	})
}

func TestMerge(t *testing.T) {
	now := time.Now()
	made := func(validity time.Duration) []byte {
		i, err := issue("s", "n", validity, now)
		if err != nil {
			t.Fatal(err)
		}
		return i.authority
	}
	expired, other, mine, next := made(-time.Minute), made(time.Hour), made(time.Hour), made(time.Hour)
	foreignText := []byte("# made by hand\n")
	for name, c := range map[string]struct{ bundle, want [][]byte }{
		"empty":             {nil, [][]byte{mine, next}},
		"other replicas":    {[][]byte{other}, [][]byte{other, mine, next}},
		"expired":           {[][]byte{expired, other}, [][]byte{other, mine, next}},
		"there already":     {[][]byte{next, other, mine}, [][]byte{next, other, mine}},
		"twice":             {[][]byte{other, other}, [][]byte{other, mine, next}},
		"not a certificate": {[][]byte{foreignText, other}, [][]byte{other, mine, next}},
	} {
		if got := merge(slices.Concat(c.bundle...), [][]byte{mine, next}, now); !bytes.Equal(got, slices.Concat(c.want...)) {
			t.Errorf("%s: the bundle has %d certificates, want %d", name, bytes.Count(got, []byte("BEGIN")), len(c.want))
		}
	}
	var many [][]byte
	for range maxAuthorities {
		many = append(many, made(time.Hour))
	}
	full := merge(slices.Concat(many...), [][]byte{mine}, now)
	if want := slices.Concat(append(many[1:], mine)...); !bytes.Equal(full, want) {
		t.Error("a full bundle does not lose its oldest authority")
	}
}

func TestIssue_NamesTheService(t *testing.T) {
	i, err := issue("shop-webhook", "team", time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"shop-webhook.team.svc": true, "shop-webhook.team.svc.cluster.local": true, "shop-webhook.other.svc": false,
	} {
		if err := verify(t, i.serving, i.authority, host); (err == nil) != want {
			t.Errorf("%s: %v, want trusted: %v", host, err, want)
		}
	}
}

func TestNewSelfSigned_RefusesWhatIsMissing(t *testing.T) {
	good := Options{ServiceName: "s", ServiceNamespace: "n", Configuration: "c", Validity: time.Hour}
	for name, spoil := range map[string]func(*Options){
		"service":       func(o *Options) { o.ServiceName = "" },
		"namespace":     func(o *Options) { o.ServiceNamespace = "" },
		"configuration": func(o *Options) { o.Configuration = "" },
		"validity":      func(o *Options) { o.Validity = 0 },
		"too short":     func(o *Options) { o.Validity = time.Nanosecond },
	} {
		options := good
		spoil(&options)
		if _, err := NewSelfSigned(options); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
