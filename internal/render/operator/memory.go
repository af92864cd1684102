package operator

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stagewright/stagewright/internal/render/storage"
)

// memory is what is worth knowing about snippets and can be lost: what was verified, what failed and how often it was
// evaluated. Each snippet's part ends with the snippet, whose number bounds it.
type memory struct {
	mu    sync.Mutex
	known map[types.NamespacedName]*recollection
}

// recollection is about one snippet, which one run at a time works on.
type recollection struct {
	uid       types.UID
	bucket    *rate.Limiter
	accepted  string         // a fingerprint that gave the published revision too, although the status has another one
	verified  storage.Stored // what was read back from storage, as it was then
	announced string         // the revision that the ExternalArtifact had when it was seen last
	written   string         // the revision in the status as the last run left it
	failed    failure
}

// failure is an evaluation that needs no repetition: the same inputs fail again.
type failure struct {
	fingerprint string
	request     string    // the reconcile request that was pending; a newer one repeats the evaluation
	until       time.Time // when it is repeated anyway; zero is never
	err         error
}

// of returns what is known about a snippet. Another one of the same name begins without a past.
func (m *memory) of(key types.NamespacedName, uid types.UID, budget Rate) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[types.NamespacedName]*recollection{}
	}
	r := m.known[key]
	if r == nil || r.uid != uid {
		r = &recollection{uid: uid}
		if budget.PerSecond > 0 {
			r.bucket = rate.NewLimiter(rate.Limit(budget.PerSecond), max(budget.Burst, 1))
		}
		m.known[key] = r
	}
	return r
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, key)
}
