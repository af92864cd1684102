package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// flagRow is a row of the table of flags: the flags, the help and the table in the reference come from it.
type flagRow struct {
	Name     string
	Type     string // string, bool or list
	Default  string
	Words    []string // allowed values
	Help     string
	Commands string // names of the commands that have it
}

const projectCommands = "check list generate lsp"

func flagTable() []flagRow {
	return []flagRow{
		{Name: "source", Type: "string", Help: "folder of the statements, instead of sqlRoot in the project file", Commands: projectCommands},
		{Name: "ddl", Type: "list", Help: "pattern of files with CREATE and ALTER TABLE, relative to the project file; may be repeated", Commands: projectCommands},
		{Name: "base-package", Type: "string", Help: "Java package of the repositories", Commands: projectCommands},
		{Name: "dialect", Type: "string", Words: dialects(), Help: "how the SQL is written", Commands: projectCommands + " fmt"},
		{Name: "format", Type: "string", Default: "text", Words: []string{"text", "json", "sarif", "github"}, Help: "form of the diagnostics", Commands: "check"},
		{Name: "fix", Type: "bool", Help: "apply the sure suggestions: case and near misses", Commands: "check"},
		{Name: "strict", Type: "bool", Help: "treat warnings as errors", Commands: "check"},
		{Name: "stdin-filename", Type: "string", Help: "check the text on standard input as if it were this file", Commands: "check"},
		{Name: "format", Type: "string", Default: "table", Words: []string{"table", "json"}, Help: "form of the list", Commands: "list"},
		{Name: "check", Type: "bool", Help: "list the files that would change and fail; write nothing", Commands: "fmt generate"},
		{Name: "diff", Type: "bool", Help: "print what would change and fail; write nothing", Commands: "fmt generate"},
		{Name: "output", Type: "string", Help: "folder of the generated files, instead of output in the project file", Commands: "generate"},
		{Name: "force", Type: "bool", Help: "replace and remove files that were not generated, or were changed by hand", Commands: "generate"},
		{Name: "project", Type: "bool", Help: "print the schema of the project file", Commands: "schema"},
		{Name: "stdio", Type: "bool", Default: "true", Help: "talk over standard input and output, the only way there is", Commands: "lsp"},
	}
}

func dialects() []string {
	all := source.Dialects()
	names := make([]string, 0, len(all))
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

// FlagNames returns the names of the flags of all commands, for the test of the documentation.
func FlagNames() []string {
	rows := flagTable()
	names := make([]string, 0, len(rows)+1)
	names = append(names, "version") // that of the program itself
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names
}

// flagsOf returns the rows of a command.
func flagsOf(command string) []flagRow {
	var rows []flagRow
	for _, r := range flagTable() {
		for name := range strings.FieldsSeq(r.Commands) {
			if name == command {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// values holds what the flags of a command were given.
type values struct {
	texts map[string]*string
	bools map[string]*bool
	lists map[string]*[]string
}

func (v values) text(name string) string {
	if p := v.texts[name]; p != nil {
		return *p
	}
	return ""
}

func (v values) bool(name string) bool {
	p := v.bools[name]
	return p != nil && *p
}

func (v values) list(name string) []string {
	if p := v.lists[name]; p != nil {
		return *p
	}
	return nil
}

// bind adds the flags of a command to its set.
func bind(set *pflag.FlagSet, rows []flagRow) values {
	v := values{texts: map[string]*string{}, bools: map[string]*bool{}, lists: map[string]*[]string{}}
	for _, r := range rows {
		help := r.Help
		if r.Words != nil {
			help += ": " + strings.Join(r.Words, ", ")
		}
		switch r.Type {
		case "bool":
			v.bools[r.Name] = set.Bool(r.Name, r.Default == "true", help)
		case "list":
			v.lists[r.Name] = set.StringArray(r.Name, nil, help)
		default:
			v.texts[r.Name] = set.String(r.Name, r.Default, help)
		}
	}
	return v
}

// checkWords refuses values that are not among the words of their flag.
func (v values) checkWords(rows []flagRow) error {
	for _, r := range rows {
		if value := v.text(r.Name); r.Words != nil && value != r.Default && !slices.Contains(r.Words, value) {
			return misusef("--%s is one of %s, not %q", r.Name, strings.Join(r.Words, ", "), value)
		}
	}
	return nil
}
