package source

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// MaxFileSize is the size in bytes above which a file is refused instead of read: statements are written by hand, and
// what is larger is a dump that was meant for another folder.
const MaxFileSize = 32 << 20

const byteOrderMark = "\uFEFF"

// stride is the distance in bytes between two places with a known count of code points, so that a position in a very
// long line costs no more than one in a short line.
const stride = 4096

// File is a text with a path. Its lines end at LF, CRLF or CR.
type File struct {
	Path string
	Text string

	lines  []int // offset of each line's first byte
	points []int // code points before each multiple of stride
	units  []int // the same in UTF-16 code units
	ascii  bool
}

// NewFile indexes a text. The text is kept as it is, a byte order mark included.
func NewFile(path, text string) *File {
	f := &File{Path: path, Text: text, lines: []int{0}, ascii: true}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			f.lines = append(f.lines, i+1)
		case c >= utf8.RuneSelf:
			f.ascii = false
		}
	}
	if !f.ascii {
		f.countPoints()
	}
	return f
}

func (f *File) countPoints() {
	points, units, next := 0, 0, 0
	for i, r := range f.Text {
		for ; next <= i; next += stride {
			f.points, f.units = append(f.points, points), append(f.units, units)
		}
		points++
		units++
		if r > 0xFFFF {
			units++
		}
	}
	for ; next <= len(f.Text); next += stride {
		f.points, f.units = append(f.points, points), append(f.units, units)
	}
}

// HasBOM says whether the text starts with a byte order mark, which no position counts.
func (f *File) HasBOM() bool { return strings.HasPrefix(f.Text, byteOrderMark) }

// CheckEncoding reports the first byte that is not UTF-8.
func (f *File) CheckEncoding() []Finding {
	if f.ascii || utf8.ValidString(f.Text) {
		return nil
	}
	for i := 0; i < len(f.Text); {
		r, size := utf8.DecodeRuneInString(f.Text[i:])
		if r == utf8.RuneError && size <= 1 {
			return []Finding{{
				Rule: RuleEncoding, Span: Span{i, i + 1},
				Message: fmt.Sprintf("byte 0x%02X at offset %d is not UTF-8; save the file as UTF-8", f.Text[i], i),
			}}
		}
		i += size
	}
	return nil
}

// Encoding is what a column counts.
type Encoding uint8

// The encodings of columns: code points for people, the others for editors that ask for them.
const (
	CodePoints Encoding = iota
	UTF8
	UTF16
)

// Position is a place as a reader sees it. Line and Column count from 1.
type Position struct{ Line, Column int }

// Position returns the line and the column, in code points, of an offset.
func (f *File) Position(offset int) Position { return f.PositionIn(offset, CodePoints) }

// PositionIn is Position with columns in the given encoding.
func (f *File) PositionIn(offset int, encoding Encoding) Position {
	offset = max(0, min(offset, len(f.Text)))
	line := sort.SearchInts(f.lines, offset+1) - 1
	start := f.lines[line]
	if line == 0 && f.HasBOM() {
		start = min(len(byteOrderMark), len(f.Text))
		offset = max(offset, start)
	}
	return Position{Line: line + 1, Column: f.count(offset, encoding) - f.count(start, encoding) + 1}
}

// count returns the units of an encoding before an offset.
func (f *File) count(offset int, encoding Encoding) int {
	if f.ascii || encoding == UTF8 {
		return offset
	}
	known := offset / stride
	n, from := f.points[known], known*stride
	if encoding == UTF16 {
		n = f.units[known]
	}
	// The counts at a stride include a rune that begins before and ends behind it.
	for from < offset && from > 0 && !utf8.RuneStart(f.Text[from]) {
		from++
	}
	for _, r := range f.Text[from:max(from, offset)] {
		n++
		if encoding == UTF16 && r > 0xFFFF {
			n++
		}
	}
	return n
}

// Offset returns the offset of a position, moved into the line and the text where it lies outside of them.
func (f *File) Offset(p Position, encoding Encoding) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(f.lines) {
		return len(f.Text)
	}
	line := f.Line(p.Line)
	if p.Line == 1 && f.HasBOM() {
		line.Start = len(byteOrderMark)
	}
	want := p.Column - 1
	if f.ascii || encoding == UTF8 {
		offset := min(line.Start+max(want, 0), line.End)
		for offset > line.Start && offset < line.End && !utf8.RuneStart(f.Text[offset]) {
			offset--
		}
		return offset
	}
	for i, r := range f.Text[line.Start:line.End] {
		if want <= 0 {
			return line.Start + i
		}
		want--
		if encoding == UTF16 && r > 0xFFFF {
			if want == 0 {
				return line.Start + i // inside a surrogate pair: its start
			}
			want--
		}
	}
	return line.End
}

// Lines returns the number of lines; a line end at the end of the text starts one more.
func (f *File) Lines() int { return len(f.lines) }

// Line returns the span of a line, counted from 1, without its line end.
func (f *File) Line(number int) Span {
	end := len(f.Text)
	if number < len(f.lines) {
		end = f.lines[number] - 1
		if end > 0 && f.Text[end] == '\n' && f.Text[end-1] == '\r' && end > f.lines[number-1] {
			end--
		}
	}
	return Span{f.lines[number-1], end}
}
