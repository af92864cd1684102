package gate

import (
	"net/http"

	"k8s.io/apimachinery/pkg/types"
)

// Path is the pattern of what is served.
const Path = "/gate/{namespace}/{stageset}/{stage}"

// Handler answers GET and HEAD requests from the index: 200 when the stage is ready at the revision that is pinned for it in
// the current generation, else 503, also for names that nothing is known of.
func Handler(index *Index) http.Handler {
	unknown := newAnswer(document{})
	mux := http.NewServeMux()
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			header.Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		set := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("stageset")}
		found, ok := index.get(set, r.PathValue("stage"))
		if !ok {
			found = unknown
		}
		header.Set("Content-Type", "application/json")
		header.Set("X-Content-Type-Options", "nosniff")
		if !found.ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(found.body) // who asked may have left; of HEAD, net/http drops it
	})
	return mux
}
