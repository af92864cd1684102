package source

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPosition_CountsWhatIsAskedFor(t *testing.T) {
	text := "\uFEFFa😀b\r\nzwei\rö3\n"
	f := NewFile("x.sql", text)
	tests := []struct {
		why      string
		at       string // the position is where this text starts
		encoding Encoding
		want     Position
	}{
		{"a byte order mark has no width", "a", CodePoints, Position{1, 1}},
		{"an emoji is one code point", "b", CodePoints, Position{1, 3}},
		{"an emoji is a surrogate pair", "b", UTF16, Position{1, 4}},
		{"an emoji is four bytes", "b", UTF8, Position{1, 6}},
		{"CRLF ends one line", "zwei", CodePoints, Position{2, 1}},
		{"CR ends a line", "ö", CodePoints, Position{3, 1}},
		{"two bytes", "3", UTF8, Position{3, 3}},
	}
	for _, tt := range tests {
		offset := strings.Index(text, tt.at)
		if diff := cmp.Diff(tt.want, f.PositionIn(offset, tt.encoding)); diff != "" {
			t.Errorf("%s: position (-want +got):\n%s", tt.why, diff)
		}
		if got := f.Offset(tt.want, tt.encoding); got != offset {
			t.Errorf("%s: offset of %v = %d, want %d", tt.why, tt.want, got, offset)
		}
	}
	if got := f.PositionIn(len(text), CodePoints); got != (Position{4, 1}) {
		t.Errorf("end of the text = %v, want 4:1", got)
	}
}

func TestOffset_OutsideOfTheText(t *testing.T) {
	f := NewFile("x.sql", "ab\n😀\n")
	tests := []struct {
		why  string
		p    Position
		want int
	}{
		{"before the first line", Position{0, 5}, 0},
		{"behind the last line", Position{99, 1}, 8},
		{"behind the end of a line", Position{1, 99}, 2},
		{"between the halves of a surrogate pair", Position{2, 2}, 3},
	}
	for _, tt := range tests {
		if got := f.Offset(tt.p, UTF16); got != tt.want {
			t.Errorf("%s: offset = %d, want %d", tt.why, got, tt.want)
		}
	}
}

// TestPosition_InALongLine: strides change nothing, wherever the multibyte characters fall.
func TestPosition_InALongLine(t *testing.T) {
	text := strings.Repeat("x", stride-1) + strings.Repeat("ö😀", 3*stride)
	f := NewFile("x.sql", text)
	points, units := 1, 1
	for offset, r := range text {
		if got := f.PositionIn(offset, CodePoints).Column; got != points {
			t.Fatalf("column at %d = %d, want %d", offset, got, points)
		}
		if got := f.PositionIn(offset, UTF16).Column; got != units {
			t.Fatalf("UTF-16 column at %d = %d, want %d", offset, got, units)
		}
		points++
		units++
		if r > 0xFFFF {
			units++
		}
	}
}

func TestCheckEncoding_NamesTheByte(t *testing.T) {
	findings := NewFile("x.sql", "select 'ö\xe4'").CheckEncoding()
	if len(findings) != 1 || findings[0].Span != (Span{10, 11}) || !strings.Contains(findings[0].Message, "0xE4 at offset 10") {
		t.Errorf("findings = %+v, want one at offset 10", findings)
	}
}
