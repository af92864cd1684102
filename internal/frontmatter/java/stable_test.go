package java

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGenerate_SameBytes: the code does not depend on the run, on the folder the project lies in, or on the line ends of
// a checkout.
func TestGenerate_SameBytes(t *testing.T) {
	first := t.TempDir()
	if err := os.CopyFS(first, os.DirFS("testdata/behaviour")); err != nil {
		t.Fatal(err)
	}
	want, findings := generated(t, first)
	if findings != "" || len(want) == 0 {
		t.Fatal(findings)
	}
	again, _ := generated(t, first)
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("another run (-want +got):\n%s", diff)
	}
	elsewhere := filepath.Join(t.TempDir(), "else where")
	if err := os.CopyFS(elsewhere, os.DirFS("testdata/behaviour")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(elsewhere, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(data), "\n", "\r\n")), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, findings := generated(t, elsewhere)
	if findings != "" {
		t.Fatal(findings)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with CRLF, elsewhere (-want +got):\n%s", diff)
	}
}

// TestGenerate_UsesNoReflection: everything is settled when code is generated, so that ahead-of-time compilers see it all.
func TestGenerate_UsesNoReflection(t *testing.T) {
	project := t.TempDir()
	if err := os.CopyFS(project, os.DirFS("testdata/behaviour")); err != nil {
		t.Fatal(err)
	}
	files, findings := generated(t, project)
	if findings != "" || len(files) == 0 {
		t.Fatal(findings)
	}
	looksUp := regexp.MustCompile(`java\.lang\.(reflect|invoke)|Class\s*\.\s*forName|getClass\(|\.get(Declared)?(Method|Field|Constructor)s?\(|newInstance\(|ServiceLoader`)
	for _, file := range files {
		if found := looksUp.FindString(file.Content); found != "" {
			t.Errorf("%s: %s", file.Path, found)
		}
	}
}

func TestSnake(t *testing.T) {
	tests := map[string]string{
		"id": "id", "userId": "user_id", "userID": "user_id", "HTTPServer": "http_server", "address1": "address1", "a1B": "a1_b",
		"snake_case": "snake_case", "größeÜber": "größe_über", "URL": "url", "parseURLNow": "parse_url_now", "X": "x", "aB": "a_b",
	}
	for name, want := range tests {
		if got := snake(name); got != want {
			t.Errorf("snake(%s) = %s, want %s", name, got, want)
		}
	}
}

func TestJavadoc_HoldsNothingThatEndsIt(t *testing.T) {
	tests := map[string]string{
		`C:\users`: "C:&#92;users", "*/": "&#42;/", "a * b": "a * b", "@deprecated": "&#64;deprecated", "<b>&amp;": "&lt;b&gt;&amp;amp;",
		"{@code": "&#123;&#64;code", "/ first": "&#47; first", "\u2039x\u203A": `\u2039x\u203a`, "\U0001F600": `\ud83d\ude00`, "a\n\nb": "a\n<p>\nb", "**/": "*&#42;/",
	}
	for text, want := range tests {
		if got := strings.Join(javadoc(text), "\n"); got != want {
			t.Errorf("javadoc(%q) = %s, want %s", text, got, want)
		}
	}
}

// FuzzTexts: no text that users write ends a comment or a literal, nor adds a line or a mark.
func FuzzTexts(f *testing.F) {
	f.Add("C:\\users */ \u2039x\u203A \r\n\u0085 \U0001F600 \"\\u0022")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range javadoc(text) {
			if strings.Contains(line, "*/") || strings.ContainsAny(line, "\r\n") || strings.Contains(strings.ReplaceAll(line, `\u`, ""), `\`) || notASCII(line) {
				t.Errorf("javadoc(%q): %q", text, line)
			}
		}
		quoted := quote(text)
		inner := quoted[1 : len(quoted)-1]
		for i := 0; i < len(inner); i++ {
			switch {
			case inner[i] == '\\':
				i++
			case inner[i] == '"' || inner[i] < ' ':
				t.Errorf("quote(%q): %s", text, quoted)
			}
		}
		if notASCII(quoted) {
			t.Errorf("quote(%q) is not ASCII", text)
		}
	})
}

func notASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > '~' }) >= 0
}
