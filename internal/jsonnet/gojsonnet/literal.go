package gojsonnet

import (
	"encoding/json"
	"strings"

	"github.com/google/go-jsonnet/ast"
)

// literal builds the syntax tree of a JSON document. A document that is not JSON becomes null: who made the binding has
// checked it.
func literal(document string) ast.Node {
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		value = nil
	}
	return literalNode(value)
}

func literalNode(value any) ast.Node {
	base := ast.NewNodeBaseLoc(ast.MakeLocationRangeMessage("a top-level argument"), nil)
	switch value := value.(type) {
	case string:
		return &ast.LiteralString{NodeBase: base, Value: value, Kind: ast.StringDouble}
	case json.Number:
		return &ast.LiteralNumber{NodeBase: base, OriginalString: value.String()}
	case bool:
		return &ast.LiteralBoolean{NodeBase: base, Value: value}
	case []any:
		array := &ast.Array{NodeBase: base}
		for _, element := range value {
			array.Elements = append(array.Elements, ast.CommaSeparatedExpr{Expr: literalNode(element)})
		}
		return array
	case map[string]any:
		object := &ast.DesugaredObject{NodeBase: base}
		for name, member := range value {
			object.Fields = append(object.Fields, ast.DesugaredObjectField{
				Hide: ast.ObjectFieldInherit,
				Name: literalNode(name),
				Body: literalNode(member),
			})
		}
		return object
	default:
		return &ast.LiteralNull{NodeBase: base}
	}
}
