package matter

import "github.com/stagewright/stagewright/internal/frontmatter/source"

// ProjectFile is the name of the file that makes a folder a project.
const ProjectFile = "frontmatter.yaml"

// ProjectKeys returns the table of the keys of the project file.
func ProjectKeys() []Key { return projectTable }

// ProjectShape is the shape of the project file.
func ProjectShape() *Shape { return &projectShape }

// DefaultPrefixes returns the prefixes of names that tell the type of a statement, by type and in the order in which
// they are tried.
func DefaultPrefixes() []TypePrefixes {
	return []TypePrefixes{
		{Writing, []string{"update", "insert", "delete", "create", "write", "add", "remove", "merge", "drop"}},
		{Reading, []string{"read", "select", "find", "query", "lookup", "get"}},
		{Calling, []string{"call", "execute", "evaluate", "eval"}},
	}
}

// TypePrefixes are the prefixes of one type.
type TypePrefixes struct {
	Type     string
	Prefixes []string
}

var (
	texts     = Shape{Kind: ListOf, Item: &someText}
	folder    = Shape{Kind: AnyText, Format: &folderFormat}
	folders   = Shape{Kind: ListOf, Item: &folder}
	nameParts = Shape{Kind: ListOf, Item: &name}
)

func dialectNames() []string {
	dialects := source.Dialects()
	names := make([]string, 0, len(dialects))
	for _, d := range dialects {
		names = append(names, d.Name)
	}
	return names
}

var projectTable = []Key{
	{
		Name: "sqlRoot", Shape: folder, Default: "`.`",
		Summary: "Folder of the statements, relative to the project file. Repositories and names are derived from the path below it.",
		Example: "sqlRoot: src/main/sql",
	},
	{
		Name: "include", Shape: texts, Default: "`**/*.sql`",
		Summary: "Files that are read, as patterns relative to sqlRoot. `*` stands for anything but `/`, `**` also for folders.",
		Example: "include:\n  - \"**/*.sql\"",
	},
	{
		Name: "exclude", Shape: texts, Default: "none",
		Summary: "Files that are not read, as patterns. Hidden folders and the output are never read.",
		Example: "exclude:\n  - migrations/**",
	},
	{
		Name: "dialect", Shape: Shape{Kind: OneWord, Words: dialectNames()}, Default: "`standard`",
		Summary: "How the SQL is written: which comments, quotes and operators there are.",
		Example: "dialect: postgresql",
	},
	{
		Name: "basePackage", Shape: className, Default: "none",
		Summary: "Java package of the repositories.",
		Example: "basePackage: com.example.persistence",
	},
	{
		Name: "output", Shape: folder, Default: "none",
		Summary: "Folder of generated files, relative to the project file. It is never read.",
		Example: "output: target/generated-sources",
	},
	{
		Name: "javaSources", Shape: folders, Default: "none",
		Summary: "Folders with the Java sources of result row types and converters.",
		Effect:  "They are read when code is generated, never run, and editors go to definitions in them.",
		Example: "javaSources:\n  - src/main/java",
	},
	{
		Name: "ddl", Shape: texts, Default: "none",
		Summary: "Files with CREATE and ALTER TABLE, as patterns relative to the project file, from which types of parameters are inferred.",
		Effect: "They are read when code is generated, in the order of their paths, with digits as numbers. Files that are called like migrations of Flyway " +
			"come behind the others: `V2__x.sql` before `V10__x.sql` in whatever folders, then `R__x.sql`; `U2__x.sql` is not read.",
		Example: "ddl:\n  - schema/*.sql",
	},
	{
		Name: "separator", Shape: someText, Default: "`;`",
		Summary: "Text that ends a statement. A line `--@yosql sqlStatementSeparator: X` sets it for one file.",
		Example: "separator: //",
	},
	{
		Name: "namePrefixes", Default: "see type",
		Shape: Shape{Kind: Fields, Fields: []Field{
			{Name: Writing, Shape: nameParts, Text: "prefixes of writing statements"},
			{Name: Reading, Shape: nameParts, Text: "prefixes of reading statements"},
			{Name: Calling, Shape: nameParts, Text: "prefixes of calling statements"},
		}},
		Summary: "Prefixes of names that tell the type of a statement; those of a type replace its defaults.",
		Example: "namePrefixes:\n  reading: [find, list, count]",
	},
	{
		Name: "interfaces", Shape: boolean, Default: "`false`",
		Summary: "Generate an interface for every repository.",
		Effect:  "The interface has the name of the repository, and the class that of the interface behind `Jdbc`: `UserRepository`, `JdbcUserRepository`.",
		Example: "interfaces: true",
	},
	{
		Name: "classAnnotations", Shape: annotationList, Default: "none",
		Summary: "Annotations on every generated repository, in the shape of annotations.",
		Example: "classAnnotations:\n  - type: jakarta.inject.Singleton",
	},
	{
		Name: "fetchSize", Shape: Shape{Kind: Whole}, Default: "`500`",
		Summary: "Rows that a cursor fetches at a time. 0 leaves it to the driver, and some then read all rows into memory.",
		Example: "fetchSize: 500",
	},
	{
		Name: "defaults", Shape: sharedShape(), Default: "none",
		Summary: "Defaults for all statements of the project.",
		Effect:  "Keys that make sense for all statements: the booleans, prefixes and suffixes.",
		Example: "defaults:\n  executeBatch: false",
	},
}

func sharedShape() Shape {
	s := Shape{Kind: Fields}
	for _, k := range keyTable {
		if k.Shared {
			s.Fields = append(s.Fields, Field{Name: k.Name, Shape: k.Shape, Text: k.Summary})
		}
	}
	return s
}

var projectShape = func() Shape {
	s := Shape{Kind: Fields}
	for _, k := range projectTable {
		s.Fields = append(s.Fields, Field{Name: k.Name, Shape: k.Shape, Text: k.Summary})
	}
	return s
}()
