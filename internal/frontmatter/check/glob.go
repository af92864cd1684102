package check

import (
	"regexp"
	"strings"
)

// globs is a set of patterns over relative paths with slashes.
type globs []*regexp.Regexp

// compileGlobs turns patterns into expressions: * stands for anything but a slash, ** for folders as well, ? for one
// character; everything else for itself.
func compileGlobs(patterns []string) globs {
	all := make(globs, 0, len(patterns))
	for _, p := range patterns {
		var b strings.Builder
		b.WriteString("^")
		for p = strings.TrimPrefix(p, "./"); p != ""; {
			switch {
			case strings.HasPrefix(p, "**/"):
				b.WriteString("(?:.*/)?")
				p = p[3:]
			case strings.HasPrefix(p, "**"):
				b.WriteString(".*")
				p = p[2:]
			case p[0] == '*':
				b.WriteString("[^/]*")
				p = p[1:]
			case p[0] == '?':
				b.WriteString("[^/]")
				p = p[1:]
			default:
				end := strings.IndexAny(p, "*?")
				if end < 0 {
					end = len(p)
				}
				b.WriteString(regexp.QuoteMeta(p[:end]))
				p = p[end:]
			}
		}
		b.WriteString("$")
		if r, err := regexp.Compile(b.String()); err == nil {
			all = append(all, r)
		}
	}
	return all
}

func (g globs) match(path string) bool {
	for _, r := range g {
		if r.MatchString(path) {
			return true
		}
	}
	return false
}
