package java

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// method is what is generated for a statement and its variants: one method, or several of one meaning.
type method struct {
	name       string
	repository string
	lead       *statement.Statement   // the variant without a vendor, or the first one
	variants   []*statement.Statement // all of them, by path and position
	written    *matter.Node           // the keys that any of them writes
	kind       string
	returning  string
	parameters []parameter
	row        *row // of what returns rows
	out        *out // of a call with parameters that it sets
	settings   settings
}

// settings are the switches of a method, with the defaults of the project.
type settings struct {
	once, batch, own, prepared, counts, catches, throwsOnMultiple, injects bool
	onceName, batchName                                                    string
}

// repository is a class that is generated.
type repository struct {
	name    string // qualified
	methods []*method
}

// text returns the value of a text; empty for nil.
func text(n *matter.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

func items(n *matter.Node) []*matter.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// collect groups the statements of a project into repositories and methods, both sorted: repositories by name, methods
// by what they do (calls, reads, writes), path and position.
func (g *generator) collect(files []*statement.File) []*repository {
	byName := map[string]*repository{}
	methods := map[[2]string]*method{}
	for _, f := range files {
		for _, s := range f.Statements {
			if s.Written == nil || s.Name.Text == "" || s.Repository.Text == "" || s.Type == "" {
				continue
			}
			r := byName[s.Repository.Text]
			if r == nil {
				r = &repository{name: s.Repository.Text}
				byName[r.name] = r
			}
			key := [2]string{r.name, s.Name.Text}
			m := methods[key]
			if m == nil {
				m = &method{name: s.Name.Text, repository: r.name, lead: s, written: &matter.Node{Kind: matter.Mapping}}
				methods[key] = m
				r.methods = append(r.methods, m)
			}
			m.add(s)
		}
	}
	all := make([]*repository, 0, len(byName))
	for _, r := range byName {
		order := map[string]int{matter.Calling: 0, matter.Reading: 1, matter.Writing: 2}
		slices.SortStableFunc(r.methods, func(a, b *method) int { return order[a.lead.Type] - order[b.lead.Type] })
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *repository) int { return cmp.Compare(a.name, b.name) })
	return all
}

func (m *method) add(s *statement.Statement) {
	m.variants = append(m.variants, s)
	if s.Vendor == "" {
		m.lead = s
	}
	for _, p := range s.Written.Pairs {
		if m.written.Get(p.Key) == nil {
			m.written.Pairs = append(m.written.Pairs, p)
		}
	}
}

// author returns the variant that writes a key, and the place of the key's value; the lead and its name when none does.
func (m *method) author(key string) (*statement.Statement, source.Span) {
	for _, s := range m.variants {
		if p := s.Written.Pair(key); p != nil {
			return s, p.Value.Span
		}
	}
	return m.lead, m.lead.Name.Span
}

// settle decides what a method is like; false with findings.
func (g *generator) settle(m *method) bool {
	m.kind, m.returning = m.lead.Type, m.lead.Returning
	on := func(key string) bool { return g.project.Setting(m.written, key) }
	name := func(prefix, suffix string) string {
		return check.MethodName(g.project.Affix(m.written, prefix), m.name, g.project.Affix(m.written, suffix))
	}
	m.settings = settings{
		once: on("executeOnce"), batch: on("executeBatch"), own: on("createConnection"), prepared: on("usePreparedStatement"),
		counts: on("writesReturnUpdateCount"), catches: on("catchAndRethrow"), throwsOnMultiple: on("throwOnMultipleResults"),
		injects:  on("injectConverters"),
		onceName: name("executeOncePrefix", "executeOnceSuffix"), batchName: name("executeBatchPrefix", "executeBatchSuffix"),
	}
	ok := g.parameters(m)
	expands := slices.ContainsFunc(m.parameters, func(p parameter) bool { return p.expands })
	m.settings.batch = m.settings.batch && m.kind == matter.Writing && m.returning == matter.None && len(m.parameters) > 0 && !expands
	if !m.settings.prepared && (len(m.parameters) > 0 || !ok) {
		m.settings.prepared = true // a default of the project: what has parameters is prepared all the same
	}
	if !m.settings.once && !m.settings.batch && ok {
		s, span := m.author("executeOnce")
		g.find(s, check.RuleMethod, span, "no method is left for the statement: it is not executed once, and "+noBatch(m, expands))
		ok = false
	}
	if !ok {
		return false
	}
	if g.project.Setting(m.written, "executeBatch") && expands && m.written.Get("executeBatch") != nil {
		s, span := m.author("executeBatch")
		g.find(s, check.RuleCollection, span, "a statement with a collection in IN (…) has no batch: its SQL differs from entry to entry; remove the key")
		return false
	}
	return g.settleRows(m)
}

