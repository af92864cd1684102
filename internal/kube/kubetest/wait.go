package kubetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	patience     = 3 * time.Minute // long, because only a test that fails waits for it, and machines are busy at times
	pollInterval = 20 * time.Millisecond
)

// Eventually calls check until it returns nil, and fails the test with its last error when it still does not after three
// minutes.
func Eventually(t testing.TB, check func(ctx context.Context) error) {
	t.Helper()
	if err := poll(t.Context(), patience, check); err != nil {
		t.Fatal(err)
	}
}

func poll(ctx context.Context, patience time.Duration, check func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil { // the error of a check that ran out of time says nothing
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %v: %w", patience, last)
		case <-ticker.C:
		}
	}
}

// Await reads an object until check returns nil. The check looks at the object it is called for, which is up to date
// each time.
func (e *Env) Await(t testing.TB, object client.Object, check func() error) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		if err := e.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		return check()
	})
}

// AwaitGone waits until an object does not exist.
func (e *Env) AwaitGone(t testing.TB, object client.Object) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		err := e.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return errors.New(describe(object) + " still exists")
		}
	})
}

func describe(object client.Object) string {
	return fmt.Sprintf("%T %s", object, client.ObjectKeyFromObject(object))
}
