package java

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerate_StatementsDecideAboutInjectionBeforeTheDefault: a converter that statements share is injected as one of
// them says, wherever it stands, and else as the default of the project says.
func TestGenerate_StatementsDecideAboutInjectionBeforeTheDefault(t *testing.T) {
	const injected, created = "Objects.requireNonNull(mapConverter", "new MapConverter()"
	for name, test := range map[string]struct{ byDefault, first, second, want string }{
		"the first says so":       {"false", "true", "", injected},
		"the second says so":      {"false", "", "true", injected},
		"the first says no":       {"true", "false", "", created},
		"the second says no":      {"true", "", "false", created},
		"the default says so":     {"true", "", "", injected},
		"the default says no":     {"false", "", "", created},
		"all but the default are": {"false", "true", "true", injected},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "frontmatter.yaml"), "defaults: {injectConverters: "+test.byDefault+"}\n")
			sql := ""
			for i, says := range []string{test.first, test.second} {
				sql += "-- name: find" + string(rune('A'+i)) + "\n"
				if says != "" {
					sql += "-- injectConverters: " + says + "\n"
				}
				sql += "SELECT 1;\n\n"
			}
			writeFile(t, filepath.Join(dir, "x.sql"), sql)
			files, findings := generated(t, dir)
			if findings != "" {
				t.Fatal(findings)
			}
			code := ""
			for _, f := range files {
				if f.Path == "Repository.java" {
					code = f.Content
				}
			}
			if !strings.Contains(code, "this.mapConverter = "+test.want) {
				t.Errorf("want %s in\n%s", test.want, code)
			}
		})
	}
}
