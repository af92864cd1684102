package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/java"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

//go:generate sh -c "go run ../../../cmd/frontmatter reference > ../../../docs/reference/front-matter.md"
//go:generate sh -c "go run ../../../cmd/frontmatter schema > ../../../docs/reference/front-matter.schema.json"
//go:generate sh -c "go run ../../../cmd/frontmatter schema --project > ../../../docs/reference/front-matter-project.schema.json"

func (a *app) reference(_ context.Context, _ []string) error { return printTo(a.stdout, Reference()) }

// Reference returns the reference as Markdown, made from the tables.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceIntro)
	referenceKeys(&b)
	referenceProject(&b)
	referenceDialects(&b)
	referenceTypes(&b)
	referenceJava(&b)
	referenceCommands(&b)
	referenceRules(&b)
	return b.String()
}

const referenceIntro = `# Front matter reference

<!-- Made from the tables of the program by "make generate"; do not edit. -->

The program checks, formats, lists and explains front matter, serves editors, and generates Java repositories. What the
generated code does is in [Generated Java](generated-java.md).

Front matter is YAML in the ` + "`--`" + ` lines directly above a SQL statement:

` + "```sql" + `
-- name: findUserById
-- returning: single
-- parameters:
--   - name: id
--     type: long
SELECT id, name FROM users WHERE id = :id;
` + "```" + `

## Where it stands

- A block of ` + "`--`" + ` lines at the start of their line that touches the SQL is front matter when one of its lines, at the
  block's least indentation, looks like ` + "`key:`" + `. Then every key has to be known. An empty line ends a block, so an ordinary
  comment with an empty line below it is never front matter. A line with dashes only belongs to its block.
- A block higher up is front matter only when it holds a key, or nearly one. Two blocks of front matter are an error.
- ` + "`/* */`" + ` comments may stand anywhere and are never front matter. Hints (` + "`/*+ */`, `--+`" + `) belong to the SQL.
- A key in a comment that is not read is a warning: inside ` + "`/* */`" + `, in an indented line, in a later line of its own. A
  ` + "`--`" + ` comment behind SQL is about that SQL and may say what it likes.

Files are UTF-8, with LF, CRLF or CR, with or without a byte order mark. A statement ends at ` + "`;`" + ` outside of literals, quoted
names, comments and ` + "`BEGIN ATOMIC … END`" + `. The line ` + "`--@yosql sqlStatementSeparator: X`" + ` sets another separator for its file;
a separator that is a word must stand alone as a word.

Parameters are written ` + "`:name`" + `: a colon that does not follow a colon, a letter, a digit, ` + "`_`, `$`, `)` or `]`" + `, with a letter or ` + "`_`" + `
behind it. So ` + "`x::int`, `a[1:2]`, `a[lo:hi]` and `:=`" + ` hold no parameters.

## YAML

The block is one mapping. Plain values are read by the YAML 1.2 core schema: ` + "`yes`" + ` is a text, dates are texts, ` + "`0777`" + ` is a
decimal number, ` + "`1_000`" + ` a text. Tags, anchors, aliases, merge keys, complex keys, duplicate keys and several documents are
errors. Front matter has at most 64 KiB and 16 levels.

`

func referenceKeys(b *strings.Builder) {
	b.WriteString("## Keys\n\nThis is the order in which `frontmatter fmt` puts them. Every key is optional.\n\n| key | value | default |\n|---|---|---|\n")
	for _, k := range matter.Keys() {
		fmt.Fprintf(b, "| [`%s`](#%s) | %s | %s |\n", k.Name, strings.ToLower(k.Name), k.Shape.String(), k.Default)
	}
	for _, k := range matter.Keys() {
		referenceKey(b, k)
	}
	b.WriteString("\n## Keys that do not go together\n\nA key counts only when it is written, never because of its default.\n\n| key | with | because |\n|---|---|---|\n")
	for _, c := range matter.Conflicts() {
		with := conditionText(c.B)
		if c.Unless != nil {
			with += ", unless there is " + conditionText(*c.Unless)
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", conditionText(c.A), with, c.Why)
	}
	for _, r := range matter.Requirements() {
		fmt.Fprintf(b, "| `%s` | no `%s` | %s |\n", r.Key, r.Needs, r.Why)
	}
}

func referenceKey(b *strings.Builder, k matter.Key) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", k.Name, k.Summary)
	if k.Effect != "" {
		fmt.Fprintf(b, "%s\n", k.Effect)
	}
	fmt.Fprintf(b, "\nValue: %s. Default: %s.\n", k.Shape.String(), k.Default)
	referenceFields(b, &k.Shape)
	b.WriteString("\n```yaml\n" + k.Example + "\n```\n")
}

