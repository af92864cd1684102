package lsp

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServe_ShutsDownInOrder(t *testing.T) {
	c := initialized(t)
	c.call("shutdown", nil)
	if m := c.reply(c.send("textDocument/hover", object{})); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a request after shutdown: %+v, want an invalid request", m)
	}
	c.notify("exit", nil)
	if !c.wait() {
		t.Error("an exit after shutdown is in order")
	}
}

func TestServe_ExitWithoutShutdown(t *testing.T) {
	c := initialized(t)
	c.notify("exit", nil)
	if c.wait() {
		t.Error("an exit without shutdown is not in order")
	}
}

func TestServe_ConnectionEnds(t *testing.T) {
	c := initialized(t)
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if c.wait() {
		t.Error("an end without shutdown is not in order")
	}
}

func TestServe_BrokenFraming(t *testing.T) {
	for _, text := range []string{"nonsense\r\n\r\n", "Content-Length: x\r\n\r\n{}", "Content-Length: 3\r\n\r\n{{{", "Content-Length: 0\r\n\r\n"} {
		c := start(t)
		if _, err := io.WriteString(c.in, text); err != nil {
			t.Fatal(err)
		}
		if c.wait() {
			t.Errorf("%q: the server should end, and not in order", text)
		}
	}
}

func TestServe_OrderOfMessages(t *testing.T) {
	c := start(t)
	if m := c.reply(c.send("textDocument/hover", object{})); m.Error == nil || m.Error.Code != codeNotInitialized {
		t.Errorf("a request before initialize: %+v, want not initialized", m)
	}
	c.notify("textDocument/didOpen", object{}) // dropped
	c.call("initialize", object{"capabilities": object{}})
	if m := c.reply(c.send("initialize", object{})); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a second initialize: %+v, want an invalid request", m)
	}
	if m := c.reply(c.send("textDocument/nope", object{})); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("an unknown request: %+v, want method not found", m)
	}
	c.notify("$/nope", object{})
	if m := c.reply(c.send("textDocument/hover", []int{1})); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("wrong params: %+v, want invalid params", m)
	}
	if m := c.reply(c.send("textDocument/hover", object{"textDocument": object{"uri": "file:///nope.sql"}})); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("a document that is not open: %+v, want null", m)
	}
}

// TestServe_Cancellation: a request that waits behind others is cancelled and answered as such.
func TestServe_Cancellation(t *testing.T) {
	c := initialized(t)
	uri := "untitled:Untitled-1"
	c.open(uri, "-- name: findX\nselect 1;\n")
	first := c.send("textDocument/documentSymbol", object{"textDocument": object{"uri": uri}})
	second := c.send("textDocument/documentSymbol", object{"textDocument": object{"uri": uri}})
	c.notify("$/cancelRequest", object{"id": second})
	// Nothing has been read so far, so that the server waits with its first message. One more notification is taken off
	// the wire only after the cancellation was.
	c.notify("$/nope", object{})
	if m := c.reply(first); m.Error != nil {
		t.Errorf("the first request: %+v, want a result", m.Error)
	}
	if m := c.reply(second); m.Error == nil || m.Error.Code != codeCancelled {
		t.Errorf("the cancelled request: %+v, want it cancelled", m.Error)
	}
	c.notify("$/cancelRequest", object{"id": second}) // over already
	c.notify("$/cancelRequest", object{"id": "text"})
	c.call("shutdown", nil)
}

func TestInitialize_NegotiatesTheEncoding(t *testing.T) {
	tests := []struct {
		offered []string
		want    string
		column  int // of what follows an emoji and an umlaut, 6 bytes
	}{
		{nil, "utf-16", 16},
		{[]string{"utf-8", "utf-16"}, "utf-8", 19},
		{[]string{"utf-32", "utf-16"}, "utf-32", 15},
		{[]string{"utf-7"}, "utf-16", 16},
	}
	for _, tt := range tests {
		c := start(t)
		result := c.call("initialize", object{"capabilities": object{"general": object{"positionEncodings": tt.offered}}})
		var got struct {
			Capabilities struct {
				PositionEncoding string `json:"positionEncoding"`
			} `json:"capabilities"`
		}
		if err := json.Unmarshal(result, &got); err != nil {
			t.Fatal(err)
		}
		if got.Capabilities.PositionEncoding != tt.want {
			t.Errorf("offered %v: %s, want %s", tt.offered, got.Capabilities.PositionEncoding, tt.want)
		}
		c.open("untitled:x", "-- name: findX\nselect '😀ö' = ?")
		want := fmt.Sprintf("1:%d-1:%d unnamed-parameter", tt.column-1, tt.column)
		if diff := cmp.Diff(want, c.diagnostics("untitled:x")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.want, diff)
		}
	}
}

