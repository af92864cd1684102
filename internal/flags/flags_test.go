package flags

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// values is a target of each type, with its default.
type values struct {
	text     string
	list     []string
	on       bool
	small    int
	large    int64
	ratio    float64
	duration time.Duration
	size     Bytes
}

func (v *values) table() Table {
	return Table{
		Program: "tool",
		Summary: "tool does one thing.",
		Groups: []Group{{Title: "All", Note: "always active", Flags: []Flag{
			{Name: "text", Target: &v.text, Help: "a text", Environment: "TOOL_TEXT"},
			{Name: "list", Target: &v.list, Help: "a list"},
			{Name: "on", Target: &v.on, Help: "a switch"},
			{Name: "small", Target: &v.small, DefaultText: "one | two", Help: "a number"},
			{Name: "large", Target: &v.large, Help: "a number"},
			{Name: "ratio", Target: &v.ratio, Help: "a number"},
			{Name: "duration", Target: &v.duration, Help: "a time"},
			{Name: "size", Target: &v.size, Help: "an amount"},
		}}},
		Variables: []Variable{{Name: "TOOL_X_<NAME>", Help: "sets <NAME>"}},
	}
}

func defaults() *values {
	return &values{small: 1, large: 2, ratio: 1, duration: 5 * time.Minute, size: 512 << 20}
}

func TestParse_SetsTargets(t *testing.T) {
	got := defaults()
	args := "--text=a=b --list=x,y --list= --on --small 3 --large=4 --ratio=.5 --duration=1h --size 2GiB"
	if err := got.table().Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	want := &values{"a=b", []string{"x,y", ""}, true, 3, 4, .5, time.Hour, 2 << 30}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(values{})); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestParse_SaysWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"--no":         "unknown flag: --no",
		"rest":         `unexpected argument "rest"`,
		"--small=x":    "--small",
		"--text":       "--text",
		"--size=1.5GB": `"1.5GB" is not an amount of memory`,
	} {
		if err := defaults().table().Parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %s", args, err, want)
		}
	}
	if err := defaults().table().Parse([]string{"--help"}); !IsHelp(err) {
		t.Errorf("--help: %v", err)
	}
}

func TestMarkdown(t *testing.T) {
	want := `# Flags of ` + "`tool`" + `

<!-- Made from the program's flag table by ` + "`make generate`" + `; do not edit. -->

tool does one thing.

## All

Always active.

| Flag | Type | Default | Meaning |
|---|---|---|---|
| ` + "`--text`" + ` | string | (empty) | a text; when empty, the environment variable TOOL_TEXT is used |
| ` + "`--list`" + ` | string, repeatable | empty list | a list |
| ` + "`--on`" + ` | bool | false | a switch |
| ` + "`--small`" + ` | int | one \| two | a number |
| ` + "`--large`" + ` | int64 | 2 | a number |
| ` + "`--ratio`" + ` | float64 | 1 | a number |
| ` + "`--duration`" + ` | duration | 5m0s | a time |
| ` + "`--size`" + ` | bytes | 512MiB | an amount |

## Environment

| Variable | Meaning |
|---|---|
| ` + "`TOOL_X_<NAME>`" + ` | sets &lt;NAME&gt; |
`
	if diff := cmp.Diff(want, defaults().table().Markdown()); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "1": 1, "10B": 10, "1KiB": 1 << 10, "512MiB": 512 << 20, "2Gi": 2 << 30, "1TiB": 1 << 40, "3Ki": 3 << 10,
	} {
		var got Bytes
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%s = %d, %v, want %d", text, got, err, want)
		}
		var again Bytes
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s printed as %s is %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "-1", "MiB", "1 MiB", "1.5GiB", "1kb", "9999999TiB", "1MB", "0x10"} {
		var got Bytes
		if err := got.Set(text); err == nil {
			t.Errorf("%q is accepted as %d", text, got)
		}
	}
}
