package serving

import "sync/atomic"

// State is what the startup and readiness probes say.
type State string

// The states in the order a process goes through them.
const (
	Starting     State = "starting"
	Ready        State = "ready"
	ShuttingDown State = "shutting down"
)

// Readiness holds the process's State. Its zero value is Starting.
type Readiness struct{ state atomic.Value }

// Set changes the state.
func (r *Readiness) Set(s State) { r.state.Store(s) }

// SetReady makes a process that is starting ready. One that shuts down stays so.
func (r *Readiness) SetReady() {
	if !r.state.CompareAndSwap(nil, Ready) {
		r.state.CompareAndSwap(Starting, Ready)
	}
}

// State returns the state.
func (r *Readiness) State() State {
	if s, ok := r.state.Load().(State); ok {
		return s
	}
	return Starting
}
