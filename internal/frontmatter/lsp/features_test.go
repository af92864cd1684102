package lsp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

func decoded[T any](t *testing.T, data json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// applied applies edits of the protocol, with UTF-8 positions.
func applied(text string, edits []textEdit) string {
	w := newWorkspace(check.Overrides{})
	w.encoding = source.UTF8
	file := source.NewFile("x", text)
	var all []source.Edit
	for _, e := range edits {
		all = append(all, source.Edit{Span: source.Span{Start: w.offsetOf(file, e.Range.Start), End: w.offsetOf(file, e.Range.End)}, Text: e.NewText})
	}
	return source.Edited(text, all)
}

func TestCompletion(t *testing.T) {
	uri := "untitled:x"
	tests := []struct {
		why, text string
		want      string // labels that are offered, and with ! that are not
		insert    string // what the text becomes with the first wanted one
	}{
		{"keys that are not there yet", "-- name: x\n-- ‸\nselect 1", "type returning !name", "-- name: x\n-- type: \nselect 1"},
		{"the word so far is replaced", "-- name: x\n-- ret‸\nselect 1", "returning", "-- name: x\n-- returning: \nselect 1"},
		{"in front of SQL without front matter", "-- ‸\nselect 1", "name", "-- name: \nselect 1"},
		{"words of an enumeration", "-- returning: ‸\nselect 1", "none single multiple cursor", "-- returning: none\nselect 1"},
		{"a word that is there is replaced", "-- returning: si‸ngl\nselect 1", "single", "-- returning: single\nselect 1"},
		{"booleans", "-- executeOnce: ‸\nselect 1", "true false", "-- executeOnce: true\nselect 1"},
		{"products", "-- vendor: ‸\nselect 1", "PostgreSQL", "-- vendor: PostgreSQL\nselect 1"},
		{"inner keys of a list", "-- parameters:\n--   - name: a\n--     ‸\nselect :a", "type variant !name", "-- parameters:\n--   - name: a\n--     type: \nselect :a"},
		{"inner keys of a new item", "-- parameters:\n--   - name: a\n--   - ‸\nselect :a", "name", "-- parameters:\n--   - name: a\n--   - name: \nselect :a"},
		{"parameters of the SQL", "-- parameters:\n--   - name: ‸\nselect :a, :b", "a b", "-- parameters:\n--   - name: a\nselect :a, :b"},
		{"parameters as a mapping", "-- parameters:\n--   ‸\nselect :a, :b", "name a b", ""},
		{"types", "-- parameters:\n--   a: ins‸\nselect :a", "instant uuid", "-- parameters:\n--   a: instant\nselect :a"},
		{"types in type arguments", "-- resultRowType: List<lo‸\nselect 1", "Long", "-- resultRowType: List<Long\nselect 1"},
		{"variants", "-- parameters:\n--   - name: a\n--     variant: ‸\nselect :a", "OUT", "-- parameters:\n--   - name: a\n--     variant: OUT\nselect :a"},
		{"JDBC types", "-- parameters:\n--   - name: a\n--     sqlType: ‸\nselect :a", "VARCHAR", ""},
		{"members of annotations", "-- annotations:\n--   - type: a.B\n--     members:\n--       - ‸\nselect 1", "key value type", ""},
		{"keys behind an inner one", "-- parameters:\n--   - name: a\n-- ‸\nselect :a", "returning !parameters !variant", ""},
		{"not in SQL", "-- name: a\nselect ‸", "!type", ""},
		{"not in a hint", "--+ ‸\nselect 1", "!type", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			c := initialized(t, "utf-8")
			text, params := placed(uri, tt.text)
			c.open(uri, text)
			items := decoded[[]completionItem](t, c.call("textDocument/completion", params))
			find := func(label string) int {
				return slices.IndexFunc(items, func(i completionItem) bool { return i.Label == label })
			}
			first := -1
			for label := range strings.FieldsSeq(tt.want) {
				unwanted := strings.HasPrefix(label, "!")
				i := find(strings.TrimPrefix(label, "!"))
				if unwanted != (i < 0) {
					t.Errorf("%s: at %d of %d items", label, i, len(items))
				}
				if first < 0 {
					first = i
				}
			}
			if tt.insert == "" || first < 0 {
				return
			}
			if diff := cmp.Diff(tt.insert, applied(text, []textEdit{*items[first].TextEdit})); diff != "" {
				t.Errorf("inserted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHover(t *testing.T) {
	uri := "untitled:x"
	tests := []struct{ why, text, want string }{
		{"a key", "-- retur‸ning: single\nselect 1", "**returning**: one of none"},
		{"a value", "-- returning: sin‸gle\nselect 1", "**returning**: one of none"},
		{"an inner key", "-- parameters:\n--   - name: a\n--     vari‸ant: IN\nselect :a", "**variant**: one of IN"},
		{"a parameter", "-- parameters:\n--   - name: a\n--     type: uuid\nselect :‸a, :a", "**:a**: `uuid` (`java.util.UUID`), used 2 times"},
		{"a parameter that is not declared", "-- name: x\nselect :‸a", "**:a**: its type is not declared, used once"},
		{"nothing", "-- name: x\nselect 1‸ ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			c := initialized(t, "utf-8")
			text, params := placed(uri, tt.text)
			c.open(uri, text)
			result := c.call("textDocument/hover", params)
			if tt.want == "" {
				if string(result) != "null" {
					t.Errorf("hover = %s, want null", result)
				}
				return
			}
			if got := decoded[hoverResult](t, result).Contents.Value; !strings.Contains(got, tt.want) {
				t.Errorf("hover = %q, want %q in it", got, tt.want)
			}
		})
	}
}

func TestFormatting(t *testing.T) {
	c := initialized(t, "utf-8")
	text := "-- type:   reading\n-- name: findX\nSELECT 1;\n"
	c.open("untitled:a", text)
	edits := decoded[[]textEdit](t, c.call("textDocument/formatting", object{"textDocument": object{"uri": "untitled:a"}, "options": object{"tabSize": 4}}))
	if diff := cmp.Diff("-- name: findX\n-- type: reading\nSELECT 1;\n", applied(text, edits)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.open("untitled:b", "-- foo:   x\nSELECT 1;\n")
	if edits := decoded[[]textEdit](t, c.call("textDocument/formatting", object{"textDocument": object{"uri": "untitled:b"}})); len(edits) > 0 {
		t.Errorf("a document with errors: %+v, want it left alone", edits)
	}
}

func TestCodeAction(t *testing.T) {
	c := initialized(t, "utf-8")
	uri := "untitled:a"
	text := "-- Name: findX\n-- executeOnce: yes\n-- returning: Single\nSELECT 1;\n"
	c.open(uri, text)
	ask := func(line int, only ...string) []codeAction {
		p := object{"start": object{"line": line, "character": 4}, "end": object{"line": line, "character": 4}}
		return decoded[[]codeAction](t, c.call("textDocument/codeAction", object{"textDocument": object{"uri": uri}, "range": p, "context": object{"diagnostics": []int{}, "only": only}}))
	}
	actions := ask(0)
	if len(actions) != 2 || actions[0].Title != "Replace by name" || !actions[0].IsPreferred || len(actions[0].Diagnostics) != 1 {
		t.Fatalf("actions = %+v, want the fix and all fixes", actions)
	}
	want := "-- name: findX\n-- executeOnce: yes\n-- returning: Single\nSELECT 1;\n"
	if diff := cmp.Diff(want, applied(text, actions[0].Edit.Changes[uri])); diff != "" {
		t.Errorf("the fix (-want +got):\n%s", diff)
	}
	want = "-- name: findX\n-- executeOnce: yes\n-- returning: single\nSELECT 1;\n"
	if diff := cmp.Diff(want, applied(text, ask(3, fixAll)[0].Edit.Changes[uri])); diff != "" {
		t.Errorf("all sure fixes (-want +got):\n%s", diff)
	}
}

func TestDocumentSymbols(t *testing.T) {
	c := initialized(t)
	c.open("untitled:a", "-- licence\n\n-- name: findX\n-- returning: single\nSELECT 1;\n-- name: [\nselect 2")
	got := decoded[[]documentSymbol](t, c.call("textDocument/documentSymbol", object{"textDocument": object{"uri": "untitled:a"}}))
	want := []documentSymbol{
		{Name: "findX", Detail: "reading single", Kind: kindMethod, Range: textRange{position{2, 0}, position{4, 8}}, SelectionRange: textRange{position{2, 9}, position{2, 14}}},
		{Name: "(no name)", Kind: kindMethod, Range: textRange{position{5, 0}, position{6, 8}}, SelectionRange: textRange{position{6, 0}, position{6, 0}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRename_ReachesAllVariants(t *testing.T) {
	other := "-- name: findX\n-- vendor: H2\n-- parameters: {'id': long}\nselect ':id', :id;\n\n-- name: findY\nselect :id"
	uri := folder(t, map[string]string{"frontmatter.yaml": "", "a.sql": "", "b.sql": other})
	c := initialized(t, "utf-8")
	a := uri("a.sql")
	text, params := placed(a, "-- name: findX\n-- parameters:\n--   - name: id\nselect :i‸d, :other /* :id */ where :id = 1")
	c.open(a, text)
	prepared := decoded[prepareResult](t, c.call("textDocument/prepareRename", params))
	if prepared.Placeholder != "id" || prepared.Range != (textRange{position{3, 8}, position{3, 10}}) {
		t.Errorf("prepared = %+v, want id behind its colon", prepared)
	}
	params["newName"] = "key"
	changes := decoded[workspaceEdit](t, c.call("textDocument/rename", params)).Changes
	if diff := cmp.Diff("-- name: findX\n-- parameters:\n--   - name: key\nselect :key, :other /* :id */ where :key = 1", applied(text, changes[a])); diff != "" {
		t.Errorf("this variant (-want +got):\n%s", diff)
	}
	want := "-- name: findX\n-- vendor: H2\n-- parameters: {'key': long}\nselect ':id', :key;\n\n-- name: findY\nselect :id"
	if diff := cmp.Diff(want, applied(other, changes[uri("b.sql")])); diff != "" {
		t.Errorf("the other variant (-want +got):\n%s", diff)
	}
	for name, why := range map[string]string{"other": "taken", "class": "a keyword", "a-b": "no name", "": "nothing"} {
		params["newName"] = name
		if m := c.reply(c.send("textDocument/rename", params)); m.Error == nil {
			t.Errorf("%q (%s): %s, want an error", name, why, m.Result)
		}
	}
}

func TestDefinition(t *testing.T) {
	uri := folder(t, map[string]string{
		"frontmatter.yaml":               "javaSources: [src/main/java]\nsqlRoot: sql\n",
		"sql/a.sql":                      "",
		"src/main/java/com/ex/User.java": "package com.ex;\n\n// class User\npublic record User(long id) {\n  record Name(String first) {}\n}\n",
	})
	c := initialized(t, "utf-8")
	a := uri("sql/a.sql")
	tests := []struct {
		why, text, file string
		want            position
	}{
		{"a record", "-- name: findX\n-- resultRowType: com.ex.Us‸er\nselect :id", "src/main/java/com/ex/User.java", position{2, 9}},
		{"a nested record", "-- name: findX\n-- resultRowType: com.ex.User.Na‸me\nselect :id", "src/main/java/com/ex/User.java", position{4, 9}},
		{"a parameter", "-- name: findX\n-- parameters: {id: long}\nselect :i‸d", "sql/a.sql", position{1, 16}},
	}
	for _, tt := range tests {
		text, params := placed(a, tt.text)
		c.open(a, text)
		got := decoded[location](t, c.call("textDocument/definition", params))
		if got.URI != uri(tt.file) || got.Range.Start != tt.want {
			t.Errorf("%s: %+v, want %s at %+v", tt.why, got, tt.file, tt.want)
		}
	}
	text, params := placed(a, "-- name: findX\n-- resultRowType: com.ex.No‸ne\nselect 1")
	c.open(a, text)
	if got := c.call("textDocument/definition", params); string(got) != "null" {
		t.Errorf("a class without a source: %s, want null", got)
	}
	if !slices.ContainsFunc(c.waiting, func(m message) bool {
		return m.Method == "window/logMessage" && strings.Contains(string(m.Params), "com.ex.None")
	}) {
		t.Error("the client is not told why there is nothing")
	}
}
