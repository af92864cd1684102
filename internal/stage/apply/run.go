package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// Apply applies the objects in waves: definitions (CRDs, Namespaces, …), then the rest. It sends nothing for an object whose
// entry, live metadata and rendered content are as they were. What is recorded by now is what Ahead has returned, at least.
//
// Errors are ConflictError, cluster.DeniedError, RefusedError (the API server will not have the object as it is: retrying without
// a change does not help) or others, which may pass. Outcomes of what was applied before are in the result with an error too.
func (p *Plan) Apply(ctx context.Context, recorded map[inventory.ID]inventory.Entry) (Result, error) {
	items := p.items
	for _, it := range items {
		known := recorded[it.entry.ID]
		it.entry.UID, it.entry.Fingerprint = known.UID, known.Fingerprint
	}
	r := &run{job: p.job, applier: p.applier, labels: p.job.Owner.Labels(p.job.Stage), definitions: definitionsOf(items)}
	if err := r.look(ctx, items); err != nil {
		return Result{}, err
	}
	if err := r.owners(ctx, items); err != nil {
		return Result{}, err
	}
	for wave := range slices.Values([]inventory.Wave{
		inventory.Definitions, inventory.Foundations, inventory.Objects, inventory.Intercepts,
	}) {
		if r.stopped() {
			break
		}
		r.wave(ctx, slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.entry.ID.Wave() != wave }))
	}
	return r.result()
}

// run is one call of Apply.
type run struct {
	job         Job
	applier     *Applier
	labels      map[string]string
	definitions map[schema.GroupKind]definition // CRDs of the job by the kinds that they define
	sent        int

	mu       sync.Mutex // for what follows
	outcomes []Outcome
	failures []failure
	intend   []inventory.Entry
	await    map[inventory.ID]inventory.Entry
	changed  map[inventory.ID]bool // CRDs that were changed in this call
	blocked  map[inventory.ID]bool
	over     bool // Most is reached
}

type failure struct {
	id  inventory.ID
	err error
}

// look reads what the survey has not found: an object that does not exist, one that nobody has labelled yet, or another
// StageSet's.
func (r *run) look(ctx context.Context, items []*item) error {
	var missing []inventory.Entry
	for _, it := range items {
		if !it.exists {
			missing = append(missing, it.entry)
		}
	}
	found, err := cluster.Look(ctx, r.job.Cluster, missing)
	if err != nil {
		return err
	}
	for _, it := range items {
		if !it.exists {
			it.live, it.exists = found[it.entry.ID]
		}
	}
	return nil
}

