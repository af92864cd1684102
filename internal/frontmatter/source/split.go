package source

import "strings"

// Statement is one SQL statement with the front matter above it.
type Statement struct {
	Span            // from the first byte behind the previous statement to the end of its separator
	SQL        Span // first to last token, comments and hints between them included
	Block      *Block
	Dialect    Dialect
	Parameters []Occurrence
	Questions  []Span // question marks that are operators
}

// Occurrence is one place where a parameter stands; Span includes the colon.
type Occurrence struct {
	Name string
	Span
}

// Options say how a file is read.
type Options struct {
	Dialect   Dialect
	Separator string                  // ; when empty
	Match     func(word string) Match // which words are keys
}

// Parsed is a file cut into statements.
type Parsed struct {
	File       *File
	Statements []Statement
	Findings   []Finding
	Separator  string
}

// Parse cuts a file into statements. A file that is too large or not UTF-8 yields its finding and no statement.
func Parse(file *File, o Options) *Parsed {
	p := &Parsed{File: file, Separator: o.Separator}
	if p.Separator == "" {
		p.Separator = ";"
	}
	if len(file.Text) > MaxFileSize {
		p.Findings = []Finding{TooLarge()}
		return p
	}
	if p.Findings = file.CheckEncoding(); p.Findings != nil {
		return p
	}
	p.readSeparator(o)
	s := splitter{parsed: p, text: file.Text, options: o}
	s.lexer = Lexer{Text: file.Text, Dialect: o.Dialect, Separator: p.Separator}
	for s.statement() && !s.enough() {
	}
	return p
}

// Limits of what is said about one file, and of how many statements it has. They are far above what people write, and
// keep memory in bounds for what nobody wrote.
const (
	maxFindings   = 10_000
	maxStatements = 100_000
)

// enough tells whether a file has more findings or statements than are looked at, and says so once.
func (s *splitter) enough() bool {
	findings, statements := len(s.parsed.Findings) >= maxFindings, len(s.parsed.Statements) >= maxStatements
	if !findings && !statements {
		return false
	}
	what := "10,000 findings"
	if statements {
		what = "100,000 statements"
	}
	at := Span{s.lexer.pos, s.lexer.pos}
	s.parsed.Findings = append(s.parsed.Findings, Finding{
		Rule: RuleTooMany, Span: at, Message: "the file has " + what + " up to here; what follows was not read",
	})
	return true
}

// TooLarge is the finding for a file above MaxFileSize.
func TooLarge() Finding {
	return Finding{
		Rule:    RuleFileSize,
		Message: "the file is larger than 32 MiB; move data and dumps out of the folder of the statements, or exclude them",
	}
}

const pragma = "--@yosql"

// readSeparator looks for the line that sets another separator for the whole file.
func (p *Parsed) readSeparator(o Options) {
	if !strings.Contains(p.File.Text, pragma) {
		return
	}
	fail := func(span Span, message string) {
		p.Findings = append(p.Findings, Finding{Rule: RuleSeparator, Span: span, Message: message})
	}
	found := false
	lexer := Lexer{Text: p.File.Text, Dialect: o.Dialect, Separator: p.Separator, above: true}
	for token, ok := lexer.Next(); ok; token, ok = lexer.Next() {
		line := token.Text(p.File.Text)
		if token.Kind != LineComment || !strings.HasPrefix(line, pragma) {
			continue
		}
		name, value, colon := strings.Cut(strings.TrimPrefix(line, pragma), ":")
		value = strings.TrimSpace(value)
		switch {
		case !startsLine(p.File.Text, token.Start):
			fail(token.Span, "a --@yosql line must stand alone on its line")
		case !colon || strings.TrimSpace(name) != "sqlStatementSeparator":
			fail(token.Span, "the only setting of a --@yosql line is sqlStatementSeparator, as in: --@yosql sqlStatementSeparator: $$")
		case found:
			fail(token.Span, "the separator is already set further up; one file has one separator")
		case value == "":
			fail(token.Span, "the separator is empty; write the text that ends a statement behind the colon")
		case strings.HasPrefix(value, "--") || strings.HasPrefix(value, "/*"):
			fail(token.Span, "a separator cannot start a comment; choose another text")
		default:
			found = true
			p.Separator = value
		}
	}
}

// startsLine tells whether nothing but a byte order mark stands before an offset in its line.
func startsLine(text string, offset int) bool {
	return offset == 0 || isLineEnd(text[offset-1]) || offset == len(byteOrderMark) && strings.HasPrefix(text, byteOrderMark)
}

// splitter reads one statement after the other.
type splitter struct {
	parsed  *Parsed
	text    string
	options Options
	lexer   Lexer
}

// statement reads the comments above a statement and then its SQL; false at the end of the text.
func (s *splitter) statement() bool {
	if s.lexer.pos >= len(s.text) {
		return false
	}
	st := Statement{Span: Span{Start: s.lexer.pos}}
	s.lexer.Dialect = s.options.Dialect
	s.lexer.above = true
	head := s.leading()
	s.lexer.above = false
	st.Dialect = s.lexer.Dialect
	if head.more && head.first.Kind != Separator {
		st.SQL.Start = head.first.Start
		body := body{splitter: s, statement: &st}
		body.read(head.first)
	}
	st.End = s.lexer.pos
	front := s.frontMatter(head.blocks, &st)
	s.warnNotRead(head.comments)
	if st.SQL.End == 0 {
		for _, b := range front {
			s.find(RuleWithoutSQL, b.Span, "there is no SQL below this front matter")
		}
		return true
	}
	if len(front) > 0 {
		st.Block = front[0]
	}
	s.parsed.Statements = append(s.parsed.Statements, st)
	return true
}

