package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// Across checks the statements of a project against each other. The findings are by file.
func Across(p *statement.Project, files []*statement.File) map[*statement.File][]source.Finding {
	a := across{project: p, findings: map[*statement.File][]source.Finding{}}
	repositories := map[string][]*statement.Statement{}
	for _, f := range files {
		for _, s := range f.Statements {
			if s.Readable() && s.Repository.Text != "" {
				repositories[s.Repository.Text] = append(repositories[s.Repository.Text], s)
			}
		}
	}
	names := slices.Sorted(maps.Keys(repositories))
	a.sameFile(names, repositories)
	for _, name := range names {
		a.repository(repositories[name])
	}
	return a.findings
}

type across struct {
	project  *statement.Project
	findings map[*statement.File][]source.Finding
}

func (a *across) find(s *statement.Statement, rule source.Rule, span source.Span, message string, related ...source.Related) {
	a.findings[s.File] = append(a.findings[s.File], source.Finding{Rule: rule, Span: span, Message: message, Related: related})
}

// both reports a pair at both of its places.
func (a *across) both(rule source.Rule, x, y place, format string) {
	for _, p := range [][2]place{{x, y}, {y, x}} {
		at := p[1].statement.File.Position(p[1].span.Start)
		where := fmt.Sprintf("%s:%d:%d", p[1].statement.File.Relative, at.Line, at.Column)
		a.find(p[0].statement, rule, p[0].span, fmt.Sprintf(format, where), source.Related{
			Path: p[1].statement.File.Path, Span: p[1].span, Message: "the other place",
		})
	}
}

type place struct {
	statement *statement.Statement
	span      source.Span
}

// sameFile: classes whose names differ by case only are one file where file systems ignore case.
func (a *across) sameFile(names []string, repositories map[string][]*statement.Statement) {
	first := map[string]string{}
	for _, name := range names {
		lower := strings.ToLower(name)
		other, ok := first[lower]
		if !ok {
			first[lower] = name
			continue
		}
		x, y := repositories[other][0], repositories[name][0]
		a.both(RuleRepositoryCase, place{x, x.Repository.Span}, place{y, y.Repository.Span},
			fmt.Sprintf("the repositories %s and %s differ by case only, see %%s; not every file system can hold both", other, name))
	}
}

// repository checks the statements of one class, given in the order of their paths and positions.
func (a *across) repository(all []*statement.Statement) {
	byName := map[string][]*statement.Statement{}
	for _, s := range all {
		if s.Name.Text != "" {
			byName[s.Name.Text] = append(byName[s.Name.Text], s)
		}
	}
	names := slices.Sorted(maps.Keys(byName))
	distinct := make([]*statement.Statement, 0, len(names))
	groups := make([][]*statement.Statement, 0, len(names))
	for _, name := range names {
		group := byName[name]
		groups = append(groups, group)
		distinct = append(distinct, group[0])
		if len(group) > 1 {
			a.variants(group)
		}
	}
	a.methods(distinct)
	a.converters(all)
	a.injections(groups)
}

// variants: statements of one name are variants, one for each vendor and at most one without, and agree in all else.
func (a *across) variants(group []*statement.Statement) {
	byVendor := map[string]*statement.Statement{}
	for _, s := range group {
		other, ok := byVendor[s.Vendor]
		if !ok {
			byVendor[s.Vendor] = s
			continue
		}
		format := fmt.Sprintf("another statement of %s is called %s, at %%s; rename one, or give each a vendor", s.Repository.Text, s.Name.Text)
		if s.Vendor != "" {
			format = fmt.Sprintf("%s has another variant of %s for %s, at %%s", s.Repository.Text, s.Name.Text, s.Vendor)
		}
		a.both(RuleDuplicateName, place{other, other.Name.Span}, place{s, s.Name.Span}, format)
	}
	if len(byVendor) != len(group) {
		return
	}
	for _, key := range matter.KeyNames() {
		if key == "vendor" || key == "name" || key == "repository" {
			continue
		}
		var first *statement.Statement
		for _, s := range group {
			n := s.Written.Get(key)
			switch {
			case n == nil || n.Kind == matter.Null:
			case first == nil:
				first = s
			case !same(first.Written.Get(key), n):
				a.both(RuleVariant, place{first, first.Written.Pair(key).Span}, place{s, s.Written.Pair(key).Span},
					fmt.Sprintf("the variants of %s differ in %s, see %%s; write it once, or the same in both", s.Name.Text, key))
			}
		}
	}
}