// referenceFields lists the inner keys of a shape, level by level.
func referenceFields(b *strings.Builder, s *matter.Shape) {
	for i := range s.Options {
		referenceFields(b, &s.Options[i])
	}
	if s.Item != nil {
		referenceFields(b, s.Item)
	}
	if len(s.Fields) == 0 {
		return
	}
	b.WriteString("\n| inner key | value | needed | meaning |\n|---|---|---|---|\n")
	for _, f := range s.Fields {
		needed := "no"
		if f.Required {
			needed = "yes"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Name, f.Shape.String(), needed, f.Text)
	}
	for i := range s.Fields {
		referenceFields(b, &s.Fields[i].Shape)
	}
}

func conditionText(c matter.Condition) string {
	switch {
	case c.Variant:
		return "a parameter with `variant: OUT` or `INOUT`"
	case len(c.Words) == 0:
		return "`" + c.Key + "`"
	}
	return "`" + c.Key + ": " + strings.Join(c.Words, "`, `") + "`"
}

func referenceProject(b *strings.Builder) {
	fmt.Fprintf(b, `
## The project file

A project is the folder with `+"`%s`"+`, found by walking up from each input; without one, the folder that is named is the
root. Folders below that have a project file of their own are projects of their own. Flags win over the file.
Files outside of what is named on the command line are checked where the project says so, and never written.

| key | value | default | meaning |
|---|---|---|---|
`, matter.ProjectFile)
	for _, k := range matter.ProjectKeys() {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Name, k.Shape.String(), k.Default, strings.TrimSpace(k.Summary+" "+k.Effect))
	}
}

func referenceDialects(b *strings.Builder) {
	b.WriteString("\n## Dialects\n\n`dialect` in the project file, `--dialect`, or `vendor` above a statement select how SQL is read. A vendor that is in no row keeps the project's dialect.\n\n")
	b.WriteString("| dialect | vendors | nested comments | `\\` escapes | `#` comments | `E'…'` | `q'[…]'` | `$$…$$` | `[name]` | `` `name` `` | `?` operators |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, d := range source.Dialects() {
		fmt.Fprintf(b, "| `%s` | %s |", d.Name, strings.Join(d.Products, ", "))
		for _, on := range []bool{d.NestedComments, d.BackslashEscapes, d.HashComments, d.EscapeStrings, d.QuoteStrings, d.DollarQuotes, d.BracketNames, d.BacktickNames, d.QuestionOperator} {
			b.WriteString(map[bool]string{true: " yes |", false: " |"}[on])
		}
		b.WriteString("\n")
	}
	b.WriteString("\nWith `mysql`, `--` starts a comment only before a blank, or at the start of a line above the SQL, and `/*! */` belongs to the SQL. With `postgresql`, a `?` between two values is an operator; any other `?` is an error.\n")
}

func referenceTypes(b *strings.Builder) {
	b.WriteString("\n## Types\n\nPrimitives, `X[]`, generic types with wildcards, qualified names, names of `java.lang`, `List`, `Set`, `Collection`, `Map`, and these aliases:\n\n| alias | class |\n|---|---|\n")
	for _, a := range statement.Aliases() {
		fmt.Fprintf(b, "| `%s` | `%s` |\n", a.Name, a.Class)
	}
}

