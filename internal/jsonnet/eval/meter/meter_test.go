package meter_test

import (
	"runtime"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/meter"
)

type block [1024]byte

func collect(<-chan struct{}) { runtime.GC() }

// fill allocates n blocks and returns those that are kept: every keep-th one.
func fill(m *meter.Meter, n, keep int) (kept []*block, verdict meter.Verdict) {
	for i := range n {
		b := new(block)
		if i%keep == 0 {
			kept = append(kept, b)
		}
		if m.Count(1024) {
			if v := meter.Sample(m, b); v != meter.Granted {
				return kept, v
			}
		}
	}
	return kept, meter.Granted
}

func TestMeter_CountsWhatIsHeld(t *testing.T) {
	tests := map[string]struct {
		keep int
		want meter.Verdict
	}{
		"everything is kept":  {keep: 1, want: meter.OverBudget},
		"a half is kept":      {keep: 2, want: meter.OverBudget},
		"an eighth is kept":   {keep: 8, want: meter.Granted},
		"hardly any are kept": {keep: 1000, want: meter.Granted},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			m := meter.New(meter.Options{Budget: 16 << 20, Collect: collect})
			defer m.Close()
			kept, got := fill(m, 64<<10, c.keep)
			if got != c.want {
				t.Errorf("got %v with %d MiB held, want %v", got, m.Held()>>20, c.want)
			}
			if live := int64(len(kept)) << 10; got == meter.OverBudget && live < 12<<20 {
				t.Errorf("refused with only %d MiB live", live>>20)
			}
			runtime.KeepAlive(kept)
		})
	}
}

func TestMeter_RefusesADemandBeforeItIsMet(t *testing.T) {
	m := meter.New(meter.Options{Budget: 16 << 20, Collect: collect})
	defer m.Close()
	if got := m.Demand(17 << 20); got != meter.OverBudget {
		t.Errorf("more than the budget: got %v", got)
	}
	if got := m.Demand(15 << 20); got != meter.Granted {
		t.Errorf("less than the budget: got %v", got)
	}
	kept, _ := fill(m, 10<<10, 1)
	if got := m.Demand(15 << 20); got != meter.OverBudget {
		t.Errorf("more than is left: got %v", got)
	}
	runtime.KeepAlive(kept)
}

func TestMeter_WithoutLimitsGrantsEverything(t *testing.T) {
	m := meter.New(meter.Options{Collect: collect})
	kept, got := fill(m, 10<<10, 1)
	if got != meter.Granted || m.Demand(1<<30) != meter.Granted {
		t.Errorf("got %v", got)
	}
	if got := m.Demand(1 << 40); got != meter.OverBudget {
		t.Errorf("what no machine has: got %v", got)
	}
	runtime.KeepAlive(kept)
}

func TestMeter_GivesBackWhatItNoLongerHolds(t *testing.T) {
	p := &purse{left: 64 << 20}
	m := meter.New(meter.Options{Process: p, Collect: collect})
	defer m.Close()
	kept, _ := fill(m, 32<<10, 1)
	if p.left > 40<<20 {
		t.Errorf("%d MiB are left although 32 MiB are held", p.left>>20)
	}
	runtime.KeepAlive(kept)
	runtime.GC() // nothing refers to them any longer
	again, got := fill(m, 40<<10, 1000)
	if got != meter.Granted || p.left < 20<<20 {
		t.Errorf("got %v with %d MiB left", got, p.left>>20)
	}
	runtime.KeepAlive(again)
}

// purse is a Process with a fixed size.
type purse struct{ left int64 }

func (p *purse) Reserve(n int64) bool {
	if n > p.left {
		return false
	}
	p.left -= n
	return true
}

func (p *purse) Release(n int64) { p.left += n }

func TestMeter_SharesTheProcess(t *testing.T) {
	p := &purse{left: 8 << 20}
	m := meter.New(meter.Options{Budget: 64 << 20, Process: p, Collect: collect})
	kept, got := fill(m, 64<<10, 1)
	if got != meter.OverProcess {
		t.Errorf("got %v with %d bytes left", got, p.left)
	}
	m.Close()
	if p.left != 8<<20 {
		t.Errorf("%d bytes are left after Close", p.left)
	}
	runtime.KeepAlive(kept)
}

func TestMeter_DoesNotCollectForEveryStep(t *testing.T) {
	collections := 0
	p := &purse{left: 8 << 20}
	m := meter.New(meter.Options{Budget: 64 << 20, Process: p, Collect: func(stop <-chan struct{}) {
		collections++
		collect(stop)
	}})
	defer m.Close()
	kept, got := fill(m, 7<<10, 1)
	if got != meter.Granted {
		t.Fatalf("7 MiB of 8: got %v", got)
	}
	p.left = 0 // others have taken it
	kept = append(kept, new(block))
	_, got = fill(m, 64<<10, 1<<30)
	if collections > 64 {
		t.Errorf("got %v after %d collections for 64 MiB of garbage", got, collections)
	}
	runtime.KeepAlive(kept)
}
