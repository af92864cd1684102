package statement

import (
	"strings"
	"testing"
)

func TestParseType(t *testing.T) {
	tests := []struct{ text, want string }{
		{"long", "long"},
		{"long[][]", "long[][]"},
		{"String", "java.lang.String"},
		{"uuid", "java.util.UUID"},
		{"bytes", "byte[]"},
		{"List<Long>", "java.util.List<java.lang.Long>"},
		{"Map<string, ? extends com.example.A[]>", "java.util.Map<java.lang.String, ? extends com.example.A[]>"},
		{"list<? super Integer>", "java.util.List<? super java.lang.Integer>"},
		{"com.example.Größe", "com.example.Größe"},
		{"List<long>", "!long cannot be a type argument; write Long"},
		{"Instant", `!there is no type "Instant" without a package; did you mean instant? Other classes need their qualified name`},
		{"User", `!there is no type "User" without a package; write its qualified name`},
		{"List<", "!the name of a type is missing"},
		{"List<Long", "!> is missing"},
		{"long[", "!an array is written []"},
		{"long x", `!"x" is left over behind the type`},
		{"int<Long>", "!int has no type arguments"},
		{"?", "!a wildcard stands only between < and >"},
		{"a..B", `!"a..B" is not the name of a class: "" is no Java identifier`},
		{"com.class.B", `!"com.class.B" is not the name of a class: "class" is no Java identifier`},
		{strings.Repeat("List<", 50), "!the type nests too deeply"},
	}
	for _, tt := range tests {
		got, err := ParseType(tt.text)
		text := got.String()
		if err != nil {
			text = "!" + err.Error()
		}
		if text != tt.want {
			t.Errorf("ParseType(%.40q) = %s, want %s", tt.text, text, tt.want)
		}
	}
}
