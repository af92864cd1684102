package java

import (
	"cmp"
	"slices"
	"strings"
)

// importsMark is the line that the imports replace.
const importsMark = string(markStart) + "imports" + string(markEnd)

// unit is a compilation unit whose names are still marked.
type unit struct {
	Package  string
	Class    string
	Siblings map[string]bool // generated classes of the package
	Hiding   map[string]bool // variables and nested classes, which hide classes of their names
}

// layout settles the imports of a unit, indents it, and makes it ASCII.
func layout(u unit, text string) string {
	names := u.names(text)
	var imports []string
	for class, name := range names {
		pkg, simple := split(class)
		if name == simple && pkg != u.Package && pkg != "java.lang" && pkg != "" {
			imports = append(imports, "import "+class+";")
		}
	}
	slices.Sort(imports)
	text = strings.Replace(text, importsMark, strings.Join(imports, "\n"), 1)
	var b strings.Builder
	b.Grow(len(text))
	for {
		before, rest, found := strings.Cut(text, string(markStart))
		b.WriteString(before)
		if !found {
			break
		}
		class, after, _ := strings.Cut(rest, string(markEnd))
		b.WriteString(names[class])
		text = after
	}
	return indent(ascii(b.String()))
}

// names decides how each class of a unit is called: by its simple name, unless another class has it already.
func (u unit) names(text string) map[string]string {
	names := map[string]string{}
	var classes []string
	for part := range strings.SplitSeq(text, string(markStart)) {
		class, _, found := strings.Cut(part, string(markEnd))
		if _, seen := names[class]; found && !seen && class != "imports" {
			names[class] = class
			classes = append(classes, class)
		}
	}
	own := u.Class
	if u.Package != "" {
		own = u.Package + "." + u.Class
	}
	taken := map[string]string{u.Class: own}
	rank := func(class string) int { // what templates use gets its simple name first
		switch pkg, _ := split(class); {
		case pkg == "java.lang":
			return 0
		case strings.HasPrefix(class, "java"):
			return 1
		}
		return 2
	}
	slices.SortFunc(classes, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	for _, class := range classes {
		pkg, simple := split(class)
		if u.Hiding[simple] || pkg == "java.lang" && u.Siblings[simple] {
			continue
		}
		if other, ok := taken[simple]; !ok || other == class {
			taken[simple] = class
			names[class] = simple
		}
	}
	return names
}

// split cuts a qualified name before its last part.
func split(class string) (pkg, simple string) {
	i := strings.LastIndexByte(class, '.')
	if i < 0 {
		return "", class
	}
	return class[:i], class[i+1:]
}

const step = "    "

// indent indents lines by the brackets that are open, and leaves at most one empty line between others.
func indent(text string) string {
	var b strings.Builder
	b.Grow(len(text) * 5 / 4)
	depth, empty, opened := 0, true, true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			empty = true
			continue
		}
		closing := 0
		for closing < len(line) && (line[closing] == '}' || line[closing] == ')') {
			closing++
		}
		depth -= closing
		if empty && !opened && closing == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat(step, max(depth, 0)))
		comment := strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*")
		switch {
		case strings.HasPrefix(line, "*"):
			b.WriteByte(' ')
		case strings.HasPrefix(line, "+ "):
			b.WriteString(step + step)
		}
		b.WriteString(line)
		b.WriteByte('\n')
		if !comment {
			depth += balance(line[closing:])
		}
		empty, opened = false, !comment && strings.HasSuffix(line, "{") && depth > 1
	}
	return b.String()
}

// balance counts the brackets that a line leaves open, outside of its literals.
func balance(line string) int {
	n := 0
	quoted := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted != 0 && c == '\\':
			i++
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case c == '/' && i+1 < len(line) && line[i+1] == '/':
			return n
		case c == '{' || c == '(':
			n++
		case c == '}' || c == ')':
			n--
		}
	}
	return n
}
