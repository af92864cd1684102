package tenant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// defaultMaxAccounts bounds the tokens that are kept, about 2 KiB each.
const defaultMaxAccounts = 4096

// Options are what Clients are made of.
type Options struct {
	Base   *rest.Config                        // the API server, how to reach it and how to trust it
	Issuer client.SubResourceClientConstructor // a client that may create serviceaccounts/token
	// MaxAccounts bounds for how many accounts a token is kept; zero is 4096.
	MaxAccounts int
	Now         func() time.Time // nil is time.Now
}

// Clients makes clients that act as ServiceAccounts. It can be used concurrently.
type Clients struct {
	config    *rest.Config // without credentials
	server    *url.URL
	transport http.RoundTripper
	tokens    *tokens
}

// NewClients prepares clients of one API server. All share its connections.
func NewClients(options Options) (*Clients, error) {
	config := rest.AnonymousClientConfig(options.Base)
	// One transport for all: one made for each client would be kept by client-go for ever where the configuration has a
	// dialer of its own.
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("making the transport of tenants: %w", err)
	}
	server, _, err := rest.DefaultServerUrlFor(options.Base) // whose certificate may be what says that it is https
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	config.Host = server.String()                   // with its scheme, which no longer follows from
	config.TLSClientConfig = rest.TLSClientConfig{} // the TLS settings; these are in the transport
	config.Dial, config.Proxy = nil, nil            // as are these
	config.RateLimiter = nil                        // one for all: a tenant would wait for the others
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.MaxAccounts == 0 {
		options.MaxAccounts = defaultMaxAccounts
	}
	return &Clients{
		config: config, server: server, transport: transport,
		tokens: &tokens{issuer: options.Issuer, now: options.Now, cache: lru.New(options.MaxAccounts)},
	}, nil
}

// Config returns the configuration for any kind of client that acts as the account. Nothing is asked of the API server
// before the first request of that client, which is where a MissingError appears.
func (c *Clients) Config(account Account) *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Transport = &transport{account: account, server: c.server, tokens: c.tokens, next: c.transport}
	return config
}

// UID returns the UID of the account as its present token has it: another one after the account was made anew.
func (c *Clients) UID(ctx context.Context, account Account) (types.UID, error) {
	t, err := c.tokens.get(ctx, account)
	return t.uid, err
}

// transport adds an account's token to requests.
type transport struct {
	account Account
	server  *url.URL
	tokens  *tokens
	next    http.RoundTripper
}

// RoundTrip sends a request as the account. Where its token is refused, it is sent once more with a new one.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	// A redirect leads elsewhere, or to where nothing is encrypted. The token is for the API server alone.
	if request.URL.Host != t.server.Host || request.URL.Scheme != t.server.Scheme {
		closeBody(request)
		return nil, errors.New("sending a tenant's request: it was redirected to another host")
	}
	used, err := t.tokens.get(request.Context(), t.account)
	if err != nil {
		closeBody(request)
		return nil, err
	}
	response, err := t.next.RoundTrip(withToken(request, used))
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	t.tokens.drop(t.account, used)
	again, ok := rewind(request)
	if !ok {
		return response, nil
	}
	_, _ = io.CopyN(io.Discard, response.Body, 4096) // so that the connection can be used again
	_ = response.Body.Close()
	used, err = t.tokens.get(request.Context(), t.account)
	if err != nil {
		closeBody(again)
		return nil, err
	}
	response, err = t.next.RoundTrip(withToken(again, used))
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		t.tokens.drop(t.account, used)
	}
	return response, err
}

// WrappedRoundTripper lets client-go find the transport behind, to close its idle connections.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// withToken returns a copy, because a RoundTripper must not change the request.
func withToken(request *http.Request, t token) *http.Request {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+t.value)
	return request
}

// rewind returns the request with its body from the start, if that can be read again.
func rewind(request *http.Request) (*http.Request, bool) {
	if request.Body == nil || request.Body == http.NoBody {
		return request, true
	}
	if request.GetBody == nil {
		return nil, false
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, false
	}
	request = request.Clone(request.Context())
	request.Body = body
	return request, true
}

func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close()
	}
}
