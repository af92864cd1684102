package matter

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Limits of what is read as YAML. Front matter is a few lines; these are far above.
const (
	maxBytes = 64 << 10
	maxDepth = 16
	maxKeys  = 1000 // of one mapping
)

// NodeKind is what a node is, by the YAML 1.2 core schema.
type NodeKind uint8

// The kinds of nodes.
const (
	Null NodeKind = iota
	Bool
	Int
	Float
	Text
	List
	Mapping
	Unreadable // reported already
)

// String names the kind as messages do.
func (k NodeKind) String() string {
	return [...]string{"an empty value", "a boolean", "a whole number", "a number", "a text", "a list", "a mapping", "an alias"}[k]
}

// Node is a YAML value and where it stands in its file.
type Node struct {
	Kind  NodeKind
	Value string // of a scalar: its text, without quotes
	Plain bool   // a scalar on one line and without quotes
	Split bool   // a scalar on several lines, or in a block; Span holds its first line only
	Span  source.Span
	Items []*Node // of a list
	Pairs []Pair  // of a mapping
}

// Replacement is the fix that writes a word in place of a scalar; none for one whose place is not known to its end.
func (n *Node) Replacement(word string, sure bool) []source.Fix {
	if n.Split {
		return nil
	}
	return []source.Fix{source.Replacement(n.Span, word, sure)}
}

// Pair is a key of a mapping with its value.
type Pair struct {
	Key   string
	Span  source.Span // of the key
	Value *Node
}

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	if p := n.Pair(key); p != nil {
		return p.Value
	}
	return nil
}

// Pair returns the pair of a key, or nil.
func (n *Node) Pair(key string) *Pair {
	if n == nil {
		return nil
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			return &n.Pairs[i]
		}
	}
	return nil
}

// True tells whether the node is the boolean true.
func (n *Node) True() bool { return n != nil && n.Kind == Bool && strings.EqualFold(n.Value, "true") }

// Read parses one YAML mapping. Offset translates offsets of the text to those of the file. What YAML allows and front
// matter does not (several documents, tags, anchors, merge keys, duplicate and complex keys) is found here; the node
// is nil when nothing can be said about the keys.
func Read(text string, offset func(int) int) (*Node, []source.Finding) {
	r := reader{text: text, offset: offset}
	root := r.read()
	if root == nil {
		return nil, r.findings
	}
	return root, r.findings
}

type reader struct {
	text     string
	offset   func(int) int
	lines    []int
	findings []source.Finding
}

func (r *reader) find(rule source.Rule, span source.Span, message string) {
	r.findings = append(r.findings, source.Finding{Rule: rule, Span: span, Message: message})
}

func (r *reader) read() *Node {
	whole := source.Span{Start: r.offset(0), End: r.offset(len(strings.TrimRight(r.text, "\n")))}
	if len(r.text) > maxBytes {
		r.find(source.RuleNestedTooDeep, whole, "the front matter is larger than 64 KiB")
		return nil
	}
	r.indexLines()
	loader, err := yaml.NewLoader(strings.NewReader(r.text), yaml.WithPlugin(loaderlimits.New(
		loaderlimits.DepthFunc(func(depth int, _ *loaderlimits.DepthContext) error {
			if depth > maxDepth {
				return errTooDeep
			}
			return nil
		}))))
	if err != nil {
		r.find(RuleSyntax, whole, err.Error())
		return nil
	}
	var document yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0 {
		return &Node{Kind: Mapping, Span: whole}
	} else if err != nil {
		r.syntax(err)
		return nil
	}
	var second yaml.Node
	if err := loader.Load(&second); err == nil {
		r.find(RuleFeature, r.start(&second), "front matter is one YAML document; remove the line with ---")
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		r.find(RuleSyntax, r.start(root), "front matter is a mapping of keys to values")
		return nil
	}
	node := r.node(root)
	if node.Kind != Mapping {
		return nil
	}
	return node
}

var errTooDeep = errors.New("nested too deeply")

// syntax reports an error of the library at its own place.
func (r *reader) syntax(err error) {
	span := source.Span{Start: r.offset(0), End: r.offset(0)}
	message := err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		message = load.Message
		if load.Mark.Line > 0 {
			at := r.at(load.Mark.Line, load.Mark.Column)
			span = source.Span{Start: r.offset(at), End: r.offset(min(at+1, len(r.text)))}
		}
		if load.ContextMsg != "" {
			message += " (" + load.ContextMsg + ")"
		}
	}
	if line, ok := r.ordinaryComment(); ok {
		r.find(RuleSyntax, line, "this is not a key; put an empty line below an ordinary comment, so that it is not read as front matter")
		return
	}
	if errors.Is(err, errTooDeep) || strings.Contains(message, errTooDeep.Error()) {
		r.find(source.RuleNestedTooDeep, span, fmt.Sprintf("the front matter nests deeper than %d levels", maxDepth))
		return
	}
	for _, h := range syntaxHelp {
		if strings.Contains(message, h.part) {
			message += "; " + h.help
			break
		}
	}
	r.find(RuleSyntax, span, "this is not YAML: "+message)
}

var startOfKey = regexp.MustCompile(`^\s*(?:#|[{\[?&*!"'-]|[^\s:]+\s*:(?:\s|$))`)

