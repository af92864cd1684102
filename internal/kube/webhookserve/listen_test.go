package webhookserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// serve serves a webhook that admits everything, without TLS.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	admits := admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })
	server := httptest.NewServer(Handler("/validate", admits, slog.New(slog.DiscardHandler)))
	t.Cleanup(server.Close)
	return server
}

// review asks about an object of a size.
func review(t *testing.T, server *httptest.Server, size int) (*http.Response, admissionv1.AdmissionReview) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"request": map[string]any{"uid": "1", "operation": "CREATE", "object": map[string]any{"text": strings.Repeat("a", size)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // as long as the API server waits
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/validate", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil && response.StatusCode == http.StatusOK {
		t.Fatal(err)
	}
	return response, answer
}

// TestHandler_SlowRequestsKeepNobodyWaiting: whoever reaches the port can begin a request and never end it.
func TestHandler_SlowRequestsKeepNobodyWaiting(t *testing.T) {
	server := serve(t)
	for i := range 4 * maxInFlight {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		if _, err := fmt.Fprintf(connection, "POST /validate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", 1000+i); err != nil {
			t.Fatal(err)
		}
	}
	if _, answer := review(t, server, 1<<20); answer.Response == nil || !answer.Response.Allowed || answer.Response.UID != types.UID("1") {
		t.Errorf("the answer is %+v", answer.Response)
	}
}

func TestHandler_RefusesWhatIsTooLarge(t *testing.T) {
	if response, _ := review(t, serve(t), maxBody); response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("the answer is %s", response.Status)
	}
}

func TestBuffers_TakeNothingForWhatIsTooLarge(t *testing.T) {
	b := newBuffers(maxBody + 2*pieceSize)
	for range 2 {
		if _, _, err := b.read(t.Context(), io.LimitReader(zeros{}, maxBody+1)); !errors.Is(err, errTooLarge) {
			t.Errorf("error %v", err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestBuffers_GiveBackWhatTheyTook, whether a body was read to its end or not.
func TestBuffers_GiveBackWhatTheyTook(t *testing.T) {
	b := newBuffers(2 * pieceSize)
	whole := strings.Repeat("a", 2*pieceSize-1)
	text, giveBack, err := b.read(t.Context(), strings.NewReader(whole))
	if err != nil || string(text) != whole {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.read(ctx, strings.NewReader("a")); err == nil {
		t.Error("more was taken than there is")
	}
	giveBack()
	broken := io.MultiReader(strings.NewReader(whole), &failing{})
	if _, _, err := b.read(t.Context(), broken); err == nil {
		t.Error("a broken body was read")
	}
	if _, giveBack, err := b.read(t.Context(), strings.NewReader(whole)); err != nil {
		t.Error(err)
	} else {
		giveBack()
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
