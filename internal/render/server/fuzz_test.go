package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/files"
	"github.com/stagewright/stagewright/internal/render/server"
	"github.com/stagewright/stagewright/internal/render/snippets"
)

// fuzzed is the endpoint without a listener, over a directory with a secret beside what is served.
func fuzzed(f *testing.F) (handler http.Handler, directory string) {
	f.Helper()
	directory = f.TempDir()
	for path, content := range map[string]string{
		"secret/main.jsonnet": "'secret'", "main.jsonnet": "'secret'",
		"served/a/main.jsonnet": "'served'", "served/team/app/main.jsonnet": "function(a='', b='') [a, b]",
	} {
		path = filepath.Join(directory, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(directory, "served/link")); err != nil {
		f.Fatal(err)
	}
	catalog, err := snippets.NewCatalog(files.NewStore(1<<20), snippets.Config{Directories: []string{filepath.Join(directory, "served")}})
	if err != nil {
		f.Fatal(err)
	}
	engine := jsonnet.NewEngine(jsonnet.Config{Evaluator: eval.New(eval.Options{}), Limits: jsonnet.Limits{CacheBytes: 1 << 20}})
	return server.Endpoint{
		Path: "jsonnet", Snippets: catalog, Evaluator: engine, CacheBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	}.Handler(), directory
}

func FuzzSnippetName(f *testing.F) {
	handler, directory := fuzzed(f)
	for _, seed := range []string{"a", "team/app", "../secret", "a/../../secret", "link", "..\\secret", "\x00", "/", "a//", "\xff", "./a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL = &url.URL{Path: "/jsonnet/" + name}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code == http.StatusOK && body != "\"served\"\n" && !strings.HasPrefix(body, "[\n") {
			t.Fatalf("name %q gave %s", name, body)
		}
		if w.Code != http.StatusOK && w.Code != http.StatusNotFound {
			t.Fatalf("name %q: status %d %s", name, w.Code, body)
		}
		if !strings.Contains(name, directory) && strings.Contains(body, directory) {
			t.Fatalf("name %q: the answer shows where files are: %s", name, body)
		}
	})
}

func FuzzQueryArguments(f *testing.F) {
	handler, _ := fuzzed(f)
	for _, seed := range []string{"a=1", "a=1&a=2", "b", "=", "a=%zz", "a=%ff", "a=1;b=2", "c=1", "%61=+", "a=" + strings.Repeat("x", 1000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL = &url.URL{Path: "/jsonnet/team/app", RawQuery: query}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)

		values, err := url.ParseQuery(query)
		valid := err == nil
		for name, texts := range values {
			valid = valid && (name == "a" || name == "b") && utf8.ValidString(strings.Join(texts, ""))
		}
		if want := map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[valid]; w.Code != want {
			t.Fatalf("query %q: status %d, want %d: %s", query, w.Code, want, w.Body)
		}
	})
}
