package matter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

func identity(offset int) int { return offset }

// diagnose reads front matter and returns what is wrong with it, as line:column rule.
func diagnose(text string) (*Node, []string) {
	root, findings := Read(text, identity)
	if root != nil {
		findings = append(findings, Fit(root, KeyShape())...)
		findings = append(findings, Combine(root)...)
	}
	file := source.NewFile("x", text)
	var got []string
	for _, f := range findings {
		at := file.Position(f.Span.Start)
		line := fmt.Sprintf("%d:%d %s %q", at.Line, at.Column, f.Rule, f.Span.Text(text))
		for _, fix := range f.Fixes {
			line += " -> " + fix.Edits[0].Text
			if !fix.Sure {
				line += "?"
			}
		}
		got = append(got, line)
	}
	return root, got
}

func TestFit_ReportsAtTheOwnPlace(t *testing.T) {
	tests := []struct{ why, text, want string }{
		{"nothing wrong", "name: findX\ntype: reading\nparameters:\n  - {name: id, type: long, variant: IN}\n", ""},
		{"an unknown key", "type: reading\nfoo: x\n", `2:1 unknown-key "foo"`},
		{"a near miss", "descriptionn: x\n", `1:1 unknown-key "descriptionn" -> description`},
		{"case", "Name: x\nexecute-once: true\n", `1:1 unknown-key "Name" -> name|2:1 unknown-key "execute-once" -> executeOnce`},
		{"a near miss of a key that is there", "name: x\nNAME: y\n", `2:1 unknown-key "NAME" -> name?`},
		{"a wrong type", "executeOnce: 1\n", `1:14 wrong-type "1"`},
		{"a quoted boolean", "executeOnce: 'true'\n", `1:14 wrong-type "'true'" -> true`},
		{"a boolean of YAML 1.1", "executeOnce: yes\n", `1:14 wrong-type "yes" -> true?`},
		{"a list for a text", "name: [a]\n", `1:7 wrong-type "[a"`},
		{"a number for a text", "vendor: 12\n", `1:9 wrong-type "12" -> "12"?`},
		{"a wrong word", "type: foo\n", `1:7 unknown-word "foo"`},
		{"a word's case", "returning: Single\n", `1:12 unknown-word "Single" -> single`},
		{"a near word", "returning: mutiple\n", `1:12 unknown-word "mutiple" -> multiple`},
		{"a lower case variant", "parameters:\n  - name: a\n    variant: out\n", `3:14 unknown-word "out" -> OUT`},
		{"a duplicate key", "name: a\nname: b\n", `2:1 duplicate-key "name"`},
		{"a duplicate key inside", "resultRowType: A\nresultRowColumns: {a: b, a: c}\n", `2:26 duplicate-key "a"`},
		{"an empty value", "name:\n", `1:1 empty-value "name"`},
		{"a null", "name: ~\n", `1:7 empty-value "~"`},
		{"an inferred type", "parameters: {id: , b: long}\n", ""},
		{"a name that is no identifier", "name: find-x\n", `1:7 wrong-format "find-x"`},
		{"a keyword", "name: class\n", `1:7 wrong-format "class"`},
		{"an inner key", "parameters:\n  - name: a\n    typ: long\n", `3:5 unknown-key "typ" -> type`},
		{"a parameter without a name", "parameters:\n  - type: long\n", `2:5 missing-key "type: long"`},
		{"mixed parameters", "parameters:\n  - id: long\n", `2:5 unknown-key "id"|2:5 missing-key "id: long"`},
		{"Unicode before the place", "description: größe\nname: größe-x # ö\n", `2:7 wrong-format "größe-x"`},
		{"a quoted key", "\"naem\": x\n", `1:1 unknown-key "\"naem\"" -> name`},
		{"several at once, in order", "foo: 1\ntype: x\nname: 3\n", `1:1 unknown-key "foo"|2:7 unknown-word "x"|3:7 wrong-type "3" -> "3"?`},
		{"keys that conflict", "executeOnce: false\nexecuteBatch: false\n", `2:1 conflicting-keys "executeBatch"`},
		{"a conflict that needs both written", "executeBatch: false\n", ""},
		{"a cursor and an OUT parameter", "parameters:\n  - {name: a, variant: OUT}\nreturning: cursor\n", `3:1 conflicting-keys "returning"`},
		{"a result type without rows", "returning: none\nresultRowType: a.B\n", `2:1 conflicting-keys "resultRowType"`},
		{"a result type of OUT parameters", "returning: none\nresultRowType: a.B\nparameters:\n  - {name: a, variant: OUT}\n", ""},
		{"columns without a type", "resultRowColumns: {a: b}\n", `1:1 missing-key "resultRowColumns"`},
		{"a key without effect", "executeBatch: false\nexecuteBatchPrefix: x\n", `2:1 key-without-effect "executeBatchPrefix"`},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, got := diagnose(tt.text)
			if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestRead_RefusesWhatFrontMatterDoesNotNeed(t *testing.T) {
	tests := []struct{ why, text, want string }{
		{"a tag", "name: !!str x\n", `1:7 yaml-feature "!!str x"`},
		{"an anchor", "name: &a x\n", `1:7 yaml-feature "&a x"`},
		{"an alias", "name: &a x\ndescription: *a\n", `1:7 yaml-feature "&a x"|2:14 yaml-feature "*"`},
		{"a merge key", "<<: {name: x}\n", `1:1 yaml-feature "<<"`},
		{"a complex key", "? [a]\n: b\n", `1:3 yaml-feature "["`},
		{"two documents", "name: a\n---\nname: b\n", `2:1 yaml-feature "-"`},
		{"a list", "- name: a\n", `1:1 yaml-syntax "-"`},
		{"a tab", "\tname: a\n", "1:1 yaml-syntax \"\\t\""},
		{"a colon in a text", "description: a: b\n", `1:15 yaml-syntax ":"`},
		{"an open quote", "name: 'a\n", `2:1 yaml-syntax ""`},
		{"an open bracket", "name: [a\n", `2:1 yaml-syntax ""`},
		{"a comment above", "# x\n\nFinds things\nname: a\n", `3:1 yaml-syntax "Finds things"`},
		{"only a comment", "# nothing\n", ``},
		{"a control character", "name: a\x01\n", `1:1 yaml-syntax ""`},
		{"too deep", "name: " + strings.Repeat("[", 20) + "\n", `1:23 front-matter-size "["`},
		{"much too deep", "name: " + strings.Repeat("[", 60000) + "\n", `1:23 front-matter-size "["`},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, got := diagnose(tt.text)
			if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("%.60q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestRead_RefusesLargeFrontMatter(t *testing.T) {
	_, got := diagnose("description: " + strings.Repeat("x", maxBytes))
	if len(got) != 1 || !strings.Contains(got[0], string(source.RuleNestedTooDeep)) {
		t.Errorf("findings = %v, want one for the size", len(got))
	}
}

// TestRead_PlacesBehindUnusualLineEnds: the library counts more characters as line ends than editors do.
func TestRead_PlacesBehindUnusualLineEnds(t *testing.T) {
	for _, end := range []string{"\u0085", "\u2028", "\u2029", "\r\n", "\n"} {
		text := "description: 'a" + end + "  b'\nfoo: x\n"
		_, findings := diagnose(text)
		if len(findings) != 1 || !strings.Contains(findings[0], `unknown-key "foo"`) {
			t.Errorf("behind %q: findings = %v, want one for foo", end, findings)
		}
	}
}

func TestResolve_CoreSchema(t *testing.T) {
	tests := map[string]NodeKind{
		"": Null, "~": Null, "null": Null, "NULL": Null, "nULL": Text,
		"true": Bool, "False": Bool, "yes": Text, "on": Text,
		"0777": Int, "0o17": Int, "0x1F": Int, "1_000": Text, "-1": Int, "+1": Int, "- 1": Text,
		"1.5": Float, ".5": Float, "1e3": Float, "-.inf": Float, ".nan": Float, "1.2.3": Text, ".": Text,
		"2024-01-01": Text, "12:30": Text, "a": Text,
	}
	for text, want := range tests {
		if got := resolve(text); got != want {
			t.Errorf("resolve(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	tests := []struct{ word, want, why string }{
		{"naem", "name", "two letters swapped"},
		{"names", "name", "one letter more"},
		{"Type", "type", "case"},
		{"Time", "", "another word of four letters"},
		{"Note", "", "another word of four letters"},
		{"executebatchsufix", "executeBatchSuffix", "case and a letter less"},
		{"execute_once", "executeOnce", "an underscore"},
		{"executeOncefix", "", "too far from anything"},
		{"resultRow", "", "too far from anything"},
		{"Author", "", "no key at all"},
	}
	for _, tt := range tests {
		if got, ok := Nearest(tt.word, KeyNames()); ok && got != tt.want || !ok && tt.want != "" {
			t.Errorf("%s: Nearest(%q) = %q, %v, want %q", tt.why, tt.word, got, ok, tt.want)
		}
	}
}

// TestNearest_NothingInDoubt: what is found is applied without asking.
func TestNearest_NothingInDoubt(t *testing.T) {
	for _, tt := range []struct{ word, words, want string }{
		{"one", "none single multiple cursor", ""},
		{"non", "none single multiple cursor", "none"},
		{"simple", "none single multiple cursor", ""},
		{"sinlge", "none single multiple cursor", "single"},
		{"multple", "none single multiple cursor", "multiple"},
		{"fake", "true false", ""},
		{"flase", "true false", "false"},
		{"tue", "true false", "true"},
		{"blue", "true false", ""},
		{"user", "usera userb", ""},
	} {
		if got, ok := Nearest(tt.word, strings.Fields(tt.words)); got != tt.want || ok != (tt.want != "") {
			t.Errorf("Nearest(%q, %s) = %q, %v, want %q", tt.word, tt.words, got, ok, tt.want)
		}
	}
}

func TestKeys_AreTheClosedSet(t *testing.T) {
	want := strings.Fields(`annotations catchAndRethrow createConnection description executeBatch executeBatchPrefix
		executeBatchSuffix executeOnce executeOncePrefix executeOnceSuffix injectConverters name parameters repository
		resultRowColumns resultRowConverter resultRowType returning throwOnMultipleResults type usePreparedStatement
		vendor writesReturnUpdateCount`)
	got := append([]string(nil), KeyNames()...)
	sortStrings := cmp.Transformer("sorted", func(s []string) map[string]bool {
		m := map[string]bool{}
		for _, w := range s {
			m[w] = true
		}
		return m
	})
	if diff := cmp.Diff(want, got, sortStrings); diff != "" || len(got) != 23 {
		t.Errorf("%d keys (-want +got):\n%s", len(got), diff)
	}
}

func TestKeys_ExamplesFit(t *testing.T) {
	for table, shape := range map[*[]Key]*Shape{ptr(Keys()): KeyShape(), ptr(ProjectKeys()): ProjectShape()} {
		for _, k := range *table {
			root, findings := Read(k.Example+"\n", identity)
			findings = append(findings, Fit(root, shape)...)
			if len(findings) > 0 || root.Get(k.Name) == nil {
				t.Errorf("example of %s: %+v", k.Name, findings)
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

// FuzzRead: no text makes the reader panic or leave the text, and all places can be said.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"name: x\n", "a: [b, {c: d}]\n", "a: |2\n   x\n", "? a\n: b\n", "a: &x *x\n", "\ufeffa: \"\\x\n", "- - -\n", "a: 'x''\n\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, findings := Read(text, identity)
		if root != nil {
			findings = append(findings, Fit(root, KeyShape())...)
			findings = append(findings, Combine(root)...)
		}
		for _, finding := range findings {
			if s := finding.Span; s.Start < 0 || s.End < s.Start || s.Start > len(text) {
				t.Fatalf("%s at %+v of %d bytes", finding.Rule, s, len(text))
			}
		}
	})
}
