package build

import (
	"fmt"
	"maps"
	"regexp"

	kustypes "sigs.k8s.io/kustomize/api/types"
)

// cost bounds a build before it begins, because kustomize cannot be interrupted: everything counts as often as it is included.
type cost struct {
	directories int
	bytes       int64
	all         tally
	kinds       map[string]tally // of the objects, as the files have them
	names       map[string]tally
	deepest     int64 // values that transformations can have added to one object
	widest      int64 // bytes of the longest text
	references  int64 // to variables, as $(name)
	effort      int64 // in microseconds, about
}

// tally counts objects and the values in them.
type tally struct{ objects, values int64 }

func (t tally) plus(other tally) tally {
	return tally{t.objects + other.objects, t.values + other.values}
}

const (
	maxDirectories    = 1_000
	maxKustomizeBytes = 32 << 20   // kustomize needs some fifty times as much memory
	maxEffort         = 20_000_000 // some 20 seconds: 4,400 objects in one directory
)

// What things take, in microseconds or as parts of one.
const (
	effortOfPatching = 250 // one object by one patch, which is written as text and read again
	effortOfValue    = 10  // each value of it
	effortOfSetting  = 20  // a setting of a kustomization, for each object
	valuesAtATime    = 50  // values that are compared in a microsecond
	bytesAtATime     = 100 // bytes that are copied
	keysAtATime      = 100 // keys that are compared
	labelsAtATime    = 5   // labels and annotations that are sorted
)

// include counts what a directory includes.
func (c *cost) include(other cost) error {
	c.directories += other.directories
	c.bytes += other.bytes
	c.effort += other.effort
	c.deepest = max(c.deepest, other.deepest)
	c.widest = max(c.widest, other.widest)
	c.references += other.references
	c.all = c.all.plus(other.all)
	c.kinds, c.names = merged(c.kinds, other.kinds), merged(c.names, other.names)
	switch {
	case c.directories > maxDirectories:
		return fmt.Errorf("kustomizations include more than %d directories, each counted as often as it is included",
			maxDirectories)
	case c.bytes > maxKustomizeBytes:
		return fmt.Errorf("kustomizations include more than %d bytes, each file counted as often as it is included",
			maxKustomizeBytes)
	case c.effort > maxEffort:
		return c.tooMuch()
	}
	return nil
}

// merged adds the second to the first, which belongs to the caller.
func merged(to, from map[string]tally) map[string]tally {
	if to == nil {
		return maps.Clone(from)
	}
	for key, t := range from {
		to[key] = to[key].plus(t)
	}
	return to
}

// object counts one that a file has, or that is generated.
func (c *cost) object(kind, name string, values int64) {
	if c.kinds == nil {
		c.kinds, c.names = map[string]tally{}, map[string]tally{}
	}
	t := tally{1, values}
	c.all, c.kinds[kind], c.names[name] = c.all.plus(t), c.kinds[kind].plus(t), c.names[name].plus(t)
}

// document counts the objects of a document, of Lists those in them.
func (c *cost) document(value any) {
	m, _ := value.(map[string]any)
	if items, ok := m["items"].([]any); ok && len(items) > 0 {
		for _, item := range items {
			c.document(item)
		}
		return
	}
	kind, _ := m["kind"].(string)
	metadata, _ := m["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	c.object(kind, name, c.count(value))
}

// count counts values, and looks for the longest.
func (c *cost) count(value any) int64 {
	count := int64(1)
	switch v := value.(type) {
	case string:
		c.widest = max(c.widest, int64(len(v)))
	case map[string]any:
		for _, inner := range v {
			count += c.count(inner)
		}
	case []any:
		for _, inner := range v {
			count += c.count(inner)
		}
	}
	return count
}

// generate counts an object that is generated of so many keys, each of which is compared with all.
func (c *cost) generate(kind, name string, keys int64) error {
	c.object(kind, name, keys)
	c.effort += over(keys, keys, keysAtATime)
	if c.effort > maxEffort {
		return fmt.Errorf("%d keys are too many for kustomize to generate a %s", keys, kind)
	}
	return nil
}

// change is what a directory does to the objects that are in it and below it.
type change struct {
	settings int64 // values of the kustomization that concern every object
	labels   int64 // and annotations, of the settings
	bytes    int64 // of the settings
	patches  []patching
	paths    []writing
	vars     bool
}

// patching is a patch.
type patching struct {
	target *kustypes.Selector // nil: the one object that it names
	name   string             // of that
	values int64
	bytes  int64
}

// writing are the fields of a replacement's target.
type writing struct {
	target *kustypes.Selector
	fields int64
	all    bool // of a list or an object
}

// close counts the directory itself, when all it includes is known.
func (c *cost) close(ch change) error {
	n := c.all.objects
	for _, p := range ch.patches {
		c.deepest += p.values
	}
	c.deepest += ch.settings
	c.effort += n * n
	c.effort += ch.settings*n*effortOfSetting + over(ch.settings, c.grown(c.all), valuesAtATime) + ch.bytes*n/bytesAtATime
	c.effort += over(ch.labels*n, c.deepest, labelsAtATime) // each is sorted with all that are there
	for _, p := range ch.patches {
		hit := c.hit(p)
		values := c.grown(hit)
		c.effort += hit.objects*effortOfPatching + values*effortOfValue + over(p.values, values, valuesAtATime) +
			p.bytes*hit.objects/bytesAtATime
		if c.effort > maxEffort {
			return c.tooMuch()
		}
	}
	if c.effort > maxEffort {
		return c.tooMuch()
	}
	return nil
}

// over is a times b divided by c; it does not overflow.
func over(a, b, c int64) int64 {
	const most = maxEffort + 1
	if b > 0 && a > most*c/b {
		return most
	}
	return a * b / c
}

// grown are the values that objects can have by now.
func (c *cost) grown(t tally) int64 { return t.values + t.objects*c.deepest }

// hit are the objects that a patch changes, at most.
func (c *cost) hit(p patching) tally {
	if p.target == nil {
		return tally{max(1, c.names[p.name].objects), c.names[p.name].values}
	}
	return c.selected(p.target)
}

// selected are the objects that a selector selects, at most: names may have been changed since.
func (c *cost) selected(s *kustypes.Selector) tally {
	if s.Name != "" && regexp.QuoteMeta(s.Name) == s.Name {
		if t, ok := c.names[s.Name]; ok {
			return t
		}
	}
	if s.Kind == "" {
		return c.all
	}
	pattern, err := regexp.Compile("^(?:" + s.Kind + ")$")
	if err != nil { // kustomize says so
		return tally{}
	}
	var t tally
	for kind, of := range c.kinds {
		if pattern.MatchString(kind) {
			t = t.plus(of)
		}
	}
	return t
}

// written are the bytes that variables and replacements can make, at most.
func (c *cost) written(ch change) int64 {
	var count int64
	if ch.vars {
		count = c.references
	}
	for _, w := range ch.paths {
		hit := c.selected(w.target)
		if w.all {
			count += w.fields * c.grown(hit)
		} else {
			count += w.fields * hit.objects
		}
	}
	return count * c.widest
}

func (c *cost) tooMuch() error {
	return fmt.Errorf("%d objects with all that is done to them are too many for kustomize, whose time grows with their square "+
		"and with every patch of every object; divide the stage, or publish what kustomize builds", c.all.objects)
}
