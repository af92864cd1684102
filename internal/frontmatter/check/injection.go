package check

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// injections: within a repository, a converter is created or injected for all statements that use it. A group is the
// variants of a statement.
func (a *across) injections(groups [][]*statement.Statement) {
	type written struct {
		place

		injected bool
	}
	first := map[string]written{}
	for _, group := range groups {
		s, pair := writer(group, "injectConverters")
		if pair == nil || pair.Value.Kind != matter.Bool {
			continue
		}
		converter := converterOf(group)
		if converter == "" {
			continue
		}
		w := written{place{s, pair.Span}, pair.Value.True()}
		other, ok := first[converter]
		switch {
		case !ok:
			first[converter] = w
		case other.injected != w.injected:
			a.both(RuleInjection, other.place, w.place,
				"another statement of the repository reads its rows with the same converter and says the opposite, at %s; the class has it once")
		}
	}
}

// writer returns the variant that writes a key, with the key.
func writer(group []*statement.Statement, key string) (*statement.Statement, *matter.Pair) {
	for _, s := range group {
		if p := s.Written.Pair(key); p != nil {
			return s, p
		}
	}
	return nil, nil
}

// valueOf returns the value of a scalar; empty for nil.
func valueOf(n *matter.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

// converterOf identifies the converter of a statement in its repository; empty without one. Whether a class of the user's
// is a record, which has a converter, only the Java sources tell: it counts as one.
func converterOf(group []*statement.Statement) string {
	if group[0].Returning == matter.None || group[0].Returning == "" {
		return ""
	}
	if _, p := writer(group, "resultRowConverter"); p != nil {
		class, alias := p.Value.Value, ""
		if p.Value.Kind == matter.Mapping {
			class, alias = valueOf(p.Value.Get("converterType")), valueOf(p.Value.Get("alias"))
		}
		if alias == "" {
			alias = statement.Decapital(class[strings.LastIndexByte(class, '.')+1:])
		}
		return class + "\x00" + alias
	}
	_, p := writer(group, "resultRowType")
	if p == nil {
		return "a map"
	}
	t, err := statement.ParseType(p.Value.Value)
	if err != nil || t.Primitive || t.Dimensions > 0 || strings.HasPrefix(t.Class, "java.") {
		return "" // read without a converter
	}
	key := []string{"", t.Class}
	if _, columns := writer(group, "resultRowColumns"); columns != nil {
		for _, c := range columns.Value.Pairs {
			key = append(key, c.Key+"\x00"+c.Value.Value)
		}
	}
	slices.Sort(key[2:])
	return strings.Join(key, "\x00")
}
