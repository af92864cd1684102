package ddl

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// migration is the name of a file as Flyway has it: V2__users.sql of a version, B2__all.sql with everything up to a
// version, U2__users.sql that takes a version back, R__views.sql that runs last. Versions have dots or underscores.
var migration = regexp.MustCompile(`^(?:([VBU])([0-9]+(?:[._][0-9]+)*)|(R))__.*\.[^.]*$`)

// kinds of files, in the order in which they are read.
const (
	plain = iota
	versioned
	repeatable
)

// ordered is a path with what it is ordered by.
type ordered struct {
	path, name string
	kind       int
	version    []string // of a migration: numbers without leading zeros
}

// InOrder returns the paths of files, which have slashes, in the order in which a database gets them. Digits count as
// numbers. Files that are called like migrations of Flyway stand behind all others, by version in whatever folder they
// are, those that run again and again at the end; what takes a migration back is left out.
func InOrder(paths []string) []string {
	all := make([]ordered, 0, len(paths))
	for _, path := range paths {
		o := ordered{path: path, name: path[strings.LastIndexByte(path, '/')+1:]}
		if m := migration.FindStringSubmatch(o.name); m != nil {
			switch {
			case m[1] == "U":
				continue
			case m[3] == "R":
				o.kind = repeatable
			default:
				o.kind, o.version = versioned, numbers(m[2])
			}
		}
		all = append(all, o)
	}
	slices.SortFunc(all, compare)
	sorted := make([]string, 0, len(all))
	for _, o := range all {
		sorted = append(sorted, o.path)
	}
	return slices.Compact(sorted)
}

func compare(a, b ordered) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	byName := 0
	switch a.kind {
	case versioned:
		byName = cmp.Or(slices.CompareFunc(a.version, b.version, compareNumbers),
			cmp.Compare(b.name[0], a.name[0])) // V before the B that has it all
	case repeatable:
		byName = natural(a.name, b.name)
	}
	return cmp.Or(byName, slices.CompareFunc(strings.Split(a.path, "/"), strings.Split(b.path, "/"), natural), cmp.Compare(a.path, b.path))
}

// numbers cuts a version. 1.0 is 1.
func numbers(version string) []string {
	parts := strings.FieldsFunc(version, func(r rune) bool { return r == '.' || r == '_' })
	for i := range parts {
		parts[i] = strings.TrimLeft(parts[i], "0")
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// compareNumbers compares digits without leading zeros, which may be more than an integer holds.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// natural compares names in which digits count as numbers: 2 is before 10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			if c := compareNumbers(strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is how many a text starts with.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}