func TestDiagnostics_FollowTheText(t *testing.T) {
	uri := folder(t, map[string]string{"frontmatter.yaml": "sqlRoot: sql\n", "sql/findX.sql": "select 1", "sql/findY.sql": "-- name: findX\nselect 2"})
	c := initialized(t)
	x, y := uri("sql/findX.sql"), uri("sql/findY.sql")
	c.open(x, "-- name: findZ\n-- typ: reading\nselect 1\n")
	if diff := cmp.Diff("1:3-1:6 unknown-key", c.diagnostics(x)); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	change := func(line, from, to int, text string) {
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": x, "version": 2}, "contentChanges": []object{
			{"range": object{"start": object{"line": line, "character": from}, "end": object{"line": line, "character": to}}, "text": text},
		}})
	}
	change(1, 6, 6, "e")
	if diff := cmp.Diff("", c.diagnostics(x)); diff != "" {
		t.Errorf("mended (-want +got):\n%s", diff)
	}
	change(0, 9, 14, "findX")
	if diff := cmp.Diff("0:9-0:14 duplicate-name", c.diagnostics(x)); diff != "" {
		t.Errorf("clashing with a file on disk (-want +got):\n%s", diff)
	}
	c.open(y, "-- name: findX\nselect 2")
	if diff := cmp.Diff("0:9-0:14 duplicate-name", c.diagnostics(y)); diff != "" {
		t.Errorf("the other side (-want +got):\n%s", diff)
	}
	c.notify("textDocument/didChange", object{"textDocument": object{"uri": y, "version": 2}, "contentChanges": []object{{"text": "-- name: findQ\nselect 2"}}})
	if diff := cmp.Diff("", c.diagnostics(x)); diff != "" {
		t.Errorf("the clash is over in both (-want +got):\n%s", diff)
	}
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": y}})
	if diff := cmp.Diff("0:9-0:14 duplicate-name", c.diagnostics(x)); diff != "" {
		t.Errorf("closed without saving, what is on disk counts (-want +got):\n%s", diff)
	}
}

// TestDiagnostics_WithinOneText: a text that is no file yet is checked against itself.
func TestDiagnostics_WithinOneText(t *testing.T) {
	c := initialized(t)
	c.open("untitled:x", "-- name: findX\nselect 1;\n-- name: findX\nselect 2")
	if diff := cmp.Diff("0:9-0:14 duplicate-name|2:9-2:14 duplicate-name", c.diagnostics("untitled:x")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDiagnostics_FollowTheDisk: files that are not open are read anew when the client says that they changed.
func TestDiagnostics_FollowTheDisk(t *testing.T) {
	uri := folder(t, map[string]string{"frontmatter.yaml": "", "a.sql": "", "b.sql": "-- name: findX\nselect 1", "sub/frontmatter.yaml": "", "sub/c.sql": "-- name: findX\nselect 1"})
	c := initialized(t)
	a, b := uri("a.sql"), uri("b.sql")
	c.open(a, "-- name: findX\nselect 1")
	if diff := cmp.Diff("0:9-0:14 duplicate-name", c.diagnostics(a)); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	path, _ := pathOf(b)
	for _, step := range []struct{ text, want string }{
		{"-- name: findY\nselect 1", ""},
		{"-- name: findX\nselect 1", "0:9-0:14 duplicate-name"},
		{"", ""},
	} {
		var err error
		if step.text == "" {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, []byte(step.text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": b, "type": 2}}})
		if diff := cmp.Diff(step.want, c.diagnostics(a)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", step.text, diff)
		}
	}
}

func TestDiagnostics_OfTheProjectFile(t *testing.T) {
	uri := folder(t, map[string]string{"frontmatter.yaml": "dialect: standard\n", "findX.sql": "select # ;\n1"})
	c := initialized(t)
	sql, project := uri("findX.sql"), uri("frontmatter.yaml")
	c.open(sql, "-- name: findX\nselect 'a\\'' ")
	if got := c.diagnostics(sql); !strings.Contains(got, "unterminated") {
		t.Errorf("standard: %s, want an unterminated literal", got)
	}
	c.open(project, "dialect: mysq\n")
	if diff := cmp.Diff("0:9-0:13 unknown-word", c.diagnostics(project)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	path, _ := pathOf(project)
	if err := os.WriteFile(path, []byte("dialect: mysql\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.notify("textDocument/didSave", object{"textDocument": object{"uri": project}})
	for got := "first"; got != ""; {
		got = c.diagnostics(sql) // a publication of before the save may come first
	}
}

func TestServer_SurvivesAPanic(t *testing.T) {
	c := initialized(t)
	uri := "untitled:x"
	c.open(uri, "-- name: findX\nselect 1")
	m := c.reply(c.send("textDocument/hover", object{"textDocument": object{"uri": uri}, "position": object{"line": -5, "character": -7}}))
	if m.Error != nil {
		t.Errorf("a place before the text: %+v", m.Error)
	}
	c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri}, "contentChanges": []object{
		{"range": object{"start": object{"line": 9, "character": 9}, "end": object{"line": 0, "character": 0}}, "text": "x"},
	}})
	c.call("shutdown", nil)
}
