package java

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

var (
	classLiteral = regexp.MustCompile(`^(` + identifier + `(?:\.` + identifier + `)*)((?:\[\])*)\.class$`)
	enumConstant = regexp.MustCompile(`^(` + identifier + `(?:\.` + identifier + `)*\.\p{Lu}` + part + `*)\.(\p{Lu}[\p{Lu}\p{Nd}_$]*)$`)
)

const (
	part       = `[\p{L}\p{Nd}\p{Mn}\p{Mc}_$]`
	identifier = `[\p{L}_$]` + part + `*`
)

// annotations writes those of a method.
func (b *classBuilder) annotations(m *method) []string {
	texts, _ := annotationTexts(m.written.Get("annotations")) // tried when the method was settled
	return texts
}

// annotationTexts writes a list of annotations.
func annotationTexts(list *matter.Node) ([]string, error) {
	texts := make([]string, 0, len(items(list)))
	for _, n := range items(list) {
		text := "@" + mark(text(n.Get("type")))
		var members []string
		for _, member := range items(n.Get("members")) {
			value, err := memberValue(member)
			if err != nil {
				return nil, err
			}
			key := "value"
			if k := member.Get("key"); k != nil {
				key = k.Value
			}
			members = append(members, key+" = "+value)
		}
		if len(members) == 1 {
			members[0] = strings.TrimPrefix(members[0], "value = ")
		}
		if len(members) > 0 {
			text += "(" + strings.Join(members, ", ") + ")"
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func memberValue(member *matter.Node) (string, error) {
	n := member.Get("value")
	var t statement.Type
	if written := member.Get("type"); written != nil {
		parsed, err := statement.ParseType(written.Value)
		if err != nil {
			return "", fmt.Errorf("the type of a member: %w", err)
		}
		t = parsed
		t.Dimensions = 0
	}
	if n.Kind != matter.List {
		return scalarMember(n, t)
	}
	parts := make([]string, 0, len(n.Items))
	for _, item := range n.Items {
		part, err := scalarMember(item, t)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return "{" + strings.Join(parts, ", ") + "}", nil
}

// scalarMember writes a value: by its type when there is one, else by what it looks like.
func scalarMember(n *matter.Node, t statement.Type) (string, error) {
	switch t.Class {
	case "":
		return plainMember(n)
	case "java.lang.String":
		return quote(n.Value), nil
	case "java.lang.Class":
		if m := classLiteral.FindStringSubmatch(n.Value); m != nil {
			return classMember(m[1], m[2]), nil
		}
		return classMember(n.Value, ""), nil
	case "boolean":
		if n.Kind == matter.Bool {
			return strings.ToLower(n.Value), nil
		}
	case "char":
		if r := []rune(n.Value); len(r) == 1 && r[0] <= 0xFFFF {
			return charLiteral(r[0]), nil
		}
	case "byte", "short", "int", "long", "float", "double":
		if text, ok := numberMember(n, t.Class); ok {
			return text, nil
		}
	default:
		if constant := lastPart(n.Value); n.Kind == matter.Text && matter.IsName(constant) {
			return mark(t.Class) + "." + constant, nil
		}
	}
	return "", unusablef("%q is no value of the type %s", n.Value, t)
}

func charLiteral(r rune) string {
	quoted := quote(string(r))
	inner := quoted[1 : len(quoted)-1]
	switch r {
	case '\'':
		inner = `\'`
	case '"':
		inner = `"`
	}
	return "'" + inner + "'"
}

func plainMember(n *matter.Node) (string, error) {
	switch n.Kind {
	case matter.Bool:
		return strings.ToLower(n.Value), nil
	case matter.Int:
		if text, ok := numberMember(n, "int"); ok {
			return text, nil
		}
		if text, ok := numberMember(n, "long"); ok {
			return text, nil
		}
		return "", unusablef("%s is larger than a long", n.Value)
	case matter.Float:
		if text, ok := numberMember(n, "double"); ok {
			return text, nil
		}
		return "", unusablef("%s is no number that Java can write", n.Value)
	case matter.Text:
		if m := classLiteral.FindStringSubmatch(n.Value); m != nil && !hasKeyword(m[1], m[2] != "") {
			return classMember(m[1], m[2]), nil
		}
		if m := enumConstant.FindStringSubmatch(n.Value); m != nil && !hasKeyword(m[1], false) {
			return mark(m[1]) + "." + ascii(m[2]), nil
		}
		return quote(n.Value), nil
	default:
		return "", unusablef("an annotation's value is a boolean, a number, a text, a class, an enum constant, or a list of these")
	}
}

// hasKeyword tells whether a name holds a keyword, other than as the name of a primitive, or of void, alone.
func hasKeyword(name string, array bool) bool {
	return boxes[name] == "" && (name != "void" || array) && slices.ContainsFunc(strings.Split(name, "."), matter.IsKeyword)
}

func classMember(class, brackets string) string {
	if boxes[class] != "" || class == "void" {
		return class + brackets + ".class"
	}
	if t, err := statement.ParseType(class); err == nil {
		class = t.Class
	}
	return mark(class) + brackets + ".class"
}

// numberMember writes a number as a literal of a primitive.
func numberMember(n *matter.Node, class string) (string, bool) {
	if n.Kind != matter.Int && n.Kind != matter.Float {
		return "", false
	}
	if class == "float" || class == "double" {
		v, ok := n.Number()
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if class == "float" {
			v = float64(float32(v))
		}
		mantissa, _, _ := strings.Cut(strings.ToLower(n.Value), "e")
		lost := v == 0 && strings.ContainsAny(mantissa, "123456789")
		if !ok || lost || math.IsInf(v, 0) || math.IsNaN(v) {
			return "", false
		}
		if class == "float" {
			return text + "f", true
		}
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text, true
	}
	bits := map[string]int{"byte": 8, "short": 16, "int": 32, "long": 64}[class]
	text := strings.TrimPrefix(n.Value, "+")
	base := 10
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0o") {
		base = 0
	}
	v, err := strconv.ParseInt(text, base, bits)
	if n.Kind != matter.Int || err != nil {
		return "", false
	}
	text = strconv.FormatInt(v, 10)
	if class == "long" {
		text += "L"
	}
	return text, true
}
