package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/stagewright/stagewright"

// rule forbids the packages below from to reach, directly or through others of this module, a package that matches
// denied, unless it also matches allowed. Patterns are import path prefixes; those that start with "/" are in this
// module.
type rule struct {
	from    []string
	except  []string
	denied  []string
	allowed []string
	why     string
}

var (
	kubernetes = []string{"k8s.io/", "sigs.k8s.io/controller-runtime", "github.com/fluxcd/"}
	everything = []string{"/"}
	forTests   = []string{"/internal/kube/kubetest", "/internal/objectstore/objectstoretest", "/internal/obs/obstest", "/internal/flags/flagtest"}
)

// rules are checked over whole chains of imports: what a package must not know, none of its imports may bring.
var rules = []rule{
	{
		from: []string{"/internal/jsonnet"}, denied: slices.Concat(kubernetes, []string{"net/http", "github.com/spf13/"}),
		why: "evaluation knows neither HTTP nor Kubernetes nor a command line",
	},
	{
		from: []string{"/internal/jsonnet"}, denied: everything, allowed: []string{"/internal/jsonnet", "/internal/lru"},
		why: "evaluation depends on no other room but a cache",
	},
	{
		from: []string{"/cmd"}, denied: []string{"/internal/jsonnet/gojsonnet"},
		why: "the reference evaluator can be neither stopped nor bounded: it is for tests and measurements",
	},
	{
		from: []string{"/internal/frontmatter"}, except: []string{"/internal/frontmatter/cli"},
		denied: slices.Concat(kubernetes, []string{"net/http", "github.com/spf13/"}),
		why:    "statements know neither HTTP nor Kubernetes nor a command line",
	},
	{
		from: []string{"/internal/frontmatter"}, denied: everything,
		allowed: []string{"/internal/frontmatter", "/internal/version", "/internal/flags"},
		why:     "statements share only the plumbing of a command",
	},
	{
		from: []string{
			"/internal/kube", "/internal/artifact", "/internal/lru", "/internal/obs", "/internal/objectstore", "/internal/flags",
		},
		denied: []string{
			"/internal/jsonnet", "/internal/render", "/internal/stage", "/internal/stageset", "/internal/frontmatter",
		},
		why: "plumbing knows no domain",
	},
	{
		from: []string{"/internal/artifact", "/internal/objectstore", "/internal/render/storage"}, denied: kubernetes,
		why: "an artifact is a file behind a URL",
	},
	{
		from: []string{"/internal/render/server", "/internal/render/snippets"}, denied: kubernetes,
		why: "the renderer over HTTP is useful without a cluster",
	},
	{
		from: []string{"/internal/kube/supervise", "/internal/kube/access"}, denied: []string{"/api"},
		why: "plumbing knows no kind of this project",
	},
	{
		from: everything, denied: append([]string{"testing"}, forTests...), except: forTests,
		why: "what helps tests stays out of the programs",
	},
	{
		from: []string{"/internal/render"}, denied: []string{"/internal/stage", "/internal/stageset", "/internal/frontmatter"},
		why: "the programs are useful alone",
	},
	{
		from: []string{"/internal/stage", "/internal/stageset"}, denied: []string{"/internal/render", "/internal/frontmatter"},
		why: "the programs are useful alone",
	},
	{
		from: []string{"/internal/stage"}, denied: []string{"/internal/stageset"},
		why: "the domain does not know its controller",
	},
	{
		from: []string{"/api"}, denied: []string{"/internal", "sigs.k8s.io/controller-runtime"},
		why: "API types are imported by other people's programs",
	},
}

// TestImports_StageRoomsStandAlone: a room below internal/stage can be read and tested without the others, but for what
// objects and those who act are called.
func TestImports_StageRoomsStandAlone(t *testing.T) {
	const rooms = "/internal/stage/"
	shared := []string{rooms + "inventory", rooms + "cluster"}
	packages := listPackages(t)
	found := 0
	for _, path := range sorted(packages) {
		own := strings.TrimPrefix(path, module)
		if !strings.HasPrefix(own, rooms) {
			continue
		}
		found++
		alone := rule{denied: []string{"/internal/stage"}, allowed: append([]string{own}, shared...)}
		if chain := forbidden(packages, alone, path); chain != nil {
			t.Errorf("rooms of the domain stand alone:\n\t%s", strings.Join(chain, "\n\t  imports "))
		}
	}
	if found < 6 {
		t.Errorf("only %d rooms were found", found)
	}
}

func TestImports_FollowTheRules(t *testing.T) {
	packages := listPackages(t)
	for _, r := range rules {
		for _, path := range sorted(packages) {
			if matches(path, r.from) && !matches(path, r.except) {
				if chain := forbidden(packages, r, path); chain != nil {
					t.Errorf("%s:\n\t%s", r.why, strings.Join(chain, "\n\t  imports "))
				}
			}
		}
	}
}

// TestImports_CommandsAreWiringOnly: a main package imports its own cli room and nothing else of the module.
func TestImports_CommandsAreWiringOnly(t *testing.T) {
	rooms := map[string]string{
		"frontmatter":         "/internal/frontmatter/cli",
		"renderer":            "/internal/render/cli",
		"stageset-controller": "/internal/stageset/cli",
	}
	packages := listPackages(t)
	for _, path := range sorted(packages) {
		command, ok := strings.CutPrefix(path, module+"/cmd/")
		if !ok {
			continue
		}
		for _, imported := range packages[path] {
			if strings.HasPrefix(imported, module+"/") && imported != module+rooms[command] {
				t.Errorf("cmd/%s imports %s; it may import only its own room %s", command, imported, rooms[command])
			}
		}
	}
}

// TestForbidden_PrintsTheChain shows that the check can fail, and what it says then.
func TestForbidden_PrintsTheChain(t *testing.T) {
	packages := map[string][]string{
		module + "/internal/jsonnet":       {module + "/internal/jsonnet/files"},
		module + "/internal/jsonnet/files": {"fmt", "net/http"},
	}
	chain := forbidden(packages, rules[0], module+"/internal/jsonnet")
	want := []string{module + "/internal/jsonnet", module + "/internal/jsonnet/files", "net/http"}
	if !slices.Equal(chain, want) {
		t.Errorf("chain = %v, want %v", chain, want)
	}
}

// forbidden returns the shortest chain of imports from path to a package that the rule forbids, or nil.
func forbidden(packages map[string][]string, r rule, path string) []string {
	parent := map[string]string{path: ""}
	for queue := []string{path}; len(queue) > 0; queue = queue[1:] {
		for _, imported := range packages[queue[0]] {
			if _, seen := parent[imported]; seen {
				continue
			}
			parent[imported] = queue[0]
			if matches(imported, r.denied) && !matches(imported, r.allowed) {
				var chain []string
				for p := imported; p != ""; p = parent[p] {
					chain = append(chain, p)
				}
				slices.Reverse(chain)
				return chain
			}
			queue = append(queue, imported)
		}
	}
	return nil
}

func matches(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if strings.HasPrefix(pattern, "/") {
			pattern = module + pattern
		}
		pattern = strings.TrimSuffix(pattern, "/")
		return path == pattern || strings.HasPrefix(path, pattern+"/")
	})
}

func sorted(packages map[string][]string) []string {
	paths := make([]string, 0, len(packages))
	for path := range packages {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// listPackages returns the module's packages with their direct imports, those of tests left out.
func listPackages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	packages := map[string][]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(fmt.Errorf("reading go list: %w", err))
		}
		packages[p.ImportPath] = p.Imports
	}
	if len(packages) < 3 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	return packages
}
