package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// ErrNotFound is that of an artifact that its server does not have, or has no more.
var ErrNotFound = errors.New("artifact not found")

// FetchOptions say how artifacts are fetched. Start from DefaultFetchOptions.
type FetchOptions struct {
	MaxBytes int64         // of an archive
	Attempts int           // at least one; a failure that may pass is tried again until they are used up
	Timeout  time.Duration // of the whole fetch with all its attempts: a slow server holds its caller no longer
	Silence  time.Duration // of a server, before an attempt is given up: until the response begins
	Delay    time.Duration // before the second attempt; it doubles with each further one, up to MaxDelay
	MaxDelay time.Duration

	// Permit, if there is one, is asked before each connection with the address it will really go to, when names were
	// resolved. Its error ends the fetch.
	Permit func(netip.AddrPort) error
}

// DefaultFetchOptions give up after four attempts, in less than 2 s when the server fails at once.
func DefaultFetchOptions() FetchOptions {
	return FetchOptions{
		MaxBytes: DefaultLimits().ArchiveBytes,
		Attempts: 4,
		Timeout:  time.Minute,
		Silence:  10 * time.Second,
		Delay:    100 * time.Millisecond,
		MaxDelay: time.Second,
		Permit:   PermitPublished,
	}
}

// PermitPublished forbids addresses that nobody publishes artifacts at and that answer anybody who can reach them: those of
// the link, where the metadata services of clouds give out credentials, and the other places of such services. Who writes
// the status of a source chooses what its URL asks for.
func PermitPublished(to netip.AddrPort) error {
	address := to.Addr().Unmap()
	if address.IsLinkLocalUnicast() || address.IsMulticast() || address.IsUnspecified() || isMetadata(address.WithZone("")) {
		return errors.New("artifacts are not fetched from link-local addresses and metadata services")
	}
	return nil
}

// PermitElsewhere forbids addresses of this machine besides those that PermitPublished does: what listens there trusts who can
// reach it, and the status of a source must not choose what it is asked.
func PermitElsewhere(to netip.AddrPort) error {
	if to.Addr().Unmap().IsLoopback() {
		return errors.New("artifacts are not fetched from the operator's own machine")
	}
	return PermitPublished(to)
}

// isMetadata knows the metadata services that are not link-local: of AWS by IPv6, Alibaba, and Oracle.
func isMetadata(address netip.Addr) bool {
	switch address.String() {
	case "fd00:ec2::254", "100.100.100.200", "192.0.0.192":
		return true
	default:
		return false
	}
}

const (
	dialTimeout     = 10 * time.Second
	idleConnections = 10 * time.Second // few requests go to a server, and the server may be replaced
	maxRedirects    = 3
)

// Fetcher fetches artifacts. It may be used concurrently.
type Fetcher struct {
	options FetchOptions
	client  *http.Client
}

// NewFetcher makes a fetcher. It uses no proxy: artifacts are served inside the cluster, and Permit would see the address
// of the proxy instead of theirs.
func NewFetcher(o FetchOptions) *Fetcher {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if o.Permit != nil {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err == nil {
				err = o.Permit(netip.AddrPortFrom(to.Addr().Unmap(), to.Port()))
			}
			if err != nil {
				return permanent(fmt.Errorf("connecting to %s: %w", address, err))
			}
			return nil
		}
	}
	return &Fetcher{options: o, client: &http.Client{
		CheckRedirect: checkRedirect,
		Transport: &http.Transport{
			DialContext:           dialer.DialContext,
			DisableCompression:    true, // the archive is compressed already, and its bytes have to arrive as they are
			ForceAttemptHTTP2:     true,
			IdleConnTimeout:       idleConnections,
			MaxIdleConnsPerHost:   4,
			ResponseHeaderTimeout: o.Silence,
			TLSHandshakeTimeout:   dialTimeout,
		},
	}}
}

// checkRedirect lets a server point to another path of its own, and to nothing else: a URL that was checked, or came from
// somebody trusted, must not turn into a request to another machine.
func checkRedirect(request *http.Request, via []*http.Request) error {
	from, to := via[0].URL, request.URL
	if to.Scheme != from.Scheme || to.Host != from.Host {
		return permanent(fmt.Errorf("it redirects to another server, %s://%s, which is not followed", to.Scheme, to.Host))
	}
	if len(via) > maxRedirects {
		return permanent(fmt.Errorf("it redirects more than %d times", maxRedirects))
	}
	return nil
}

