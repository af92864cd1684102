package java

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// paths: no two classes share a name, and none takes that of a converter.
func (g *generator) paths(repositories []*repository) {
	taken := map[string]string{strings.ToLower(g.cursorClass()): "a generated class"}
	claim := func(m *method, class string) {
		key := strings.ToLower(class)
		if other, ok := taken[key]; ok {
			s, span := m.author("repository")
			g.find(s, check.RuleClass, span, fmt.Sprintf("the class %s is that of %s as well; choose another repository", class, other))
			return
		}
		taken[key] = "the repository " + m.repository
	}
	packages := g.packages(repositories)
	for _, r := range repositories {
		pkg, simple := split(r.name)
		claim(r.methods[0], r.name)
		if g.project.Interfaces {
			claim(r.methods[0], qualify(pkg, implementation(simple)))
		}
		g.declarable(r, simple, packages)
		if pkg == g.converterPackage() {
			s, span := r.methods[0].author("repository")
			g.find(s, check.RuleClass, span, fmt.Sprintf("the package %s is that of the generated converters; choose another one for the repository", pkg))
		}
	}
}

// restricted are the names that methods and packages may have, and classes may not.
var restricted = strings.Fields("permits record sealed var yield")

// declarable: Java takes the name of a repository for a class.
func (g *generator) declarable(r *repository, simple string, packages map[string]bool) {
	s, span := r.methods[0].author("repository")
	switch {
	case slices.Contains(restricted, simple):
		g.find(s, check.RuleClass, span, fmt.Sprintf("Java lets no class be called %s; choose another repository", simple))
	case packages[r.name]:
		g.find(s, check.RuleClass, span, fmt.Sprintf("the class %s has the name of a package of other generated classes; choose another repository", r.name))
	}
}

// packages returns those of all generated classes, and the ones around them.
func (g *generator) packages(repositories []*repository) map[string]bool {
	all := map[string]bool{}
	add := func(pkg string) {
		for ; pkg != ""; pkg, _ = split(pkg) {
			all[pkg] = true
		}
	}
	add(g.converterPackage())
	for _, r := range repositories {
		pkg, _ := split(r.name)
		add(pkg)
	}
	return all
}

// nameSiblings notes which classes each package gets or has, because a class hides one of java.lang from its package.
func (g *generator) nameSiblings(repositories []*repository) {
	g.siblings = map[string]map[string]bool{}
	for _, r := range repositories {
		pkg, simple := split(r.name)
		if g.siblings[pkg] == nil {
			g.siblings[pkg] = map[string]bool{}
		}
		g.siblings[pkg][simple] = true
	}
	for pkg, classes := range g.siblings {
		for _, simple := range langClasses {
			if _, err := g.index.Find(qualify(pkg, simple)); err == nil {
				classes[simple] = true
			}
		}
	}
}

// langClasses are the classes of java.lang that generated code names. One of the user's with such a name hides it from
// its package.
var langClasses = strings.Fields("Boolean Byte Character Deprecated Double Error Float IllegalArgumentException IllegalStateException " +
	"Integer Long Number Object Override RuntimeException Short String Throwable")
