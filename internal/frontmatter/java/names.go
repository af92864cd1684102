package java

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// snake writes a name in camel case with underscores. A run of capitals is one word, whose last letter starts the next
// one when a small letter follows: userID is user_id, HTTPServer http_server.
func snake(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' {
			before := unicode.IsUpper(runes[i-1])
			next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !before || next {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// upperSnake writes a name as constants are written.
func upperSnake(name string) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(snake(name)) {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.In(r, unicode.Mn, unicode.Mc) {
			r = '_'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// scope hands out names that are not taken yet.
type scope map[string]bool

// free returns the name, or the name with the first number that makes it free, and takes it.
func (s scope) free(name string) string {
	chosen := name
	for i := 2; s[chosen]; i++ {
		chosen = fmt.Sprintf("%s%d", name, i)
	}
	s[chosen] = true
	return chosen
}

// localNames are the variables of templates.
var localNames = strings.Fields("connection statement resultSet columns row rows value index product sql cursor size i autoCommit counts e suppressed result dataSource")

// locals chooses the names of a method's variables so that they do not meet those of its parameters.
func locals(parameters []parameter) map[string]string {
	s := scope{}
	for _, p := range parameters {
		s[p.Name], s[p.variable] = true, true
	}
	names := make(map[string]string, len(localNames))
	for _, name := range localNames {
		names[name] = s.free(name)
	}
	return names
}

// components joins the parts of a path in camel case.
func joined(path []string) string {
	name := path[0]
	for _, part := range path[1:] {
		name += statement.Capital(part)
	}
	return name
}
