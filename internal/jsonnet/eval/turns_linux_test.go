package eval_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/turns"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// TestEvaluate_LongEvaluationsTakeTurns: the program ends when it runs with a low priority, which it gets when it is told to
// wait for a turn.
func TestEvaluate_LongEvaluationsTakeTurns(t *testing.T) {
	priority := &vm.Native{Name: "priority", Fn: func(*vm.Machine, *vm.Pos, []vm.Value) vm.Value {
		raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid()) // higher is more important
		if err != nil {
			t.Error(err)
		}
		return vm.Int(raw)
	}}
	e := eval.New(eval.Options{Turns: turns.New(1), Natives: map[string]*vm.Native{"priority": priority}})
	const program = `local priority = std.native('priority'); local first = priority(); ` +
		`local f(n) = if priority() < first then 'low' else f(n + 1) tailstrict; f(0)`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 3)
	for range cap(ended) { // more than there are turns, on goroutines that end with them
		go func() {
			_, err := e.Evaluate(ctx, jsonnet.Job{Entry: source("long", program)})
			ended <- err
		}()
	}
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
