package lsp

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// completion offers keys and values in front matter, in whatever state it is while somebody types. So it reads lines
// and their indentation, not YAML.
func (s *server) completion(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p positionParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	d, ok := s.workspace.documents[p.TextDocument.URI]
	if !ok {
		return []completionItem{}, nil
	}
	file := d.current()
	offset := s.workspace.offsetOf(file.File, p.Position)
	c := readCursor(file.File, offset)
	if c == nil {
		return []completionItem{}, nil
	}
	c.parameters = undeclared(file, offset)
	items := []completionItem{}
	for i, o := range c.options() {
		items = append(items, completionItem{
			Label: o.text, Kind: o.kind, Detail: o.detail, Documentation: o.documentation(),
			SortText: fmt.Sprintf("%03d", i),
			TextEdit: &textEdit{s.workspace.rangeOf(file.File, c.word), o.insert},
		})
	}
	return items, nil
}

// cursor is where in front matter somebody types.
type cursor struct {
	path       []string    // keys from the top to the place; empty at the top
	isValue    bool        // behind the colon of the last key of path
	word       source.Span // what is typed so far, to be replaced
	siblings   map[string]bool
	parameters []string // of the SQL below that are not declared
}

// line is a line of comment, cut into its parts.
type line struct {
	indentation int    // of the key, dashes of lists counted as blanks
	item        bool   // it starts an item of a list
	key         string // empty when there is none
	rest        string // what follows the colon, or the whole text without one
	start       int    // offset of the key or of the text
	restStart   int
}

func readLine(file *source.File, number int) (line, bool) {
	span := file.Line(number)
	text := span.Text(file.Text)
	if !strings.HasPrefix(text, "--") || strings.HasPrefix(text, "--+") || strings.HasPrefix(text, "--@") {
		return line{}, false
	}
	l := line{}
	at := 2
	for at < len(text) && (text[at] == ' ' || text[at] == '-' && (at+1 == len(text) || text[at+1] == ' ')) {
		if text[at] == '-' {
			l.item = true
		}
		at++
	}
	l.indentation, l.start, l.rest = at, span.Start+at, text[at:]
	l.restStart = l.start
	if colon := strings.Index(l.rest, ":"); colon >= 0 && isWord(l.rest[:colon]) && (colon+1 == len(l.rest) || l.rest[colon+1] == ' ') {
		l.key = l.rest[:colon]
		l.restStart = l.start + colon + 1
		l.rest = l.rest[colon+1:]
	}
	return l, true
}

func isWord(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '$' && r != '.'
	}) < 0
}

// readCursor finds out where an offset is; nil outside of what is or could become front matter.
func readCursor(file *source.File, offset int) *cursor {
	number := file.Position(offset).Line
	here, ok := readLine(file, number)
	if !ok || offset < file.Line(number).Start+2 {
		return nil
	}
	c := &cursor{siblings: map[string]bool{}}
	if here.key != "" && offset >= here.restStart {
		c.isValue = true
		c.path = []string{here.key}
		c.word = wordAround(file.Text, here.restStart, offset)
	} else {
		start := min(here.start, offset)
		c.word = source.Span{Start: start, End: max(offset, start+len(here.key))}
	}
	indentation := min(here.indentation, offset-file.Line(number).Start)
	if c.isValue {
		indentation = here.indentation
	}
	c.climb(file, number, indentation)
	c.siblingsAt(file, number, indentation)
	return c
}

// wordAround returns the word before an offset, and what follows of it.
func wordAround(text string, from, offset int) source.Span {
	start, end := offset, offset
	for start > from && !strings.ContainsRune(" \t[{,<\"'", rune(text[start-1])) {
		start--
	}
	for end < len(text) && !strings.ContainsRune(" \t\r\n]},>\"'#", rune(text[end])) {
		end++
	}
	return source.Span{Start: start, End: end}
}

// climb collects the keys above that are indented less.
func (c *cursor) climb(file *source.File, number, indentation int) {
	for i := number - 1; i > 0 && indentation > 0; i-- {
		l, ok := readLine(file, i)
		if !ok {
			return
		}
		if l.key == "" || l.indentation >= indentation {
			continue
		}
		// The first key of a block has the least indentation; deeper means below it.
		c.path = append([]string{l.key}, c.path...)
		indentation = l.indentation
		if l.item {
			indentation-- // the item's own keys are no parents
		}
	}
}

// siblingsAt collects the keys that stand beside the cursor.
func (c *cursor) siblingsAt(file *source.File, number, indentation int) {
	for _, step := range []int{-1, 1} {
		if step == -1 {
			if l, _ := readLine(file, number); l.item {
				continue
			}
		}
		for i := number + step; i > 0 && i <= file.Lines(); i += step {
			l, ok := readLine(file, i)
			if !ok || l.indentation < indentation || step == 1 && l.item && l.indentation == indentation {
				break
			}
			if l.indentation == indentation {
				c.siblings[l.key] = true
				if l.item {
					break
				}
			}
		}
	}
}

