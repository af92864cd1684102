package examples

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-jsonnet/formatter"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/files"
	"github.com/stagewright/stagewright/internal/render/server"
	"github.com/stagewright/stagewright/internal/render/snippets"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldenDirectory = "testdata/golden"

// example is a request with the response it must have.
type example struct {
	snippet string
	query   string
	body    string // sent with POST
	accept  string
	status  int    // 0 is 200
	golden  string // file in goldenDirectory
	digest  bool   // the golden file has the size and hash of the response, and its beginning
}

const (
	yaml = "application/yaml"
	text = "text/plain"
)

var examples = []example{
	{snippet: "quickstart/hello.jsonnet", golden: "quickstart.json"},
	{snippet: "hello", golden: "hello.json"},
	{snippet: "hello", query: "name=Ada", golden: "hello-ada.json"},
	{snippet: "arguments", query: "service=cart", golden: "arguments-defaults.json"},
	{snippet: "arguments", query: "service=cart&region=eu&region=us&replicas=3&debug", golden: "arguments-query.json"},
	{snippet: "arguments", query: "debug", body: `{"service": "cart", "replicas": 3, "debug": true}`, golden: "arguments-post.json"},
	{snippet: "arguments", status: http.StatusBadRequest, golden: "arguments-missing.problem.json"},
	{snippet: "external-variables", golden: "external-variables.json"},
	{snippet: "libraries", golden: "libraries.json"},
	{snippet: "importstr", golden: "importstr.json"},
	{snippet: "yaml-stream", query: "team=payments", golden: "yaml-stream.json"},
	{snippet: "yaml-stream", query: "team=payments", accept: yaml, golden: "yaml-stream.yaml"},
	{snippet: "plain-text", golden: "plain-text.json"},
	{snippet: "plain-text", accept: text, golden: "plain-text.txt"},
	{snippet: "dashboard", query: "team=payments&service=ledger", golden: "dashboard.json"},
	{snippet: "dashboard", query: "goal=2", status: http.StatusUnprocessableEntity, golden: "dashboard-goal.problem.json"},
	{snippet: "webapp", query: "name=shop&image=shop:2.1.0&replicas=3", accept: yaml, golden: "webapp.yaml"},
	{snippet: "webapp", body: `{"replicas": 0, "settings": {"cache": {"size": 10}}}`, golden: "webapp-post.json"},
	{snippet: "webapp", query: "name=-shop", status: http.StatusUnprocessableEntity, golden: "webapp-name.problem.json"},
	{snippet: "webapp", query: "replicas=1.5", status: http.StatusUnprocessableEntity, golden: "webapp-replicas.problem.json"},
	{snippet: "webapp", query: "replicas=1&replicas=2", status: http.StatusUnprocessableEntity, golden: "webapp-array.problem.json"},
	{snippet: "webapp", query: "logLevel=loud", status: http.StatusUnprocessableEntity, golden: "webapp-level.problem.json"},
	{snippet: "webapp", query: "settings=x", status: http.StatusUnprocessableEntity, golden: "webapp-settings.problem.json"},
	{snippet: "services", golden: "services.digest", digest: true},
}

func TestExamples_GiveTheirGoldenResults(t *testing.T) {
	address := serve(t)
	for _, e := range examples {
		t.Run(e.golden, func(t *testing.T) {
			got := e.request(t, address)
			if e.digest {
				got = digest(got)
			}
			path := filepath.Join(goldenDirectory, e.golden)
			if *update {
				write(t, path, got)
			}
			if want := read(t, path); got != want {
				t.Errorf("%s (-update rewrites it)\n%s", path, difference(got, want))
			}
		})
	}
}