func noBatch(m *method, expands bool) string {
	switch {
	case expands:
		return "a statement with a collection in IN (…) has no batch"
	case m.kind != matter.Writing || m.returning != matter.None:
		return "only a writing statement that returns none has a batch"
	}
	return "a batch needs parameters"
}

// settleRows decides what rows or OUT parameters become.
func (g *generator) settleRows(m *method) bool {
	if m.kind == matter.Calling && m.returning == matter.None {
		return g.settleOut(m)
	}
	if m.returning == matter.None {
		return true
	}
	r, ok := g.rowOf(m)
	m.row = r
	return ok
}

// out is what a call returns by its OUT parameters.
type out struct {
	parameters []parameter
	typ        statement.Type
	components []int // of a record: the parameter of each component
	record     bool
}

func (g *generator) settleOut(m *method) bool {
	var outs []parameter
	for _, p := range m.parameters {
		if p.isOut() {
			outs = append(outs, p)
		}
	}
	switch {
	case len(outs) == 0:
		return true
	case m.written.Get("resultRowType") != nil && len(outs) > 0:
		return g.outRecord(m, outs)
	case len(outs) == 1:
		m.out = &out{parameters: outs, typ: outs[0].Type}
	default:
		m.out = &out{parameters: outs, typ: mapType()}
	}
	return true
}

// mapType is Map<String, Object>.
func mapType() statement.Type {
	return statement.Type{Class: "java.util.Map", Arguments: []statement.Type{{Class: "java.lang.String"}, {Class: "java.lang.Object"}}}
}

// outRecord matches the components of a record with the parameters that the call sets.
func (g *generator) outRecord(m *method, outs []parameter) bool {
	s, span := m.author("resultRowType")
	t, err := statement.ParseType(text(m.written.Get("resultRowType")))
	if err != nil {
		return false // the check says so
	}
	if len(outs) == 1 && t.String() == outs[0].Type.String() {
		m.out = &out{parameters: outs, typ: outs[0].Type}
		return true
	}
	v, err := g.valueOf(t)
	if err != nil || v.kind != recordValue {
		g.find(s, check.RuleRowType, span, fmt.Sprintf("the OUT parameters of a call go into a record, and %s is none that the Java sources have", t))
		return false
	}
	m.out = &out{parameters: outs, typ: t, record: true}
	for _, c := range v.record.Components {
		i := slices.IndexFunc(outs, func(p parameter) bool { return p.Name == c.Name })
		switch {
		case i < 0:
			g.find(s, check.RuleOutParameter, span, fmt.Sprintf("the component %s of %s has no OUT parameter of its name", c.Name, t))
			return false
		case boxed(c.Type.Type).String() != boxed(outs[i].Type).String():
			g.find(s, check.RuleOutParameter, span, fmt.Sprintf("the component %s of %s is %s, and the OUT parameter is %s", c.Name, t, c.Type, outs[i].Type))
			return false
		}
		m.out.components = append(m.out.components, i)
	}
	return true
}
