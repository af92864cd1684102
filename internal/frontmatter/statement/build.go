package statement

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// The rules of this package: settings that cannot be derived.
const (
	RuleName       source.Rule = "name-not-derived"
	RuleType       source.Rule = "type-not-derived"
	RuleRepository source.Rule = "repository-not-derived"
)

// Build reads a file into statements.
func Build(p *Project, file *source.File, relative string) *File {
	parsed := source.Parse(file, source.Options{Dialect: p.Dialect, Separator: p.Separator, Match: Match})
	f := &File{File: file, Relative: relative, Findings: parsed.Findings}
	unnamed := 0
	for _, s := range parsed.Statements {
		b := builder{project: p, file: f, statement: &Statement{File: f, Source: s}}
		b.read()
		b.name(&unnamed)
		b.kind()
		b.repository()
		b.parameters()
		f.Statements = append(f.Statements, b.statement)
	}
	return f
}

// Match tells which words of comments are keys.
func Match(word string) source.Match {
	if _, ok := matter.KeyNamed(word); ok {
		return source.Key
	}
	if _, near := matter.Nearest(word, matter.KeyNames()); near {
		return source.NearMiss
	}
	return source.NoKey
}

type builder struct {
	project   *Project
	file      *File
	statement *Statement
}

func (b *builder) find(rule source.Rule, span source.Span, message string) {
	b.file.Findings = append(b.file.Findings, source.Finding{Rule: rule, Span: span, Message: message})
}

// read reads the front matter and checks its shape.
func (b *builder) read() {
	s := b.statement
	if s.Source.Block == nil {
		s.Written = &matter.Node{Kind: matter.Mapping}
		return
	}
	node, findings := matter.Read(s.Source.Block.YAML(), s.Source.Block.Offset)
	b.file.Findings = append(b.file.Findings, findings...)
	if node == nil {
		return
	}
	b.file.Findings = append(b.file.Findings, matter.Fit(node, matter.KeyShape())...)
	b.file.Findings = append(b.file.Findings, matter.Combine(node)...)
	s.Written = node
}

// start is the place of what nothing in the front matter is responsible for.
func (s *Statement) start() source.Span {
	rest := s.Source.SQL.Text(s.File.Text)
	word := strings.IndexFunc(rest, unicode.IsSpace)
	if word < 0 {
		word = len(rest)
	}
	return source.Span{Start: s.Source.SQL.Start, End: s.Source.SQL.Start + word}
}

// name takes the written name, or makes one from the name of the file.
func (b *builder) name(unnamed *int) {
	s := b.statement
	if !s.Readable() {
		return
	}
	if n := s.Written.Get("name"); n != nil {
		s.Name = Named{Span: n.Span, Written: true}
		if n.Kind == matter.Text && matter.IsName(n.Value) {
			s.Name.Text = n.Value
		}
		return
	}
	*unnamed++
	derived := strings.TrimSuffix(path.Base(b.file.Relative), ".sql")
	s.Name.Span = s.start()
	if !matter.IsName(derived) {
		b.find(RuleName, s.Name.Span, fmt.Sprintf("%q, from the name of the file, is not a Java identifier; write name: above the statement", derived))
		return
	}
	if *unnamed > 1 {
		derived += fmt.Sprint(*unnamed)
	}
	s.Name.Text = derived
}

// kind takes the type and the returning mode, or derives them.
func (b *builder) kind() {
	s := b.statement
	if !s.Readable() {
		return
	}
	s.Vendor = word(s.Written.Get("vendor"))
	if n := s.Written.Get("type"); n != nil {
		s.Type = word(n)
	} else if s.Name.Text != "" {
		t, ok := b.project.typeOf(s.Name.Text)
		if !ok {
			b.find(RuleType, s.Name.Span, fmt.Sprintf("the name %s does not tell whether the statement is reading, writing or calling; write type: above it (prefixes that tell it: %s)", s.Name.Text, b.project.prefixList()))
		}
		s.Type = t
	}
	s.Returning = returning(s.Type, s.Written.Get("returning"), s.Written.Get("parameters"))
}

