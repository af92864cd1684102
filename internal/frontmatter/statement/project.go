package statement

import (
	"fmt"
	"math"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Project holds the settings of a project: those of its file, with flags in their place where they are given. It has a
// field for every key of the file.
type Project struct {
	Root        string // folder of the project file
	SQLRoot     string // relative to Root, with slashes
	Include     []string
	Exclude     []string
	Output      string
	Dialect     source.Dialect
	Separator   string
	BasePackage string
	Prefixes    []matter.TypePrefixes
	DDL         []string
	JavaSources []string
	Defaults    *matter.Node // the mapping of defaults, or nil

	Interfaces       bool         // generate an interface for every repository
	ClassAnnotations *matter.Node // the list, or nil
	FetchSize        int          // rows that a cursor fetches at a time; 0 leaves it to the driver
}

// DefaultFetchSize keeps a cursor from reading everything into memory, which is what drivers do that are not told.
const DefaultFetchSize = 500

// NewProject returns a project without a file: everything has its default.
func NewProject(root string) *Project {
	return &Project{
		Root: root, SQLRoot: ".", Include: []string{"**/*.sql"},
		Dialect: source.Dialects()[0], Prefixes: matter.DefaultPrefixes(), FetchSize: DefaultFetchSize,
	}
}

// ReadProject reads a project file. With findings, the project holds what could be read.
func ReadProject(root string, file *source.File) (*Project, []source.Finding) {
	p := NewProject(root)
	findings := file.CheckEncoding()
	if findings != nil {
		return p, findings
	}
	skip := 0
	if file.HasBOM() {
		skip = len("\uFEFF")
	}
	node, findings := matter.Read(file.Text[skip:], func(offset int) int { return offset + skip })
	if node == nil {
		return p, findings
	}
	fit := matter.Fit(node, matter.ProjectShape())
	findings = append(findings, fit...)
	if defaults := node.Get("defaults"); defaults != nil && defaults.Kind == matter.Mapping {
		findings = append(findings, matter.Combine(defaults)...)
		p.Defaults = defaults
	}
	if len(fit) == 0 {
		p.apply(node)
	}
	return p, findings
}

func (p *Project) apply(node *matter.Node) {
	text(node.Get("sqlRoot"), &p.SQLRoot)
	text(node.Get("output"), &p.Output)
	text(node.Get("separator"), &p.Separator)
	text(node.Get("basePackage"), &p.BasePackage)
	texts(node.Get("include"), &p.Include)
	texts(node.Get("exclude"), &p.Exclude)
	texts(node.Get("ddl"), &p.DDL)
	texts(node.Get("javaSources"), &p.JavaSources)
	p.Interfaces = node.Get("interfaces").True()
	p.ClassAnnotations = node.Get("classAnnotations")
	if n := node.Get("fetchSize"); n != nil {
		if size, ok := n.Number(); ok {
			p.FetchSize = int(min(size, math.MaxInt32))
		}
	}
	if n := node.Get("dialect"); n != nil {
		if d, ok := source.DialectNamed(n.Value); ok {
			p.Dialect = d
		}
	}
	for i := range p.Prefixes {
		texts(node.Get("namePrefixes").Get(p.Prefixes[i].Type), &p.Prefixes[i].Prefixes)
	}
}

func text(n *matter.Node, to *string) {
	if n != nil {
		*to = n.Value
	}
}

func texts(n *matter.Node, to *[]string) {
	if n == nil {
		return
	}
	*to = make([]string, 0, len(n.Items))
	for _, item := range n.Items {
		*to = append(*to, item.Value)
	}
}

// Setting returns the boolean of a key: as written, else as the project's default has it, else as the table does.
func (p *Project) Setting(written *matter.Node, key string) bool {
	for _, from := range []*matter.Node{written, p.Defaults} {
		if n := from.Get(key); n != nil && n.Kind == matter.Bool {
			return n.True()
		}
	}
	k, ok := matter.KeyNamed(key)
	return ok && k.Default == "true"
}

// Affix returns the prefix or suffix of a key in the same way.
func (p *Project) Affix(written *matter.Node, key string) string {
	for _, from := range []*matter.Node{written, p.Defaults} {
		if n := from.Get(key); n != nil && n.Kind == matter.Text {
			return n.Value
		}
	}
	if k, ok := matter.KeyNamed(key); ok && k.Default != "empty" {
		return k.Default
	}
	return ""
}

// typeOf returns the type that the prefix of a name tells. A prefix ends where the next word of the name starts.
func (p *Project) typeOf(name string) (string, bool) {
	for _, t := range p.Prefixes {
		for _, prefix := range t.Prefixes {
			rest, ok := strings.CutPrefix(name, prefix)
			if ok && (rest == "" || startsWord(rest)) {
				return t.Type, true
			}
		}
	}
	return "", false
}

// prefixList names the prefixes for a message.
func (p *Project) prefixList() string {
	parts := make([]string, 0, len(p.Prefixes))
	for _, t := range p.Prefixes {
		parts = append(parts, fmt.Sprintf("%s for %s", t.Type, strings.Join(t.Prefixes, " ")))
	}
	return strings.Join(parts, "; ")
}
