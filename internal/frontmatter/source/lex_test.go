package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func dialectNamed(t *testing.T, name string) Dialect {
	t.Helper()
	d, ok := DialectNamed(name)
	if !ok {
		t.Fatalf("no dialect %q", name)
	}
	return d
}

func lex(d Dialect, separator, text string) (tokens []Token, joined string) {
	l := Lexer{Text: text, Dialect: d, Separator: separator}
	var b strings.Builder
	for token, ok := l.Next(); ok; token, ok = l.Next() {
		tokens = append(tokens, token)
		b.WriteString(token.Text(text))
	}
	return tokens, b.String()
}

// TestLexer_FindsSeparatorsAndParameters: in every dialect, a semicolon or a colon counts only outside of what that
// dialect quotes. The wanted text lists the tokens that are not blanks, words, numbers or symbols.
func TestLexer_FindsSeparatorsAndParameters(t *testing.T) {
	all := "standard postgresql mysql oracle sqlserver sqlite h2"
	tests := []struct{ why, dialects, sql, want string }{
		{"a literal", all, `select ';:a' ; :b`, `L(';:a') S(;) P(:b)`},
		{"a doubled quote", all, `'it''s; :a';`, `L('it''s; :a') S(;)`},
		{"a quoted name", all, `";:a""b;";`, `Q(";:a""b;") S(;)`},
		{"a line comment", all, "-- ;:a\n;", `C(-- ;:a) S(;)`},
		{"a line comment up to a lone CR", all, "-- ;:a\r;", `C(-- ;:a) S(;)`},
		{"a block comment", all, "/* ;:a' */;", `B(/* ;:a' */) S(;)`},
		{"a hint", all, "/*+ ;:a */;", `H(/*+ ;:a */) S(;)`},
		{"nested comments", "standard postgresql sqlserver h2", "/* /* ; */ ; */;", `B(/* /* ; */ ; */) S(;)`},
		{"comments that do not nest", "mysql oracle sqlite", "/* /* ; */ ; x */", `B(/* /* ; */) S(;)`},
		{"an unterminated literal", all, "select ';", `!L(';)`},
		{"an unterminated comment", all, "select /* ;", `!B(/* ;)`},
		{"a cast", all, "select :a::int, x::text", `P(:a)`},
		{"an assignment", all, "set x := 1, :y := 2", `P(:y)`},
		{"a slice", "standard postgresql h2", "select a[1:2], a[lo:hi], b[f(x):y], c[d[1]:e]", ``},
		{"an array constructor", "standard postgresql h2", "select array[:a, :b], tags[:i]", `P(:a) P(:b) P(:i)`},
		{"names beyond ASCII", all, "where größe = :größe and 名 = :名前", `P(:größe) P(:名前)`},
		{"a time", all, "where t = 10:30 and u = :u1", `P(:u1)`},
		{"a colon at the end", all, "x:", ``},
		{"a backslash that escapes", "mysql", `'\';:a';"\";";`, `L('\';:a') S(;) Q("\";") S(;)`},
		{"a backslash that does not", "standard postgresql oracle sqlserver sqlite h2", `'\';:a`, `L('\') S(;) P(:a)`},
		{"an escape string", "postgresql", `E'\';:a' e'\\';`, `L(E'\';:a') L(e'\\') S(;)`},
		{"an e that is a word elsewhere", "standard oracle sqlite h2", `E'\';`, `L('\') S(;)`},
		{"a hash comment", "mysql", "select 1 # ;:a\n;#x", `C(# ;:a) S(;) C(#x)`},
		{"a hash directly behind a name", "mysql", "select a#;\n;", `C(#;) S(;)`},
		{"a hash operator", "postgresql", "select a #> :p", `P(:p)`},
		{"dashes without a blank", "mysql", "select 5--:a\n--:b", `P(:a) P(:b)`},
		{"dashes without a blank are a comment elsewhere", "standard postgresql oracle", "select 5--:a", `C(--:a)`},
		{"a dollar quote", "postgresql h2", "$$;:a'$$; $b$;$$ $b$;", `L($$;:a'$$) S(;) L($b$;$$ $b$) S(;)`},
		{"a dollar inside a name", "postgresql h2", "a$b$;c$b$", `S(;)`},
		{"a numbered parameter of the server", "postgresql", "$1; $1", `S(;)`},
		{"an unterminated dollar quote", "postgresql h2", "$x$ ; $y$", `!L($x$ ; $y$)`},
		{"a dollar elsewhere", "standard mysql oracle", "$$;$$", `S(;)`},
		{"Oracle's quotes", "oracle", `q'[it's;]' Q'{;}' nq'<;>' q'(;)' q'!;!' ;`, `L(q'[it's;]') L(Q'{;}') L(nq'<;>') L(q'(;)') L(q'!;!') S(;)`},
		{"Oracle's quotes, unterminated", "oracle", `q'[;']`, `!L(q'[;'])`},
		{"Oracle's quotes, nothing inside", "oracle", `q'`, `!L(q')`},
		{"a q elsewhere", "standard postgresql", `q'[;]';`, `L('[;]') S(;)`},
		{"names in brackets", "sqlserver sqlite", "select [a;:b]]c];", `Q([a;:b]]c]) S(;)`},
		{"names in backticks", "mysql sqlite h2", "select `a;:b``c`;", "Q(`a;:b``c`) S(;)"},
		{"question marks", "postgresql", "a ?| b ?& c ? d", `?(?|) ?(?&) ?(?)`},
		{"code in a comment", "mysql", "/*!40101 set x=1 */;", `H(/*!40101 set x=1 */) S(;)`},
	}
	letters := map[Kind]string{
		LineComment: "C", BlockComment: "B", Hint: "H", Literal: "L", QuotedName: "Q",
		Parameter: "P", Question: "?", Separator: "S",
	}
	for _, tt := range tests {
		for name := range strings.FieldsSeq(tt.dialects) {
			t.Run(tt.why+"/"+name, func(t *testing.T) {
				tokens, joined := lex(dialectNamed(t, name), ";", tt.sql)
				var got []string
				for _, token := range tokens {
					if letter, ok := letters[token.Kind]; ok {
						if token.Broken {
							letter = "!" + letter
						}
						got = append(got, fmt.Sprintf("%s(%s)", letter, token.Text(tt.sql)))
					}
				}
				if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
					t.Errorf("tokens of %q (-want +got):\n%s", tt.sql, diff)
				}
				if joined != tt.sql {
					t.Errorf("joined tokens = %q, want %q", joined, tt.sql)
				}
			})
		}
	}
}

