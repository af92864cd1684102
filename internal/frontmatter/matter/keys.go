package matter

// Key is a row of the table of keys. Its order is the order of the table, which is the canonical order in a file.
type Key struct {
	Name    string
	Shape   Shape
	Default string // as the reference says it
	Summary string // one sentence
	Effect  string // what else there is to know
	Example string // YAML
	Shared  bool   // may stand in the defaults of a project
}

// Keys returns the table of the 23 keys. The set is closed.
func Keys() []Key { return keyTable }

// KeyNamed returns the row of a key.
func KeyNamed(name string) (*Key, bool) {
	k, ok := keyByName[name]
	return k, ok
}

var keyByName = func() map[string]*Key {
	byName := make(map[string]*Key, len(keyTable))
	for i := range keyTable {
		byName[keyTable[i].Name] = &keyTable[i]
	}
	return byName
}()

// KeyNames returns the names of the keys in the order of the table.
func KeyNames() []string { return keyNames }

var keyNames = func() []string {
	names := make([]string, 0, len(keyTable))
	for _, k := range keyTable {
		names = append(names, k.Name)
	}
	return names
}()

// Words of the enumerations.
const (
	Reading  = "reading"
	Writing  = "writing"
	Calling  = "calling"
	None     = "none"
	Single   = "single"
	Multiple = "multiple"
	Cursor   = "cursor"
	In       = "IN"
	Out      = "OUT"
	InOut    = "INOUT"
)

var (
	boolean   = Shape{Kind: Boolean}
	someText  = Shape{Kind: AnyText, NotBlank: true}
	affix     = Shape{Kind: AnyText, Format: &affixFormat}
	name      = Shape{Kind: AnyText, Format: &nameFormat}
	className = Shape{Kind: AnyText, Format: &classFormat}
	typeText  = Shape{Kind: AnyText, NotBlank: true, Noun: "a Java type"}
)

var annotationList = Shape{Kind: ListOf, Item: &Shape{Kind: Fields, Fields: []Field{
	{Name: "type", Shape: className, Required: true, Text: "class of the annotation"},
	{Name: "members", Text: "members of the annotation", Shape: Shape{Kind: ListOf, Item: &Shape{Kind: Fields, Fields: []Field{
		{Name: "key", Shape: name, Text: "name of the member; value when it is missing"},
		{Name: "value", Required: true, Text: "a boolean, a number, a text, a class literal (X.class), an enum constant (X.Y), or a list of these", Shape: Shape{
			Kind: Either, Options: []Shape{{Kind: AnyValue}, {Kind: ListOf, Item: &Shape{Kind: AnyValue}}},
		}},
		{Name: "type", Shape: typeText, Text: "Java type of the member; by the kind of the value when it is missing"},
	}}}},
}}}

var parameterShape = Shape{Kind: Either, Options: []Shape{
	{Kind: ListOf, Item: &Shape{Kind: Fields, Fields: []Field{
		{Name: "name", Shape: name, Required: true, Text: "name of the parameter, without the colon"},
		{Name: "type", Shape: typeText, Text: "its Java type; inferred when it is missing"},
		{Name: "variant", Shape: Shape{Kind: OneWord, Words: []string{In, Out, InOut}}, Text: "direction of a parameter of a call; IN when it is missing"},
		{Name: "sqlType", Shape: Shape{Kind: AnyText, Format: &sqlFormat}, Text: "its JDBC type, as a name from java.sql.Types"},
		{Name: "scale", Shape: Shape{Kind: Whole}, Text: "digits behind the decimal point, together with sqlType"},
	}}},
	{Kind: MapOf, KeyFormat: &nameFormat, Item: &Shape{Kind: AnyText, NotBlank: true, Empty: true, Noun: "a Java type"}},
}}

