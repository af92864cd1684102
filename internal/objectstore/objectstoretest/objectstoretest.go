// Package objectstoretest runs a real S3 server for tests, and puts faults in front of it.
//
// It knows nothing of what is stored.
package objectstoretest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/objectstore"
)

// What the server is started with.
const (
	AccessKey = "test-access-key"
	SecretKey = "test-secret-key"
	Region    = "eu-test-1"
	Bucket    = "artifacts"
)

const startTimeout = 30 * time.Second

// Start runs an S3 server with one empty bucket until the test ends, and returns how to reach it. Without the server's
// program it skips the test.
func Start(t testing.TB) objectstore.Config {
	t.Helper()
	program := filepath.Join(repository(t), "bin", "versitygw")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no S3 server to test with: run 'make peers' (about a minute, once)")
	}
	directory := t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, Bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	const attempts = 3 // somebody else may take the port between looking and starting
	for range attempts {
		if address, ok := start(t, program, directory); ok {
			return objectstore.Config{
				Endpoint: address, Bucket: Bucket, Region: Region, AccessKey: AccessKey, SecretKey: SecretKey,
			}
		}
	}
	t.Fatal("the S3 server does not start")
	return objectstore.Config{}
}

func start(t testing.TB, program, directory string) (string, bool) {
	t.Helper()
	address := freeAddress(t)
	var output bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	//nolint:gosec // the program is one that this repository builds
	server := exec.CommandContext(ctx, program, "--port", address, "--access", AccessKey, "--secret", SecretKey,
		"--region", Region, "--quiet", "posix", "--sidecar", t.TempDir(), directory)
	server.Stdout, server.Stderr = &output, &output
	if err := server.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	deadline := time.After(startTimeout)
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-ended:
			t.Logf("the S3 server ended: %s", output.String())
			return "", false
		case <-deadline:
			t.Log("the S3 server does not answer")
			return "", false
		case <-poll.C:
			if connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address); err == nil {
				_ = connection.Close()
				return address, true
			}
		}
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// repository is the directory of the module.
func repository(t testing.TB) string {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(directory, "go.mod")); err == nil {
			return directory
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			t.Fatal("there is no go.mod above the test")
		}
		directory = parent
	}
}

// Intercept puts a proxy in front of a server. For each request, before may answer instead of the server and then returns
// true. It returns how to reach the proxy.
func Intercept(
	t testing.TB, config objectstore.Config, before func(http.ResponseWriter, *http.Request) bool,
) objectstore.Config {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: config.Endpoint})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !before(w, r) {
			proxy.ServeHTTP(w, r) // with the Host that was signed
		}
	}))
	t.Cleanup(server.Close)
	config.Endpoint = server.Listener.Addr().String()
	return config
}
