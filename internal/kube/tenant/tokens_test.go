package tenant

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// issuer stands for the API server: its tokens say which they are.
type issuer struct {
	client.SubResourceClient
	mu     sync.Mutex
	issued int
	uid    string
	life   time.Duration
	err    error
	claims string        // of its tokens, if they are not the usual ones
	hold   chan struct{} // if set, requests wait for it
}

func (i *issuer) SubResource(string) client.SubResourceClient { return i }

func (i *issuer) Create(ctx context.Context, _, answer client.Object, _ ...client.SubResourceCreateOption) error {
	if i.hold != nil {
		select {
		case <-i.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return i.err
	}
	i.issued++
	request := answer.(*authenticationv1.TokenRequest)
	request.Status.Token = jwt(i.uid, i.issued)
	if i.claims != "" {
		request.Status.Token = "head." + base64.RawURLEncoding.EncodeToString([]byte(i.claims)) + ".signature"
	}
	request.Status.ExpirationTimestamp = metav1.NewTime(time.Now().Add(i.life))
	return nil
}

func jwt(uid string, number int) string {
	claims := fmt.Sprintf(`{"kubernetes.io":{"serviceaccount":{"uid":%q}},"n":%d}`, uid, number)
	return "head." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".signature"
}

func newIssuer() *issuer { return &issuer{uid: "one", life: time.Hour} }

func newClients(t *testing.T, i *issuer, host string, bound int) *Clients {
	t.Helper()
	clients, err := NewClients(Options{Base: &rest.Config{Host: host, BearerToken: "own"}, Issuer: i, MaxAccounts: bound})
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

var shop = Account{Namespace: "team", Name: "shop"}

func TestGet_ReplacesATokenShortlyBeforeItsEnd(t *testing.T) {
	for name, c := range map[string]struct{ life, use time.Duration }{
		"an hour":     {time.Hour, 54 * time.Minute},
		"ten minutes": {10 * time.Minute, 9 * time.Minute},
		"too short":   {30 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newIssuer()
				i.life = c.life
				clients := newClients(t, i, "https://api", 0)
				want := 1
				for _, at := range []time.Duration{0, c.use - time.Second, c.use} {
					if at < 0 {
						continue
					}
					clients.tokens.now = func() time.Time { return time.Now().Add(at) }
					if at == c.use {
						want++
					}
					if c.use == 0 {
						want = i.issued + 1
					}
					if _, err := clients.tokens.get(t.Context(), shop); err != nil || i.issued != want {
						t.Errorf("after %v: %d issued, %v; want %d", at, i.issued, err, want)
					}
				}
			})
		})
	}
}

func TestGet_OneRequestServesAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer()
		i.hold = make(chan struct{})
		clients := newClients(t, i, "https://api", 0)
		impatient, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		var served, cancelled atomic.Int32
		get := func(ctx context.Context) {
			switch _, err := clients.tokens.get(ctx, shop); {
			case err == nil:
				served.Add(1)
			case errors.Is(err, context.Canceled):
				cancelled.Add(1)
			}
		}
		group.Go(func() { get(impatient) })
		synctest.Wait()
		for range 50 {
			group.Go(func() { get(t.Context()) })
		}
		synctest.Wait()
		cancel() // the one who asked goes away
		synctest.Wait()
		close(i.hold)
		group.Wait()
		if served.Load() != 50 || cancelled.Load() != 1 || i.issued != 1 {
			t.Errorf("%d served, %d cancelled, %d issued; want 50, 1, 1", served.Load(), cancelled.Load(), i.issued)
		}
	})
}

func TestGet_KeepsABoundedNumber(t *testing.T) {
	i := newIssuer()
	clients := newClients(t, i, "https://api", 3)
	for n := range 10 {
		if _, err := clients.tokens.get(t.Context(), Account{Namespace: "team", Name: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if kept := clients.tokens.cache.Len(); kept != 3 {
		t.Errorf("%d tokens are kept, want 3", kept)
	}
}

func TestGet_Errors(t *testing.T) {
	accounts := schema.GroupResource{Resource: "serviceaccounts"}
	for name, c := range map[string]struct {
		account Account
		err     error
		check   func(error) bool
	}{
		"missing": {shop, apierrors.NewNotFound(accounts, "shop"), func(err error) bool {
			missing := new(MissingError)
			return errors.As(err, &missing) && !missing.Replaced && missing.Account == shop
		}},
		"replaced": {Account{Namespace: "team", Name: "shop", UID: "zero"}, nil, func(err error) bool {
			missing := new(MissingError)
			return errors.As(err, &missing) && missing.Replaced
		}},
		"forbidden": {shop, apierrors.NewForbidden(accounts, "shop", nil), apierrors.IsForbidden},
	} {
		i := newIssuer()
		i.err = c.err
		clients := newClients(t, i, "https://api", 0)
		_, err := clients.tokens.get(t.Context(), c.account)
		if !c.check(err) || clients.tokens.cache.Len() > 0 {
			t.Errorf("%s: %v, with %d kept", name, err, clients.tokens.cache.Len())
		}
	}
}

func TestReadClaims_RefusesWhatIsNoTokenWithoutQuotingIt(t *testing.T) {
	for _, value := range []string{
		"", "secret", "a.secret", "a.%secret%.c", "a.c2VjcmV0.c", "a.e30.c",
		"a." + base64.RawURLEncoding.EncodeToString([]byte(`"secret"`)) + ".c",
	} {
		if got, err := readClaims(value); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("readClaims(%q) = %v, %v", value, got, err)
		}
	}
}

func TestRoundTrip_RefusedTokenIsReplacedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		accepted int // the number of the token that is accepted
		status   int
		requests int
	}{
		"accepted":           {1, http.StatusOK, 1},
		"accepted when new":  {2, http.StatusOK, 2},
		"not accepted twice": {3, http.StatusUnauthorized, 2},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer()
			var bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(body))
				if r.Header.Get("Authorization") != "Bearer "+jwt("one", c.accepted) {
					w.WriteHeader(http.StatusUnauthorized)
				}
			}))
			defer server.Close()
			response, err := post(t, newClients(t, i, server.URL, 0), server.URL)
			if err != nil || response.StatusCode != c.status || len(bodies) != c.requests {
				t.Fatalf("%v, %v after %q", response, err, bodies)
			}
			for _, body := range bodies {
				if body != "question" {
					t.Errorf("the server read %q", body)
				}
			}
		})
	}
}

