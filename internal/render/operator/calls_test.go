package operator

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// calls counts what the operator asks of the API server and of the storage. After a number of writes it lets all fail.
type calls struct {
	apiReads, apiWrites, storageWrites atomic.Int64

	wrap func(http.RoundTripper) http.RoundTripper // further, if set

	mu   sync.Mutex
	log  []string
	stop func(what string) error // asked before each call; nil lets all through
	lose func(what string) error // asked after each call that did what it should; its error hides that
}

func (c *calls) ask(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, what)
	if c.stop == nil {
		return nil
	}
	return c.stop(what)
}

// answered is asked before the caller hears of a success.
func (c *calls) answered(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lose == nil {
		return nil
	}
	return c.lose(what)
}

func (c *calls) setStop(stop func(string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = stop
}

func (c *calls) writes() int64 { return c.apiWrites.Load() + c.storageWrites.Load() }

// config counts and stops the requests of clients.
func (c *calls) config(base *rest.Config) *rest.Config {
	config := rest.CopyConfig(base)
	if c.wrap != nil {
		config.Wrap(c.wrap)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			write := request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "/token")
			if write && !strings.Contains(request.URL.Path, "/events") {
				c.apiWrites.Add(1)
			} else if !write {
				c.apiReads.Add(1)
			}
			if err := c.ask(request.Method + " " + request.URL.Path); err != nil {
				return nil, err
			}
			response, err := next.RoundTrip(request)
			if lost := c.answered(request.Method + " " + request.URL.Path); lost != nil && err == nil {
				_ = response.Body.Close()
				return nil, lost
			}
			return response, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// store counts and stops what is done to a store.
func (c *calls) store(next storage.Store) storage.Store { return &countedStore{next, c} }

type countedStore struct {
	next  storage.Store
	calls *calls
}

func (s *countedStore) Put(ctx context.Context, of storage.Snippet, packed artifact.Packed) (storage.Stored, error) {
	s.calls.storageWrites.Add(1)
	if err := s.calls.ask("store put"); err != nil {
		return storage.Stored{}, err
	}
	stored, err := s.next.Put(ctx, of, packed)
	return stored, errors.Join(err, s.calls.answered("store put"))
}

func (s *countedStore) Open(ctx context.Context, ref storage.Ref) (*storage.Blob, error) {
	if err := s.calls.ask("store open"); err != nil {
		return nil, err
	}
	return s.next.Open(ctx, ref)
}

func (s *countedStore) Stat(ctx context.Context, ref storage.Ref) (storage.Stored, error) {
	if err := s.calls.ask("store stat"); err != nil {
		return storage.Stored{}, err
	}
	return s.next.Stat(ctx, ref)
}

func (s *countedStore) List(ctx context.Context, of storage.Snippet) ([]storage.Stored, error) {
	if err := s.calls.ask("store list"); err != nil {
		return nil, err
	}
	return s.next.List(ctx, of)
}

func (s *countedStore) Delete(ctx context.Context, ref storage.Ref) error {
	s.calls.storageWrites.Add(1)
	if err := s.calls.ask("store delete"); err != nil {
		return err
	}
	return errors.Join(s.next.Delete(ctx, ref), s.calls.answered("store delete"))
}

func (s *countedStore) DeleteAll(ctx context.Context, of storage.Snippet) error {
	s.calls.storageWrites.Add(1)
	if err := s.calls.ask("store delete all"); err != nil {
		return err
	}
	return errors.Join(s.next.DeleteAll(ctx, of), s.calls.answered("store delete all"))
}

// made are the calls so far.
func (c *calls) made() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.log...)
}
