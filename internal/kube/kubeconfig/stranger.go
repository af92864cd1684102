package kubeconfig

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// stranger asks a server that a tenant has named, and that need not be an API server: it may be anything that the controller
// reaches and the tenant does not. What such a server answers must not end in a message that the tenant reads.
type stranger struct{ next http.RoundTripper }

var errRedirected = errors.New("the server redirects elsewhere, which no API server does")

// RoundTrip implements http.RoundTripper.
func (s stranger) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400 && response.StatusCode != http.StatusNotModified:
		_ = response.Body.Close() // nothing was read
		return nil, errRedirected
	case response.StatusCode >= 400 && !fromAPI(response):
		_ = response.Body.Close()
		hidden := "it answered " + strconv.Itoa(response.StatusCode) + ", and not as an API server does"
		response.Body = io.NopCloser(strings.NewReader(hidden))
		response.ContentLength = int64(len(hidden))
		response.Header.Set("Content-Length", strconv.Itoa(len(hidden)))
		response.Header.Set("Content-Type", "text/plain")
	}
	return response, nil
}

// fromAPI says whether an error has a type that API servers send. The libraries show texts of other types.
func fromAPI(response *http.Response) bool {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || kind == "application/vnd.kubernetes.protobuf" || kind == "application/cbor")
}
