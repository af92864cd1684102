package java

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerate_InterfacesTellWhatIsDeprecated: callers see only the interface, however the annotation is written.
func TestGenerate_InterfacesTellWhatIsDeprecated(t *testing.T) {
	for _, written := range []string{"Deprecated", "java.lang.Deprecated"} {
		t.Run(written, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "frontmatter.yaml"), "interfaces: true\n")
			writeFile(t, filepath.Join(dir, "find.sql"), "-- annotations: [{type: "+written+"}]\nSELECT 1;\n")
			files, findings := generated(t, dir)
			if findings != "" {
				t.Fatal(findings)
			}
			for _, f := range files {
				if f.Path == "Repository.java" && strings.Count(f.Content, "@Deprecated\n") != 2 {
					t.Errorf("the methods are not marked:\n%s", f.Content)
				}
			}
		})
	}
}
