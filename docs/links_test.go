package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v3"

	frontmatter "github.com/stagewright/stagewright/internal/frontmatter/cli"
	renderer "github.com/stagewright/stagewright/internal/render/cli"
	stageset "github.com/stagewright/stagewright/internal/stageset/cli"
)

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan = regexp.MustCompile("`[^`]*`")
	heading  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	codeFlag = regexp.MustCompile("(?:`|^ *- )--([a-z][a-z0-9-]*)")
)

// TestLinks_LeadSomewhere: relative links name files of the repository, and headings of them.
func TestLinks_LeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		for number, line := range strings.Split(content(t, page), "\n") {
			for _, match := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
				target, fragment, _ := strings.Cut(match[1], "#")
				if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				linked := filepath.Join(filepath.Dir(page), target)
				if target == "" {
					linked = page
				}
				if _, err := os.Stat(filepath.Join(root, linked)); err != nil {
					t.Errorf("%s:%d: the link to %s leads nowhere", page, number+1, match[1])
				} else if fragment != "" && !headings(t, linked)[fragment] {
					t.Errorf("%s:%d: %s has no heading #%s", page, number+1, linked, fragment)
				}
			}
		}
	}
}

// TestFlags_Exist: a page names no flag that none of the programs has.
func TestFlags_Exist(t *testing.T) {
	known := map[string]bool{"help": true}
	for _, group := range slices.Concat(renderer.Table().Groups, stageset.Table().Groups) {
		for _, flag := range group.Flags {
			known[flag.Name] = true
		}
	}
	for _, name := range frontmatter.FlagNames() {
		known[name] = true
	}
	for _, page := range pages(t) {
		for number, line := range strings.Split(content(t, page), "\n") {
			for _, match := range codeFlag.FindAllStringSubmatch(line, -1) {
				if !known[match[1]] {
					t.Errorf("%s:%d: no program has the flag --%s", page, number+1, match[1])
				}
			}
		}
	}
}

// TestYAML_Parses: what a page shows as YAML is YAML.
func TestYAML_Parses(t *testing.T) {
	fence := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
	for _, page := range pages(t) {
		for _, match := range fence.FindAllStringSubmatch(content(t, page), -1) {
			if err := yaml.Unmarshal([]byte(match[1]), new(any)); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, match[1])
			}
		}
	}
}

// headings are the anchors of a page, made from its headings as code hosts make them.
func headings(t *testing.T, page string) map[string]bool {
	t.Helper()
	anchors := map[string]bool{}
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, match := range heading.FindAllStringSubmatch(content(t, page), -1) {
		anchors[strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")] = true
	}
	return anchors
}

func content(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMatches_KnowsTheEllipsis(t *testing.T) {
	for name, c := range map[string]struct {
		shown, got string
		want       bool
	}{
		"the same":                          {"a\nb\n", "a\nb\n", true},
		"without a line feed at the end":    {"a\n", "a", true},
		"nothing":                           {"", "", true},
		"nothing shown but something there": {"", "a\n", false},
		"any lines":                         {"a\n...\nd\n", "a\nb\nc\nd\n", true},
		"no lines":                          {"a\n...\nd\n", "a\nd\n", true},
		"any end":                           {"a\n...\n", "a\nb\n", true},
		"part of a line":                    {`{"id":"...","x":1}` + "\n", `{"id":"Q","x":1}` + "\n", true},
		"another line":                      {"a\n...\nd\n", "a\nb\n", false},
		"a point is a point":                {"a.b\n", "axb\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := matches(c.shown, c.got); got != c.want {
				t.Errorf("matches(%q, %q) = %v", c.shown, c.got, got)
			}
		})
	}
}
