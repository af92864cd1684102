package operator

import (
	"time"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// scope is what the steps of one run share.
type scope struct {
	snippet *renderv1.JsonnetSnippet // as read at the start; steps change its status
	before  *renderv1.JsonnetSnippet // a copy as it was
	acting                           // set by identify
	inputs                           // set by the gathering steps
	output                           // set by the producing steps
	hold    *load.Hold[bundle.Files] // what is unpacked for this run
	recheck bool                     // set by any step: something is not watched and is looked at again
	past    *recollection            // of former runs of this process
}

// acting is who reads and writes.
type acting struct {
	account tenant.Account
	client  client.Client
}

// inputs are what the artifact is made from.
type inputs struct {
	files       origin                     // of the snippet
	libraries   []origin                   // in the order of the spec
	external    map[string]jsonnet.Binding // set by resolve
	arguments   map[string]jsonnet.Binding // set by resolve
	versions    map[string]string          // of the Secrets that variables were read from, by name; set by resolve
	secrets     []string                   // values that must not be shown
	fingerprint string                     // set by compare
}

// output is what is published.
type output struct {
	json    []byte            // set by evaluate
	spent   *rate.Reservation // of the budget; set by limit
	spentAt time.Time         // set by limit
	packed  artifact.Packed   // set by pack
	stored  storage.Stored    // set by store
}

// origin is where files come from: the object itself, or an artifact that is loaded when it is needed.
type origin struct {
	what       string // for messages: "GitRepository shop/app"
	importPath string // of a library
	inline     bundle.Files
	archive    *load.Location // nil for inline files
	directory  string         // in the archive
}

// fetched says whether the files are in an archive.
func (o origin) fetched() bool { return o.archive != nil }

func (s *scope) ref() storage.Snippet {
	return storage.Snippet{Namespace: s.snippet.Namespace, Name: s.snippet.Name}
}

// interval is when the snippet is looked at again although nothing was told.
func (s *scope) interval(fallback time.Duration) time.Duration {
	if s.snippet.Spec.Interval != nil {
		return s.snippet.Spec.Interval.Duration
	}
	if s.recheck {
		return fallback
	}
	return 0
}

// published says whether there is an artifact that a failure leaves as it is.
func (s *scope) published() bool { return s.snippet.Status.Revision != "" }