// returning is the written mode, or the default of the type; none with a parameter that is OUT or INOUT.
func returning(kind string, written, parameters *matter.Node) string {
	if written != nil {
		return word(written)
	}
	for _, n := range itemsOf(parameters) {
		if v := word(n.Get("variant")); v == matter.Out || v == matter.InOut {
			return matter.None
		}
	}
	return map[string]string{matter.Reading: matter.Multiple, matter.Writing: matter.None, matter.Calling: matter.Single}[kind]
}

func word(n *matter.Node) string {
	if n == nil || n.Kind != matter.Text {
		return ""
	}
	return n.Value
}

func itemsOf(n *matter.Node) []*matter.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// repository takes the written class, or derives one from the folder.
func (b *builder) repository() {
	s := b.statement
	if !s.Readable() {
		return
	}
	if n := s.Written.Get("repository"); n != nil {
		s.Repository = Named{Span: n.Span, Written: true}
		if name := word(n); name != "" {
			s.Repository.Text = qualify(b.project.BasePackage, name)
		}
		return
	}
	s.Repository.Span = s.start()
	folder := path.Dir(b.file.Relative)
	if folder == "." {
		s.Repository.Text = qualify(b.project.BasePackage, "Repository")
		return
	}
	parts := strings.Split(folder, "/")
	last := len(parts) - 1
	class := pascal(parts[last])
	packages := parts[:last]
	for _, p := range append([]string{class}, packages...) {
		if !matter.IsName(p) {
			b.find(RuleRepository, s.Repository.Span, fmt.Sprintf("the folder %s does not give the name of a class; rename it, or write repository: above the statement", folder))
			return
		}
	}
	s.Repository.Text = strings.Join(append(append(nonEmpty(b.project.BasePackage), packages...), class+"Repository"), ".")
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// qualify puts a short name into the base package.
func qualify(base, name string) string {
	if base == "" || strings.Contains(name, ".") {
		return name
	}
	return base + "." + name
}

// pascal joins the words of a folder's name in camel case, with a capital first.
func pascal(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == '.' }) {
		b.WriteString(Capital(part))
	}
	return b.String()
}

// Capital returns a word with a capital first.
func Capital(word string) string {
	r, size := utf8.DecodeRuneInString(word)
	if size == 0 {
		return word
	}
	return string(unicode.ToUpper(r)) + word[size:]
}

// Decapital returns a word with a small letter first, as a name of Java; a run of capitals is one word.
func Decapital(word string) string {
	runes := []rune(word)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	name := string(runes)
	if !matter.IsName(name) {
		return name + "Value"
	}
	return name
}

// startsWord tells whether a new word of a name in camel or snake case starts here.
func startsWord(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '_' || unicode.IsUpper(r) || unicode.IsDigit(r)
}

// parameters lists the declared parameters in their order, then the others as they occur.
func (b *builder) parameters() {
	s := b.statement
	index := map[string]int{}
	add := func(p Parameter) {
		if _, ok := index[p.Name]; !ok {
			if t, err := ParseType(p.Type); err == nil {
				p.Erased = t.Erased()
			}
			index[p.Name] = len(s.Parameters)
			s.Parameters = append(s.Parameters, p)
		}
	}
	declared := s.Written.Get("parameters")
	for _, n := range itemsOf(declared) {
		if name := n.Get("name"); name != nil && name.Kind == matter.Text {
			add(Parameter{Name: name.Value, Type: word(n.Get("type")), Variant: word(n.Get("variant")), Node: n, Span: name.Span})
		}
	}
	if declared != nil {
		for _, p := range declared.Pairs {
			add(Parameter{Name: p.Key, Type: word(p.Value), Node: p.Value, Span: p.Span})
		}
	}
	for _, o := range s.Source.Parameters {
		add(Parameter{Name: o.Name, Span: o.Span})
		i := index[o.Name]
		s.Parameters[i].Uses = append(s.Parameters[i].Uses, o.Span)
	}
}
