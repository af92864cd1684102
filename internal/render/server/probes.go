package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/stagewright/stagewright/internal/serving"
)

// OperatorState is what /operator answers.
type OperatorState struct {
	Status string    `json:"status"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`  // when status or reason changed last
	Starts int       `json:"starts"` // of the manager
	OK     bool      `json:"-"`      // it reconciles, or would if another replica did not
}

// Probes returns the handler of the management server: /start, /ready and /live, and /operator unless operator is nil.
func Probes(readiness *serving.Readiness, operator func() OperatorState, logger *slog.Logger) http.Handler {
	served := "/start, /ready and /live"
	if operator != nil {
		served = "/start, /ready, /live and /operator"
	}
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
			if state == serving.Ready {
				writeStatus(w, r, http.StatusOK, string(state))
			} else {
				writeStatus(w, r, http.StatusServiceUnavailable, string(state))
			}
		case "/operator":
			if operator == nil {
				return newProblem(CodeNotFound, "/operator is served with --enable-gitops-integration alone")
			}
			state := operator()
			code := http.StatusOK
			if !state.OK {
				code = http.StatusServiceUnavailable
			}
			writeJSON(w, r, code, state)
		default:
			return newProblem(CodeNotFound, "the management server has "+served)
		}
		return nil
	})
}

func writeStatus(w http.ResponseWriter, r *http.Request, code int, status string) {
	writeJSON(w, r, code, map[string]string{"status": status})
}

func writeJSON(w http.ResponseWriter, r *http.Request, code int, value any) {
	body, err := json.Marshal(value)
	if err != nil { // strings, a time and a number
		code, body = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", mediaJSON)
	w.Header().Set("Cache-Control", "no-store")
	writeBody(w, r, code, body)
}
