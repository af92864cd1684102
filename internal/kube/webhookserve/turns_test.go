package webhookserve

import (
	"context"
	"testing"
	"time"
)

func TestTurns_AllOfThemTogetherAreFew(t *testing.T) {
	turns := NewTurns(2)
	ctx, patience := context.Background(), time.Millisecond
	first, err := turns.Take(ctx, "a", patience)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turns.Take(ctx, "a", patience); err == nil {
		t.Error("a namespace has two turns")
	}
	if _, err := turns.Take(ctx, "b", patience); err != nil {
		t.Error(err)
	}
	if _, err := turns.Take(ctx, "c", patience); err == nil {
		t.Error("three turns at a time")
	}
	first()
	if _, err := turns.Take(ctx, "c", patience); err != nil {
		t.Error(err)
	}
}
