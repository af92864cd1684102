package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// client speaks the protocol's framing by hand, so that the server's library is not tested with itself.
type client struct {
	t       *testing.T
	in      io.WriteCloser
	out     *bufio.Reader
	ended   chan bool
	next    int
	waiting []message // notifications that were read while waiting for a reply
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// start runs a server on pipes.
func start(t *testing.T) *client {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := &client{t: t, in: inWrite, out: bufio.NewReader(outRead), ended: make(chan bool, 1)}
	go func() {
		c.ended <- Serve(t.Context(), inRead, outWrite, Options{Version: "test", Log: io.Discard})
		_ = outWrite.Close()
	}()
	// A server that says nothing ends the test instead of the patience of whoever waits for it.
	patience := time.AfterFunc(20*time.Second, func() { _ = outRead.Close() })
	t.Cleanup(func() { patience.Stop(); _ = inWrite.Close(); _ = outRead.Close() })
	return c
}

// initialized starts a server and initializes it with an encoding of positions.
func initialized(t *testing.T, encodings ...string) *client {
	t.Helper()
	c := start(t)
	c.call("initialize", object{"processId": nil, "rootUri": nil, "capabilities": object{"general": object{"positionEncodings": encodings}}})
	c.notify("initialized", object{})
	return c
}

func (c *client) write(v any) {
	c.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(data), data); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() message {
	c.t.Helper()
	length := 0
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("reading a header: %v", err)
		}
		line = strings.TrimSuffix(line, "\r\n")
		if line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(value); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.out, body); err != nil {
		c.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		c.t.Fatalf("%v in %s", err, body)
	}
	return m
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.write(object{"jsonrpc": "2.0", "method": method, "params": params})
}

func (c *client) send(method string, params any) int {
	c.t.Helper()
	c.next++
	c.write(object{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	return c.next
}

// reply reads up to the reply to a request.
func (c *client) reply(id int) message {
	c.t.Helper()
	for {
		m := c.read()
		if m.ID != nil && *m.ID == id && m.Method == "" {
			return m
		}
		c.waiting = append(c.waiting, m)
	}
}

// call sends a request and returns its result.
func (c *client) call(method string, params any) json.RawMessage {
	c.t.Helper()
	m := c.reply(c.send(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s: %+v", method, m.Error)
	}
	return m.Result
}

// diagnostics waits for those of a document, and returns them as line:character code.
func (c *client) diagnostics(uri string) string {
	c.t.Helper()
	for {
		var m message
		if len(c.waiting) > 0 {
			m, c.waiting = c.waiting[0], c.waiting[1:]
		} else {
			m = c.read()
		}
		if m.Method != "textDocument/publishDiagnostics" {
			continue
		}
		var p publishParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		if p.URI != uri {
			continue
		}
		var all []string
		for _, d := range p.Diagnostics {
			all = append(all, fmt.Sprintf("%d:%d-%d:%d %s", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Line, d.Range.End.Character, d.Code))
		}
		return strings.Join(all, "|")
	}
}

func (c *client) open(uri, text string) {
	c.t.Helper()
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "sql", "version": 1, "text": text}})
}

// at returns the parameters of a request at the place of ‸ in a text, and the text without it.
func placed(uri, text string) (plain string, params object) {
	offset := strings.Index(text, "‸")
	plain = strings.Replace(text, "‸", "", 1)
	line := strings.Count(text[:offset], "\n")
	column := offset - (strings.LastIndex(text[:offset], "\n") + 1)
	return plain, object{"textDocument": object{"uri": uri}, "position": object{"line": line, "character": column}}
}

// folder writes files and returns a function from a path to its URI.
func folder(t *testing.T, files map[string]string) func(string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(path string) string { return uriOf(filepath.Join(dir, path)) }
}

func (c *client) wait() bool {
	c.t.Helper()
	select {
	case ok := <-c.ended:
		return ok
	case <-time.After(10 * time.Second):
		c.t.Fatal("the server does not end")
		return false
	}
}
