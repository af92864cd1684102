package meter

import (
	"math/rand/v2"
	"weak"
)

// sampleBytes is the number of allocated bytes one sampled allocation stands for, on average. The distance is random,
// because a loop allocates in a rhythm: at a fixed distance only the short-lived half of it might ever be looked at.
const sampleBytes = 32 << 10

// Process is the memory that all evaluations of a process share. Implementations are safe for concurrent use.
type Process interface {
	// Reserve asks for n more bytes and says whether they are granted.
	Reserve(n int64) bool
	// Release gives n reserved bytes back.
	Release(n int64)
}

// Verdict is the answer of a Meter to a demand for memory.
type Verdict uint8

// The verdicts.
const (
	Granted     Verdict = iota
	OverBudget          // the evaluation would hold more than its own budget
	OverProcess         // the process has no room for it
)

// sample is an allocation whose fate tells whether the bytes around it are still held.
type sample struct {
	alive func() bool
	bytes int64
}

// Meter counts for one evaluation. It is used by one goroutine.
type Meter struct {
	budget   int64 // 0 is unlimited
	process  Process
	collect  func(stop <-chan struct{})
	stop     <-chan struct{}
	distance int64 // bytes from the previous sample to the next
	room     int64 // what is left of distance
	random   uint64
	samples  []sample
	held     int64 // sum over samples, an upper bound of what is live
	ceiling  int64 // held may grow to this before it is looked at again
	reserved int64 // bytes taken from process
}

// Options are what a Meter needs.
type Options struct {
	Budget  int64   // bytes the evaluation may hold; 0 is no limit
	Process Process // nil is no limit
	// Collect runs a garbage collection, or returns early when stop is closed.
	Collect func(stop <-chan struct{})
	Stop    <-chan struct{}
}

// New returns a Meter that has counted nothing.
func New(o Options) *Meter {
	m := &Meter{
		budget: o.Budget, process: o.Process, collect: o.Collect, stop: o.Stop, ceiling: o.Budget,
		random: rand.Uint64() | 1, //nolint:gosec // chooses what is measured, protects nothing
	}
	m.next()
	return m
}

// next draws the distance to the next sample.
func (m *Meter) next() {
	m.random ^= m.random << 13
	m.random ^= m.random >> 7
	m.random ^= m.random << 17
	m.distance = sampleBytes/2 + int64(m.random%sampleBytes)
	m.room = m.distance
}

// Close gives back what was reserved from the process.
func (m *Meter) Close() {
	if m.process != nil && m.reserved > 0 {
		m.process.Release(m.reserved)
	}
	m.reserved = 0
	m.samples = nil
}

// Count notes an allocation of n bytes and reports whether it should be sampled by a call of Sample.
func (m *Meter) Count(n int64) bool {
	m.room -= n
	return m.room < 0
}

// Sample makes p stand for everything counted since the previous sample. It is called after Count said so.
func Sample[T any](m *Meter, p *T) Verdict {
	n := m.distance - m.room
	m.next()
	if m.budget <= 0 && m.process == nil {
		return Granted
	}
	w := weak.Make(p)
	m.samples = append(m.samples, sample{alive: func() bool { return w.Value() != nil }, bytes: n})
	m.held += n
	return m.settle(0)
}

// maxDemand is the most that is allocated at once without any limit: Go ends the process when the system has no more.
const maxDemand = 4 << 30

// Demand asks for n bytes that are about to be allocated at once. It counts nothing.
func (m *Meter) Demand(n int64) Verdict {
	if n > maxDemand {
		return OverBudget
	}
	if n < sampleBytes || m.budget <= 0 && m.process == nil {
		return Granted
	}
	return m.settle(n)
}

// Held is the current estimate in bytes; it includes garbage that was not collected yet.
func (m *Meter) Held() int64 { return m.held }

// settle makes sure that what is held and next more bytes fit.
func (m *Meter) settle(next int64) Verdict {
	if m.budget > 0 && m.held+next > m.ceiling {
		if m.held+next > m.budget && next > m.budget {
			return OverBudget
		}
		if !m.fits(next) {
			return OverBudget
		}
	}
	return m.reserve(next)
}

// fits finds out what is really live. A quarter of the budget is left to garbage before the next look, so that an
// evaluation close to its limit does not collect on every step.
func (m *Meter) fits(next int64) bool {
	m.prune()
	if m.held+next > m.budget {
		m.collect(m.stop)
		m.prune()
	}
	if m.held+next > m.budget {
		return false
	}
	m.ceiling = max(m.budget, m.held+next+m.budget/4)
	return true
}

// reserveStep is the least that is taken from the process at a time.
const reserveStep = 1 << 20

// reserve makes sure that the process has granted what is held and next more bytes.
func (m *Meter) reserve(next int64) Verdict {
	if m.process == nil || m.held+next <= m.reserved {
		return Granted
	}
	m.prune()
	if m.extend(next) {
		return Granted
	}
	m.collect(m.stop)
	m.prune()
	// Without room for some garbage it would collect again at once, and do little else.
	if m.extend(next) && m.extend(next+m.spare()) {
		return Granted
	}
	return OverProcess
}

// spare is what is taken from the process beyond what is needed.
func (m *Meter) spare() int64 { return max(reserveStep, m.held/8) }

// extend takes what is missing from the process, and some more so that it is not asked too often, or gives back what is
// not needed any longer.
func (m *Meter) extend(next int64) bool {
	need := m.held + next
	spare := m.spare()
	switch {
	case need > m.reserved:
		for _, more := range []int64{spare, 0} {
			if want := need + more - m.reserved; m.process.Reserve(want) {
				m.reserved += want
				return true
			}
		}
		return false
	case m.reserved > need+2*spare:
		m.process.Release(m.reserved - need - spare)
		m.reserved = need + spare
	}
	return true
}

// prune forgets the samples that were collected.
func (m *Meter) prune() {
	kept := m.samples[:0]
	m.held = 0
	for _, s := range m.samples {
		if s.alive() {
			kept = append(kept, s)
			m.held += s.bytes
		}
	}
	clear(m.samples[len(kept):])
	m.samples = kept
}
