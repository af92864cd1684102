package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/files"
	"github.com/stagewright/stagewright/internal/render/server"
	"github.com/stagewright/stagewright/internal/render/snippets"
	"github.com/stagewright/stagewright/internal/serving"
)

// fixture is an endpoint on a real listener.
type fixture struct {
	t         *testing.T
	address   string
	directory string // the parent of what is served
	engine    *jsonnet.Engine
	log       *bytes.Buffer
}

type option func(*settings)

type settings struct {
	snippets    snippets.Config
	limits      jsonnet.Limits
	external    map[string]jsonnet.Binding
	path        string
	readTimeout time.Duration
	evaluator   server.Evaluator
}

// serve writes files under a directory whose "snippets" and "lib" are served.
func serve(t *testing.T, contents map[string]string, options ...option) *fixture {
	t.Helper()
	directory := t.TempDir()
	for path, content := range contents {
		writeFile(t, filepath.Join(directory, path), content)
	}
	s := settings{
		snippets: snippets.Config{
			Directories: []string{filepath.Join(directory, "snippets")}, Libraries: []string{filepath.Join(directory, "lib")},
		},
		limits:      jsonnet.Limits{Timeout: 30 * time.Second, MaxConcurrent: 16, MaxStack: 200, CacheBytes: 1 << 20},
		path:        "jsonnet",
		readTimeout: 10 * time.Second,
	}
	for _, o := range options {
		o(&s)
	}
	catalog, err := snippets.NewCatalog(files.NewStore(1<<20), s.snippets)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, directory: directory, log: &bytes.Buffer{}}
	f.engine = jsonnet.NewEngine(jsonnet.Config{Evaluator: eval.New(eval.Options{}), Limits: s.limits, External: s.external})
	if s.evaluator == nil {
		s.evaluator = f.engine
	}
	logger := slog.New(slog.NewTextHandler(f.log, nil))
	endpoint := server.Endpoint{
		Path: s.path, Snippets: catalog, Evaluator: s.evaluator, CacheBytes: 1 << 20, WriteTimeout: 10 * time.Second, Logger: logger,
	}
	f.address = listen(t, serving.Options{
		Name: "jsonnet", Address: "127.0.0.1:0", Handler: endpoint.Handler(), ReadTimeout: s.readTimeout, Logger: logger,
	}).Address()
	return f
}

func listen(t *testing.T, o serving.Options) *serving.Server {
	t.Helper()
	s, err := serving.Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Errorf("shutting down: %v", err)
		}
	})
	return s
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// response is what a test looks at.
type response struct {
	status int
	header http.Header
	body   string
	closes bool // the server says that it closes the connection
}

func (r response) problem(t *testing.T) server.ProblemError {
	t.Helper()
	var p server.ProblemError
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		t.Fatalf("not a problem document: %v\n%s", err, r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type = %s", got)
	}
	if p.Status != r.status || p.Title != http.StatusText(r.status) || p.ID == "" || p.Detail == "" {
		t.Errorf("problem document of status %d: %+v", r.status, p)
	}
	return p
}

