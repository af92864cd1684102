// Package flagtest holds a program's flags against its contract, for tests.
package flagtest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/flags"
)

// Contract is a file with a line of name, type and default for each of a number of flags, and the flags beyond them.
type Contract struct {
	File      string
	Flags     int
	Additions []string
}

func all(table flags.Table) (all []flags.Flag) {
	for _, group := range table.Groups {
		all = append(all, group.Flags...)
	}
	return all
}

// Holds fails the test where the table is not as the contract says.
func (c Contract) Holds(t *testing.T, of flags.Table) {
	t.Helper()
	contract, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]flags.Flag{}
	for _, f := range all(of) {
		table["--"+f.Name] = f
	}
	rows := 0
	for line := range strings.Lines(string(contract)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			continue
		}
		rows++
		f, ok := table[fields[0]]
		if !ok {
			t.Errorf("%s is missing", fields[0])
			continue
		}
		delete(table, fields[0])
		if f.Type() != fields[1] || f.Default() != fields[2] {
			t.Errorf("%s is %s with default %s, want %s with default %s", fields[0], f.Type(), f.Default(), fields[1], fields[2])
		}
	}
	if rows != c.Flags {
		t.Errorf("the contract has %d flags, want %d", rows, c.Flags)
	}
	for _, addition := range c.Additions {
		delete(table, addition)
	}
	for name := range table {
		t.Errorf("%s is not in the contract and not listed as an addition", name)
	}
}

// IsCurrent fails the test where a page is not the table's reference, or --help leaves a flag out or has long lines.
func IsCurrent(t *testing.T, page string, table flags.Table) {
	t.Helper()
	content, err := os.ReadFile(page) //nolint:gosec // a page that the test names
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table.Markdown(), string(content)); diff != "" {
		t.Errorf("run 'make generate' (-want +got):\n%s", diff)
	}
	var help bytes.Buffer
	if err := table.WriteHelp(&help); err != nil {
		t.Fatal(err)
	}
	for _, f := range all(table) {
		if !strings.Contains(help.String(), "  --"+f.Name+" ") {
			t.Errorf("--help does not show --%s", f.Name)
		}
	}
	for line := range strings.Lines(help.String()) {
		if len(line) > 121 {
			t.Errorf("%d characters in a line of --help: %s", len(line), line)
		}
	}
}