func TestRoundTrip_TokenGoesToNoOtherHost(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked with %v", r.Header)
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	if _, err := post(t, newClients(t, newIssuer(), server.URL, 0), server.URL); err == nil {
		t.Error("the redirect was followed")
	}
}

func TestRoundTrip_MissingAccountIsFoundInTheClientsError(t *testing.T) {
	i := newIssuer()
	i.err = apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, "shop")
	_, err := post(t, newClients(t, i, "https://api", 0), "https://api")
	missing := new(MissingError)
	if !errors.As(err, &missing) {
		t.Errorf("%v, want a MissingError", err)
	}
}

func TestConfig_KeepsTLSAndDropsCredentials(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+jwt("one", 1) || r.Header.Get("Impersonate-User") != "" {
			t.Errorf("headers %v", r.Header)
		}
	}))
	defer server.Close()
	base := &rest.Config{
		Host: server.Listener.Addr().String(), BearerToken: "own", Username: "me", Password: "mine",
		Impersonate:     rest.ImpersonationConfig{UserName: "admin"},
		TLSClientConfig: rest.TLSClientConfig{Insecure: true, ServerName: "example.com"},
	}
	clients, err := NewClients(Options{Base: base, Issuer: newIssuer()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := post(t, clients, server.URL); err != nil {
		t.Error(err)
	}
}

func post(t *testing.T, clients *Clients, url string) (*http.Response, error) {
	t.Helper()
	c, err := rest.HTTPClientFor(clients.Config(shop))
	if err != nil {
		t.Fatal(err)
	}
	return c.Post(url, "text/plain", strings.NewReader("question"))
}

// TestGet_KeepsTokensThoughClocksDiffer: the API server's clock is what tokens are dated by.
func TestGet_KeepsTokensThoughClocksDiffer(t *testing.T) {
	for name, skew := range map[string]time.Duration{"ahead": 5 * time.Hour, "behind": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer()
			server := time.Now()
			i.claims = fmt.Sprintf(`{"iat":%d,"exp":%d,"kubernetes.io":{"serviceaccount":{"uid":"one"}}}`,
				server.Unix(), server.Add(time.Hour).Unix())
			clients := newClients(t, i, "https://api", 0)
			ours := server.Add(skew)
			clients.tokens.now = func() time.Time { return ours }
			for _, c := range []struct {
				after time.Duration
				want  int
			}{{0, 1}, {53 * time.Minute, 1}, {55 * time.Minute, 2}} {
				ours = server.Add(skew + c.after)
				if _, err := clients.tokens.get(t.Context(), shop); err != nil || i.issued != c.want {
					t.Errorf("after %v: %d tokens issued, %v; want %d", c.after, i.issued, err, c.want)
				}
			}
		})
	}
}

// TestRoundTrip_TokenIsNotSentInTheClear, neither by a redirect nor where only a client's certificate asks for TLS.
func TestRoundTrip_TokenIsNotSentInTheClear(t *testing.T) {
	clients := newClients(t, newIssuer(), "https://api.example.com", 0)
	if _, err := post(t, clients, "http://api.example.com"); err == nil || !strings.Contains(err.Error(), "redirected") {
		t.Errorf("to the same host without TLS: %v", err)
	}
	base := &rest.Config{Host: "api.example.com", TLSClientConfig: rest.TLSClientConfig{CertData: []byte("x"), KeyData: []byte("x")}}
	clients, err := NewClients(Options{Base: base, Issuer: newIssuer()})
	if err != nil {
		t.Fatal(err)
	}
	if host := clients.Config(shop).Host; !strings.HasPrefix(host, "https://") {
		t.Errorf("tenants ask %s", host)
	}
}

// TestConfig_TenantsShareNoRateLimit: one that asks much must not make the others wait.
func TestConfig_TenantsShareNoRateLimit(t *testing.T) {
	base := &rest.Config{Host: "https://api", RateLimiter: flowcontrol.NewFakeNeverRateLimiter()}
	clients, err := NewClients(Options{Base: base, Issuer: newIssuer()})
	if err != nil {
		t.Fatal(err)
	}
	if clients.Config(shop).RateLimiter != nil {
		t.Error("all tenants wait for the limiter of the base configuration")
	}
}
