package health

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// listed returns a watcher with one wait for one object, and the part that it is in.
func listed(watching *watching) (*Watcher, *part) {
	w := NewWatcher(WatcherOptions{Wake: func(types.NamespacedName) {}})
	next := &wait{user: types.NamespacedName{Name: "shop"}}
	p := &part{watching: watching, interests: map[string]*interest{}}
	i := &interest{wait: next, part: p, target: Target{Entry: inventory.Entry{ID: inventory.ID{Name: "a"}}}}
	p.interests["a"] = i
	next.parts, next.interests = []*part{p}, []*interest{i}
	watching.waits, watching.objects = map[*wait]bool{}, map[string][]*interest{}
	watching.add(i)
	w.waits[next.user] = next
	return w, p
}

func TestMerge(t *testing.T) {
	object := func(version string) found {
		return found{version: "20", objects: map[string]*record{"a": {exists: true, version: version}}}
	}
	for name, c := range map[string]struct {
		watching watching
		known    *record
		seen     found
		begun    bool
		want     record
		again    bool
		version  string
	}{
		"first": {seen: object("10"), want: record{exists: true, version: "10"}, version: "20"},
		"a watch tells newer": {
			watching: watching{phase: open, version: "5"}, begun: true, known: &record{exists: true, version: "30"}, seen: object("10"),
			want: record{exists: true, version: "30"}, version: "5",
		},
		"a watch tells older": {
			watching: watching{phase: open, version: "5"}, begun: true, known: &record{exists: true, version: "9"}, seen: object("10"),
			want: record{exists: true, version: "10"}, version: "5",
		},
		"deleted before the list": {
			watching: watching{phase: open, version: "5"}, begun: true, known: &record{exists: true, version: "10"},
			seen: found{version: "20"}, want: record{version: "20"}, version: "5",
		},
		"created after the list": {
			watching: watching{phase: open, version: "5"}, begun: true, known: &record{exists: true, version: "21"},
			seen: found{version: "20"}, want: record{exists: true, version: "21"}, version: "5",
		},
		"deleted after the list": {
			watching: watching{phase: open, version: "5"}, begun: true, known: &record{version: "25"}, seen: object("10"),
			want: record{version: "25"}, version: "5",
		},
		"a watch began meanwhile, without this list": {
			watching: watching{phase: open, version: "25"}, seen: object("10"), again: true, version: "25",
		},
		"another list was first": {watching: watching{version: "25"}, seen: object("10"), again: true, version: "25"},
		"no watch, so the last read counts": {
			watching: watching{phase: refused}, known: &record{exists: true, version: "30"}, seen: object("10"),
			want: record{exists: true, version: "10"},
		},
		"versions that are no numbers": {
			watching: watching{phase: open, version: "x"}, begun: true, known: &record{exists: true, version: "z"}, seen: object("y"),
			want: record{exists: true, version: "y"}, version: "x",
		},
		"by name, it is sure that it is missing": {
			watching: watching{scope: scope{name: "a"}}, seen: found{version: "20"}, want: record{version: "20", verified: true}, version: "20",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := listed(&c.watching)
			p.interests["a"].known = c.known
			if merged := w.merge(p, c.seen, c.begun); merged == c.again {
				t.Fatalf("merged = %v", merged)
			}
			if got := p.interests["a"].known; !c.again && *got != c.want {
				t.Errorf("known = %+v, want %+v", *got, c.want)
			}
			if p.watching.version != c.version {
				t.Errorf("the watch begins at %q, want %q", p.watching.version, c.version)
			}
		})
	}
}

// TestReplace_TellsOnlyNews: an event that is older than what was listed is not applied, and one in a list that was made anew
// always is: the versions of a restored cluster begin again.
func TestReplace_TellsOnlyNews(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		always  bool
		want    string
	}{
		"newer": {"11", false, "11"}, "older": {"9", false, "10"}, "older, listed anew": {"9", true, "9"},
	} {
		w, p := listed(&watching{phase: open})
		p.interests["a"].known = &record{exists: true, version: "10"}
		w.replace(p.watching, "a", func(*interest) *record { return &record{exists: true, version: c.version} }, c.always)
		if got := p.interests["a"].known.version; got != c.want {
			t.Errorf("%s: known is %s, want %s", name, got, c.want)
		}
	}
}