var converterShape = Shape{Kind: Either, Options: []Shape{
	className,
	{Kind: Fields, Fields: []Field{
		{Name: "alias", Shape: name, Text: "name of the converter in the repository; its class in lower camel case when it is missing"},
		{Name: "converterType", Shape: className, Required: true, Text: "class of the converter"},
		{Name: "methodName", Shape: name, Required: true, Text: "its method, which takes a ResultSet"},
		{Name: "resultType", Shape: typeText, Required: true, Text: "what the method returns"},
	}},
}}

var keyTable = []Key{
	{
		Name: "name", Shape: name, Default: "the file name without its suffix",
		Summary: "Name of the statement, from which the names of its methods are made.",
		Effect:  "The second and every later unnamed statement of a file has its ordinal among all of them behind the file name: `findUser`, `findUser2`.",
		Example: "name: findUserById",
	},
	{
		Name: "type", Shape: Shape{Kind: OneWord, Words: []string{Reading, Writing, Calling}},
		Default: "by the prefix of the name",
		Summary: "Whether the statement reads rows, writes them, or calls a procedure.",
		Effect: "Prefixes end at a capital letter, a digit, a `_` or the end of the name: writing for `update insert delete create write add remove merge drop`, reading for `read select find query lookup get`, " +
			"calling for `call execute evaluate eval`. A name with none of them needs the key.",
		Example: "type: reading",
	},
	{
		Name: "returning", Shape: Shape{Kind: OneWord, Words: []string{None, Single, Multiple, Cursor}},
		Default: "reading: `multiple`, writing: `none`, calling: `single`; `none` with a parameter that is OUT or INOUT",
		Summary: "How many rows the statement returns, and how.",
		Effect:  "`none` returns no rows, `single` an Optional, `multiple` a List, `cursor` a Stream that is closed by its reader.",
		Example: "returning: single",
	},
	{
		Name: "repository", Shape: className, Default: "from the directory: `user/vips/x.sql` is `<base>.user.VipsRepository`, at the root `<base>.Repository`",
		Summary: "Class the statement belongs to, by its short or its qualified name.",
		Example: "repository: com.example.UserRepository",
	},
	{
		Name: "parameters", Shape: parameterShape, Default: "in the order of their first occurrence in the SQL",
		Summary: "Parameters of the statement and their types.",
		Effect: "Either a list of mappings, or one mapping of names to types, in which an empty type means that it is inferred from a component of `resultRowType` or from the DDL. " +
			"The order written here is the order of the generated method's parameters; parameters that are not listed follow.",
		Example: "parameters:\n  - name: id\n    type: long\n  - name: since\n    type: instant",
	},
	{
		Name: "annotations", Shape: annotationList, Default: "none",
		Summary: "Annotations on every method generated for the statement.",
		Effect:  "A class with annotated methods is not final, so that proxies work.",
		Example: "annotations:\n  - type: org.springframework.transaction.annotation.Transactional\n    members:\n      - key: readOnly\n        value: true",
	},
	{
		Name: "resultRowConverter", Shape: converterShape, Default: "a map of column labels to values for each row",
		Summary: "Class that turns a row into an object.",
		Effect:  "The name of a class whose single public method taking a ResultSet is looked up in the Java sources, or a mapping that says everything.",
		Example: "resultRowConverter:\n  alias: userConverter\n  converterType: com.example.UserConverter\n  methodName: asUser\n  resultType: com.example.User",
	},
	{
		Name: "resultRowType", Shape: typeText, Default: "none",
		Summary: "Record, enum, scalar or type with one static valueOf that each row is built into.",
		Example: "resultRowType: com.example.User",
	},
	{
		Name: "resultRowColumns", Shape: Shape{Kind: MapOf, KeyFormat: &pathFormat, Item: &someText}, Default: "the component's name in snake_case",
		Summary: "Column that a component of the result row type reads, where the names differ.",
		Effect:  "Components of nested records are paths: `address.zip`.",
		Example: "resultRowColumns:\n  id: user_id\n  address.zip: zip_code",
	},
	{
		Name: "executeOnce", Shape: boolean, Default: "true", Shared: true,
		Summary: "Generate a method that executes the statement once.",
		Example: "executeOnce: false",
	},
	{
		Name: "executeBatch", Shape: boolean, Default: "true", Shared: true,
		Summary: "Generate a method that executes the statement as a batch.",
		Effect:  "There is a batch method only for a writing statement that returns none and has parameters.",
		Example: "executeBatch: false",
	},
	{
		Name: "catchAndRethrow", Shape: boolean, Default: "true", Shared: true,
		Summary: "Catch SQLException and throw a runtime exception that names the statement.",
		Effect:  "When false, the methods declare `throws SQLException`.",
		Example: "catchAndRethrow: false",
	},
	{
		Name: "createConnection", Shape: boolean, Default: "true", Shared: true,
		Summary: "Generate a method that opens its own connection, besides the one that is given a connection.",
		Effect:  "When false, only the method that takes a Connection is generated.",
		Example: "createConnection: false",
	},
	{
		Name: "usePreparedStatement", Shape: boolean, Default: "true", Shared: true,
		Summary: "Use a prepared statement instead of a plain one.",
		Effect:  "A plain statement cannot have parameters.",
		Example: "usePreparedStatement: false",
	},
	{
		Name: "writesReturnUpdateCount", Shape: boolean, Default: "true", Shared: true,
		Summary: "A writing method that returns none returns the number of affected rows.",
		Example: "writesReturnUpdateCount: false",
	},
	{
		Name: "throwOnMultipleResults", Shape: boolean, Default: "false", Shared: true,
		Summary: "Throw when a statement with `returning: single` finds more than one row.",
		Example: "throwOnMultipleResults: true",
	},
	{
		Name: "injectConverters", Shape: boolean, Default: "false", Shared: true,
		Summary: "Take the converters as parameters of the repository's constructor.",
		Effect:  "When false, the repository creates them. A converter that several statements of a repository use is injected when one of them says so, and the others do not say the opposite.",
		Example: "injectConverters: true",
	},
	{
		Name: "executeOncePrefix", Shape: affix, Default: "empty", Shared: true,
		Summary: "Prefix of the names of methods that execute once.",
		Effect:  "Parts of a name are joined in camel case: `do` and `findX` are `doFindX`.",
		Example: "executeOncePrefix: do",
	},
	{
		Name: "executeOnceSuffix", Shape: affix, Default: "empty", Shared: true,
		Summary: "Suffix of the names of methods that execute once.",
		Example: "executeOnceSuffix: Once",
	},
	{
		Name: "executeBatchPrefix", Shape: affix, Default: "empty", Shared: true,
		Summary: "Prefix of the names of batch methods.",
		Example: "executeBatchPrefix: bulk",
	},
	{
		Name: "executeBatchSuffix", Shape: affix, Default: "Batch", Shared: true,
		Summary: "Suffix of the names of batch methods.",
		Example: "executeBatchSuffix: All",
	},
	{
		Name: "vendor", Shape: someText, Default: "any database",
		Summary: "Database the statement is for, as its driver calls the product.",
		Effect:  "It also selects the dialect in which the statement is read. Statements of one name in one repository are variants, one for each vendor and at most one without.",
		Example: "vendor: PostgreSQL",
	},
	{
		Name: "description", Shape: Shape{Kind: AnyText}, Default: "none",
		Summary: "Description of the statement, for the documentation of its methods.",
		Example: "description: Finds a user by the primary key.",
	},
}

// KeyShape is the shape of the whole front matter.
func KeyShape() *Shape { return &keyShape }

var keyShape = func() Shape {
	s := Shape{Kind: Fields}
	for _, k := range keyTable {
		s.Fields = append(s.Fields, Field{Name: k.Name, Shape: k.Shape, Text: k.Summary})
	}
	return s
}()
