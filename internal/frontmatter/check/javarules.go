package check

// javaRules are applied when code is generated; the tests of that package run their examples.
var javaRules = []RuleRow{
	{
		ID: RuleParameterType, Severity: Error, Layer: LayerJava,
		Summary: "The Java type of a parameter is not known, or cannot be bound.",
		Text: "A type that is not written is that of the component of `resultRowType` with the name of the parameter, or that of the column with its name in the tables of the statement, " +
			"as the DDL has them. Where neither tells it, or tables disagree, write the type.",
		Wrong: sql("SELECT name FROM users WHERE id = :id;\n"),
		Right: sql("-- parameters:\n--   id: long\nSELECT name FROM users WHERE id = :id;\n"),
	},
	{
		ID: RuleRowType, Severity: Error, Layer: LayerJava,
		Summary: "Rows cannot be built into the type.",
		Text:    "Rows become scalars, and records, enums and classes with one public static valueOf that the Java sources have: set `javaSources` in the project file. The components of a record are of such types as well.",
		Wrong:   sql("-- resultRowType: com.example.User\nSELECT name FROM users;\n"),
		Right:   sql("-- resultRowType: string\nSELECT name FROM users;\n"),
	},
	{
		ID: RuleRowColumns, Severity: Error, Layer: LayerJava,
		Summary: "A column is given for a component that does not exist.",
		Text:    "The keys of `resultRowColumns` are components of the record, with dots before those of nested records. A scalar has none: it is read from the first column.",
		Wrong:   sql("-- resultRowType: string\n-- resultRowColumns:\n--   name: user_name\nSELECT user_name FROM users;\n"),
		Right:   sql("-- resultRowType: string\nSELECT user_name FROM users;\n"),
	},
	{
		ID: RuleConverter, Severity: Error, Layer: LayerJava,
		Summary: "A converter cannot be used.",
		Text:    "A converter that is only named has to be a public class in the Java sources, with one public method that takes a ResultSet, and a public constructor without parameters unless it is injected.",
		Wrong:   sql("-- resultRowConverter: com.example.UserConverter\nSELECT name FROM users;\n"),
		Right:   sql("-- resultRowConverter:\n--   converterType: com.example.UserConverter\n--   methodName: asUser\n--   resultType: com.example.User\nSELECT name FROM users;\n"),
	},
	{
		ID: RuleCollection, Severity: Error, Layer: LayerJava,
		Summary: "A collection stands where it cannot become a list of values.",
		Text:    "A parameter of the type List, Set or Collection becomes as many values as it has, alone in the parentheses behind IN or NOT IN. Its elements have a type, and there is no batch.",
		Wrong:   sql("-- parameters:\n--   ids: List<Long>\nSELECT name FROM users WHERE id = :ids;\n"),
		Right:   sql("-- parameters:\n--   ids: List<Long>\nSELECT name FROM users WHERE id IN (:ids);\n"),
	},
	{
		ID: RuleOutParameter, Severity: Error, Layer: LayerJava,
		Summary: "What a call sets does not fit its result.",
		Text:    "Every component of `resultRowType` has an OUT parameter of its name and type, and vendor variants have their OUT parameters at the same places. Collections are never set.",
		Wrong:   sql("-- name: callTotal\n-- parameters:\n--   - {name: total, type: List<Long>, variant: OUT}\nCALL total(:total);\n"),
		Right:   sql("-- name: callTotal\n-- parameters:\n--   - {name: total, type: long, variant: OUT}\nCALL total(:total);\n"),
	},
	{
		ID: RuleMethod, Severity: Error, Layer: LayerJava,
		Summary: "A statement has no method, or one that its class has already.",
		Text:    "Methods of a class differ in name or in the types of their parameters without type arguments, and from those that every object and every generated class has. A method takes 255 parameters at most, with its object and its connection.",
		Wrong:   sql("-- name: getClass\nSELECT 1;\n"),
		Right:   sql("-- name: getClasses\nSELECT 1;\n"),
	},
	{
		ID: RuleAnnotation, Severity: Error, Layer: LayerJava,
		Summary: "The value of an annotation is not one of its type.",
		Text:    "Without a type, numbers are int, long or double, `X.class` is a class, `X.Y` with Y in capitals a constant of an enum, and other texts are strings.",
		Wrong:   sql("-- annotations:\n--   - type: com.example.Retry\n--     members:\n--       - {key: times, value: often, type: int}\nSELECT 1;\n"),
		Right:   sql("-- annotations:\n--   - type: com.example.Retry\n--     members:\n--       - {key: times, value: 3, type: int}\nSELECT 1;\n"),
	},
	{
		ID: RuleClass, Severity: Error, Layer: LayerJava,
		Summary: "A repository would have the name of another generated class, of a package, or one that classes cannot have.",
		Text:    "Java lets no class be called `permits`, `record`, `sealed`, `var` or `yield`, and none as a package. Converters have a package of their own, `converter` below the base package; with `interfaces`, classes are called Jdbc and the name of their interface.",
		Wrong:   sql("-- repository: converter.Users\nSELECT 1;\n"),
		Right:   sql("-- repository: users.Users\nSELECT 1;\n"),
	},
}
