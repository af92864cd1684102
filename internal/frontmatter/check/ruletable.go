package check

import (
	"slices"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// The wrong example of a rule yields findings of that rule only, the right one none at all; a test runs all of them.
var ruleTable = slices.Concat(fileRules, shapeRules, statementRules, projectRules, javaRules)

var fileRules = []RuleRow{
	{
		ID: RuleUnreadable, Severity: Error, Layer: LayerFile,
		Summary: "A file or folder cannot be read.",
		Text:    "The message says what the system reports. Mend the permissions, or exclude it.",
	},
	{
		ID: source.RuleFileSize, Severity: Error, Layer: LayerFile,
		Summary: "A file is larger than 32 MiB.",
		Text:    "Statements are written by hand. What is larger is a dump or test data: move it, or exclude it.",
	},
	{
		ID: source.RuleTooMany, Severity: Error, Layer: LayerFile,
		Summary: "A file has more than 10,000 findings or 100,000 statements.",
		Text:    "What follows was not read. Such a file holds data, or is written for another dialect: exclude it, or set `dialect`.",
	},
	{
		ID: source.RuleEncoding, Severity: Error, Layer: LayerFile,
		Summary: "A file is not UTF-8.",
		Text:    "Nothing else is checked in it, because bytes of another encoding can look like anything. Save it as UTF-8.",
		Wrong:   sql("SELECT 'caf\xe9';\n"),
		Right:   sql("SELECT 'café';\n"),
	},
	{
		ID: source.RuleUnterminated, Severity: Error, Layer: LayerFile,
		Summary: "A literal, a quoted name or a comment has no end.",
		Text:    "It is reported at its start. Which quotes there are depends on the dialect: set `dialect` in the project file, or `vendor` above the statement.",
		Wrong:   sql("SELECT id FROM users WHERE name = 'O'Brien';\n"),
		Right:   sql("SELECT id FROM users WHERE name = 'O''Brien';\n"),
	},
	{
		ID: source.RuleUnnamed, Severity: Error, Layer: LayerFile,
		Summary: "A parameter is written as a question mark.",
		Text:    "Parameters have names. With the dialect postgresql, a question mark between two values is an operator, as are `?|` and `?&`.",
		Wrong:   sql("SELECT id FROM users WHERE name = ?;\n"),
		Right:   sql("SELECT id FROM users WHERE name = :name;\n"),
	},
	{
		ID: source.RuleSeparator, Severity: Error, Layer: LayerFile,
		Summary: "A --@yosql line is not one that can be read.",
		Text:    "The line sets the text that ends statements, for the whole file and once: `--@yosql sqlStatementSeparator: X`, alone on its line.",
		Wrong:   sql("--@yosql separator: //\nSELECT 1;\n"),
		Right:   sql("--@yosql sqlStatementSeparator: //\nSELECT 1 //\n"),
	},
	{
		ID: source.RuleWithoutSQL, Severity: Error, Layer: LayerFile,
		Summary: "There is no SQL below front matter.",
		Text:    "Front matter belongs to the statement below it. Remove it, or write the statement.",
		Wrong:   sql("-- name: findUser\n;\nSELECT 1;\n"),
		Right:   sql("-- name: findUser\nSELECT 1;\n"),
	},
	{
		ID: source.RuleTwoBlocks, Severity: Error, Layer: LayerFile,
		Summary: "A statement has two blocks of front matter.",
		Text:    "An empty line ends a block. Join the blocks.",
		Wrong:   sql("-- name: findUser\n\n-- returning: single\nSELECT 1;\n"),
		Right:   sql("-- name: findUser\n-- returning: single\nSELECT 1;\n"),
	},
	{
		ID: source.RuleKeyNotRead, Severity: Warning, Layer: LayerFile,
		Summary: "A key stands in a comment that is not read.",
		Text:    "Front matter is the `--` lines at the start of their line above the SQL. Keys in `/* */`, in indented lines and in lines below the start of the SQL are comments. A `--` comment behind code is about that code, and may say what it likes.",
		Wrong:   sql("/* name: findUser */\nSELECT 1;\n"),
		Right:   sql("-- name: findUser\nSELECT 1;\n"),
	},
	{
		ID: source.RuleNestedTooDeep, Severity: Error, Layer: LayerFile,
		Summary: "Front matter is larger than 64 KiB, nests deeper than 16 levels, or has a mapping of more than 1,000 keys.",
		Text:    "No key needs that much.",
		Wrong:   sql("-- name: [[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]\nSELECT 1;\n"),
		Right:   sql("-- name: findUser\nSELECT 1;\n"),
	},
}

var shapeRules = []RuleRow{
	{
		ID: matter.RuleSyntax, Severity: Error, Layer: LayerShape,
		Summary: "Front matter is not YAML, or not a mapping.",
		Text:    "A text that holds a colon with a blank behind it, or starts with a special character, needs quotes. An ordinary comment needs an empty line below it.",
		Wrong:   sql("-- description: Finds users: all of them\nSELECT 1;\n"),
		Right:   sql("-- description: \"Finds users: all of them\"\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleFeature, Severity: Error, Layer: LayerShape,
		Summary: "Front matter uses a part of YAML that it does not need.",
		Text:    "Tags, anchors, aliases, merge keys, complex keys and several documents are refused: they hide what a statement says.",
		Wrong:   sql("-- name: !!str findUser\nSELECT 1;\n"),
		Right:   sql("-- name: findUser\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleDuplicate, Severity: Error, Layer: LayerShape,
		Summary: "A key is there twice.",
		Text:    "Keep one of them.",
		Wrong:   sql("-- name: findUser\n-- name: findUsers\nSELECT 1;\n"),
		Right:   sql("-- name: findUser\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleUnknownKey, Severity: Error, Layer: LayerShape,
		Summary: "There is no such key.",
		Text:    "The set of keys is closed. The nearest key is suggested; an ordinary comment that looks like a key needs an empty line below it.",
		Wrong:   sql("-- return: single\nSELECT 1;\n"),
		Right:   sql("-- returning: single\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleType, Severity: Error, Layer: LayerShape,
		Summary: "A value has another type than its key wants.",
		Text:    "Values are read by the YAML 1.2 core schema: `yes` is a text, `true` a boolean, `1` a number.",
		Wrong:   sql("-- executeOnce: yes\nSELECT 1;\n"),
		Right:   sql("-- executeOnce: true\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleWord, Severity: Error, Layer: LayerShape,
		Summary: "A value is not one of the words of its key.",
		Text:    "Words are compared exactly: those of `type` and `returning` are lower case, those of `variant` upper case.",
		Wrong:   sql("-- returning: Single\nSELECT 1;\n"),
		Right:   sql("-- returning: single\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleFormat, Severity: Error, Layer: LayerShape,
		Summary: "A text is not written as its key wants.",
		Text:    "Names become names in Java, and paths stay inside the project.",
		Wrong:   sql("-- name: find-user\n-- type: reading\nSELECT 1;\n"),
		Right:   sql("-- name: findUser\n-- type: reading\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleEmpty, Severity: Error, Layer: LayerShape,
		Summary: "A key has no value.",
		Text:    "Only the type of a parameter may be left out behind its colon, to infer it.",
		Wrong:   sql("-- returning:\nSELECT 1;\n"),
		Right:   sql("-- parameters:\n--   id:\nSELECT 1 WHERE 1 = :id;\n"),
	},
	{
		ID: matter.RuleMissing, Severity: Error, Layer: LayerShape,
		Summary: "A key that is needed is missing.",
		Text:    "It is needed by the mapping it would stand in, or by another key.",
		Wrong:   sql("-- resultRowColumns:\n--   id: user_id\nSELECT 1;\n"),
		Right:   sql("-- resultRowType: com.example.User\n-- resultRowColumns:\n--   id: user_id\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleConflict, Severity: Error, Layer: LayerShape,
		Summary: "Two keys of a statement contradict each other.",
		Text:    "Both are written; a default never contradicts anything.",
		Wrong:   sql("-- returning: multiple\n-- throwOnMultipleResults: true\nSELECT 1;\n"),
		Right:   sql("-- returning: single\n-- throwOnMultipleResults: true\nSELECT 1;\n"),
	},
	{
		ID: matter.RuleNoEffect, Severity: Warning, Layer: LayerShape,
		Summary: "A key has no effect, because of another one.",
		Text:    "Remove one of them.",
		Wrong:   sql("-- executeBatch: false\n-- executeBatchSuffix: All\nSELECT 1;\n"),
		Right:   sql("-- executeBatch: false\nSELECT 1;\n"),
	},
}

var projectRules = []RuleRow{
	{
		ID: RuleOutside, Severity: Error, Layer: LayerProject,
		Summary: "A file lies outside of the folder of the statements.",
		Text:    "Repositories are named by the path below `sqlRoot`, so that a file elsewhere has none.",
		Wrong:   Example{SQL: "SELECT 1;\n", Path: "other/findUser.sql", Project: "sqlRoot: sql\n"},
		Right:   Example{SQL: "SELECT 1;\n", Path: "sql/findUser.sql", Project: "sqlRoot: sql\n"},
	},
	{
		ID: RuleDuplicateName, Severity: Error, Layer: LayerProject,
		Summary: "Two statements of a repository have the same name.",
		Text:    "They may be variants for different vendors, one for each and at most one without. Otherwise rename one.",
		Wrong:   sql("-- name: findUser\nSELECT 1;\n\n-- name: findUser\nSELECT 2;\n"),
		Right:   sql("-- name: findUser\nSELECT 1;\n\n-- name: findUser\n-- vendor: PostgreSQL\nSELECT 2;\n"),
	},
	{
		ID: RuleVariant, Severity: Error, Layer: LayerProject,
		Summary: "Variants of a statement differ in more than their SQL.",
		Text:    "One method is generated for all of them. A key that a variant does not write is inherited; one that both write must be equal.",
		Wrong:   sql("-- name: findUser\n-- returning: single\nSELECT 1;\n\n-- name: findUser\n-- vendor: H2\n-- returning: multiple\nSELECT 2;\n"),
		Right:   sql("-- name: findUser\n-- returning: single\nSELECT 1;\n\n-- name: findUser\n-- vendor: H2\nSELECT 2;\n"),
	},
	{
		ID: RuleMethodClash, Severity: Error, Layer: LayerProject,
		Summary: "Two statements would have methods that Java cannot tell apart.",
		Text:    "Type arguments do not distinguish methods. Rename a statement, or change a prefix or suffix.",
		Wrong:   sql("-- name: findUser\n-- executeOnceSuffix: All\nSELECT 1;\n\n-- name: findUserAll\nSELECT 2;\n"),
		Right:   sql("-- name: findUser\nSELECT 1;\n\n-- name: findUserAll\nSELECT 2;\n"),
	},
	{
		ID: RuleConverterAlias, Severity: Error, Layer: LayerProject,
		Summary: "An alias stands for two converters in one repository.",
		Text:    "The alias names a field of the repository. Give one of them another alias.",
		Wrong: sql("-- name: findUser\n-- resultRowConverter: {alias: users, converterType: a.A, methodName: map, resultType: string}\nSELECT 1;\n\n" +
			"-- name: findAdmin\n-- resultRowConverter: {alias: users, converterType: a.B, methodName: map, resultType: string}\nSELECT 2;\n"),
		Right: sql("-- name: findUser\n-- resultRowConverter: {alias: users, converterType: a.A, methodName: map, resultType: string}\nSELECT 1;\n\n" +
			"-- name: findAdmin\n-- resultRowConverter: {alias: admins, converterType: a.B, methodName: map, resultType: string}\nSELECT 2;\n"),
	},
	{
		ID: RuleInjection, Severity: Error, Layer: LayerProject,
		Summary: "Statements of one repository disagree about the injection of a converter.",
		Text:    "The repository has one field for the converter, and either creates it or takes it as a parameter of its constructor. Statements that do not write the key follow those that do.",
		Wrong:   sql("-- name: findUser\n-- injectConverters: true\nSELECT 1;\n\n-- name: findAdmin\n-- injectConverters: false\nSELECT 2;\n"),
		Right:   sql("-- name: findUser\n-- injectConverters: true\nSELECT 1;\n\n-- name: findAdmin\nSELECT 2;\n"),
	},
	{
		ID: RuleRepositoryCase, Severity: Error, Layer: LayerProject,
		Summary: "Two repositories differ by case only.",
		Text:    "Some file systems hold only one of them.",
		Wrong:   sql("-- name: findUser\n-- repository: UserRepository\nSELECT 1;\n\n-- name: findAdmin\n-- repository: UserREPOSITORY\nSELECT 2;\n"),
		Right:   sql("-- name: findUser\n-- repository: UserRepository\nSELECT 1;\n\n-- name: findAdmin\n-- repository: UserRepository\nSELECT 2;\n"),
	},
}

var statementRules = []RuleRow{
	{
		ID: statement.RuleName, Severity: Error, Layer: LayerStatement,
		Summary: "The name of the file gives no name to a statement.",
		Text:    "Without the key `name`, the file name without its suffix is the name, and it has to be a Java identifier.",
		Wrong:   Example{SQL: "SELECT 1;\n", Path: "find-user.sql"},
		Right:   Example{SQL: "-- name: findUser\nSELECT 1;\n", Path: "find-user.sql"},
	},
	{
		ID: statement.RuleType, Severity: Error, Layer: LayerStatement,
		Summary: "Nothing tells the type of a statement.",
		Text:    "The prefix of the name tells it, up to the next word. The prefixes can be changed in the project file.",
		Wrong:   sql("-- name: listUsers\nSELECT 1;\n"),
		Right:   sql("-- name: listUsers\n-- type: reading\nSELECT 1;\n"),
	},
	{
		ID: statement.RuleRepository, Severity: Error, Layer: LayerStatement,
		Summary: "The folder of a file gives no name to its repository.",
		Text:    "The last folder names the class, the folders above it the package.",
		Wrong:   Example{SQL: "SELECT 1;\n", Path: "2nd/findUser.sql"},
		Right:   Example{SQL: "-- repository: com.example.UserRepository\nSELECT 1;\n", Path: "2nd/findUser.sql"},
	},
	{
		ID: RuleParameterUnused, Severity: Error, Layer: LayerStatement,
		Summary: "A declared parameter is not in the SQL.",
		Text:    "Parameters are written `:name`, outside of literals, quoted names and comments.",
		Wrong:   sql("-- parameters:\n--   userId: long\nSELECT 1 WHERE 1 = :user;\n"),
		Right:   sql("-- parameters:\n--   user: long\nSELECT 1 WHERE 1 = :user;\n"),
	},
	{
		ID: RuleParameterTwice, Severity: Error, Layer: LayerStatement,
		Summary: "A parameter is declared twice.",
		Text:    "A parameter that the SQL uses several times is declared once.",
		Wrong:   sql("-- parameters:\n--   - name: id\n--   - name: id\nSELECT 1 WHERE 1 = :id;\n"),
		Right:   sql("-- parameters:\n--   - name: id\nSELECT 1 WHERE 1 = :id;\n"),
	},
	{
		ID: RuleParameterName, Severity: Error, Layer: LayerStatement,
		Summary: "A parameter is called like a keyword of Java.",
		Text:    "Its name becomes the name of a parameter of a method.",
		Wrong:   sql("SELECT 1 WHERE 1 = :class;\n"),
		Right:   sql("SELECT 1 WHERE 1 = :clazz;\n"),
	},
	{
		ID: RuleJavaType, Severity: Error, Layer: LayerStatement,
		Summary: "A text that stands for a Java type is none.",
		Text:    "There are primitives, arrays, generic types, qualified names, names of java.lang, List, Set, Collection and Map, and aliases in lower case.",
		Wrong:   sql("-- parameters:\n--   id: Instant\nSELECT 1 WHERE 1 = :id;\n"),
		Right:   sql("-- parameters:\n--   id: instant\nSELECT 1 WHERE 1 = :id;\n"),
	},
	{
		ID: RuleJavaKeyword, Severity: Error, Layer: LayerStatement,
		Summary: "The name of a class holds a keyword of Java.",
		Text:    "Rename the package or the class.",
		Wrong:   sql("-- repository: com.example.native.Users\nSELECT 1;\n"),
		Right:   sql("-- repository: com.example.plain.Users\nSELECT 1;\n"),
	},
	{
		ID: RuleJDBCType, Severity: Error, Layer: LayerStatement,
		Summary: "A JDBC type does not exist.",
		Text:    "`sqlType` is the name of a constant of java.sql.Types.",
		Wrong:   sql("-- parameters:\n--   - {name: id, sqlType: VARCHAR2}\nSELECT 1 WHERE 1 = :id;\n"),
		Right:   sql("-- parameters:\n--   - {name: id, sqlType: VARCHAR}\nSELECT 1 WHERE 1 = :id;\n"),
	},
	{
		ID: RuleScale, Severity: Error, Layer: LayerStatement,
		Summary: "A parameter has a scale and no JDBC type.",
		Text:    "The scale is that of the type.",
		Wrong:   sql("-- parameters:\n--   - {name: price, scale: 2}\nSELECT 1 WHERE 1 = :price;\n"),
		Right:   sql("-- parameters:\n--   - {name: price, sqlType: NUMERIC, scale: 2}\nSELECT 1 WHERE 1 = :price;\n"),
	},
	{
		ID: RulePlainStatement, Severity: Error, Layer: LayerStatement,
		Summary: "A statement with parameters is not to be prepared.",
		Text:    "A plain statement has nothing to bind parameters to.",
		Wrong:   sql("-- usePreparedStatement: false\nSELECT 1 WHERE 1 = :id;\n"),
		Right:   sql("-- usePreparedStatement: false\nSELECT 1;\n"),
	},
	{
		ID: RuleBatch, Severity: Error, Layer: LayerStatement,
		Summary: "A statement without parameters is to be executed as a batch.",
		Text:    "Every entry of the batch would be the same.",
		Wrong:   sql("-- name: deleteUsers\n-- executeBatch: true\nDELETE FROM users;\n"),
		Right:   sql("-- name: deleteUsers\n-- executeBatch: true\nDELETE FROM users WHERE id = :id;\n"),
	},
	{
		ID: RuleMethodName, Severity: Error, Layer: LayerStatement,
		Summary: "A method would have a name that Java does not allow.",
		Text:    "Prefix, name and suffix are joined.",
		Wrong:   sql("-- executeOncePrefix: \"1\"\nSELECT 1;\n"),
		Right:   sql("-- executeOncePrefix: do\nSELECT 1;\n"),
	},
	{
		ID: RuleCutBody, Severity: Warning, Layer: LayerStatement,
		Summary: "A statement starts with `END`, `/`, `GO` or `DELIMITER`.",
		Text:    "Bodies with semicolons, other than in dollar quotes or `BEGIN ATOMIC … END`, need another separator; commands of a client are no SQL.",
		Wrong:   sql("-- name: createTouch\nCREATE PROCEDURE touch() BEGIN UPDATE users SET seen = now(); END;\n"),
		Right:   sql("--@yosql sqlStatementSeparator: //\n\n-- name: createTouch\nCREATE PROCEDURE touch() BEGIN UPDATE users SET seen = now(); END\n//\n"),
	},
	{
		ID: RuleVendor, Severity: Warning, Layer: LayerStatement,
		Summary: "A vendor is almost the name of a known product.",
		Text:    "The generated code compares it exactly with the name that the driver reports.",
		Wrong:   sql("-- vendor: Postgres\nSELECT 1;\n"),
		Right:   sql("-- vendor: PostgreSQL\nSELECT 1;\n"),
	},
}