// owners refuses the job before anything is sent when it would take objects of others.
func (r *run) owners(ctx context.Context, items []*item) error {
	known := map[types.NamespacedName]bool{}
	exists := func(name types.NamespacedName) (bool, error) {
		if here, ok := known[name]; ok {
			return here, nil
		}
		here, err := r.job.Exists(ctx, name)
		if err == nil {
			known[name] = here
		}
		return here, err
	}
	var first *ConflictError
	for _, it := range items {
		if !it.exists {
			continue
		}
		why, err := r.foreign(it, exists)
		switch {
		case err != nil:
			return fmt.Errorf("finding the owner of %s: %w", it.entry.ID.Display(), err)
		case why == "":
		case first == nil:
			first = &ConflictError{ID: it.entry.ID, Why: why}
		default:
			first.More++
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// foreign says why an object cannot be taken; empty when it can.
func (r *run) foreign(it *item, exists func(types.NamespacedName) (bool, error)) (string, error) {
	owner, ok := it.live.Owner()
	if !ok || owner == (types.NamespacedName{Namespace: r.job.Owner.Namespace, Name: r.job.Owner.Name}) ||
		slices.Contains(r.job.Adopt, owner) {
		return "", nil
	}
	here := true
	if r.job.Exists != nil {
		var err error
		if here, err = exists(owner); err != nil {
			return "", err
		}
	}
	if !here {
		return "", nil
	}
	return "it belongs to StageSet " + owner.String() + "; name that one in adoptFrom to take it over", nil
}

// wave applies items at the same time, until one fails or there were enough.
func (r *run) wave(ctx context.Context, items []*item) {
	slots := make(chan struct{}, r.applier.parallel)
	var workers sync.WaitGroup
	defer workers.Wait()
	for _, it := range items {
		if it.unchanged(r.labels) {
			if done, ok := r.settled(it); ok {
				r.note(it, done, nil)
				continue
			}
		}
		slots <- struct{}{}
		if r.stopped() {
			return
		}
		if r.job.Most > 0 && r.sent == r.job.Most {
			r.mu.Lock()
			r.over = true
			r.mu.Unlock()
			return
		}
		r.sent++
		workers.Go(func() {
			defer func() { <-slots }()
			outcome, err := r.send(ctx, it)
			if err != nil {
				err = r.classify(err, it)
			}
			r.note(it, outcome, err)
		})
	}
}

// settled is the outcome of an object for which nothing has to be sent. One that was kept by a policy stays so only as long
// as the policy says it.
func (r *run) settled(it *item) (Outcome, bool) {
	outcome := Outcome{Entry: it.entry, Generation: it.live.Generation, Change: Unchanged}
	if it.entry.Kept() {
		res, err := resolve(r.job.Policy, it.entry.ID, it.entry.Version, it.object)
		if err != nil || !keeps(res) {
			return Outcome{}, false
		}
		outcome.Change, outcome.Why = Kept, "its immutable fields differ"
	}
	return outcome, true
}

// note keeps what became of an object.
func (r *run) note(it *item, outcome Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var held *blockedError
	switch {
	case errors.As(err, &held):
		outcome.Change, outcome.Why = Blocked, held.why
		if r.await == nil {
			r.await = map[inventory.ID]inventory.Entry{}
		}
		r.await[held.until.ID] = held.until
	case err != nil:
		r.failures = append(r.failures, failure{id: it.entry.ID, err: err})
		return
	}
	id := it.entry.ID
	switch outcome.Change { //nolint:exhaustive // of the others nothing is noted
	case Recreate:
		r.intend = append(r.intend, seen(it))
	case Created, Configured:
		if id.Wave() == inventory.Definitions {
			if r.changed == nil {
				r.changed = map[inventory.ID]bool{}
			}
			r.changed[id] = true
		}
	case Blocked:
		if r.blocked == nil {
			r.blocked = map[inventory.ID]bool{}
		}
		r.blocked[id] = true
	}
	r.outcomes = append(r.outcomes, outcome)
}

func (r *run) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over || len(r.failures) > 0
}

// result sorts what the workers have done.
func (r *run) result() (Result, error) {
	byEntry := func(a, b inventory.Entry) int { return inventory.CompareApply(a.ID, b.ID) }
	slices.SortFunc(r.outcomes, func(a, b Outcome) int { return byEntry(a.Entry, b.Entry) })
	slices.SortFunc(r.intend, byEntry)
	result := Result{Outcomes: r.outcomes, Intend: r.intend, More: r.over}
	for _, e := range r.await {
		result.Await = append(result.Await, e)
	}
	slices.SortFunc(result.Await, byEntry)
	if len(r.failures) == 0 {
		return result, nil
	}
	slices.SortFunc(r.failures, func(a, b failure) int { return inventory.CompareApply(a.id, b.id) })
	return result, gather(r.failures)
}

// gather returns the first error, with the number of the others where it can say so.
func gather(failures []failure) error {
	var (
		conflict *ConflictError
		refusal  *RefusedError
		others   = len(failures) - 1
		first    = failures[0].err
	)
	switch {
	case errors.As(first, &conflict):
		conflict.More += others
	case errors.As(first, &refusal):
		refusal.More += others
	case others > 0:
		return fmt.Errorf("%w%s", first, more(others))
	}
	return first
}

// blockedError says that an object cannot be applied before another one has changed.
type blockedError struct {
	why   string
	until inventory.Entry
}

func (e *blockedError) Error() string { return e.why }

// classify turns what an API server said into what callers distinguish.
func (r *run) classify(err error, it *item) error {
	id := it.entry.ID
	var (
		held     *blockedError
		conflict *ConflictError
		api      apierrors.APIStatus
	)
	namespace := inventory.Entry{ID: inventory.ID{Name: id.Namespace, Kind: "Namespace"}, Version: "v1"}
	switch {
	case errors.As(err, &held), errors.As(err, &conflict):
		return err
	case cluster.Terminating(err):
		return &blockedError{why: "namespace " + id.Namespace + " is being deleted", until: namespace}
	case cluster.MissingNamespace(err):
		if r.isBlocked(namespace.ID) {
			return &blockedError{why: "namespace " + id.Namespace + " is being deleted", until: namespace}
		}
		return fmt.Errorf("applying %s: namespace %s does not exist", id.Display(), id.Namespace)
	case cluster.Unknown(err):
		crd, ok := r.definitions[schema.GroupKind{Group: id.Group, Kind: id.Kind}]
		switch {
		case ok && crd.serves[it.entry.Version]:
			return &blockedError{why: "its kind is being established", until: crd.entry}
		case ok: // however long is waited for it
			return fmt.Errorf("applying %s: %s serves no version %s of its kind", id.Display(), crd.entry.ID.Display(), it.entry.Version)
		}
		return fmt.Errorf("applying %s: the cluster has no kind %s in %s", id.Display(), id.Kind,
			schema.GroupVersion{Group: id.Group, Version: it.entry.Version})
	}
	denied := cluster.Denied(err, r.job.Cluster, id, it.entry.Version)
	var lacks *cluster.DeniedError
	if errors.As(denied, &lacks) {
		return lacks
	}
	if !errors.As(err, &api) {
		return fmt.Errorf("applying %s: %w", id.Display(), err)
	}
	said := quote(err, id, r.job.Secrets)
	if refused(api.Status()) && !r.redefined(id) {
		return &RefusedError{ID: id, Err: said}
	}
	return fmt.Errorf("applying %s: %w", id.Display(), said)
}

func (r *run) isBlocked(id inventory.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.blocked[id]
}

// redefined says that the kind was changed a moment ago: the API server may still have judged by what it was before.
func (r *run) redefined(id inventory.ID) bool {
	crd, ok := r.definitions[schema.GroupKind{Group: id.Group, Kind: id.Kind}]
	r.mu.Lock()
	defer r.mu.Unlock()
	return ok && r.changed[crd.entry.ID]
}

// definition is a CRD among the objects.
type definition struct {
	entry  inventory.Entry
	serves map[string]bool // by version
}

// definitionsOf finds the CRDs among items.
func definitionsOf(items []*item) map[schema.GroupKind]definition {
	found := map[schema.GroupKind]definition{}
	for _, it := range items {
		if it.entry.ID.Kind != "CustomResourceDefinition" || it.entry.ID.Wave() != inventory.Definitions {
			continue
		}
		spec, _ := it.object["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		kind, _ := names["kind"].(string)
		d := definition{entry: it.entry, serves: map[string]bool{}}
		versions, _ := spec["versions"].([]any)
		for _, listed := range versions {
			version, _ := listed.(map[string]any)
			name, _ := version["name"].(string)
			d.serves[name], _ = version["served"].(bool)
		}
		found[schema.GroupKind{Group: group, Kind: kind}] = d
	}
	return found
}
