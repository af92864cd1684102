package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// What the front matter program is measured on.
const (
	checkedFiles     = 1000
	checkedPerFile   = 10
	editedStatements = 500
)

// frontMatter measures the real program: how long it checks a large project and what memory it takes for that, and how
// long an editor waits for diagnostics after a keystroke.
func frontMatter(ctx context.Context, o options, out io.Writer) error {
	directory, err := os.MkdirTemp("", "bench-frontmatter-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }() // what is left is in the temporary directory
	program := filepath.Join(directory, "frontmatter")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/frontmatter") //nolint:gosec // a temporary directory
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building frontmatter: %w\n%s", err, output)
	}
	project := filepath.Join(directory, "project")
	if err := writeProject(project); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "Front matter\tp50\tslowest\tmost memory\t")
	times, memory, err := checks(ctx, o, program, project)
	if err != nil {
		return err
	}
	fmt.Fprintf(table, "check of %d statements in %d files\t%s\t%s\t%s\t\n", checkedFiles*checkedPerFile, checkedFiles,
		shown(times.percentile(0.5)), shown(times.percentile(1)), bytes(float64(memory)))
	for _, where := range []struct{ name, directory string }{
		{"alone", filepath.Join(directory, "alone")}, {"in that project", project},
	} {
		if times, memory, err = keystrokes(ctx, o, program, where.directory); err != nil {
			return fmt.Errorf("typing: %w", err)
		}
		fmt.Fprintf(table, "keystroke in %d statements, %s\t%s\t%s\t%s\t\n", editedStatements, where.name,
			shown(times.percentile(0.5)), shown(times.percentile(1)), bytes(float64(memory)))
	}
	return flush(table, out)
}

func statementText(name string) string {
	return `-- name: ` + name + `
-- description: Finds things by their identity.
-- returning: single
-- parameters:
--   - name: id
--     type: long
--   - name: since
--     type: instant
SELECT t.id, t.name, t.created_at
  FROM things t -- the table
 WHERE t.id = :id AND t.created_at > :since AND t.note <> 'a; b :c';

`
}

func writeProject(root string) error {
	for file := range checkedFiles {
		var text strings.Builder
		for n := range checkedPerFile {
			text.WriteString(statementText(fmt.Sprintf("findThing%d_%d", file, n)))
		}
		path := filepath.Join(root, fmt.Sprintf("area%d", file/50), fmt.Sprintf("part%d.sql", file))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(root, "frontmatter.yaml"), []byte("dialect: postgresql\n"), 0o600)
}

// checks runs the program again and again, and returns its times and the most memory it had.
func checks(ctx context.Context, o options, program, project string) (times latencies, memory int64, err error) {
	for began := time.Now(); time.Since(began) < o.duration; {
		command := exec.CommandContext(ctx, program, "check", "--strict", project) //nolint:gosec // built above
		start := time.Now()
		if output, err := command.CombinedOutput(); err != nil {
			return times, 0, fmt.Errorf("checking: %w\n%s", err, output)
		}
		times.sorted = append(times.sorted, time.Since(start))
		memory = max(memory, peak(command))
	}
	slices.Sort(times.sorted)
	return times, memory, nil
}

// peak is the most memory in bytes that a process had which has ended.
func peak(command *exec.Cmd) int64 {
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10 // Linux counts in KiB
	}
	return 0
}

// keystrokes opens a document in the language server and types, one letter after the other.
func keystrokes(ctx context.Context, o options, program, directory string) (times latencies, memory int64, err error) {
	if err := os.MkdirAll(directory, 0o750); err != nil {
		return times, 0, err
	}
	command := exec.CommandContext(ctx, program, "lsp")
	in, err := command.StdinPipe()
	if err != nil {
		return times, 0, err
	}
	outPipe, err := command.StdoutPipe()
	if err != nil {
		return times, 0, err
	}
	if err := command.Start(); err != nil {
		return times, 0, err
	}
	e := editor{in: in, out: bufio.NewReader(outPipe), uri: "file://" + filepath.Join(directory, "typed.sql")}
	times, err = e.typing(o.duration)
	_ = in.Close() // the end of its input ends the server
	_ = command.Wait()
	return times, peak(command), err
}

// editor is the other side of the language server.
type editor struct {
	in  io.Writer
	out *bufio.Reader
	uri string
}

type message map[string]any

func (e editor) typing(duration time.Duration) (times latencies, err error) {
	var text strings.Builder
	for n := range editedStatements {
		text.WriteString(statementText(fmt.Sprintf("findTyped%d", n)))
	}
	for _, m := range []message{
		{"id": 1, "method": "initialize", "params": message{"capabilities": message{}}},
		{"method": "initialized", "params": message{}},
		{"method": "textDocument/didOpen", "params": message{"textDocument": message{
			"uri": e.uri, "languageId": "sql", "version": 0, "text": text.String(),
		}}},
	} {
		if err := e.send(m); err != nil {
			return times, err
		}
	}
	if err := e.diagnosed(0); err != nil {
		return times, err
	}
	at := message{"line": 1, "character": 16}
	for version, began := 1, time.Now(); time.Since(began) < duration; version++ {
		start := time.Now()
		if err := e.send(message{"method": "textDocument/didChange", "params": message{
			"textDocument":   message{"uri": e.uri, "version": version},
			"contentChanges": []message{{"range": message{"start": at, "end": at}, "text": "x"}},
		}}); err != nil {
			return times, err
		}
		if err := e.diagnosed(version); err != nil {
			return times, err
		}
		times.sorted = append(times.sorted, time.Since(start))
	}
	slices.Sort(times.sorted)
	return times, nil
}

func (e editor) send(m message) error {
	m["jsonrpc"] = "2.0"
	text, err := json.Marshal(m)
	if err == nil {
		_, err = fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	return err
}

// diagnosed reads up to the diagnostics of a version of the document.
func (e editor) diagnosed(version int) error {
	for {
		length := 0
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = e.out.ReadString('\n'); err != nil {
				return err
			}
			if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
					return err
				}
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(e.out, body); err != nil {
			return err
		}
		var m struct {
			Method string `json:"method"`
			Params struct {
				URI     string `json:"uri"`
				Version int    `json:"version"`
			} `json:"params"`
		}
		if err := json.Unmarshal(body, &m); err != nil {
			return err
		}
		if m.Method == "textDocument/publishDiagnostics" && m.Params.URI == e.uri && m.Params.Version >= version {
			return nil
		}
	}
}
