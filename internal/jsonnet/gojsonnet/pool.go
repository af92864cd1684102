package gojsonnet

import "sync"

// pool keeps idle machines, the one used last at the end.
type pool struct {
	mu    sync.Mutex
	idle  []*machine
	limit int
}

// take returns an idle machine that has run programs of this name before, or a new one.
func (p *pool) take(entry string) *machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if m := p.idle[i]; m.entry == entry {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return m
		}
	}
	return newMachine(entry)
}

func (p *pool) give(m *machine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, m)
	if len(p.idle) > p.limit {
		p.idle = append(p.idle[:0], p.idle[1:]...)
	}
}
