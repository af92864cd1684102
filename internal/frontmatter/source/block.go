package source

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Block is the front matter above a statement: `--` lines at the start of their line, one under the other.
type Block struct {
	Span
	Lines []BlockLine
	text  string // the YAML: the lines behind their base indentation, joined by LF
	yaml  []int  // where each line starts in it
}

// BlockLine is one line of a block. Content starts behind the dashes and the block's base indentation.
type BlockLine struct{ Start, Content, End int }

// YAML returns what the lines hold, each ended by LF.
func (b *Block) YAML() string { return b.text }

// Offset translates an offset in YAML to the offset in the file.
func (b *Block) Offset(yaml int) int {
	line := max(sort.SearchInts(b.yaml, yaml+1)-1, 0)
	l := b.Lines[line]
	return min(l.Content+yaml-b.yaml[line], l.End)
}

// YAMLOffset is the reverse of Offset; false when the offset lies outside of the block's contents.
func (b *Block) YAMLOffset(offset int) (int, bool) {
	for i, l := range b.Lines {
		if l.Content <= offset && offset <= l.End {
			return b.yaml[i] + offset - l.Content, true
		}
	}
	return 0, false
}

// Match tells whether a word is a key of front matter.
type Match uint8

// A near miss is a word that was probably meant to be a key.
const (
	NoKey Match = iota
	NearMiss
	Key
)

// maxBlock is the size in bytes and the number of lines up to which the lines of a block are looked at. It is more than
// front matter may have, so that what is left out belongs to a block that is refused.
const maxBlock = 100_000

// newBlock measures the base indentation, the least of the lines that are not blank, and joins the contents.
func newBlock(text string, comments []Span) *Block {
	b := &Block{Span: Span{comments[0].Start, comments[len(comments)-1].End}}
	base := -1
	size := 0
	for i, c := range comments {
		if size += c.End - c.Start; size > maxBlock {
			comments = comments[:i+1]
			break
		}
	}
	for _, c := range comments {
		content := text[c.Start+2 : c.End]
		blank := len(content) - len(strings.TrimLeft(content, " "))
		if blank < len(content) && strings.TrimSpace(content) != "" && (base < 0 || blank < base) {
			base = blank
		}
	}
	var joined strings.Builder
	for _, c := range comments {
		line := BlockLine{Start: c.Start, Content: min(c.Start+2+max(base, 0), c.End), End: c.End}
		b.Lines = append(b.Lines, line)
		b.yaml = append(b.yaml, joined.Len())
		joined.WriteString(text[line.Content:line.End])
		joined.WriteByte('\n')
	}
	b.text = joined.String()
	return b
}

// keys returns the words that stand where keys stand at the base indentation.
func (b *Block) keys() []string {
	var words []string
	for i := range b.Lines {
		line, _, _ := strings.Cut(b.text[b.yaml[i]:], "\n")
		if word, ok := keyOf(line); ok {
			words = append(words, word)
		}
	}
	return words
}

// keyOf returns the word of a line that looks like `word:`, with a blank or nothing behind the colon. Hyphens count,
// so that a misspelt key is one; quotes do, because YAML allows them.
func keyOf(line string) (string, bool) {
	rest := line
	quote := byte(0)
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		quote, rest = rest[0], rest[1:]
	}
	size := 0
	for size < len(rest) {
		r, n := utf8.DecodeRuneInString(rest[size:])
		if !isNamePart(r) && (r != '-' || size == 0) || size == 0 && !isNameStart(r) {
			break
		}
		size += n
	}
	word := rest[:size]
	rest = rest[size:]
	if quote != 0 {
		if rest == "" || rest[0] != quote {
			return "", false
		}
		rest = rest[1:]
	}
	if word == "" || rest == "" || rest[0] != ':' || len(rest) > 1 && rest[1] != ' ' && rest[1] != '\t' {
		return "", false
	}
	return word, true
}

// sloppyKey returns the word of a line that would be a key with a blank behind its colon and none before it.
func sloppyKey(line string) (string, bool) {
	word, value, colon := strings.Cut(line, ":")
	word = strings.TrimRight(word, " \t")
	if !colon || strings.HasPrefix(value, ":") || strings.HasPrefix(value, "/") {
		return "", false
	}
	return keyOf(word + ": ")
}

// isFrontMatter decides whether a block is front matter. One that touches the SQL is when it has anything like a key;
// one higher up, where licences and section titles stand, only when a word is a key or nearly one.
func (b *Block) isFrontMatter(touches bool, match func(string) Match) bool {
	words := b.keys()
	if touches {
		return len(words) > 0
	}
	return slices.ContainsFunc(words, func(word string) bool { return match(word) != NoKey })
}

// vendor returns the plain value of a vendor key at the base indentation. The dialect of what follows depends on it,
// so it is needed before the block is read as YAML.
func (b *Block) vendor() (string, bool) {
	for i := range b.Lines {
		line, _, _ := strings.Cut(b.text[b.yaml[i]:], "\n")
		if word, ok := keyOf(line); ok && word == "vendor" {
			_, value, _ := strings.Cut(line, ":")
			if before, _, found := strings.Cut(value, " #"); found {
				value = before
			}
			return strings.Trim(strings.TrimSpace(value), `"'`), true
		}
	}
	return "", false
}
