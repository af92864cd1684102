package health

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/cluster"
)

// scope is what one watch covers.
type scope struct {
	cluster   string // its key
	kind      schema.GroupVersionKind
	namespace string
	name      string // of the only object; empty: all that carry our labels
	metadata  bool   // only metadata is read
}

// phase is how far a watch is.
type phase int

const (
	fresh   phase = iota // nothing is watched yet
	open                 // changes from its version on are told, if later than at once
	refused              // it may not be watched, or there are too many watches
)

// watching is one watch, shared by waits. Its fields but the first three belong to the lock of the watcher.
type watching struct {
	scope
	client   client.WithWatch
	identity string

	phase   phase
	version string    // with which the watch begins; empty until a list has told it
	retry   time.Time // when a refused one is tried again
	waits   map[*wait]bool
	objects map[string][]*interest // by name
	stop    context.CancelFunc     // of an open one
}

func newWatching(s scope, c cluster.Cluster) *watching {
	return &watching{
		scope: s, client: c.Client, identity: c.Identity, waits: map[*wait]bool{}, objects: map[string][]*interest{},
	}
}

func (g *watching) add(i *interest) {
	g.waits[i.wait] = true
	g.objects[i.target.Entry.ID.Name] = append(g.objects[i.target.Entry.ID.Name], i)
}

func (g *watching) remove(i *interest) {
	delete(g.waits, i.wait)
	name := i.target.Entry.ID.Name
	rest := g.objects[name][:0:0]
	for _, other := range g.objects[name] {
		if other != i {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(g.objects, name)
		return
	}
	g.objects[name] = rest
}

// list returns an empty list of the kind.
func (s scope) list() client.ObjectList {
	kind := s.kind.GroupVersion().WithKind(s.kind.Kind + "List")
	if s.metadata {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		return list
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	return list
}

// object returns an empty object of the kind.
func (s scope) object() client.Object {
	if s.metadata {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(s.kind)
		return object
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(s.kind)
	return object
}

// selection selects what the watch covers.
func (s scope) selection() []client.ListOption {
	options := []client.ListOption{client.InNamespace(s.namespace)}
	if s.name != "" {
		return append(options, client.MatchingFields{"metadata.name": s.name})
	}
	return append(options, client.HasLabels{stagesv1.NameLabel})
}

// record makes of an object what is kept of it. Of those that are as they should be, no message is.
func (s scope) record(object client.Object, wait *wait, reports bool) *record {
	labels, rules := object.GetLabels(), wait.Rules
	r := &record{
		version: object.GetResourceVersion(), exists: true, uid: object.GetUID(), generation: object.GetGeneration(),
		unlabelled: s.name == "" && labels[stagesv1.NameLabel] == "",
		foreign: s.name == "" &&
			(labels[stagesv1.NameLabel] != wait.Owner.Name || labels[stagesv1.NamespaceLabel] != wait.Owner.Namespace),
	}
	if object.GetDeletionTimestamp() != nil {
		r.leaving = "it is being deleted"
		if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
			r.leaving = brief(fmt.Sprintf("it is being deleted and waits for %s", strings.Join(finalizers, ", ")))
		}
	}
	full, ok := object.(*unstructured.Unstructured)
	switch {
	case ok:
		r.assessment = rules.assess(full)
		if r.State == Current && reports && !rules.covers(s.kind.GroupKind()) && !reported(full) {
			r.assessment = assessment{Status: Status{InProgress, "its controller has not reported yet"}}
		}
	case r.leaving != "":
		r.assessment = assessment{Status: Status{InProgress, r.leaving}}
	default:
		r.assessment = assessment{Status: Status{State: Current}}
	}
	if r.State == Current {
		r.Message = ""
	}
	return r
}

// scopeOf returns what a target is read and watched with. The version of its kind is another one where the recorded one is
// served no more.
func scopeOf(t Target, wait Wait) (scope, error) {
	s := scope{cluster: wait.Cluster.Key, kind: t.Entry.Kind(), namespace: t.Entry.ID.Namespace}
	mapper := wait.Cluster.Client.RESTMapper()
	_, err := mapper.RESTMapping(s.kind.GroupKind(), s.kind.Version)
	if meta.IsNoMatchError(err) {
		var mapping *meta.RESTMapping
		if mapping, err = mapper.RESTMapping(s.kind.GroupKind()); err == nil {
			s.kind = mapping.GroupVersionKind
		}
	}
	if err != nil && !meta.IsNoMatchError(err) {
		return scope{}, fmt.Errorf("looking up kind %s: %w", s.kind, err)
	}
	if t.Foreign {
		s.name = t.Entry.ID.Name
	}
	// What is in Secrets and ConfigMaps does not matter, unless an expression reads it.
	plain := s.kind.Group == "" && (s.kind.Kind == "Secret" || s.kind.Kind == "ConfigMap")
	s.metadata = t.Gone || plain && !wait.Rules.covers(s.kind.GroupKind())
	return s, nil
}