// TestExamples_AreComplete: no snippet without a golden file, no golden file without a snippet, no file that nothing
// imports.
func TestExamples_AreComplete(t *testing.T) {
	var served, goldens []string
	for _, e := range examples {
		served = append(served, e.snippet)
		goldens = append(goldens, e.golden)
	}
	var sources strings.Builder
	for _, path := range list(t, "snippets", "lib") {
		sources.WriteString(read(t, path))
	}
	for _, path := range list(t, "snippets", "lib") {
		directory, name := filepath.Split(path)
		snippet := strings.Trim(strings.TrimPrefix(filepath.ToSlash(directory), "snippets/"), "/")
		if name == snippets.EntryFile && !slices.Contains(served, snippet) {
			t.Errorf("%s has no request in the table of examples", path)
		} else if name != snippets.EntryFile && !strings.Contains(sources.String(), "'"+name+"'") {
			t.Errorf("%s: no example imports it", path)
		}
	}
	for _, path := range list(t, "quickstart") {
		if !slices.Contains(served, filepath.ToSlash(path)) {
			t.Errorf("%s has no request in the table of examples", path)
		}
	}
	for _, path := range list(t, goldenDirectory) {
		if !slices.Contains(goldens, filepath.Base(path)) {
			t.Errorf("%s: no request of the table of examples has this response", path)
		}
	}
}

// TestExamples_AreFormatted: readers copy them, so they look as jsonnetfmt leaves them.
func TestExamples_AreFormatted(t *testing.T) {
	for _, path := range list(t, "snippets", "lib", "quickstart") {
		if extension := filepath.Ext(path); extension != ".jsonnet" && extension != ".libsonnet" {
			continue
		}
		source := read(t, path)
		formatted, err := formatter.Format(path, source, formatter.DefaultOptions())
		if err != nil {
			t.Errorf("formatting: %v", err)
		} else if formatted != source {
			t.Errorf("%s is not formatted:\n%s", path, difference(source, formatted))
		}
	}
}

// serve starts the endpoint as the program does, on the examples.
func serve(t *testing.T) (address string) {
	t.Helper()
	store := files.NewStore(64 << 20)
	catalog, err := snippets.NewCatalog(store, snippets.Config{
		Files: []string{"quickstart/hello.jsonnet"}, Directories: []string{"snippets"}, Libraries: []string{"lib"},
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := jsonnet.NewEngine(jsonnet.Config{
		Evaluator: eval.New(eval.Options{}),
		External:  map[string]jsonnet.Binding{"environment": {Kind: jsonnet.BindString, Text: "staging"}},
	})
	listener := httptest.NewServer(server.Endpoint{
		Path: "jsonnet", Snippets: catalog, Evaluator: engine, Logger: slog.New(slog.DiscardHandler),
	}.Handler())
	t.Cleanup(listener.Close)
	return listener.URL
}

// problemID is the one part of a problem document that differs from time to time.
var problemID = regexp.MustCompile(`"id":"[A-Z2-7]+"`)

func (e example) request(t *testing.T, address string) string {
	t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if e.body != "" {
		method, body = http.MethodPost, strings.NewReader(e.body)
	}
	url := fmt.Sprintf("%s/jsonnet/%s?%s", address, e.snippet, e.query)
	request, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	wantType := "application/json"
	if e.accept != "" {
		request.Header.Set("Accept", e.accept)
		wantType = e.accept
	}
	if e.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	wantStatus := http.StatusOK
	if e.status != 0 {
		wantStatus, wantType = e.status, "application/problem+json"
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if gotType := response.Header.Get("Content-Type"); response.StatusCode != wantStatus || !strings.HasPrefix(gotType, wantType) {
		t.Fatalf("%s: %d %s, want %d %s\n%s", url, response.StatusCode, gotType, wantStatus, wantType, content)
	}
	return problemID.ReplaceAllString(string(content), `"id":"ID"`)
}

// digest stands for a response that nobody would review line by line: its size and hash find every change, and the
// objects of the first service show in a diff what kind of change it was.
func digest(response string) string {
	const shown = 150
	lines := strings.SplitAfterN(response, "\n", shown+1)
	return fmt.Sprintf("bytes: %d\nsha256: %x\nfirst %d lines:\n%s",
		len(response), sha256.Sum256([]byte(response)), shown, strings.Join(lines[:min(shown, len(lines))], ""))
}

// difference shows the first line in which two texts differ.
func difference(got, want string) string {
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "(end)", "(end)"
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			return fmt.Sprintf("line %d:\n got: %s\nwant: %s", i+1, g, w)
		}
	}
	return "no difference"
}

// list returns the files below directories.
func list(t *testing.T, directories ...string) []string {
	t.Helper()
	var found []string
	for _, directory := range directories {
		err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
