package matter

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The YAML 1.2 core schema, section 10.3.2 of the YAML specification: no dates, no octal 0777, no 1_000, no yes and no.
var (
	coreInt   = regexp.MustCompile(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	coreFloat = regexp.MustCompile(`^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// resolve returns the kind of a plain scalar.
func resolve(text string) NodeKind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	switch c := text[0]; {
	case c != '.' && c != '+' && c != '-' && (c < '0' || c > '9'):
		return Text
	case coreInt.MatchString(text):
		return Int
	case coreFloat.MatchString(text):
		return Float
	}
	return Text
}

// Number returns the value of a number; false for what is none. Whole numbers beyond 2^53 lose their last digits.
func (n *Node) Number() (float64, bool) {
	text := n.Value
	switch {
	case n.Kind == Int && strings.HasPrefix(text, "0o"):
		v, err := strconv.ParseUint(text[2:], 8, 64)
		return float64(v), err == nil
	case n.Kind == Int && strings.HasPrefix(text, "0x"):
		v, err := strconv.ParseUint(text[2:], 16, 64)
		return float64(v), err == nil
	case n.Kind == Float && strings.HasSuffix(strings.ToLower(text), "nan"):
		return math.NaN(), true
	case n.Kind == Int || n.Kind == Float:
		v, err := strconv.ParseFloat(strings.Replace(strings.ToLower(text), ".inf", "inf", 1), 64)
		return v, err == nil || math.IsInf(v, 0)
	default:
		return 0, false
	}
}
