package metrics

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// store measures another one.
type store struct {
	next    storage.Store
	seconds *prometheus.HistogramVec
}

// Store returns a store that measures another one. Reading an artifact counts as open, without the time of the transfer.
func (m *Metrics) Store(next storage.Store) storage.Store {
	return &store{next: next, seconds: m.storage}
}

func (s *store) ended(operation string, began time.Time, err error) {
	result := "ok"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		result = "not_found"
	case err != nil:
		result = "failed"
	}
	s.seconds.WithLabelValues(operation, result).Observe(time.Since(began).Seconds())
}

func (s *store) Put(ctx context.Context, of storage.Snippet, packed artifact.Packed) (storage.Stored, error) {
	began := time.Now()
	stored, err := s.next.Put(ctx, of, packed)
	s.ended("put", began, err)
	return stored, err
}

func (s *store) Open(ctx context.Context, ref storage.Ref) (*storage.Blob, error) {
	began := time.Now()
	blob, err := s.next.Open(ctx, ref)
	s.ended("open", began, err)
	return blob, err
}

func (s *store) Stat(ctx context.Context, ref storage.Ref) (storage.Stored, error) {
	began := time.Now()
	stored, err := s.next.Stat(ctx, ref)
	s.ended("stat", began, err)
	return stored, err
}

func (s *store) List(ctx context.Context, of storage.Snippet) ([]storage.Stored, error) {
	began := time.Now()
	found, err := s.next.List(ctx, of)
	s.ended("list", began, err)
	return found, err
}

func (s *store) Delete(ctx context.Context, ref storage.Ref) error {
	began := time.Now()
	err := s.next.Delete(ctx, ref)
	s.ended("delete", began, err)
	return err
}

func (s *store) DeleteAll(ctx context.Context, of storage.Snippet) error {
	began := time.Now()
	err := s.next.DeleteAll(ctx, of)
	s.ended("delete_all", began, err)
	return err
}
