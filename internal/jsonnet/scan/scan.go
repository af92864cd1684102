package scan

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of a source. They are far above what people and generators write, and far below what overflows a stack.
const (
	MaxBytes   = 4 << 20 // bytes of one source
	MaxNesting = 1_000   // brackets inside each other
	MaxPrefix  = 1_000   // prefix operators that apply to one operand, brackets in between included
	MaxBinders = 2_000   // local, function, if, assert, error, import and for inside each other; names of one local
	MaxLinks   = 20_000  // operators, calls, indexes and fields chained in one expression
	MaxTokens  = 1_000_000
	// MaxWork bounds a cost of the parser that grows with two things at once: it keeps for each link of a chain the set of
	// variables that occur below. The work of an expression is its links times the variables in it.
	MaxWork = 4_000_000
)

// Error is a limit that a source exceeds, and where.
type Error struct {
	Line, Column int // from 1; columns count bytes, as go-jsonnet does
	Message      string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Message) }

// Check returns an *Error when source is too large or too deep to be parsed, or not text, and nil otherwise.
func Check(source string) error {
	if len(source) > MaxBytes {
		return &Error{1, 1, fmt.Sprintf("the source has %d bytes; at most %d (4 MiB) are read as Jsonnet; import large data with importstr", len(source), MaxBytes)}
	}
	if !utf8.ValidString(source) {
		line, column := position(source, invalidUTF8(source))
		return &Error{line, column, "the source is not valid UTF-8 here"}
	}
	s := scanner{lexer: lexer{source: source}}
	s.open('(')
	for {
		token := s.lexer.next()
		limit := s.take(token)
		switch {
		case s.tokens > MaxTokens:
			limit = fmt.Sprintf("the source has more than %d tokens; import large data from a .json file", MaxTokens)
		case s.work > MaxWork:
			limit = "too many variables occur below too many operators, calls and brackets here; split the expression into several"
		}
		if limit != "" {
			line, column := position(source, token.offset)
			return &Error{line, column, limit}
		}
		if token.kind == end {
			return nil
		}
	}
}

// scanner follows how deep the tree is at the current token.
type scanner struct {
	lexer  lexer
	levels []level // one for each open bracket, and one for the file
	marks  []path  // where a local or assert began whose ";" has not come yet, over all levels
	path   path
	run    int // prefix operators since the last operand
	names  int // an upper bound of the names that are bound so far
	work   int
	tokens int
	fresh  bool // the last token began a field, an element or an argument
}

// path counts what lies between the root of the tree and the current token, besides brackets.
type path struct{ binders, prefixes int }

// level is an open bracket.
type level struct {
	bracket byte
	outer   path // the path where the bracket was opened
	inner   path // the path at its first token
	marks   int  // len(marks) then
	links   int  // chain links of the current expression
	below   int  // height of the tallest group in the current expression
	words   int  // variables in the current expression, at least
	tallest int  // height of the tallest expression that has ended
	all     int  // words of the expressions that have ended
}

func (s *scanner) take(t token) (limit string) {
	fresh := s.fresh
	s.fresh = false
	s.tokens++
	switch t.kind {
	case end:
		s.endExpression()
	case opening:
		return s.open(t.text[0])
	case closing:
		s.close()
	case comma:
		return s.comma()
	case semicolon:
		s.semicolon()
	case operator:
		return s.operators(t.text)
	case word:
		return s.word(t.text, fresh)
	default: // operands
		s.run = 0
	}
	return ""
}

func (s *scanner) top() *level { return &s.levels[len(s.levels)-1] }

func (s *scanner) open(bracket byte) string {
	if len(s.levels) > MaxNesting {
		return fmt.Sprintf("more than %d brackets are nested here", MaxNesting)
	}
	outer := s.path
	if len(s.levels) > 0 {
		if limit := s.link(1); limit != "" {
			return limit
		}
	}
	s.path.prefixes += s.run
	s.run = 0
	s.fresh = true
	s.levels = append(s.levels, level{bracket: bracket, outer: outer, inner: s.path, marks: len(s.marks)})
	return ""
}

func (s *scanner) close() {
	if len(s.levels) == 1 {
		return // a stray bracket: the parser will say so
	}
	s.endExpression()
	closed := *s.top()
	s.path = closed.outer
	s.marks = s.marks[:closed.marks]
	s.run = 0
	s.levels = s.levels[:len(s.levels)-1]
	s.top().below = max(s.top().below, closed.tallest+1)
	s.top().words += closed.all
}

func (s *scanner) comma() string {
	s.endExpression()
	l := s.top()
	if l.bracket == '(' {
		s.names++ // maybe a parameter
	}
	if len(s.marks) > l.marks { // between two names of a local
		mark := &s.marks[len(s.marks)-1]
		mark.binders++
		s.names++
		s.path = *mark
		return s.binders()
	}
	s.path = l.inner
	s.fresh = true
	return ""
}

// semicolon ends the names of a local, or an assertion; the body that follows is inside it.
func (s *scanner) semicolon() {
	if last := len(s.marks) - 1; last >= s.top().marks {
		s.path = s.marks[last]
		s.marks = s.marks[:last]
	}
	s.endExpression()
}

func (s *scanner) endExpression() {
	l := s.top()
	const always = 3 // std, self and $
	s.work += (l.links + 1) * min(l.words, s.names+always)
	l.tallest = max(l.tallest, l.links+l.below)
	l.all += l.words
	l.links, l.below, l.words, s.run = 0, 0, 0, 0
}

func (s *scanner) operators(text string) string {
	links := 1
	for i := range len(text) {
		switch text[i] {
		case '!', '-', '+', '~':
			s.run++
			if i > 0 { // an operator of its own
				links++
			}
		default:
			s.run = 0
		}
	}
	s.tokens += links - 1
	if s.path.prefixes+s.run > MaxPrefix {
		return fmt.Sprintf("more than %d prefix operators apply to one operand here", MaxPrefix)
	}
	return s.link(links)
}

func (s *scanner) link(n int) string {
	l := s.top()
	l.links += n
	if l.links+l.below > MaxLinks {
		return fmt.Sprintf("more than %d operators, calls and indexes are chained in one expression here", MaxLinks)
	}
	return ""
}

func (s *scanner) word(text string, fresh bool) string {
	switch text {
	case "local", "assert":
		s.path.binders++
		s.names++
		if !fresh || s.top().bracket != '{' { // in front of a field they end with a comma
			s.marks = append(s.marks, path{s.path.binders, s.path.prefixes + s.run})
		}
	case "function", "if", "error", "import", "importstr", "importbin", "for":
		s.path.binders++
		s.names++
	case "then", "else", "in":
	default:
		s.run = 0
		s.top().words++
		return ""
	}
	s.path.prefixes += s.run
	s.run = 0
	return s.binders()
}

func (s *scanner) binders() string {
	if s.path.binders > MaxBinders {
		return fmt.Sprintf("more than %d local, function, if, assert, error, import and for are nested here, or names bound by one local", MaxBinders)
	}
	return ""
}

// invalidUTF8 is the offset of the first byte that is not UTF-8.
func invalidUTF8(source string) int {
	for i, r := range source {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(source[i:]); size == 1 {
				return i
			}
		}
	}
	return len(source)
}

// position is the line and column of a byte offset.
func position(source string, offset int) (line, column int) {
	before := source[:offset]
	return strings.Count(before, "\n") + 1, offset - strings.LastIndexByte(before, '\n')
}
