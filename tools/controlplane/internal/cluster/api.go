package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/stagewright/stagewright/tools/controlplane/internal/certs"
)

const (
	pollInterval   = 20 * time.Millisecond
	requestTimeout = 15 * time.Second
	longestAnswer  = 8 << 20 // bytes
	shownOfAnswer  = 500     // bytes, in messages
)

// api is a client of the servers, as an administrator. Few requests are made, so it is plain HTTP.
type api struct {
	server string
	http   *http.Client
}

func newAPI(server string, authority []byte, client certs.Pair) (*api, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	certificate, err := tls.X509KeyPair(client.Certificate, client.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the administrator's certificate: %w", err)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
		ForceAttemptHTTP2: true,
	}
	return &api{server: server, http: &http.Client{Transport: transport, Timeout: requestTimeout}}, nil
}

// healthy asks a probe once; nil means that it answered 200.
func (a *api) healthy(ctx context.Context, url string) error {
	_, err := a.do(ctx, http.MethodGet, url, "", nil)
	return err
}

// apply creates or changes an object, by server-side apply. The body may be YAML.
func (a *api) apply(ctx context.Context, path string, object []byte) error {
	const query = "?fieldManager=controlplane&force=true"
	_, err := a.do(ctx, http.MethodPatch, a.server+path+query, "application/apply-patch+yaml", object)
	return err
}

// condition reads an object and returns nil when its condition of the type is true, and otherwise an error that says
// what it is.
func (a *api) condition(ctx context.Context, path, kind string) error {
	answer, err := a.do(ctx, http.MethodGet, a.server+path, "", nil)
	if err != nil {
		return err
	}
	var object struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := json.Unmarshal(answer, &object); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	for _, c := range object.Status.Conditions {
		if c.Type == kind && c.Status == "True" {
			return nil
		} else if c.Type == kind {
			return fmt.Errorf("%s has %s=%s, %s: %s", path, kind, c.Status, c.Reason, c.Message)
		}
	}
	return fmt.Errorf("%s has no condition %s yet", path, kind)
}

func (a *api) do(ctx context.Context, method, url, contentType string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := a.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, url, response.Status, answer[:min(len(answer), shownOfAnswer)])
	}
	return answer, nil
}

// eventually calls check until it returns nil. When the context ends first, it returns its cause, with the last error
// of check if the cause is only that time is up.
func eventually(ctx context.Context, check func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if errors.Is(cause, errTimeout) && last != nil {
				return fmt.Errorf("%w: %w", cause, last)
			}
			return cause
		case <-ticker.C:
		}
	}
}
