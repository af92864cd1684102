package docs

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced ```console block of a page.
type block struct {
	page   string
	line   int // of the opening fence
	marker string
	steps  []consoleStep
}

// consoleStep is a command as it is typed, and the output the page shows for it.
type consoleStep struct {
	line    int
	command string
	output  string
}

var (
	fenceLine  = regexp.MustCompile("^ {0,3}```+ *([a-z]*)")
	markerLine = regexp.MustCompile(`^<!-- ((?:not )?run\b.*?) *-->$`)
)

// blocks returns the console blocks of a page. Commands in blocks of another kind are an error, because nothing would
// run them.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	file, err := os.Open(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var found []block
	var open *block
	fenced, marker := false, ""
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		fence := fenceLine.FindStringSubmatch(line)
		switch {
		case fence != nil && !fenced:
			fenced = true
			switch fence[1] {
			case "console":
				open = &block{page: page, line: number, marker: marker}
			case "sh", "bash", "shell":
				t.Errorf("%s:%d: commands belong in a ```console block, which is run, not in ```%s", page, number, fence[1])
			}
			marker = ""
		case fence != nil:
			if open != nil {
				found = append(found, *open)
			}
			fenced, open = false, nil
		case open != nil:
			open.add(t, line, number)
		case !fenced && markerLine.MatchString(line):
			marker = markerLine.FindStringSubmatch(line)[1]
		case !fenced && strings.TrimSpace(line) != "":
			marker = ""
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// add takes a line of the block: "$ " begins a command, "> " right behind it goes on with it, the rest is output.
func (b *block) add(t *testing.T, line string, number int) {
	t.Helper()
	if command, ok := strings.CutPrefix(line, "$ "); ok {
		b.steps = append(b.steps, consoleStep{line: number, command: command})
		return
	}
	if len(b.steps) == 0 {
		t.Fatalf("%s:%d: a console block begins with a command, \"$ …\"", b.page, number)
	}
	step := &b.steps[len(b.steps)-1]
	if more, ok := strings.CutPrefix(line, ">"); ok && step.output == "" {
		step.command += "\n" + strings.TrimPrefix(more, " ")
		return
	}
	step.output += line + "\n"
}

// reason says why a block is not run; ok is false where it is to be run.
func (b block) reason() (reason string, ok bool) {
	return strings.CutPrefix(b.marker, "not run:")
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// matches compares an output with what a page shows. "..." alone on a line stands for any lines, and inside a line for
// any text.
func matches(shown, got string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for line := range strings.Lines(shown) {
		line = strings.TrimSuffix(line, "\n")
		if line == "..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`) + `\n`)
	}
	got = strings.ReplaceAll(got, "\r\n", "\n") // header lines
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	return regexp.MustCompile(pattern.String() + `\z`).MatchString(got)
}