// same compares two values without their places. The order of a mapping's keys matters only in parameters, whose
// shapes are both compared in order.
func same(a, b *matter.Node) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) || len(a.Pairs) != len(b.Pairs) {
		return false
	}
	if a.Kind == matter.Bool {
		return a.True() == b.True()
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, p := range a.Pairs {
		if other := b.Get(p.Key); other == nil || !same(p.Value, other) {
			return false
		}
	}
	return a.Value == b.Value
}

// methods: methods of different statements have different signatures after erasure. Only statements whose types are
// all written are compared; the others are compared when code is generated.
func (a *across) methods(all []*statement.Statement) {
	owners := map[string]*statement.Statement{}
	for _, s := range all {
		for _, signature := range a.signatures(s) {
			other, taken := owners[signature]
			if !taken {
				owners[signature] = s
				continue
			}
			if other != s {
				a.both(RuleMethodClash, place{other, other.Name.Span}, place{s, s.Name.Span},
					fmt.Sprintf("%s and %s would both have a method %s, see %%s; rename one", other.Name.Text, s.Name.Text, signature))
				break
			}
		}
	}
}

// signatures returns the erased signatures of a statement's methods, none when a type is not known.
func (a *across) signatures(s *statement.Statement) []string {
	erased := make([]string, 0, len(s.Parameters))
	for _, p := range s.Parameters {
		if p.Erased == "" {
			return nil
		}
		if p.Variant != matter.Out {
			erased = append(erased, p.Erased)
		}
	}
	var all []string
	add := func(prefix, suffix, dimension string) {
		name := MethodName(a.project.Affix(s.Written, prefix), s.Name.Text, a.project.Affix(s.Written, suffix))
		parameters := make([]string, 0, len(erased)+1)
		for _, e := range erased {
			parameters = append(parameters, e+dimension)
		}
		if a.project.Setting(s.Written, "createConnection") {
			all = append(all, name+"("+strings.Join(parameters, ", ")+")")
		}
		all = append(all, name+"("+strings.Join(append([]string{"java.sql.Connection"}, parameters...), ", ")+")")
	}
	if a.project.Setting(s.Written, "executeOnce") {
		add("executeOncePrefix", "executeOnceSuffix", "")
	}
	if a.project.Setting(s.Written, "executeBatch") && s.Type == matter.Writing && s.Returning == matter.None && len(s.Parameters) > 0 {
		add("executeBatchPrefix", "executeBatchSuffix", "[]")
	}
	return all
}

// converters: within a repository, an alias stands for one converter.
func (a *across) converters(all []*statement.Statement) {
	first := map[string]*statement.Statement{}
	for _, s := range all {
		n := s.Written.Get("resultRowConverter")
		alias := n.Get("alias")
		if alias == nil {
			continue
		}
		other, ok := first[alias.Value]
		if !ok {
			first[alias.Value] = s
			continue
		}
		o := other.Written.Get("resultRowConverter")
		if !same(o, n) {
			a.both(RuleConverterAlias, place{other, o.Get("alias").Span}, place{s, alias.Span},
				fmt.Sprintf("the alias %s stands for another converter at %%s", alias.Value))
		}
	}
}

// ByPath puts files into the order of their paths.
func ByPath(files []*statement.File) {
	slices.SortFunc(files, func(a, b *statement.File) int { return cmp.Compare(a.Relative, b.Relative) })
}
