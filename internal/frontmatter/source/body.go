package source

import "strings"

// body reads the SQL of one statement, up to its separator.
type body struct {
	*splitter
	statement *Statement

	previous     string // the last token, words in upper case
	previousKind Kind
	depth        int   // open BEGIN ATOMIC, BEGIN and CASE
	ending       bool  // the last token was an END that was counted
	open         *Span // a question mark that needs the next token to be understood
	code         bool  // more than hints
}

// read takes the first token and all that follow up to the separator.
func (b *body) read(first Token) {
	var comments []Token
	end := first.End
	for token, ok := first, true; ok; token, ok = b.lexer.Next() {
		if token.Broken {
			b.unterminated(token)
		}
		switch token.Kind {
		case Separator:
			if b.depth > 0 && b.parsed.Separator == ";" {
				b.word(";", Symbol)
				end = token.End
				continue
			}
			b.finish(end, comments)
			return
		case Space:
			continue
		case LineComment:
			if b.aloneOnLine(token.Start) {
				comments = append(comments, token)
			}
			continue
		case BlockComment:
			comments = append(comments, token)
			continue
		case Hint:
		default:
			b.code = true
			b.token(token)
		}
		end = token.End
	}
	b.finish(end, comments)
}

// aloneOnLine tells whether only blanks stand before a comment. Behind code, "-- name: as the customer wrote it" is about
// the column that stands there, and nobody puts front matter.
func (b *body) aloneOnLine(offset int) bool {
	line := strings.LastIndexAny(b.text[:offset], "\r\n") + 1
	return strings.Trim(b.text[line:offset], " \t\f\v"+byteOrderMark) == ""
}

func (b *body) finish(end int, comments []Token) {
	b.resolveQuestion("", Space)
	if b.code {
		b.statement.SQL.End = end
	}
	b.warnNotRead(comments)
}

func (b *body) unterminated(t Token) {
	what := "literal"
	switch t.Kind {
	case BlockComment, Hint:
		what = "comment"
	case QuotedName:
		what = "quoted name"
	default:
	}
	b.find(RuleUnterminated, Span{t.Start, t.Start + 1}, "this "+what+" has no end")
}

func (b *body) token(t Token) {
	text := t.Text(b.text)
	switch t.Kind {
	case Question:
		b.question(t, text)
		return
	case Parameter:
		b.statement.Parameters = append(b.statement.Parameters, Occurrence{Name: text[1:], Span: t.Span})
	case Word:
		text = strings.ToUpper(text)
	default:
	}
	b.resolveQuestion(text, t.Kind)
	b.word(text, t.Kind)
}

// word follows BEGIN ATOMIC … END, whose body keeps its separators. CASE has an END of its own; END IF and its like
// end what is not counted.
func (b *body) word(text string, kind Kind) {
	ending := b.ending
	b.ending = false
	qualified := b.previous == "."
	switch {
	case kind != Word || qualified:
	case ending && text == "CASE":
	case ending && (text == "IF" || text == "LOOP" || text == "WHILE" || text == "REPEAT" || text == "FOR"):
		b.depth++ // the END before it was counted as one of BEGIN
	case text == "ATOMIC" && b.previous == "BEGIN" && b.depth == 0:
		b.depth = 1
	case b.depth == 0:
	case text == "BEGIN" || text == "CASE":
		b.depth++
	case text == "END":
		b.depth--
		b.ending = true
	}
	b.previous, b.previousKind = text, kind
}

// question decides what a question mark is. Where operators are written with it, one between two values is an
// operator; everywhere else it is a parameter without a name, which would be bound by counting.
func (b *body) question(t Token, text string) {
	switch {
	case !b.statement.Dialect.QuestionOperator:
		b.unnamed(t.Span)
	case len(text) > 1 || b.previous == "@":
		b.statement.Questions = append(b.statement.Questions, Span{t.Start, t.Start + 1})
	default:
		b.resolveQuestion("?", Question)
		if span := t.Span; b.isValue(b.previous, b.previousKind, true) {
			b.open = &span
		} else if next := b.lexer.at(0); next == '-' || next == '#' {
			b.statement.Questions = append(b.statement.Questions, span)
		} else {
			b.unnamed(span)
		}
	}
	b.word(text, Symbol)
}

// resolveQuestion decides an open question mark by the token behind it.
func (b *body) resolveQuestion(text string, kind Kind) {
	if b.open == nil {
		return
	}
	if b.isValue(text, kind, false) || text == "-" || text == "#" {
		b.statement.Questions = append(b.statement.Questions, *b.open)
	} else {
		b.unnamed(*b.open)
	}
	b.open = nil
}

func (b *body) unnamed(span Span) {
	b.find(RuleUnnamed, span, "parameters have names: write :name instead of ?")
}

// isValue tells whether a token can stand at the left, or the right, of an operator between values.
func (b *body) isValue(text string, kind Kind, left bool) bool {
	switch kind {
	case Literal, QuotedName, Number, Parameter:
		return true
	case Word:
		return !strings.Contains(clauseWords, " "+text+" ") || !left && strings.Contains(valueWords, " "+text+" ")
	case Symbol:
		if left {
			return text == ")" || text == "]"
		}
		return text == "(" || text == "$" || text == "+"
	default:
		return false
	}
}

// clauseWords are keywords that a value never is: a question mark next to one is a parameter.
const clauseWords = " ALL AND ANY ARRAY AS ASC BETWEEN BY CASE CAST CROSS DEFAULT DELETE DESC DISTINCT DO ELSE END ESCAPE " +
	"EXCEPT EXISTS FETCH FILTER FOR FROM FULL GROUP HAVING ILIKE IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LEFT " +
	"LIKE LIMIT NATURAL NOT NULLS OFFSET ON OR ORDER OUTER OVER RETURNING RIGHT ROW ROWS SELECT SET SIMILAR SOME THEN TO " +
	"UNION UPDATE USING VALUES WHEN WHERE WINDOW WITH "

// valueWords of these start a value all the same.
const valueWords = " ALL ANY ARRAY CASE CAST INTERVAL ROW SOME "