// TestReplace_TellsWhoComesMeanwhile: a wait that takes over what another knows, while an event of it is being looked at.
func TestReplace_TellsWhoComesMeanwhile(t *testing.T) {
	w, p := listed(&watching{phase: open, version: "5"})
	before := p.interests["a"].wait
	p.interests["a"].known, before.settled = &record{exists: true, version: "10"}, true
	w.watches[p.watching.scope] = p.watching
	next := &wait{user: before.user}
	taken := &part{watching: newWatching(p.watching.scope, before.Cluster), interests: map[string]*interest{}}
	i := &interest{wait: next, part: taken, target: p.interests["a"].target}
	taken.interests["a"] = i
	next.parts, next.interests = []*part{taken}, []*interest{i}
	w.replace(p.watching, "a", func(*interest) *record {
		if w.waits[next.user] == before {
			if unread := w.register(next); len(unread) != 0 {
				t.Error("what the wait before knows is not taken over")
			}
		}
		return &record{exists: true, version: "11"}
	}, false)
	if i.known == nil || i.known.version != "11" {
		t.Errorf("known is %+v, want version 11", i.known)
	}
}

// lister answers lists in two pages, and notes how it was asked.
type lister struct {
	client.WithWatch
	asked []metav1.ListOptions
}

func (l *lister) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	l.asked = append(l.asked, *o.AsListOptions())
	list.SetResourceVersion("20")
	if o.Continue == "" {
		list.SetContinue("more")
	}
	return nil
}

// TestPages_SayOnceHowOldTheyMayBe: the API server refuses a version together with the rest of a list.
func TestPages_SayOnceHowOldTheyMayBe(t *testing.T) {
	l := &lister{}
	_, p := listed(&watching{client: l, scope: scope{metadata: true, kind: configMaps}})
	for version, want := range map[string]string{"": "0", "17": "17"} {
		l.asked = nil
		got, err := pages(t.Context(), p.watching, p.watching.selection(), p.age(version, true), func(client.Object) {})
		if err != nil || got != "20" || len(l.asked) != 2 {
			t.Fatalf("version %s, %v, after %d pages", got, err, len(l.asked))
		}
		first, second := l.asked[0], l.asked[1]
		if first.ResourceVersion != want || first.Limit != pageSize || first.LabelSelector == "" {
			t.Errorf("the first page is %+v", first)
		}
		if second.ResourceVersion != "" || second.ResourceVersionMatch != "" || second.Continue != "more" {
			t.Errorf("the second page is %+v", second)
		}
	}
	if p.age("17", false) != nil {
		t.Error("where nothing is watched, a list out of the cache is taken")
	}
	p.watching.metadata = false
	if p.age("17", true) != nil {
		t.Error("where no generation tells that it is too old, a list out of the cache is taken")
	}
}

// reader answers lists with the object that was before, and reads with the one that is.
type reader struct {
	client.WithWatch
	before, now client.Object
}

func (r *reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.SetResourceVersion("20")
	return meta.SetList(list, []runtime.Object{r.before})
}

func (r *reader) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	object.SetUID(r.now.GetUID())
	object.SetResourceVersion(r.now.GetResourceVersion())
	return nil
}

// TestReadObjects_CacheHasTheObjectBefore: it may have been healthy, but it is not the one that was applied.
func TestReadObjects_CacheHasTheObjectBefore(t *testing.T) {
	of := func(uid types.UID, version string) client.Object {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: uid, ResourceVersion: version}}
	}
	_, p := listed(&watching{client: &reader{before: of("old", "10"), now: of("new", "30")}, scope: scope{metadata: true, kind: configMaps}})
	i := p.interests["a"]
	for uid, want := range map[types.UID]string{"new": "30", "old": "10", "": "10"} {
		i.target.Entry.UID = uid
		seen, err := readObjects(t.Context(), i.wait, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := seen.objects["a"].version; got != want {
			t.Errorf("waiting for UID %q: version %s is read, want %s", uid, got, want)
		}
	}
	before := i.wait
	before.settled, p.watching.phase = true, open
	i.known = &record{exists: true, uid: "old", version: "10"}
	for uid, want := range map[types.UID]bool{"new": false, "old": true, "": true} {
		next := &interest{wait: &wait{}, part: p, target: i.target}
		next.target.Entry.UID = uid
		if got := carried(before, next, "a") != nil; got != want {
			t.Errorf("waiting for UID %q: what is known is taken over: %v, want %v", uid, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a\n\tb": "a b", "b\r\n": "b", "a\x00b": "a b", "\xff": "",
	} {
		if got := brief(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
