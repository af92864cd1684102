package std

import (
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/meter"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

func newMachine() *vm.Machine {
	return vm.New(vm.Config{Meter: meter.New(meter.Options{}), Stop: &atomic.Bool{}})
}

func TestSearch_FindsWhatLiesAcrossItsSteps(t *testing.T) {
	m := newMachine()
	long := strings.Repeat("p", longPattern+1)
	for _, pattern := range []string{"x", "xyz", strings.Repeat("xy", 500) + "z", long} {
		for _, before := range []int{0, 1, chunk - 1, chunk, chunk + 1, 2*chunk - len(pattern)/2, 3*chunk - 1} {
			text := strings.Repeat("-", before) + pattern + strings.Repeat("x", chunk-1) + pattern
			if got, want := index(m, text, pattern), strings.Index(text, pattern); got != want {
				t.Errorf("index of %.10q behind %d bytes is %d, want %d", pattern, before, got, want)
			}
			if got, want := lastIndex(m, text, pattern), strings.LastIndex(text, pattern); got != want {
				t.Errorf("last index of %.10q behind %d bytes is %d, want %d", pattern, before, got, want)
			}
			if got, want := occurrences(m, text, pattern, math.MaxInt), strings.Count(text, pattern); got != want {
				t.Errorf("%.10q occurs %d times behind %d bytes, want %d", pattern, got, before, want)
			}
		}
	}
	text := strings.Repeat("-", 4*chunk)
	if index(m, text, "x") != -1 || lastIndex(m, text, "-x") != -1 || occurrences(m, text, long, 1) != 0 {
		t.Error("found what is not there")
	}
}

func TestContaining_KnowsLongSets(t *testing.T) {
	m := newMachine()
	chars := strings.Repeat("aé日\U0010FFFF", setFrom)
	in, short := containing(m, chars), containing(m, "aé日\U0010FFFF")
	for _, r := range "aé日\U0010FFFFbèx\U0010FFFE\x00" {
		if in(r) != short(r) {
			t.Errorf("%q: a long set says %v", r, in(r))
		}
	}
}
