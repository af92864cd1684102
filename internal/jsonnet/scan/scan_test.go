package scan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gojsonnet "github.com/google/go-jsonnet"
)

func repeat(text string, n int) string { return strings.Repeat(text, n) }

// names binds a0, a1 and so on; sum adds them up.
func names(n int) string {
	var b strings.Builder
	b.WriteString("local f = 1")
	for i := range n {
		fmt.Fprintf(&b, ", a%d = 1", i)
	}
	return b.String()
}

func sum(n int) string {
	var b strings.Builder
	b.WriteString("f")
	for i := range n {
		fmt.Fprintf(&b, " + a%d", i)
	}
	return b.String()
}

func TestCheck_Limits(t *testing.T) {
	cases := map[string]struct {
		source string
		limit  string // what the message says, or "" where the source is fine
		why    string
	}{
		"a thousand brackets":         {repeat("[", 1000) + repeat("]", 1000), "", "the limit itself is allowed"},
		"one bracket more":            {repeat("[", 1001) + repeat("]", 1001), "1000 brackets", ""},
		"mixed brackets":              {repeat("{a: [(", 400) + "1" + repeat(")]}", 400), "1000 brackets", "every kind counts"},
		"brackets in strings":         {`"` + repeat("[", 5000) + `" + '` + repeat("{", 5000) + `' + @"` + repeat("(", 5000) + `"`, "", ""},
		"brackets in comments":        {"/*" + repeat("[", 5000) + "*/ //" + repeat("[", 5000) + "\n#" + repeat("[", 5000) + "\n1", "", ""},
		"brackets in a text block":    {"|||\n  " + repeat("[", 5000) + "\n|||", "", ""},
		"brackets behind a block":     {"|||\n  x\n||| + " + repeat("[", 1001), "1000 brackets", "the block ended"},
		"an escaped quote":            {`"\"" + ` + repeat("[", 1001), "1000 brackets", "the string ended"},
		"a doubled quote":             {`@"""" + ` + repeat("[", 1001), "1000 brackets", "the verbatim string ended"},
		"many siblings":               {"[" + repeat("[],", 100_000) + "]", "", "depth counts, not number"},
		"prefix operators":            {repeat("!", 1000) + "true", "", ""},
		"one prefix operator more":    {repeat("!", 1001) + "true", "1000 prefix", ""},
		"prefix operators with gaps":  {repeat("- ", 1001) + "1", "1000 prefix", ""},
		"prefix operators in groups":  {repeat(repeat("-", 100)+"(", 11) + "1" + repeat(")", 11), "1000 prefix", "brackets do not end the operand"},
		"many separate negations":     {repeat("-1 - ", 5000) + "1", "", "each has an operand of its own"},
		"prefix operators of locals":  {repeat(repeat("-", 600)+" local a = 1; ", 2) + "1", "1000 prefix", "the body is inside the operand"},
		"locals one after another":    {repeat("local a = 1; ", 2000) + "1", "", ""},
		"one local more":              {repeat("local a = 1; ", 2001) + "1", "2000 local", "each body is inside the one before"},
		"names of one local":          {"local z = 0" + repeat(", a = 1", 2001) + "; 1", "2000 local", "binding is quadratic in them"},
		"functions with locals":       {repeat("local f(x) = local y = x; y; ", 1900) + "1", "", "an inner local ends with its function"},
		"fields with locals":          {"{" + repeat("f(x): local y = x; y, ", 5000) + "}", "", "fields are siblings"},
		"fields with two names":       {"{" + repeat("f(x): local y = x, z = y; z, ", 5000) + "}", "", "the comma is the local's"},
		"locals of an object":         {"{" + repeat("local y = 1, a: y, ", 5000) + "}", "", "they end with a comma"},
		"assertions of an object":     {"{" + repeat("assert true : 'x', a: 1, ", 5000) + "}", "", "they end with a comma"},
		"locals in a local's value":   {"local a = " + repeat("local b = 1; ", 2000) + "b; a", "2000 local", ""},
		"else if":                     {repeat("if false then 1 else ", 2001) + "1", "2000 local", ""},
		"comprehensions":              {"[1" + repeat(" for x in [1]", 2001) + "]", "2000 local", ""},
		"a chain of operators":        {"1" + repeat(" + 1", 20_000), "", ""},
		"one operator more":           {"1" + repeat(" + 1", 20_001), "20000 operators", ""},
		"a chain of fields":           {"a" + repeat(".a", 20_001), "20000 operators", ""},
		"a chain of calls":            {"a" + repeat("()", 20_001), "20000 operators", ""},
		"a chain of objects":          {"{}" + repeat("{}", 20_001), "20000 operators", ""},
		"chains in groups add up":     {repeat("(", 5) + "1" + repeat(repeat(" + 1", 4500)+")", 5), "20000 operators", "a group is the first link of the next chain"},
		"chains in elements do not":   {"[" + repeat("1"+repeat(" + 1", 3000)+",", 50) + "]", "", "elements are siblings"},
		"4 MiB":                       {repeat(" ", MaxBytes-1) + "1", "", ""},
		"more than 4 MiB":             {repeat(" ", MaxBytes) + "1", "4 MiB", ""},
		"a stray bracket":             {")" + repeat("]", 5000), "", "the parser says what is wrong"},
		"an unterminated string":      {`"` + repeat("[", 5000), "", "the parser's lexer stops there too"},
		"an unterminated comment":     {"/*" + repeat("[", 5000), "", ""},
		"an unterminated block":       {"|||\n  a\n" + repeat("[", 5000), "", ""},
		"a character outside Jsonnet": {"\x00" + repeat("[", 5000), "", ""},
		"names under a chain":         {names(1900) + "; " + sum(1900) + repeat(" + 1", 17_000), "too many variables", "the parser keeps them for each link"},
		"names in many brackets":      {names(1500) + "; " + repeat(repeat("[", 990)+sum(1500)+repeat("]", 990)+",", 300), "too many variables", "the parser keeps them for each bracket"},
		"parameters under a chain":    {"function(" + repeat("a, ", 50_000) + ") [" + repeat("a, ", 50_000) + "]" + repeat("[0]", 10_000), "too many variables", ""},
		"many operators and a name":   {"[" + repeat(repeat("!", 900)+"a, ", 1200) + "]", "1000000 tokens", ""},
		"a large array":               {"[" + repeat("1,", 400_000) + "]", "", ""},
		"too large an array":          {"[" + repeat("1,", 600_000) + "]", "1000000 tokens", ""},
		"a large library":             {names(300) + "; {" + repeat("f(a, b): a0 + g(a, b) + { x: a1, y: $.f(a2) }, ", 12_000) + "}", "", "expressions are small"},
		"a long sum of objects":       {names(100) + "; " + repeat("{ a: a0, b: a1 + 1, c: f(a2) } + ", 5_000) + "{}", "", ""},
		"invalid UTF-8":               {"'é\xff'", "1:4 the source is not valid UTF-8", ""},
		"a replacement character":     {"'\ufffd'", "", "it is what it is"},
		"nothing":                     {"", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := Check(c.source)
			switch {
			case c.limit == "" && err != nil:
				t.Fatalf("refused: %v (%s)", err, c.why)
			case c.limit != "" && (err == nil || !strings.Contains(err.Error(), c.limit)):
				t.Fatalf("error = %v, want one that says %q (%s)", err, c.limit, c.why)
			}
			if err == nil && testing.Short() {
				return
			}
			if err == nil {
				_, _ = gojsonnet.SnippetToAST("test", c.source) // what is let through, the parser survives
			}
		})
	}
}

