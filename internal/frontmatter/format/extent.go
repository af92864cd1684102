package format

import (
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

// end returns the last line of a scalar or a flow collection.
func (f *formatter) end(n *matter.Node, p position) int {
	at := n.Span.Start
	line, _ := f.place(at)
	if at >= len(f.text) || n.Kind == matter.Null && n.Value == "" {
		return p.line
	}
	switch f.text[at] {
	case '|', '>':
		return f.blockEnd(line, p.column)
	case '"', '\'':
		last, _ := f.place(max(at, quoteEnd(f.text, at)-1))
		return last
	case '[', '{':
		last, _ := f.place(max(at, flowEnd(f.text, at)-1))
		return last
	}
	if n.Plain {
		return line
	}
	last := line
	for i := line + 1; i < len(f.lines) && (f.indentation(i) > p.column || f.blank(i)) && !strings.HasPrefix(strings.TrimLeft(f.lines[i], " "), "#"); i++ {
		if !f.blank(i) {
			last = i
		}
	}
	return last
}

// blockEnd returns the last line of a block scalar: all that is indented deeper than its parent, and blank lines when
// the header keeps them.
func (f *formatter) blockEnd(line, column int) int {
	header, _, _ := strings.Cut(f.lines[line], "#")
	keep := strings.HasSuffix(strings.TrimRight(header, " 0123456789"), "+")
	last := line
	for i := line + 1; i < len(f.lines) && (f.blank(i) || f.indentation(i) > column); i++ {
		if keep || !f.blank(i) {
			last = i
		}
	}
	return last
}

func (f *formatter) blank(line int) bool { return strings.TrimSpace(f.lines[line]) == "" }

func (f *formatter) indentation(line int) int {
	return len(f.lines[line]) - len(strings.TrimLeft(f.lines[line], " "))
}

// quoteEnd returns the offset behind a quoted scalar.
func quoteEnd(text string, at int) int {
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == '\'':
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// flowEnd returns the offset behind a flow collection.
func flowEnd(text string, at int) int {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			// A quote inside a plain scalar is a part of it.
			if strings.IndexByte(" [{,:\n", text[i-1]) >= 0 {
				i = quoteEnd(text, i) - 1
			}
		case '#':
			if text[i-1] == ' ' || text[i-1] == '\n' {
				end := strings.IndexByte(text[i:], '\n')
				if end < 0 {
					return len(text)
				}
				i += end
			}
		}
	}
	return len(text)
}
