package java

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerate_MoreParametersThanAMethodTakes: a method has at most 255 of them, its object and its connection included,
// and long and double count twice (Java Virtual Machine Specification 4.3.3).
func TestGenerate_MoreParametersThanAMethodTakes(t *testing.T) {
	for name, test := range map[string]struct {
		keys, kind string
		count      int
		fits       bool
	}{
		"as many as there can be":     {"", "int", 253, true},
		"one more":                    {"", "int", 254, false},
		"doubles, as many":            {"", "double", 126, true},
		"doubles, one more":           {"", "double", 127, false},
		"doubles of a batch":          {"-- executeOnce: false\n", "double", 253, true},
		"doubles of a batch and once": {"", "double", 253, false},
		"a cursor, as many":           {"-- type: reading\n-- returning: cursor\n", "int", 252, true},
		"a cursor, one more":          {"-- type: reading\n-- returning: cursor\n", "int", 253, false},
	} {
		t.Run(name, func(t *testing.T) {
			var declared, used strings.Builder
			for i := range test.count {
				fmt.Fprintf(&declared, "--   p%d: %s\n", i, test.kind)
				fmt.Fprintf(&used, " :p%d", i)
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "insertWide.sql"), test.keys+"-- parameters:\n"+declared.String()+"INSERT"+used.String()+";\n")
			files, findings := generated(t, dir)
			if test.fits && (findings != "" || len(files) == 0) {
				t.Errorf("found %s", findings)
			}
			if !test.fits && !strings.Contains(findings, "more parameters than a method of Java takes") {
				t.Errorf("found %q", findings)
			}
		})
	}
}
