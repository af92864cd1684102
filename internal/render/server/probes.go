package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
)

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

// State returns the state.
func (r *Readiness) State() State {
	if s, ok := r.state.Load().(State); ok {
		return s
	}
	return Starting
}

// Probes returns the handler of the management server: /start, /ready and /live.
func Probes(readiness *Readiness, logger *slog.Logger) http.Handler {
	return handle(logger, func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			problem := newProblem(CodeMethodNotAllowed, fmt.Sprintf("%s is not a method of probes", r.Method))
			problem.header.Set("Allow", "GET, HEAD")
			return problem
		}
		switch r.URL.Path {
		case "/live":
			writeStatus(w, r, http.StatusOK, "alive")
		case "/start", "/ready":
			state := readiness.State()
			if state == Ready {
				writeStatus(w, r, http.StatusOK, string(state))
			} else {
				writeStatus(w, r, http.StatusServiceUnavailable, string(state))
			}
		default:
			return newProblem(CodeNotFound, "the management server has /start, /ready and /live")
		}
		return nil
	})
}

func writeStatus(w http.ResponseWriter, r *http.Request, code int, status string) {
	body, err := json.Marshal(map[string]string{"status": status})
	if err != nil { // a map of strings
		code, body = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", mediaJSON)
	w.Header().Set("Cache-Control", "no-store")
	writeBody(w, r, code, body)
}
