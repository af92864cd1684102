package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/version"
)

// command is a row of the table of commands.
type command struct {
	Name    string
	Args    string // what follows the name, for the usage line
	Summary string
	Text    string
	Hidden  bool
	Words   []string // what an argument may be, for completion; files otherwise
	Run     func(a *app, ctx context.Context, args []string) error
}

func commandTable() []command {
	return []command{
		{
			Name: "check", Args: "[path...]", Summary: "Find what is wrong with statements",
			Text: "Checks the statements of files and folders, the working folder when there are none. Exits with 1 when there is an error.",
			Run:  (*app).check,
		},
		{
			Name: "fmt", Args: "[path... | -]", Summary: "Format front matter",
			Text: "Writes front matter in its canonical form: keys in the order of the reference, two blanks of indentation. SQL is never changed. Files with errors in how they are written (layers file and shape) are left alone. With -, standard input is formatted to standard output.",
			Run:  (*app).format,
		},
		{
			Name: "list", Args: "[path...]", Summary: "List statements",
			Text: "Lists statements with what their settings come to: name, type, returning mode, repository and parameters.",
			Run:  (*app).list,
		},
		{
			Name: "generate", Args: "java [path...]", Summary: "Generate Java repositories", Words: []string{"java"},
			Text: "Writes Java repositories for all statements of the projects of the paths, into the folder that output names in the project file. Nothing is written while there are errors. A manifest in the folder says which files are generated; other files, and files that were changed by hand, are never touched without --force.",
			Run:  (*app).generate,
		},
		{
			Name: "schema", Summary: "Print the JSON Schema of front matter",
			Text: "Prints the JSON Schema (draft 2020-12) of front matter, or with --project that of the project file.",
			Run:  (*app).schema,
		},
		{
			Name: "explain", Args: "[rule...]", Summary: "Explain rules, with examples", Words: check.RuleNames(),
			Text: "Explains the rules that diagnostics name in brackets, with a wrong and a right example. Without a rule, lists all.",
			Run:  (*app).explain,
		},
		{
			Name: "lsp", Summary: "Serve an editor over standard input and output",
			Text: "Runs the language server. Editors start it themselves.",
			Run:  (*app).lsp,
		},
		{
			Name: "reference", Summary: "Print the reference as Markdown", Hidden: true,
			Text: "Prints the reference that is made from the tables of keys, rules, commands and flags.",
			Run:  (*app).reference,
		},
	}
}

// root builds the command line from the tables.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "frontmatter",
		Short: "YAML front matter for SQL statements",
		Long: "frontmatter checks, formats and explains the YAML in the comments above SQL statements, and generates Java\n" +
			"repositories from them.\n\n" +
			"Start with: frontmatter check path/to/sql",
		Version:       strings.TrimPrefix(version.String("frontmatter"), "frontmatter "),
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misusef("there is no command %q; see frontmatter --help", args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misusef("%v; see %s --help", err, cmd.CommandPath())
	})
	for _, c := range commandTable() {
		root.AddCommand(a.command(c))
	}
	return root
}

func (a *app) command(c command) *cobra.Command {
	rows := flagsOf(c.Name)
	cmd := &cobra.Command{
		Use:    strings.TrimSpace(c.Name + " " + c.Args),
		Short:  c.Summary,
		Long:   c.Text,
		Hidden: c.Hidden,
	}
	v := bind(cmd.Flags(), rows)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.values = v
		if err := v.checkWords(rows); err != nil {
			return err
		}
		if c.Args == "" && len(args) > 0 {
			return misusef("%s takes no arguments", c.Name)
		}
		return c.Run(a, cmd.Context(), args)
	}
	if c.Words != nil {
		cmd.ValidArgs = c.Words
	}
	for _, r := range rows {
		if r.Words != nil {
			// The error says that the flag does not exist; it was bound above.
			_ = cmd.RegisterFlagCompletionFunc(r.Name, cobra.FixedCompletions(r.Words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	return cmd
}
