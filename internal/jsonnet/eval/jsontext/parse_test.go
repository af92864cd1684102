package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/jsontext"
)

func TestProgram_TakesOnlyWhatMeansTheSameInJsonnet(t *testing.T) {
	tests := map[string]struct {
		text string
		want bool
	}{
		"object":               {`{"a": [1, -2.5e3, true, false, null, "x\u00e9\n"]}`, true},
		"white space":          {" \t\r\n[ ] ", true},
		"surrogate pair":       {`"\ud83d\ude00"`, true},
		"scalar":               {`0`, true},
		"empty":                {``, false},
		"two values":           {`1 2`, false},
		"trailing comma":       {`[1,]`, false},
		"comment":              {`[1] // one`, false},
		"expression":           {`1 + 1`, false},
		"unquoted name":        {`{a: 1}`, false},
		"repeated name":        {`{"a": 1, "a": 2}`, false},
		"leading zero":         {`01`, false},
		"leading plus":         {`+1`, false},
		"bare point":           {`1.`, false},
		"number too large":     {`1e999`, false},
		"lone surrogate":       {`"\ud83d"`, false},
		"unknown escape":       {`"\x41"`, false},
		"control character":    {"\"\n\"", false},
		"invalid UTF-8":        {"\"\xff\"", false},
		"unterminated":         {`["a`, false},
		"single quotes":        {`'a'`, false},
		"byte order mark":      {"\ufeff1", false},
		"deep":                 {strings.Repeat("[", 900) + strings.Repeat("]", 900), true},
		"deeper than Jsonnet":  {strings.Repeat("[", 2000) + strings.Repeat("]", 2000), false},
		"deeper than anything": {strings.Repeat("[", 1_000_000), false},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if _, got := jsontext.Program("x.json", c.text); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func FuzzProgram_TakesOnlyJSON(f *testing.F) {
	f.Add(`{"a": [1, -2.5e3, true, false, null, "x\u00e9\n"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok := jsontext.Program("x.json", text); ok && !json.Valid([]byte(text)) {
			t.Errorf("took %q", text)
		}
	})
}