func (s *splitter) find(rule Rule, span Span, message string) {
	if len(s.parsed.Findings) >= maxFindings {
		return // enough says so
	}
	s.parsed.Findings = append(s.parsed.Findings, Finding{Rule: rule, Span: span, Message: message})
}

// head is what stands above a statement, and the token that ends it.
type head struct {
	blocks   []*Block
	comments []Token // the other comments
	first    Token
	more     bool // there is a first token; else the text ended
}

// leading reads up to the first token of SQL or the separator and collects the blocks of lines on its way.
func (s *splitter) leading() (h head) {
	var lines []Span
	flush := func() {
		if lines == nil {
			return
		}
		b := newBlock(s.text, lines)
		lines = nil
		h.blocks = append(h.blocks, b)
		if product, ok := b.vendor(); ok {
			s.lexer.Dialect = s.options.Dialect.forVendor(product)
		}
	}
	for {
		token, ok := s.lexer.Next()
		if !ok {
			flush()
			return h
		}
		if token.Kind == Space {
			if lineEnds(token.Text(s.text)) > 1 {
				flush()
			}
			continue
		}
		atStart := token.Kind == LineComment && startsLine(s.text, token.Start)
		if atStart && strings.HasPrefix(s.text[token.Start:], "--") && !strings.HasPrefix(s.text[token.Start:], pragma) {
			if len(lines) < maxBlock {
				lines = append(lines, token.Span)
			} else {
				lines[maxBlock-1].End = token.End
			}
			if !s.dashesFollow() {
				flush() // before the next token, whose dialect a vendor decides
			}
			continue
		}
		flush()
		if token.Kind != LineComment && token.Kind != BlockComment {
			h.first, h.more = token, true
			return h
		}
		if token.Broken {
			s.find(RuleUnterminated, Span{token.Start, token.Start + 2}, "this comment has no end")
		}
		h.comments = append(h.comments, token)
	}
}

// dashesFollow tells whether the next line starts with dashes.
func (s *splitter) dashesFollow() bool {
	rest := s.text[s.lexer.pos:]
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "\r"), "\n")
	return strings.HasPrefix(rest, "--")
}

// lineEnds counts the line ends of a text of blanks.
func lineEnds(text string) int {
	n := strings.Count(text, "\n")
	if strings.Contains(text, "\r") {
		n += strings.Count(text, "\r") - strings.Count(text, "\r\n")
	}
	return n
}

// frontMatter picks the blocks that are front matter, and says so when there are two.
func (s *splitter) frontMatter(blocks []*Block, st *Statement) []*Block {
	var front []*Block
	for _, b := range blocks {
		touches := st.SQL.End > 0 && lineEnds(onlyBlanks(s.text[b.End:st.SQL.Start])) == 1
		if b.isFrontMatter(touches, s.options.Match) {
			front = append(front, b)
			continue
		}
		for _, l := range b.Lines {
			if touches {
				s.warnSloppy(l)
			}
			s.warnNotRead([]Token{{Kind: LineComment, Span: Span{l.Start, l.End}}})
		}
	}
	for i, b := range front {
		if i > 0 {
			s.find(RuleTwoBlocks, b.Span, "this statement has front matter already; join both, or put an empty line below an ordinary comment and no key into it")
		}
	}
	return front
}

// onlyBlanks returns a text that has nothing but blanks, or none.
func onlyBlanks(text string) string {
	if strings.TrimLeft(text, " \t\r\n\f\v") != "" {
		return ""
	}
	return text
}

// warnSloppy reports a key that is not one for a blank too few or too many, in lines where front matter would stand.
func (s *splitter) warnSloppy(l BlockLine) {
	line := s.text[l.Content:l.End]
	if word, ok := sloppyKey(line); ok && s.options.Match(word) == Key {
		if _, read := keyOf(line); !read {
			s.find(RuleKeyNotRead, Span{l.Content, l.Content + len(word)},
				"the key "+word+" is not read here: write "+word+": value, with a blank behind the colon and none before it")
		}
	}
}

// warnNotRead reports keys in comments that are not read as front matter: nobody writes them there on purpose.
func (s *splitter) warnNotRead(comments []Token) {
	for _, c := range comments {
		offset := c.Start
		for line := range strings.Lines(c.Text(s.text)) {
			text := strings.TrimLeft(line, "-/*# \t")
			text = strings.TrimRight(text, " \t\r\n*/")
			if word, ok := keyOf(text); ok && s.options.Match(word) == Key {
				start := offset + strings.Index(line, word)
				s.find(RuleKeyNotRead, Span{start, start + len(word)},
					"the key "+word+" is not read here: front matter is the -- lines at the start of their line directly above the statement")
			}
			offset += len(line)
		}
	}
}
