package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/render/server"
	"github.com/stagewright/stagewright/internal/serving"
)

func (f *fixture) dial() net.Conn {
	f.t.Helper()
	connection, err := net.Dial("tcp", f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	return connection
}

// TestWire_HugeBody: 100 MB are announced and never read.
func TestWire_HugeBody(t *testing.T) {
	f := serve(t, map[string]string{"snippets/a/main.jsonnet": "function(a) a"})
	for name, request := range map[string]string{
		"announced": "Content-Length: 104857600\r\n\r\n",
		"chunked":   "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + strings.Repeat("x", 0x200000) + "\r\n0\r\n\r\n",
	} {
		connection := f.dial()
		go func() { // the server may close before all of it is written
			_, _ = io.WriteString(connection, "POST /jsonnet/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+request)
		}()
		r := f.read(connection, http.MethodPost)
		if problem := r.problem(t); r.status != 413 || problem.Code != server.CodeRequestTooLarge || !r.closes {
			t.Errorf("%s: %d %v", name, r.status, r.header)
		}
	}
}

func TestWire_HugeRequestLine(t *testing.T) {
	f := serve(t, map[string]string{"snippets/a/main.jsonnet": "1"})
	if r := f.get("/jsonnet/a?x=" + strings.Repeat("y", 2<<20)); r.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", r.status)
	}
}

// TestWire_SlowClients are cut off at the read timeout, wherever they stop.
func TestWire_SlowClients(t *testing.T) {
	f := serve(t, map[string]string{"snippets/a/main.jsonnet": "function(a) a"}, func(s *settings) {
		s.readTimeout = 200 * time.Millisecond
	})
	for name, c := range map[string]struct {
		sent   string
		answer string
	}{
		"nothing":         {"", ""},
		"half a header":   {"GET /jsonnet/a HT", ""},
		"half a body":     {"POST /jsonnet/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"a\"", "HTTP/1.1 400 Bad Request"},
		"no end of chunk": {"POST /jsonnet/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{", "HTTP/1.1 400 Bad Request"},
	} {
		connection := f.dial()
		if _, err := io.WriteString(connection, c.sent); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(connection) // ends when the server closes
		if err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(string(answer), c.answer) || c.answer == "" && strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Errorf("%s: answer %q, want %q", name, answer, c.answer)
		}
	}
}

// TestWire_ClientsThatLeave free their slots.
func TestWire_ClientsThatLeave(t *testing.T) {
	f := serve(t, map[string]string{"snippets/a/main.jsonnet": "std.length(std.range(1, 1000000))"})
	for range 8 {
		connection := f.dial()
		if _, err := io.WriteString(connection, "GET /jsonnet/a HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		_ = connection.Close()
	}
	waitFor(t, func() bool { return f.engine.Counters().InFlight == 0 })
	if r := f.get("/jsonnet/a"); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestServer_Drains: once keep-alives end, a response closes its connection, and no accepted request is lost.
func TestServer_Drains(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{})
	s, err := serving.Listen(t.Context(), serving.Options{
		Name: "test", Address: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				close(entered)
				<-release
			}
			_, _ = io.WriteString(w, "done")
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()

	connection, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	reader := bufio.NewReader(connection)
	exchange := func() *http.Response {
		t.Helper()
		if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		return r
	}
	if r := exchange(); r.Close {
		t.Error("a connection was closed before the end")
	}
	s.EndKeepAlives()
	if r := exchange(); !r.Close || r.StatusCode != http.StatusOK {
		t.Errorf("after keep-alives ended: status %d, close %v", r.StatusCode, r.Close)
	}

	slow := make(chan error, 1)
	go func() {
		r, err := http.Get("http://" + s.Address() + "/slow")
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
		}
		slow <- err
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	if err := <-served; err != nil {
		t.Errorf("serving ended with %v", err)
	}
	close(release)
	if err := errors.Join(<-slow, <-stopped); err != nil {
		t.Error(err)
	}
}

func TestServer_CutsOffWhatDoesNotEnd(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{})
	s, err := serving.Listen(t.Context(), serving.Options{
		Name: "test", Address: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-release }),
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve() }()
	go func() { _, _ = http.Get("http://" + s.Address()) }()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("error = %v", err)
	}
	close(release)
}

func TestProbes(t *testing.T) {
	var readiness serving.Readiness
	s := listen(t, serving.Options{
		Name: "management", Address: "127.0.0.1:0", Handler: server.Probes(&readiness, nil, slog.New(slog.DiscardHandler)),
		Logger: slog.New(slog.DiscardHandler),
	})
	check := func(path string, status int, body string) {
		t.Helper()
		r, err := http.Get("http://" + s.Address() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		got, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != status || string(got) != body || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %s, want %d %s", path, r.StatusCode, got, r.Header.Get("Content-Type"), status, body)
		}
	}
	check("/live", 200, `{"status":"alive"}`)
	check("/start", 503, `{"status":"starting"}`)
	check("/ready", 503, `{"status":"starting"}`)
	readiness.Set(serving.Ready)
	check("/start", 200, `{"status":"ready"}`)
	check("/ready", 200, `{"status":"ready"}`)
	readiness.Set(serving.ShuttingDown)
	check("/ready", 503, `{"status":"shutting down"}`)
	check("/live", 200, `{"status":"alive"}`)
	for path, status := range map[string]int{"/operator": 404, "/": 404, "/ready/": 404} {
		r, err := http.Get("http://" + s.Address() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != status {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, status)
		}
	}
}