func TestLexer_SeparatorThatIsAWord(t *testing.T) {
	text := "select category, go_x from t\nGO\nselect 1 GO"
	tokens, _ := lex(dialectNamed(t, "sqlserver"), "GO", text)
	var at []int
	for _, token := range tokens {
		if token.Kind == Separator {
			at = append(at, token.Start)
		}
	}
	if diff := cmp.Diff([]int{29, 41}, at); diff != "" {
		t.Errorf("offsets of separators (-want +got):\n%s", diff)
	}
}

// FuzzLexer: whatever the text, the dialect and the separator, the tokens joined are the text.
func FuzzLexer(f *testing.F) {
	for _, seed := range []string{"select ';' /* */ -- x\n:a::b $x$ y $x$ q'[ ]' E'\\' `a` [b] ?| \xff \ufeff", "begin atomic; end"} {
		for i := range dialects {
			f.Add(seed, byte(i), ";")
		}
	}
	f.Fuzz(func(t *testing.T, text string, dialect byte, separator string) {
		d := dialects[int(dialect)%len(dialects)]
		tokens, joined := lex(d, separator, text)
		if joined != text {
			t.Fatalf("joined tokens = %q, want %q", joined, text)
		}
		at := 0
		for _, token := range tokens {
			if token.Start != at || token.End <= token.Start {
				t.Fatalf("token %+v does not follow offset %d", token, at)
			}
			at = token.End
		}
		checkStatements(t, NewFile("x.sql", text), d)
	})
}

// checkStatements: statements follow each other, hold their SQL, and every position can be said.
func checkStatements(t *testing.T, file *File, d Dialect) {
	t.Helper()
	p := Parse(file, Options{Dialect: d, Match: matchForTest})
	at := 0
	for _, s := range p.Statements {
		if s.Start < at || s.SQL.Start < s.Start || s.SQL.End > s.End || s.SQL.Start >= s.SQL.End {
			t.Fatalf("statement %+v behind offset %d", s.Span, at)
		}
		at = s.End
		if s.Block == nil {
			continue
		}
		for i := range len(s.Block.YAML()) {
			offset := s.Block.Offset(i)
			if back, ok := s.Block.YAMLOffset(offset); !ok || s.Block.YAML()[i] != '\n' && back != i {
				t.Fatalf("offset %d of the YAML is %d of the file and %d back", i, offset, back)
			}
		}
	}
	for _, finding := range p.Findings {
		for _, e := range []Encoding{CodePoints, UTF8, UTF16} {
			file.Offset(file.PositionIn(finding.Span.Start, e), e)
		}
	}
}

func matchForTest(word string) Match {
	switch word {
	case "name", "type", "description", "vendor", "parameters":
		return Key
	case "named":
		return NearMiss
	}
	return NoKey
}