// do sends a request whose target is written to the wire as it is.
func (f *fixture) do(method, target, body string, header ...string) response {
	f.t.Helper()
	connection, err := net.Dial("tcp", f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	defer connection.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", method, target)
	for _, h := range header {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	if err := connection.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	if _, err := io.WriteString(connection, b.String()); err != nil {
		f.t.Fatal(err)
	}
	return f.read(connection, method)
}

func (f *fixture) read(from io.Reader, method string) response {
	f.t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(from), &http.Request{Method: method})
	if err != nil {
		f.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return response{r.StatusCode, r.Header, string(body), r.Close}
}

func (f *fixture) get(target string, header ...string) response {
	f.t.Helper()
	return f.do(http.MethodGet, target, "", header...)
}

func TestEndpoint_Snippets(t *testing.T) {
	f := serve(t, map[string]string{
		"snippets/hello/main.jsonnet":      "{ hello: 'world' }",
		"snippets/team/app/main.jsonnet":   "(import '../../shared.libsonnet') + (import 'l.libsonnet')",
		"snippets/shared.libsonnet":        "1",
		"snippets/with space/main.jsonnet": "'space'",
		"snippets/both/main.jsonnet":       "'first'",
		"second/both/main.jsonnet":         "'second'",
		"second/only/main.jsonnet":         "'second'",
		"lib/l.libsonnet":                  "41",
		"files/dir with/x.jsonnet":         "import 'y'",
		"files/dir with/y":                 "'file'",
		"files/clash":                      "'file'",
		"snippets/clash/main.jsonnet":      "'directory'",
	}, func(s *settings) {
		parent := filepath.Dir(s.snippets.Directories[0])
		s.snippets.Directories = append(s.snippets.Directories, filepath.Join(parent, "second"))
		s.snippets.Files = []string{filepath.Join(parent, "files/dir with/x.jsonnet")}
	})
	t.Chdir(filepath.Join(f.directory, "files"))
	absolute := filepath.Join(f.directory, "files/dir with/x.jsonnet")
	cases := map[string]struct{ target, want string }{
		"directory":                {"/jsonnet/hello", `{"hello":"world"}`},
		"percent-encoded":          {"/jsonnet/%68ello", `{"hello":"world"}`},
		"nested, sibling, library": {"/jsonnet/team/app", "42"},
		"an encoded slash":         {"/jsonnet/team%2Fapp", "42"},
		"a space":                  {"/jsonnet/with%20space", `"space"`},
		"first directory wins":     {"/jsonnet/both", `"first"`},
		"second directory":         {"/jsonnet/only", `"second"`},
		"absolute file":            {"/jsonnet/" + strings.ReplaceAll(absolute, " ", "%20"), `"file"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := f.get(c.target)
			if got := strings.Join(strings.Fields(r.body), ""); r.status != 200 || got != c.want {
				t.Errorf("%d %s, want %s", r.status, r.body, c.want)
			}
		})
	}
}

// TestEndpoint_FilesAreServedVerbatim: whatever a --snippet value looks like, exactly that path serves it.
func TestEndpoint_FilesAreServedVerbatim(t *testing.T) {
	directory := t.TempDir()
	writeFile(t, filepath.Join(directory, "x.jsonnet"), "'x'")
	writeFile(t, filepath.Join(directory, "dir/with space/x.jsonnet"), "'space'")
	writeFile(t, filepath.Join(directory, "clash/main.jsonnet"), "'directory'")
	writeFile(t, filepath.Join(directory, "inside/clash"), "'file'")
	t.Chdir(filepath.Join(directory, "inside"))
	absolute := filepath.Join(directory, "x.jsonnet")
	values := []string{"../x.jsonnet", "./../x.jsonnet", "..//x.jsonnet", absolute, "../dir/with space/x.jsonnet", "clash"}
	f := serve(t, nil, func(s *settings) { s.snippets = snippets.Config{Files: values, Directories: []string{directory}} })
	for _, value := range values {
		for _, target := range []string{"/jsonnet/" + strings.ReplaceAll(value, " ", "%20"), "/jsonnet/" + strings.NewReplacer(" ", "%20", "/", "%2F", ".", "%2e").Replace(value)} {
			if r := f.get(target); r.status != 200 || r.header.Get("Location") != "" {
				t.Errorf("GET %s: %d %s", target, r.status, r.body)
			}
		}
	}
	if r := f.get("/jsonnet/clash"); r.body != "\"file\"\n" {
		t.Errorf("on a clash: %s, want the file", r.body)
	}
	if r := f.get("/jsonnet/x.jsonnet"); r.status != 404 {
		t.Errorf("a cleaned path is another path: %d %s", r.status, r.body)
	}
}

func TestEndpoint_PathMayHaveSeveralSegmentsOrNone(t *testing.T) {
	contents := map[string]string{"snippets/a/main.jsonnet": "1"}
	for path, target := range map[string]string{"api/v1/jsonnet": "/api/v1/jsonnet/a", "": "/a"} {
		f := serve(t, contents, func(s *settings) { s.path = path })
		if r := f.get(target); r.status != 200 {
			t.Errorf("path %q: %d %s", path, r.status, r.body)
		}
		if r := f.get("/elsewhere/a"); r.status != 404 {
			t.Errorf("path %q: elsewhere answers %d", path, r.status)
		}
	}
}

func TestEndpoint_NamesStayInside(t *testing.T) {
	f := serve(t, map[string]string{
		"snippets/a/main.jsonnet":     "1",
		"snippets/empty/other":        "",
		"snippets/main.jsonnet":       "'root'",
		"secret/main.jsonnet":         "'secret'",
		"snippets/dir/main.jsonnet/x": "",
	})
	secret := filepath.Join(f.directory, "secret")
	for link, target := range map[string]string{"link": secret, "relative": "../secret"} {
		if err := os.Symlink(target, filepath.Join(f.directory, "snippets", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"linked", "fifo"} {
		if err := os.Mkdir(filepath.Join(f.directory, "snippets", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret+"/main.jsonnet", filepath.Join(f.directory, "snippets/linked/main.jsonnet")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(f.directory, "snippets/fifo/main.jsonnet"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"unknown", "empty", "dir", "", ".", "/", "..", "../secret", "%2e%2e/secret", "%2e%2e%2fsecret", "..%2fsecret",
		"a/../../secret", "a/..%2f..%2fsecret", "a/./../a", "a/", "/a", "a//", "..\\secret", "%2e%2e%5csecret", "%c0%ae%c0%ae/secret",
		"%252e%252e/secret", secret, "%2F" + strings.TrimPrefix(secret, "/"), "link", "relative", "linked", "fifo", "a%00", "%ff",
		strings.Repeat("a", 5000), strings.Repeat("../", 500) + "etc/passwd",
	} {
		r := f.get("/jsonnet/" + name)
		problem := r.problem(t)
		if r.status != 404 || problem.Code != server.CodeSnippetNotFound {
			t.Errorf("name %.60q: %d %s", name, r.status, r.body)
		}
		if shown := strings.ReplaceAll(r.body, secret, ""); strings.Contains(shown, f.directory) {
			t.Errorf("name %.60q: the answer shows where files are: %s", name, r.body)
		}
	}
}

func TestEndpoint_Arguments(t *testing.T) {
	f := serve(t, map[string]string{
		"snippets/f/main.jsonnet":    "function(a='default', b='default') std.toString([a, b])",
		"snippets/need/main.jsonnet": "function(a) a",
		"snippets/none/main.jsonnet": "1",
		"snippets/deep/main.jsonnet": "function(a) std.type(a)",
	})
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := map[string]struct {
		method, target, body string
		header               []string
		status               int
		want                 string // of the value, or of the problem's detail
	}{
		"defaults":              {"GET", "f", "", nil, 200, `["default", "default"]`},
		"a string":              {"GET", "f?a=1", "", nil, 200, `["1", "default"]`},
		"never code":            {"GET", "f?a=1%2B1&b=%7Bx:1%7D", "", nil, 200, `["1+1", "{x:1}"]`},
		"plus is a space":       {"GET", "f?a=1+1", "", nil, 200, `["1 1", "default"]`},
		"repeated":              {"GET", "f?a=1&b=x&a=2&a=3", "", nil, 200, `[["1", "2", "3"], "x"]`},
		"bare":                  {"GET", "f?a&b=", "", nil, 200, `["", ""]`},
		"unicode":               {"GET", "f?a=%E2%82%AC", "", nil, 200, `["€", "default"]`},
		"a snippet without any": {"GET", "none?a=1", "", nil, 200, "1"},
		"unknown":               {"GET", "f?c=1", "", nil, 400, "function has no parameter c"},
		"missing":               {"GET", "need", "", nil, 400, "Missing argument: a"},
		"bad escape":            {"GET", "f?a=%zz", "", nil, 400, "the query cannot be read"},
		"semicolon":             {"GET", "f?a=1;b=2", "", nil, 400, "the query cannot be read"},
		"no name":               {"GET", "f?=1", "", nil, 400, "without a name"},
		"invalid UTF-8":         {"GET", "f?a=%ff", "", nil, 400, "not valid UTF-8"},
		"typed":                 {"POST", "f", `{"a": {"x": [1, true, null]}, "b": 1.50}`, nil, 200, `[{"x": [1, true, null]}, 1.5]`},
		"body over query":       {"POST", "f?a=query&b=query", `{"a": "body"}`, nil, 200, `["body", "query"]`},
		"not Jsonnet":           {"POST", "f", `{"a": "${x}", "b": "std.extVar('x')"}`, nil, 200, `["${x}", "std.extVar('x')"]`},
		"charset":               {"POST", "f", `{}`, []string{"Content-Type: application/json; charset=utf-8"}, 200, `["default", "default"]`},
		"empty body":            {"POST", "f", "", nil, 200, `["default", "default"]`},
		"unknown member":        {"POST", "f", `{"c": 1}`, nil, 400, "function has no parameter c"},
		"no object":             {"POST", "f", `[1]`, nil, 400, "not a JSON object"},
		"null":                  {"POST", "f", `null`, nil, 400, "not a JSON object"},
		"broken":                {"POST", "f", `{"a": }`, nil, 400, "not JSON"},
		"Jsonnet":               {"POST", "f", `{a: 1}`, nil, 400, "not JSON"},
		"two documents":         {"POST", "f", `{} {}`, nil, 400, "not JSON"},
		"a huge number":         {"POST", "f", `{"a": 1e999}`, nil, 400, "number 1e999 is too large"},
		"body not UTF-8":        {"POST", "f", "{\"a\": \"\xff\"}", nil, 400, "not valid UTF-8"},
		"as deep as allowed":    {"POST", "deep", `{"a": ` + deep(999) + `}`, nil, 200, `array`},
		"too deep":              {"POST", "deep", `{"a": ` + deep(1000) + `}`, nil, 400, "nested 1001 deep"},
		"far too deep":          {"POST", "deep", strings.Repeat("[", 500_000), nil, 400, "deep"},
		"brackets in a string":  {"POST", "deep", `{"a": "` + strings.Repeat("[", 5000) + `\""}`, nil, 200, "string"},
		"a form":                {"POST", "f", "a=1", []string{"Content-Type: application/x-www-form-urlencoded"}, 400, "application/json"},
		"no content type":       {"POST", "f", "{}", []string{"Content-Type:"}, 400, "application/json"},
		"as large as allowed":   {"POST", "deep", `{"a": "` + strings.Repeat("x", 1<<20-9) + `"}`, nil, 200, "string"},
		"too large":             {"POST", "f", `{"a": "` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "larger than 1048576 bytes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			header := c.header
			if c.method == "POST" && header == nil {
				header = []string{"Content-Type: application/json"}
			}
			r := f.do(c.method, "/jsonnet/"+c.target, c.body, header...)
			if r.status != c.status {
				t.Fatalf("status %d, want %d: %.300s", r.status, c.status, r.body)
			}
			if c.status != 200 {
				problem := r.problem(t)
				if !strings.Contains(problem.Detail, c.want) {
					t.Errorf("detail %q does not say %q", problem.Detail, c.want)
				}
				want := server.CodeInvalidArguments
				if c.status == 413 {
					want = server.CodeRequestTooLarge
				}
				if problem.Code != want {
					t.Errorf("code %s, want %s", problem.Code, want)
				}
				return
			}
			var value any
			if err := json.Unmarshal([]byte(r.body), &value); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(value); got != c.want {
				t.Errorf("value %s, want %s", got, c.want)
			}
			if want := map[string]string{"GET": "no-cache", "POST": "no-store"}[c.method]; r.header.Get("Cache-Control") != want {
				t.Errorf("Cache-Control = %q, want %q", r.header.Get("Cache-Control"), want)
			}
			if tagged := r.header.Get("ETag") != ""; tagged != (c.method == "GET") {
				t.Errorf("ETag = %q", r.header.Get("ETag"))
			}
		})
	}
}

func TestEndpoint_Negotiation(t *testing.T) {
	f := serve(t, map[string]string{
		"snippets/o/main.jsonnet":    "{ b: [1, 'yes', 1.5, 1e20, 1e-7, 9007199254740993], a: 'two\\nlines\\n', z: null, n: -3, y: '012' }",
		"snippets/a/main.jsonnet":    "[{ a: 1 }, 'x', []]",
		"snippets/none/main.jsonnet": "[]",
		"snippets/s/main.jsonnet":    "'plain <text> \\u20ac\\n'",
	})
	const (
		asJSON = "application/json"
		asYAML = "application/yaml"
		asText = "text/plain; charset=utf-8"
	)
	object := "a: |\n  two\n  lines\nb:\n  - 1\n  - \"yes\"\n  - 1.5\n  - 100000000000000000000\n  - 9.9999999999999995e-08\n  - 9007199254740992\n\"n\": -3\n\"y\": \"012\"\nz: null\n"
	cases := map[string]struct {
		snippet, accept string
		contentType     string // "" for 406
		body            string // "" for any
	}{
		"no preference":              {"o", "", asJSON, ""},
		"anything":                   {"o", "*/*", asJSON, ""},
		"a browser":                  {"o", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", asJSON, ""},
		"JSON":                       {"s", "application/json", asJSON, "\"plain <text> €\\n\"\n"},
		"YAML":                       {"o", "application/yaml", asYAML, object},
		"YAML stream":                {"a", "application/yaml", asYAML, "a: 1\n---\nx\n---\n[]\n"},
		"YAML stream of nothing":     {"none", "application/yaml", asYAML, ""},
		"letter case and parameters": {"o", "Application/YAML;charset=utf-8;q=0.5", asYAML, object},
		"YAML preferred":             {"o", "application/json;q=0.4, application/yaml;q=0.5", asYAML, object},
		"YAML excluded":              {"o", "application/*, application/json;q=0", asYAML, object},
		"text":                       {"s", "text/plain", asText, "plain <text> €\n"},
		"any text":                   {"s", "text/*", asText, "plain <text> €\n"},
		"text of an object":          {"o", "text/plain", "", ""},
		"text or JSON of an object":  {"o", "text/plain, application/json;q=0.1", asJSON, ""},
		"text or JSON of a string":   {"s", "text/plain, application/json;q=0.1", asText, ""},
		"unknown":                    {"o", "image/png", "", ""},
		"refused":                    {"o", "application/json;q=0", "", ""},
		"a quality that is none":     {"o", "application/json;q=x", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var header []string
			if c.accept != "" {
				header = []string{"Accept: " + c.accept}
			}
			r := f.get("/jsonnet/"+c.snippet, header...)
			if c.contentType == "" {
				if problem := r.problem(t); r.status != 406 || problem.Code != server.CodeNotAcceptable {
					t.Errorf("%d %s", r.status, r.body)
				}
				return
			}
			if r.status != 200 || r.header.Get("Content-Type") != c.contentType {
				t.Fatalf("%d %s, want %s", r.status, r.header.Get("Content-Type"), c.contentType)
			}
			if diff := cmp.Diff(c.body, r.body); c.body != "" && diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if got := r.header.Get("Vary"); got != "Accept, Accept-Encoding" {
				t.Errorf("Vary = %q", got)
			}
		})
	}
}

func TestEndpoint_ConditionalAndCompressed(t *testing.T) {
	f := serve(t, map[string]string{
		"snippets/large/main.jsonnet": "std.range(1, 2000)",
		"snippets/small/main.jsonnet": "1",
	})
	plain := f.get("/jsonnet/large")
	tags := map[string]string{"json": plain.header.Get("ETag")}
	for _, accept := range []string{"gzip", "gzip, identity;q=0.5", "br, *;q=0.1", "x-gzip"} {
		zipped := f.get("/jsonnet/large", "Accept-Encoding: "+accept)
		if zipped.header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("Accept-Encoding %q: not compressed", accept)
		}
		reader, err := gzip.NewReader(strings.NewReader(zipped.body))
		if err != nil {
			t.Fatal(err)
		}
		if unzipped, err := io.ReadAll(reader); err != nil || string(unzipped) != plain.body {
			t.Errorf("Accept-Encoding %q: another body, %v", accept, err)
		}
		tags["gzip"] = zipped.header.Get("ETag")
	}
	tags["yaml"] = f.get("/jsonnet/large", "Accept: application/yaml").header.Get("ETag")
	seen := map[string]string{}
	for name, tag := range tags {
		if !strings.HasPrefix(tag, `"`) || seen[tag] != "" {
			t.Errorf("ETag of %s = %s, which is not strong or that of %s", name, tag, seen[tag])
		}
		seen[tag] = name
	}
	for _, header := range []string{"", "Accept-Encoding: identity", "Accept-Encoding: gzip;q=0", "Accept-Encoding: gzip;q=0.2, identity"} {
		if r := f.get("/jsonnet/large", strings.Fields(header + " X: y")[0]+" "+strings.TrimPrefix(header, "Accept-Encoding:")); header != "" && r.header.Get("Content-Encoding") != "" {
			t.Errorf("%q: compressed", header)
		}
	}
	if r := f.get("/jsonnet/small", "Accept-Encoding: gzip"); r.header.Get("Content-Encoding") != "" {
		t.Error("a byte was compressed")
	}
	for match, status := range map[string]int{
		tags["json"]: 304, "W/" + tags["json"]: 304, `"other", ` + tags["json"]: 304, "*": 304, tags["yaml"]: 200, `"other"`: 200,
	} {
		r := f.get("/jsonnet/large", "If-None-Match: "+match)
		if r.status != status {
			t.Errorf("If-None-Match %s: %d, want %d", match, r.status, status)
		}
		if r.header.Get("ETag") != tags["json"] || r.header.Get("Vary") == "" || status == 304 && r.body != "" {
			t.Errorf("If-None-Match %s: %v with %d bytes", match, r.header, len(r.body))
		}
	}
	head := f.do(http.MethodHead, "/jsonnet/large", "")
	if head.status != 200 || head.body != "" || head.header.Get("Content-Length") != fmt.Sprint(len(plain.body)) ||
		head.header.Get("ETag") != tags["json"] {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	writeFile(t, filepath.Join(f.directory, "snippets/large/main.jsonnet"), "std.range(1, 2001)")
	if r := f.get("/jsonnet/large", "If-None-Match: "+tags["json"]); r.status != 200 {
		t.Errorf("after an edit: %d", r.status)
	}
}

func TestEndpoint_Methods(t *testing.T) {
	f := serve(t, map[string]string{"snippets/a/main.jsonnet": "1"})
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"} {
		r := f.do(method, "/jsonnet/a", "")
		if problem := r.problem(t); r.status != 405 || r.header.Get("Allow") != "GET, HEAD, POST" || problem.Code != server.CodeMethodNotAllowed {
			t.Errorf("%s: %d %v", method, r.status, r.header)
		}
	}
}

func TestEndpoint_BadSnippets(t *testing.T) {
	f := serve(t, map[string]string{
		"snippets/syntax/main.jsonnet":    "{\n  a: ,\n}",
		"snippets/runtime/main.jsonnet":   "{ a: error 'no ' + std.extVar('secret') }",
		"snippets/recursion/main.jsonnet": "local f(x) = 1 + f(x); f(1)",
		"snippets/cycle/main.jsonnet":     "import 'other.jsonnet'",
		"snippets/cycle/other.jsonnet":    "import 'main.jsonnet'",
		"snippets/passwd/main.jsonnet":    "importstr '/etc/passwd'",
		"snippets/dots/main.jsonnet":      "importstr '../../../../../../../../etc/passwd'",
		"snippets/link/main.jsonnet":      "importbin 'link'",
		"snippets/fifo/main.jsonnet":      "importstr 'fifo'",
		"snippets/device/main.jsonnet":    "importstr '/dev/zero'",
		"snippets/nested/main.jsonnet":    strings.Repeat("[", 40_000) + strings.Repeat("]", 40_000),
		"snippets/library/main.jsonnet":   "import 'nested.libsonnet'",
		"lib/nested.libsonnet":            strings.Repeat("{a:", 40_000),
		"snippets/utf8/main.jsonnet":      "'\xff\xfe'",
		"snippets/binary/main.jsonnet":    "\x00\x01\x02",
		"snippets/blank/main.jsonnet":     "",
		"snippets/function/main.jsonnet":  "{ f(x): 1, g:: 2, h: function(x) x }",
		"snippets/huge/main.jsonnet":      "'" + strings.Repeat("x", 4<<20) + "'",
	}, func(s *settings) { s.external = map[string]jsonnet.Binding{"secret": {Text: "hunter2"}} })
	if err := os.Symlink("/etc/passwd", filepath.Join(f.directory, "snippets/link/link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(f.directory, "snippets/fifo/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		status int
		code   server.Code
		want   string // in the detail
		place  string
	}{
		"syntax":    {422, server.CodeEvaluationFailed, "Unexpected: \",\"", "syntax/main.jsonnet:2:6"},
		"runtime":   {422, server.CodeEvaluationFailed, "no hunter2", "runtime/main.jsonnet:1:6"},
		"recursion": {422, server.CodeEvaluationLimit, "max stack frames exceeded. (--max-stack)", "recursion/main.jsonnet:1:18"},
		"cycle":     {422, server.CodeEvaluationLimit, "max stack frames exceeded", "cycle/"},
		"passwd":    {422, server.CodeEvaluationFailed, `"/etc/passwd": it is outside`, "passwd/main.jsonnet:1:1"},
		"dots":      {422, server.CodeEvaluationFailed, "--library-path", "dots/main.jsonnet:1:1"},
		"link":      {422, server.CodeEvaluationFailed, "symbolic link", "link/main.jsonnet:1:1"},
		"fifo":      {422, server.CodeEvaluationFailed, "not a regular file", "fifo/main.jsonnet:1:1"},
		"device":    {422, server.CodeEvaluationFailed, "it is outside", "device/main.jsonnet:1:1"},
		"nested":    {422, server.CodeEvaluationFailed, "1000 brackets", "nested/main.jsonnet:1:1001"},
		"library":   {422, server.CodeEvaluationFailed, "nested.libsonnet:1:3001 more than 1000 brackets", "nested.libsonnet:1:3001"},
		"utf8":      {422, server.CodeEvaluationFailed, "not valid UTF-8", "utf8/main.jsonnet:1:2"},
		"binary":    {422, server.CodeEvaluationFailed, "Could not lex the character", "binary/main.jsonnet:1:1"},
		"blank":     {422, server.CodeEvaluationFailed, "Unexpected end of file", "blank/main.jsonnet:1:1"},
		"function":  {422, server.CodeEvaluationFailed, "function", ""},
		"huge":      {422, server.CodeEvaluationFailed, "4 MiB", "huge/main.jsonnet:1:1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := f.get("/jsonnet/" + name)
			if r.status != c.status {
				t.Fatalf("status %d, want %d: %.300s", r.status, c.status, r.body)
			}
			problem := r.problem(t)
			if problem.Code != c.code || !strings.Contains(problem.Detail, c.want) {
				t.Errorf("problem %s %q, want %s %q", problem.Code, problem.Detail, c.code, c.want)
			}
			if len(problem.Errors) != 1 {
				t.Fatalf("errors = %+v", problem.Errors)
			}
			e := problem.Errors[0]
			if at := fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column); c.place != "" && !strings.HasPrefix(at, c.place) {
				t.Errorf("place %s, want %s", at, c.place)
			}
			if strings.Contains(r.body, f.directory) || strings.Contains(r.body, "goroutine") || strings.Contains(r.body, "root:") {
				t.Errorf("the answer shows what it must not: %s", r.body)
			}
			if strings.Contains(f.log.String(), "hunter2") {
				t.Errorf("the log shows a secret")
			}
		})
	}
}

// TestEndpoint_WarmRequestsEvaluateNothing holds for results and for errors, in every representation.
func TestEndpoint_WarmRequestsEvaluateNothing(t *testing.T) {
	f := serve(t, map[string]string{
		"snippets/a/main.jsonnet":   "function(x=1) [import 'l', x]",
		"snippets/bad/main.jsonnet": "error 'no'",
		"lib/l":                     "std.range(1, 1000)",
	})
	ask := func() {
		for _, target := range []string{"a", "a?x=2", "bad"} {
			for _, header := range []string{"Accept: application/json", "Accept: application/yaml", "Accept-Encoding: gzip"} {
				f.get("/jsonnet/"+target, header)
			}
		}
	}
	ask()
	for range 20 {
		ask()
	}
	if got := f.engine.Counters().Evaluations; got != 3 {
		t.Errorf("%d evaluations for 3 different requests", got)
	}
	writeFile(t, filepath.Join(f.directory, "lib/l"), "'edited'")
	if r := f.get("/jsonnet/a"); !strings.Contains(r.body, "edited") {
		t.Errorf("after an edit: %s", r.body)
	}
	if got := f.engine.Counters().Evaluations; got != 4 {
		t.Errorf("%d evaluations after an edit of what one of them uses, want 4", got)
	}
}

// blocking evaluates "block" programs until release is closed, and all others at once.
type blocking struct {
	release chan struct{}
	running atomic.Int32
}

func (b *blocking) Version() string { return "blocking" }

func (b *blocking) Evaluate(_ context.Context, job jsonnet.Job) (string, error) {
	if strings.HasPrefix(job.Entry.Content, "block") {
		b.running.Add(1)
		<-b.release
	}
	return "1\n", nil
}

func TestEndpoint_SlowEvaluationsHoldNobodyUp(t *testing.T) {
	b := &blocking{release: make(chan struct{})}
	engine := jsonnet.NewEngine(jsonnet.Config{Evaluator: b, Limits: jsonnet.Limits{
		Timeout: 20 * time.Second, MaxConcurrent: 2, CacheBytes: 1 << 20,
	}})
	f := serve(t, map[string]string{
		"snippets/slow/main.jsonnet": "block", "snippets/slower/main.jsonnet": "block 2",
		"snippets/warm/main.jsonnet": "1", "snippets/cold/main.jsonnet": "2",
	}, func(s *settings) { s.evaluator = engine })
	if r := f.get("/jsonnet/warm"); r.status != 200 {
		t.Fatal(r.body)
	}
	done := make(chan response, 2)
	for _, name := range []string{"slow", "slower"} {
		go func() { done <- f.get("/jsonnet/" + name) }()
	}
	waitFor(t, func() bool { return b.running.Load() == 2 })

	if r := f.get("/jsonnet/warm"); r.status != 200 {
		t.Errorf("a warm request: %d %s", r.status, r.body)
	}
	r := f.get("/jsonnet/cold")
	if problem := r.problem(t); r.status != 503 || r.header.Get("Retry-After") == "" || problem.Code != server.CodeEvaluationUnavailable {
		t.Errorf("a cold request: %d %v", r.status, r.header)
	}
	close(b.release)
	for range 2 {
		if r := <-done; r.status != 200 {
			t.Errorf("a slow request: %d %s", r.status, r.body)
		}
	}
}

func TestEndpoint_TimesOut(t *testing.T) {
	b := &blocking{release: make(chan struct{})}
	defer close(b.release)
	engine := jsonnet.NewEngine(jsonnet.Config{Evaluator: b, Limits: jsonnet.Limits{Timeout: 50 * time.Millisecond, CacheBytes: 1 << 20}})
	f := serve(t, map[string]string{"snippets/slow/main.jsonnet": "block"}, func(s *settings) { s.evaluator = engine })
	r := f.get("/jsonnet/slow")
	if problem := r.problem(t); r.status != 504 || problem.Code != server.CodeEvaluationTimeout || !strings.Contains(problem.Detail, "50ms") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !condition() {
		select {
		case <-deadline:
			t.Fatal("waited too long")
		case <-time.After(time.Millisecond):
		}
	}
}
