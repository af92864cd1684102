package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"
)

// Sweep removes the temporary files and the empty directories that are older than a time. They are left by a process that
// ended while it wrote. It returns how many files it removed, and goes on after an error.
func (l *Local) Sweep(ctx context.Context, olderThan time.Time) (int, error) {
	removed := 0
	var failures []error
	namespaces, err := l.subdirectories(".")
	failures = append(failures, err)
	for _, namespace := range namespaces {
		names, err := l.subdirectories(namespace)
		failures = append(failures, err)
		for _, name := range names {
			if ctx.Err() != nil {
				return removed, ctx.Err()
			}
			n, err := l.sweepDirectory(name, olderThan)
			removed += n
			failures = append(failures, err)
		}
		failures = append(failures, l.sweepEmpty(namespace, olderThan))
	}
	if err := errors.Join(failures...); err != nil {
		return removed, fmt.Errorf("sweeping storage: %w", err)
	}
	return removed, nil
}

func (l *Local) subdirectories(directory string) ([]string, error) {
	entries, err := l.entries(directory)
	var found []string
	for _, entry := range entries {
		if entry.IsDir() {
			found = append(found, path.Join(directory, entry.Name()))
		}
	}
	return found, err
}

func (l *Local) sweepDirectory(directory string, olderThan time.Time) (int, error) {
	entries, err := l.entries(directory)
	if err != nil {
		return 0, err
	}
	removed := 0
	var failures []error
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !strings.HasSuffix(entry.Name(), temporarySuffix) {
			continue
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().Before(olderThan) {
			if err = l.disk.Remove(path.Join(directory, entry.Name())); err == nil {
				removed++
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its writer may have renamed or removed it since
			failures = append(failures, err)
		}
	}
	return removed, errors.Join(append(failures, l.sweepEmpty(directory, olderThan))...)
}

// sweepEmpty removes a directory that has been empty for long enough. A new one may be about to get a file.
func (l *Local) sweepEmpty(directory string, olderThan time.Time) error {
	info, err := l.root.Lstat(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.ModTime().Before(olderThan) {
		l.removeEmpty(directory)
	}
	return err
}

// all returns what is stored of all snippets.
func (l *Local) all() ([]Stored, error) {
	var found []Stored
	namespaces, err := l.subdirectories(".")
	if err != nil {
		return nil, err
	}
	for _, namespace := range namespaces {
		directories, err := l.subdirectories(namespace)
		if err != nil {
			return nil, err
		}
		for _, directory := range directories {
			of := Snippet{namespace, path.Base(directory)}
			if of.Validate() != nil {
				continue
			}
			stored, err := l.List(context.Background(), of)
			if err != nil {
				return nil, err
			}
			found = append(found, stored...)
		}
	}
	return found, nil
}

// Sweeper sweeps a local store, or a mirror, now and then.
type Sweeper struct {
	Local    *Local        // may be nil where there is a mirror
	Mirror   *Mirror       // may be nil; what the store behind it has no more goes too
	Interval time.Duration // 0: never
	MaxAge   time.Duration // of temporary files that stay
	Logger   *slog.Logger
	Failed   func() // called after each sweep that failed, for a metric; may be nil
}

// Run sweeps at once and then at each interval, until the context ends.
func (s *Sweeper) Run(ctx context.Context) {
	if s.Interval <= 0 {
		return
	}
	ticker := time.NewTicker(s.Interval)
	defer ticker.Stop()
	for {
		s.sweep(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Sweeper) sweep(ctx context.Context) {
	removed, err := s.sweepAll(ctx)
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("sweep failed", "error", err.Error())
		if s.Failed != nil {
			s.Failed()
		}
	}
	if removed > 0 {
		s.Logger.Info("files swept", "files", removed)
	}
}

func (s *Sweeper) sweepAll(ctx context.Context) (int, error) {
	local, removed := s.Local, 0
	var gone error
	if s.Mirror != nil {
		local = s.Mirror.local
		removed, gone = s.Mirror.sweep(ctx)
	}
	temporary, err := local.Sweep(ctx, time.Now().Add(-s.MaxAge))
	return removed + temporary, errors.Join(gone, err)
}