const referenceJavaIntro = `
## How values travel

What generated code calls to read a column, to bind a parameter and to read what a call has set, and what NULL is read as.
A test sends a value and NULL of every row there and back on H2 2.1, HSQLDB 2.7 and PostgreSQL 15, and the values also in a
batch, OffsetTime aside; the zone of the JVM is not UTC, HSQLDB aside. OUT parameters of every row were tested on PostgreSQL
and HSQLDB, with values and NULL.

- ` + "`sqlType` and `scale` make every bind `setObject(i, value, Types.X, scale)`" + `.
- Enums are texts: ` + "`getString` and `valueOf`, `setString` and `name`" + `. An enum of PostgreSQL needs ` + "`sqlType: OTHER`" + `.
- A class with one public static ` + "`valueOf`" + ` is read as what that takes, and never bound.
- Arrays of String, Boolean, Short, Integer, Long, Float, Double, BigDecimal, UUID and of primitives, ` + "`byte[]` aside" + `, are read by
  ` + "`getArray`" + ` and bound by ` + "`setArray`" + `. HSQLDB drops the digits behind the point of BigDecimal in arrays.
- A parameter of any other class is handed to ` + "`setObject`" + ` as it is.
- OffsetDateTime, OffsetTime and ZonedDateTime come back in the offset that the driver chooses; the instant is the same.
- OUT parameters with a time zone are registered as ` + "`TIMESTAMP` and `TIME`" + `, because the driver of PostgreSQL accepts nothing
  else; ` + "`sqlType`" + ` registers another type. LocalTime loses fractions of seconds there. An Object needs ` + "`sqlType`" + ` with PostgreSQL.
- HSQLDB 2.7 shifts a LocalTime by the zone of the JVM when it binds it; java.sql.Time is not shifted.

| Java type | reads a column | binds a parameter | reads an OUT parameter | NULL |
|---|---|---|---|---|
`

func referenceJava(b *strings.Builder) {
	b.WriteString(referenceJavaIntro)
	for _, c := range java.TypeTable() {
		out := "the same"
		if c.Out != c.Read {
			out = "`" + c.Out + "`"
		}
		fmt.Fprintf(b, "| `%s` | `%s` | `%s` | %s | `%s` |\n", c.Class, c.Read, c.Bind, out, c.Null)
	}
}

func referenceCommands(b *strings.Builder) {
	b.WriteString("\n## Commands\n\nExit codes: 0, 1 for errors or differences, 2 for misuse. `frontmatter completion SHELL` prints a completion script.\n")
	for _, c := range commandTable() {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(b, "\n### frontmatter %s\n\n%s\n", strings.TrimSpace(c.Name+" "+c.Args), c.Text)
		rows := flagsOf(c.Name)
		if len(rows) == 0 {
			continue
		}
		b.WriteString("\n| flag | type | default | meaning |\n|---|---|---|---|\n")
		for _, r := range rows {
			help := r.Help
			if r.Words != nil {
				help += ": " + strings.Join(r.Words, ", ")
			}
			value := r.Default
			if value == "" {
				value = map[string]string{"bool": "false", "list": "none", "string": "none"}[r.Type]
			}
			fmt.Fprintf(b, "| `--%s` | %s | %s | %s |\n", r.Name, r.Type, value, help)
		}
	}
}

func referenceRules(b *strings.Builder) {
	b.WriteString("\n## Rules\n\nDiagnostics are `file:line:col: severity: message [rule]`. `frontmatter explain RULE` prints what is here. Lines and columns count from 1, columns in code points.\n")
	for _, r := range check.Rules() {
		fmt.Fprintf(b, "\n### %s\n\n%s, %s layer. %s\n%s\n", r.ID, capitalized(r.Severity.String()), r.Layer, r.Summary, r.Text)
		for _, e := range []struct {
			title   string
			example check.Example
		}{{"Wrong", r.Wrong}, {"Right", r.Right}} {
			if !e.example.IsZero() {
				fmt.Fprintf(b, "\n%s%s:\n\n```sql\n%s```\n", e.title, where(e.example), strings.ToValidUTF8(e.example.SQL, "\uFFFD"))
			}
		}
	}
}

func capitalized(text string) string { return statement.Capital(text) }
