package vm

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/meter"
)

func TestIntegers_AreOrdinaryNumbers(t *testing.T) {
	m := New(Config{Meter: meter.New(meter.Options{}), Stop: &atomic.Bool{}})
	const first, n = -3, 3*boxes + 7
	elems := make([]Value, n)
	allocations := testing.AllocsPerRun(10, func() { m.Integers(elems, first) })
	runtime.GC() // would free what nothing refers to
	for i, v := range elems {
		if number, ok := v.(Number); !ok || number != Number(first+i) || v != Value(Number(first+i)) {
			t.Errorf("element %d is %v", i, v)
		}
	}
	if allocations > n/boxes+1 {
		t.Errorf("%d numbers took %v allocations", n, allocations)
	}
}