// ordinaryComment returns the first line with text when it cannot start a mapping: then the comment above the front
// matter is the mistake, and not what the library stumbles over further down.
func (r *reader) ordinaryComment() (source.Span, bool) {
	for i, start := range r.lines {
		end := len(r.text)
		if i+1 < len(r.lines) {
			end = r.lines[i+1]
		}
		line := strings.TrimRight(r.text[start:end], "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		return source.Span{Start: r.offset(start), End: r.offset(start + len(line))}, !startOfKey.MatchString(line)
	}
	return source.Span{}, false
}

// syntaxHelp says what usually causes an error of the YAML library.
var syntaxHelp = []struct{ part, help string }{
	{"mapping values are not allowed", "quote a text that holds a colon with a blank behind it, and put an empty line between an ordinary comment and front matter"},
	{"cannot start any token", "quote a text that starts with @, ` or %, and indent with blanks, not tabs"},
	{"did not find expected key", "the indentation of this line fits no line above it"},
	{"unexpected end of stream", "a quote is not closed"},
	{"could not find expected ':'", "put an empty line between an ordinary comment and front matter"},
}

// node turns a node of the library into ours.
func (r *reader) node(n *yaml.Node) *Node {
	span := r.start(n)
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		r.find(RuleFeature, span, "anchors and aliases are not used in front matter; write the value out")
	} else if n.Style&yaml.TaggedStyle != 0 {
		r.find(RuleFeature, span, "tags are not used in front matter; the key says what type its value has")
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.mapping(n, span)
	case yaml.SequenceNode:
		list := &Node{Kind: List, Span: span}
		for _, c := range n.Content {
			list.Items = append(list.Items, r.node(c))
		}
		list.Span.End = lastEnd(list.Items, list.Span.End)
		return list
	case yaml.ScalarNode:
		return r.scalar(n, span)
	default:
		return &Node{Kind: Unreadable, Span: span}
	}
}

func lastEnd(nodes []*Node, end int) int {
	if len(nodes) > 0 {
		return max(end, nodes[len(nodes)-1].Span.End)
	}
	return end
}

func (r *reader) mapping(n *yaml.Node, span source.Span) *Node {
	m := &Node{Kind: Mapping, Span: span}
	if len(n.Content) > 2*maxKeys {
		r.find(source.RuleNestedTooDeep, span, fmt.Sprintf("the mapping has more than %d keys", maxKeys))
		return &Node{Kind: Unreadable, Span: span}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		keySpan := r.start(k)
		value := r.node(v)
		switch {
		case k.Kind != yaml.ScalarNode:
			r.find(RuleFeature, keySpan, "a key is a single word here")
			continue
		case k.Value == "<<" && k.Style == 0:
			r.find(RuleFeature, keySpan, "merge keys are not used in front matter; write the keys out")
			continue
		case m.Get(k.Value) != nil:
			r.find(RuleDuplicate, keySpan, fmt.Sprintf("the key %q is there already; keep one of them", k.Value))
			continue
		}
		if k.Anchor != "" || k.Style&yaml.TaggedStyle != 0 {
			r.find(RuleFeature, keySpan, "a key has no tag and no anchor here")
		}
		m.Pairs = append(m.Pairs, Pair{Key: k.Value, Span: keySpan, Value: value})
		m.Span.End = max(m.Span.End, value.Span.End)
	}
	return m
}

func (r *reader) scalar(n *yaml.Node, span source.Span) *Node {
	s := &Node{Kind: Text, Value: n.Value, Span: span}
	rest := r.text[r.at(n.Line, n.Column):]
	quotes := n.Style & (yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle)
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle)|quotes == 0 {
		s.Kind = resolve(n.Value)
		s.Plain = strings.HasPrefix(rest, n.Value)
	}
	s.Split = !s.Plain
	if line, _, _ := strings.Cut(rest, "\n"); quotes != 0 && line != "" {
		length := quotedLength(line)
		s.Split = length < 2 || line[length-1] != line[0]
	}
	return s
}

// start returns the span of a node as far as it is sure: all of a scalar that stands on one line, the first line of
// what is longer, the first character of a collection.
func (r *reader) start(n *yaml.Node) source.Span {
	at := r.at(n.Line, n.Column)
	end := at
	rest := r.text[at:]
	line, _, _ := strings.Cut(rest, "\n")
	switch {
	case n.Kind != yaml.ScalarNode:
		if len(line) > 0 {
			end++
		}
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		end = at + quotedLength(line)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || !strings.HasPrefix(rest, n.Value):
		end = at + len(strings.TrimRight(line, " \t\r"))
	default:
		end = at + len(n.Value)
	}
	return source.Span{Start: r.offset(at), End: r.offset(end)}
}

// quotedLength returns the length of the quoted scalar at the start of a line, at most that of the line.
func quotedLength(line string) int {
	if line == "" {
		return 0
	}
	for i := 1; i < len(line); i++ {
		switch {
		case line[0] == '"' && line[i] == '\\':
			i++
		case line[i] == line[0] && line[0] == '\'' && i+1 < len(line) && line[i+1] == '\'':
			i++
		case line[i] == line[0]:
			return i + 1
		}
	}
	return len(line)
}

// indexLines finds where lines start as the library counts them.
func (r *reader) indexLines() {
	r.lines = append(r.lines[:0], 0)
	for i, c := range r.text {
		switch c {
		case '\n', '\u0085', '\u2028', '\u2029':
			r.lines = append(r.lines, i+utf8.RuneLen(c))
		case '\r':
			if !strings.HasPrefix(r.text[i+1:], "\n") {
				r.lines = append(r.lines, i+1)
			}
		}
	}
}

// at returns the offset in the text of a line and a column in code points, both from 1.
func (r *reader) at(line, column int) int {
	if line < 1 || column < 1 {
		return 0
	}
	if line > len(r.lines) {
		return len(r.text)
	}
	at := r.lines[line-1]
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(r.text[at:])
		at += size
	}
	return at
}
