package kubetest

import (
	"context"
	"io"
	"maps"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// dialTimeout is for a server on the same machine.
const dialTimeout = 10 * time.Second

// Proxy is a TCP proxy in front of the API server that can be shut. It is for tests of what goes on without one.
type Proxy struct {
	Kubeconfig      string // of the API server behind the proxy
	address, target string

	mu          sync.Mutex
	listener    net.Listener
	connections map[net.Conn]struct{}
}

// NewProxy opens a proxy for the API server of a kubeconfig.
func NewProxy(t testing.TB, kubeconfig string) *Proxy {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{connections: map[net.Conn]struct{}{}, address: "127.0.0.1:0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	for _, cluster := range config.Clusters {
		p.target = strings.TrimPrefix(cluster.Server, "https://")
		p.Open(t)
		cluster.Server = "https://" + p.address
	}
	t.Cleanup(p.Shut)
	if err := clientcmd.WriteToFile(*config, p.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	return p
}

// Open lets connections through from now on.
func (p *Proxy) Open(t testing.TB) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.address, p.listener = listener.Addr().String(), listener
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go p.pass(connection)
		}
	}()
}

func (p *Proxy) pass(from net.Conn) {
	to, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = from.Close()
		return
	}
	p.mu.Lock()
	if p.listener == nil {
		p.mu.Unlock()
		_, _ = from.Close(), to.Close()
		return
	}
	p.connections[from], p.connections[to] = struct{}{}, struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_, _ = from.Close(), to.Close()
		})
	}
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, from)
	delete(p.connections, to)
}

// Shut ends all connections and refuses new ones.
func (p *Proxy) Shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for connection := range maps.Keys(p.connections) {
		_ = connection.Close()
	}
}
