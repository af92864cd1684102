package meter

import "sync/atomic"

// Pool is a Process with a fixed number of bytes.
type Pool struct {
	left atomic.Int64
}

// NewPool returns a pool of so many bytes.
func NewPool(size int64) *Pool {
	p := &Pool{}
	p.left.Store(size)
	return p
}

// Reserve implements Process.
func (p *Pool) Reserve(n int64) bool {
	for {
		left := p.left.Load()
		if n > left {
			return false
		}
		if p.left.CompareAndSwap(left, left-n) {
			return true
		}
	}
}

// Release implements Process.
func (p *Pool) Release(n int64) { p.left.Add(n) }

// Left is what has not been reserved.
func (p *Pool) Left() int64 { return p.left.Load() }