// Fetch returns the archive at a URL when it has the digest. An archive with another digest is ErrDigestMismatch and is
// not fetched again; a missing one is ErrNotFound.
func (f *Fetcher) Fetch(ctx context.Context, address, want string) ([]byte, error) {
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" {
		return nil, fmt.Errorf("fetching artifact: %q is not an http or https URL", redact(address))
	}
	if _, err := parseDigest(want); err != nil {
		return nil, fmt.Errorf("fetching artifact %s: %w", shown(parsed), err)
	}
	archive, err := f.fetch(ctx, parsed)
	if err != nil {
		return nil, fmt.Errorf("fetching artifact %s: %w", shown(parsed), err)
	}
	if err := Verify(bytes.NewReader(archive), want); err != nil {
		return nil, fmt.Errorf("fetching artifact %s: %w", shown(parsed), err)
	}
	return archive, nil
}

// redact is for what does not parse as a URL and may still hold a password.
func redact(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "…"
	}
	return shown(parsed)
}

// shown is a URL without its password and its query, which may be a signature that lets everybody fetch.
func shown(address *url.URL) string {
	bare := *address
	if bare.RawQuery != "" {
		bare.RawQuery = "…"
	}
	return bare.Redacted()
}

func (f *Fetcher) fetch(ctx context.Context, from *url.URL) ([]byte, error) {
	tooSlow := fmt.Errorf("it took longer than %s: %w", f.options.Timeout, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, f.options.Timeout, tooSlow)
	defer cancel()
	delay := f.options.Delay
	for attempt := 1; ; attempt++ {
		archive, err := f.attempt(ctx, from)
		var final *permanentError
		switch {
		case err == nil:
			return archive, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &final):
			return nil, err
		case attempt >= f.options.Attempts:
			return nil, fmt.Errorf("%w (attempt %d of %d)", err, attempt, f.options.Attempts)
		}
		if err := wait(ctx, jitter(delay)); err != nil {
			return nil, err
		}
		delay = min(2*delay, f.options.MaxDelay)
	}
}

// jitter keeps clients that failed together from coming back together.
func jitter(d time.Duration) time.Duration {
	if d < 2 {
		return d
	}
	return d/2 + rand.N(d/2) //nolint:gosec // nothing secret depends on it
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func (f *Fetcher) attempt(ctx context.Context, from *url.URL) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), http.NoBody)
	if err != nil {
		return nil, permanent(err)
	}
	response, err := f.client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) { // the URL is named already, and here it may have a password
			err = wrapped.Err
		}
		return nil, err
	}
	// Closing early ends the connection. That is cheaper than reading what a server may send without end.
	defer func() { _ = response.Body.Close() }()
	if err := checkStatus(response); err != nil {
		return nil, err
	}
	return f.read(response)
}

func checkStatus(response *http.Response) error {
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		return permanent(ErrNotFound)
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return answered(code)
	default:
		return permanent(answered(code))
	}
}

// answered tells a status without the server's own words, which may be of any length.
func answered(code int) error {
	return fmt.Errorf("the server answered %s", strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code))))
}

func (f *Fetcher) read(response *http.Response) ([]byte, error) {
	limit := f.options.MaxBytes
	if response.ContentLength > limit {
		return nil, permanent(tooLarge(limit))
	}
	var archive bytes.Buffer
	if response.ContentLength > 0 {
		archive.Grow(int(response.ContentLength) + bytes.MinRead) // so that reading does not make it grow again
	}
	n, err := archive.ReadFrom(io.LimitReader(response.Body, limit+1)) // the length that was announced may be missing
	if err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	if n > limit {
		return nil, permanent(tooLarge(limit))
	}
	return archive.Bytes(), nil
}

func tooLarge(limit int64) error { return refuse("", "the archive has more than %d bytes", limit) }

// permanentError marks a failure that another attempt would only repeat.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

func permanent(err error) error { return &permanentError{err} }