// choice is something to insert.
type choice struct {
	text, insert, detail, text2 string
	kind                        int
}

func (o choice) documentation() *markup {
	if o.text2 == "" {
		return nil
	}
	return &markup{"markdown", o.text2}
}

// options returns what fits at the cursor.
func (c *cursor) options() []choice {
	shapes := []*matter.Shape{matter.KeyShape()}
	for _, key := range c.path {
		shapes = descend(shapes, key)
	}
	var out []choice
	for _, s := range expand(shapes) {
		if c.isValue {
			out = append(out, c.values(s)...)
		} else {
			out = append(out, c.keys(s)...)
		}
	}
	return out
}

// expand replaces alternatives and lists by what they hold.
func expand(shapes []*matter.Shape) []*matter.Shape {
	var out []*matter.Shape
	for _, s := range shapes {
		switch s.Kind {
		case matter.Either:
			for i := range s.Options {
				out = append(out, expand([]*matter.Shape{&s.Options[i]})...)
			}
		case matter.ListOf:
			out = append(out, expand([]*matter.Shape{s.Item})...)
		default:
			out = append(out, s)
		}
	}
	return out
}

func descend(shapes []*matter.Shape, key string) []*matter.Shape {
	var out []*matter.Shape
	for _, s := range expand(shapes) {
		switch s.Kind {
		case matter.Fields:
			for i := range s.Fields {
				if s.Fields[i].Name == key {
					out = append(out, &s.Fields[i].Shape)
				}
			}
		case matter.MapOf:
			out = append(out, s.Item)
		default:
		}
	}
	return out
}

func (c *cursor) keys(s *matter.Shape) []choice {
	var out []choice
	switch s.Kind {
	case matter.Fields:
		for _, f := range s.Fields {
			if c.siblings[f.Name] {
				continue
			}
			o := choice{text: f.Name, insert: f.Name + ": ", detail: f.Shape.String(), text2: f.Text, kind: kindField}
			if f.Shape.Kind == matter.ListOf || f.Shape.Kind == matter.MapOf {
				o.insert = f.Name + ":"
			}
			if k, ok := matter.KeyNamed(f.Name); ok && len(c.path) == 0 {
				o.text2 = keyMarkdown(k)
			}
			out = append(out, o)
		}
	case matter.MapOf:
		if len(c.path) == 1 && c.path[0] == "parameters" {
			for _, p := range c.parameters {
				if !c.siblings[p] {
					out = append(out, choice{text: p, insert: p + ": ", detail: "parameter of the statement", kind: kindField})
				}
			}
		}
	default:
	}
	return out
}

func (c *cursor) values(s *matter.Shape) []choice {
	words, detail := s.Words, ""
	switch last := c.path[len(c.path)-1]; {
	case s.Kind == matter.Boolean:
		words = []string{"true", "false"}
	case s.Kind == matter.OneWord:
	case last == "vendor":
		words, detail = source.Products(), "product name of the driver"
	case last == "sqlType":
		words, detail = check.JDBCTypes(), "java.sql.Types"
	case last == "name" && len(c.path) == 2 && c.path[0] == "parameters":
		words, detail = c.parameters, "parameter of the statement"
	case last == "type" && len(c.path) == 2 && c.path[0] == "annotations":
	case last == "type" || last == "resultRowType" || last == "resultType" || len(c.path) == 2 && c.path[0] == "parameters" && s.Empty:
		words, detail = statement.TypeNames(), "Java type"
	}
	out := make([]choice, 0, len(words))
	for _, w := range words {
		out = append(out, choice{text: w, insert: w, detail: detail, kind: kindValue})
	}
	return out
}

// undeclared lists the parameters of the statement below an offset that its front matter does not declare.
func undeclared(file *statement.File, offset int) []string {
	for _, st := range file.Statements {
		if offset > st.Source.End {
			continue
		}
		declared := map[string]bool{}
		for _, p := range st.Parameters {
			declared[p.Name] = p.Declared()
		}
		var names []string
		for _, o := range st.Source.Parameters {
			if !declared[o.Name] {
				declared[o.Name] = true
				names = append(names, o.Name)
			}
		}
		return names
	}
	return nil
}

// keyMarkdown is what completion and hover say about a key.
func keyMarkdown(k *matter.Key) string {
	text := "**" + k.Name + "**: " + k.Shape.String() + "\n\n" + k.Summary
	if k.Effect != "" {
		text += " " + k.Effect
	}
	return text + "\n\nDefault: " + k.Default + "\n\n```yaml\n" + k.Example + "\n```"
}
