package format

import (
	"slices"
	"sort"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

// formatter renders nodes as lines. Lines of the text are rendered with the node they belong to; what is left over in
// the end are comments below the last one, and blank lines.
type formatter struct {
	text  string
	lines []string
	start []int  // offset of each line
	used  []bool // lines that were rendered
	notes []string
}

func newFormatter(text string) *formatter {
	f := &formatter{text: text, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	at := 0
	for _, line := range f.lines {
		f.start = append(f.start, at)
		at += len(line) + 1
	}
	f.used = make([]bool, len(f.lines))
	return f
}

// place returns the line and the column of an offset, both from 0 and in bytes.
func (f *formatter) place(offset int) (line, column int) {
	line = sort.SearchInts(f.start, offset+1) - 1
	return line, offset - f.start[line]
}

// comments returns the texts of all comments that were rendered, in alphabetical order.
func (f *formatter) comments() []string {
	f.trailing()
	return slices.Sorted(slices.Values(f.notes))
}

// note takes the comment at the end of a line, if there is one behind a value that ends in the line.
func (f *formatter) note(rest string) {
	if i := strings.Index(rest, "#"); i >= 0 {
		f.notes = append(f.notes, strings.TrimSpace(rest[i:]))
	}
}

// leading renders the comments directly above a line at a level.
func (f *formatter) leading(line, level int) []string {
	first := line
	for first > 0 && !f.used[first-1] && isCommentOrBlank(f.lines[first-1]) {
		first--
	}
	return f.free(first, line, level)
}

// trailing renders the comments that no node stands below.
func (f *formatter) trailing() []string { return f.free(0, len(f.lines), 0) }

func (f *formatter) free(from, to, level int) []string {
	var out []string
	for i := from; i < to; i++ {
		if f.used[i] || !isCommentOrBlank(f.lines[i]) {
			continue
		}
		f.used[i] = true
		if text := strings.TrimSpace(f.lines[i]); text != "" {
			out = append(out, indent(level)+text)
			f.notes = append(f.notes, text)
		}
	}
	return out
}

func isCommentOrBlank(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return line == "" || line[0] == '#'
}

func indent(level int) string { return strings.Repeat(" ", level) }

// mapping renders the pairs of a block mapping in the order of their shape.
func (f *formatter) mapping(n *matter.Node, shape *matter.Shape, level int) []string {
	order := map[string]int{}
	if shape != nil {
		for i, field := range shape.Fields {
			order[field.Name] = i + 1
		}
	}
	type chunk struct {
		order int
		lines []string
	}
	chunks := make([]chunk, 0, len(n.Pairs))
	for i := range n.Pairs {
		p := &n.Pairs[i]
		chunks = append(chunks, chunk{order[p.Key], f.pair(p, inner(shape, p.Key), level)})
	}
	slices.SortStableFunc(chunks, func(a, b chunk) int { return a.order - b.order })
	var out []string
	for _, c := range chunks {
		out = append(out, c.lines...)
	}
	return out
}

// inner returns the shape of a key's value.
func inner(shape *matter.Shape, key string) *matter.Shape {
	if shape == nil {
		return nil
	}
	for i := range shape.Fields {
		if shape.Fields[i].Name == key {
			return &shape.Fields[i].Shape
		}
	}
	return nil
}

// option returns the shape that a node of one of several shapes has.
func option(shape *matter.Shape, n *matter.Node) *matter.Shape {
	if shape == nil || shape.Kind != matter.Either {
		return shape
	}
	for i := range shape.Options {
		switch k := shape.Options[i].Kind; {
		case k == matter.ListOf && n.Kind == matter.List, (k == matter.Fields || k == matter.MapOf) && n.Kind == matter.Mapping:
			return &shape.Options[i]
		}
	}
	return nil
}

// pair renders a key and its value, with the comments above.
func (f *formatter) pair(p *matter.Pair, shape *matter.Shape, level int) []string {
	line, column := f.place(p.Span.Start)
	out := f.leading(line, level)
	f.used[line] = true
	head := indent(level) + p.Span.Text(f.text) + ":"
	rest := f.lines[line][p.Span.End-f.start[line]:]
	_, rest, _ = strings.Cut(rest, ":")
	return append(out, f.value(p.Value, option(shape, p.Value), position{line, column, level, level + 2}, head, rest)...)
}

// position is where a value stands: the line and the column of its key or dash, the level these get, and the level
// of what is nested.
type position struct{ line, column, level, nested int }

// value renders a value behind its key or dash; rest is what follows these in their line.
func (f *formatter) value(n *matter.Node, shape *matter.Shape, p position, head, rest string) []string {
	line, _ := f.place(n.Span.Start)
	rest = strings.TrimLeft(rest, " \t")
	block := n.Kind == matter.List || n.Kind == matter.Mapping
	if block && n.Span.Start < len(f.text) && f.text[n.Span.Start] != '[' && f.text[n.Span.Start] != '{' {
		if line == p.line || rest == "" && strings.HasSuffix(head, "-") {
			return f.compact(n, shape, p)
		}
		if rest != "" {
			f.note(rest)
			head += " " + strings.TrimRight(rest, " \t")
		}
		return append([]string{head}, f.nested(n, shape, p.nested)...)
	}
	last := f.end(n, p)
	if last == p.line {
		f.note(rest[min(len(rest), f.width(n, rest)):])
		return []string{strings.TrimRight(head+" "+rest, " \t")}
	}
	if rest != "" {
		head += " " + rest
	}
	return append([]string{head}, f.continued(n, p, last)...)
}

// continued renders the further lines of a value. What may move freely gets the indentation of its level; the lines of
// a flow collection keep theirs to each other.
func (f *formatter) continued(n *matter.Node, p position, last int) []string {
	var out []string
	by := p.level - p.column
	first := f.text[n.Span.Start]
	line, _ := f.place(n.Span.Start)
	if header := f.lines[line]; (first == '|' || first == '>') && !strings.ContainsAny(strings.SplitN(header, "#", 2)[0], "123456789") {
		for i := line + 1; i <= last; i++ {
			if !f.blank(i) {
				by = p.nested - f.indentation(i)
				break
			}
		}
	}
	free := first != '|' && first != '>' && first != '[' && first != '{'
	for i := p.line + 1; i <= last; i++ {
		f.used[i] = true
		text := f.lines[i]
		switch {
		case free && f.blank(i):
			text = ""
		case free || i <= line: // the line that a value starts in, below its key
			text = indent(p.nested) + strings.TrimLeft(text, " ")
		default:
			text = shift(text, by)
		}
		out = append(out, text)
	}
	return out
}

// width returns how much of a line a value takes that ends in it.
func (f *formatter) width(n *matter.Node, rest string) int {
	if n.Kind == matter.Null && n.Value == "" {
		return 0
	}
	end := n.Span.End - n.Span.Start
	if c := f.text[n.Span.Start]; c == '[' || c == '{' {
		end = flowEnd(f.text, n.Span.Start) - n.Span.Start
	}
	return min(end, len(rest))
}

// shift moves a line to the right, or to the left as far as it is blank.
func shift(line string, by int) string {
	if by >= 0 {
		if line == "" {
			return ""
		}
		return indent(by) + line
	}
	for ; by < 0 && strings.HasPrefix(line, " "); by++ {
		line = line[1:]
	}
	return line
}

func (f *formatter) nested(n *matter.Node, shape *matter.Shape, level int) []string {
	if n.Kind == matter.Mapping {
		return f.mapping(n, shape, level)
	}
	return f.list(n, shape, level)
}

// list renders the items of a block list.
func (f *formatter) list(n *matter.Node, shape *matter.Shape, level int) []string {
	var item *matter.Shape
	if shape != nil {
		item = shape.Item
	}
	_, column := f.place(n.Span.Start)
	var out []string
	for _, i := range n.Items {
		line := f.dash(i, column)
		if line < 0 {
			return nil // the caller sees that something is missing
		}
		out = append(out, f.leading(line, level)...)
		f.used[line] = true
		rest := f.lines[line][column+1:]
		out = append(out, f.value(i, option(item, i), position{line, column, level, level + 2}, indent(level)+"-", rest)...)
	}
	return out
}

// dash returns the line of an item's dash, which stands in the column of its list.
func (f *formatter) dash(item *matter.Node, column int) int {
	line, _ := f.place(item.Span.Start)
	for ; line >= 0; line-- {
		text := f.lines[line]
		if !f.used[line] && len(text) > column && text[column] == '-' && (len(text) == column+1 || text[column+1] == ' ') {
			return line
		}
		// A list in the line of another item's dash.
		if f.used[line] && len(text) > column && text[column] == '-' && strings.Trim(text[:column], " -") == "" && column > 0 {
			return line
		}
	}
	return -1
}

// compact renders a collection that starts in the line of its dash: its first line gets the dash instead of its
// indentation, below the comments that stand above it.
func (f *formatter) compact(n *matter.Node, shape *matter.Shape, p position) []string {
	lines := f.nested(n, shape, p.nested)
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(text, "#") {
			lines[i] = indent(p.level) + "- " + text
			return lines
		}
		lines[i] = indent(p.level) + text
	}
	return lines
}
