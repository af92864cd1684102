package operator

import (
	"io"
	"net/http"
	"strings"
	"sync"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

// hidden is a resource of Flux whose definition is not there for the operator until it is revealed. Tests share one control
// plane, where no definition can be removed.
type hidden struct {
	resource string

	mu       sync.Mutex
	revealed bool
	expired  bool // a watch has been told to begin anew
	watches  []io.Closer
}

func newHidden(resource string) *hidden { return &hidden{resource: resource} }

// reveal ends the watches of definitions, so that they are listed again.
func (h *hidden) reveal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revealed = true
	for _, watch := range h.watches {
		_ = watch.Close()
	}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func (h *hidden) transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch path := request.URL.Path; {
		case path == definitions && !h.revealed:
			request = request.Clone(request.Context())
			query := request.URL.Query()
			query.Set("fieldSelector", "metadata.name!="+h.resource+"."+sourcev1.GroupVersion.Group)
			request.URL.RawQuery = query.Encode()
			response, err := next.RoundTrip(request)
			if err == nil && query.Get("watch") != "" {
				h.watches = append(h.watches, response.Body)
			}
			return response, err
		case path == definitions && !h.expired && request.URL.Query().Get("watch") != "":
			h.expired = true
			return answer(request, http.StatusGone, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`), nil
		case strings.HasSuffix(path, "/"+h.resource) && !h.revealed:
			return answer(request, http.StatusNotFound, "404 page not found"), nil
		}
		h.mu.Unlock()
		defer h.mu.Lock()
		return next.RoundTrip(request)
	})
}

func answer(request *http.Request, code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}