func TestCheck_SaysWhere(t *testing.T) {
	err := Check("local a = 1;\n  " + repeat("[", 1001))
	var found *Error
	if !errors.As(err, &found) || found.Line != 2 || found.Column != 1003 {
		t.Fatalf("error = %v, want one at 2:1003", err)
	}
}

// TestCheck_AcceptsWhatPeopleWrite: go-jsonnet's own test data is full of unusual but legitimate programs.
func TestCheck_AcceptsWhatPeopleWrite(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join(moduleDir(t), "testdata", "*.jsonnet"))
	if err != nil || len(inputs) < 500 {
		t.Fatalf("found %d inputs, %v", len(inputs), err)
	}
	for _, input := range inputs {
		content, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(string(content)); err != nil {
			t.Errorf("%s: %v", filepath.Base(input), err)
		}
	}
}

// TestCheck_ProtectsTheParser builds sources of every shape that nests, up to the limits and across each other, and
// parses those that Check lets pass. A parser that is not protected ends this process.
func TestCheck_ProtectsTheParser(t *testing.T) {
	shapes := []struct{ before, after string }{
		{"[", "]"},
		{"(", ")"},
		{"{a: ", "}"},
		{"[1, ", "]"},
		{"f(", ")"},
		{"{[", "]: 1}"},
		{"{local a = ", ", b: 1}"},
		{"local a = 1; ", ""},
		{"local a = ", "; a"},
		{"function(x) ", ""},
		{"function(x=", ") 1"},
		{"if true then 1 else ", ""},
		{"if ", " then 1"},
		{"assert true; ", ""},
		{"error ", ""},
		{"!", ""},
		{"-", ""},
		{"1 + ", ""},
		{"", " + 1"},
		{"", ".a"},
		{"", "()"},
		{"", "[0]"},
		{"", "{}"},
		{"", " in a"},
		{"a[", ":]"},
		{"[x for x in ", "]"},
		{"{a+: ", "}"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	passed := 0
	for range 60 {
		var before, after strings.Builder
		var afters []string
		for range 1 + random.IntN(4) {
			shape := shapes[random.IntN(len(shapes))]
			n := []int{1, 50, 400, 900, 1900, 18_000}[random.IntN(6)]
			before.WriteString(repeat(shape.before, n))
			afters = append(afters, repeat(shape.after, n))
		}
		for i := len(afters) - 1; i >= 0; i-- {
			after.WriteString(afters[i])
		}
		source := before.String() + "1" + after.String()
		if Check(source) == nil {
			passed++
			_, _ = gojsonnet.SnippetToAST("test", source)
		}
	}
	if passed < 10 {
		t.Errorf("only %d of the sources passed; the test shows too little", passed)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("local a = {b: [1, -2, !true]}; a.b[0] + 'x' // c")
	f.Add("|||\n  text\n||| + @'a''b' + \"\\\"\"")
	f.Add("{local a = 1, assert a > 0 : 'm', [x]: y for x in z if w}")
	f.Fuzz(func(t *testing.T, source string) {
		err := Check(source)
		if err == nil {
			_, _ = gojsonnet.SnippetToAST("fuzz", source)
			return
		}
		var found *Error
		if !errors.As(err, &found) || found.Line < 1 || found.Column < 1 {
			t.Fatalf("error without a place: %v", err)
		}
	})
}

func moduleDir(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/go-jsonnet").Output()
	if err != nil {
		t.Fatalf("finding go-jsonnet: %v", err)
	}
	return strings.TrimSpace(string(out))
}
