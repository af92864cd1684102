package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Options describe one HTTP server.
type Options struct {
	Name         string // in the log
	Address      string // host:port; port 0 takes a free one
	Handler      http.Handler
	TLS          *tls.Config   // nil serves plain text
	ReadTimeout  time.Duration // of a whole request; 0 is no limit
	WriteTimeout time.Duration // of a response; 0 is no limit
	Logger       *slog.Logger
}

// idleTimeout ends keep-alive connections that nobody uses.
const idleTimeout = 2 * time.Minute

// Server is an HTTP server with its listener.
type Server struct {
	name     string
	listener net.Listener
	http     *http.Server
	logger   *slog.Logger
	draining atomic.Bool
}

// Listen binds the server's address. Serve answers.
func Listen(ctx context.Context, o Options) (*Server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	s := &Server{name: o.Name, listener: listener, logger: o.Logger}
	s.http = &http.Server{
		Handler:           s.endConnections(o.Handler),
		TLSConfig:         o.TLS,
		ReadTimeout:       o.ReadTimeout,
		ReadHeaderTimeout: o.ReadTimeout,
		WriteTimeout:      o.WriteTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Address is what the server is bound to.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve answers requests until Shutdown, and then returns nil.
func (s *Server) Serve() error {
	s.logger.Info("serving", "server", s.name, "address", s.Address())
	serve := func() error { return s.http.Serve(s.listener) }
	if s.http.TLSConfig != nil {
		serve = func() error { return s.http.ServeTLS(s.listener, "", "") } // the certificate is in the configuration
	}
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s on %s: %w", s.name, s.Address(), err)
	}
	return nil
}

// EndKeepAlives makes each response the last one of its connection. Requests are still answered. An idle connection is
// left open, because the next request may already be on its way.
func (s *Server) EndKeepAlives() { s.draining.Store(true) }

func (s *Server) endConnections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Shutdown stops listening and waits until the accepted requests have been answered. When ctx ends first, it cuts them
// off and says so.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err == nil {
		return nil
	}
	_ = s.http.Close() // the error that counts is the one that led here
	return fmt.Errorf("draining %s: requests were cut off: %w", s.name, err)
}

// Close frees the address of a server that was never served.
func (s *Server) Close() error { return s.listener.Close() }
