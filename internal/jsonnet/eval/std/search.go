package std

import (
	"strings"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// longPattern is the size of a pattern from which searching takes a library call that is awaited: the windows of a
// stoppable search would be too many, each at the cost of looking at the whole pattern.
const longPattern = 64 << 10

// index is strings.Index in steps that can be stopped.
func index(m *vm.Machine, text, pattern string) int {
	if len(text) <= chunk {
		return strings.Index(text, pattern)
	}
	if len(pattern) > longPattern {
		at := -1
		awaited(m, len(text), func() { at = strings.Index(text, pattern) })
		return at
	}
	for from := 0; from < len(text); from += chunk {
		m.Tick()
		window := text[from:min(from+chunk+len(pattern)-1, len(text))]
		if at := strings.Index(window, pattern); at >= 0 {
			return from + at
		}
	}
	return -1
}

// lastIndex is strings.LastIndex in steps that can be stopped.
func lastIndex(m *vm.Machine, text, pattern string) int {
	if len(text) <= chunk {
		return strings.LastIndex(text, pattern)
	}
	if len(pattern) > longPattern {
		at := -1
		awaited(m, len(text), func() { at = strings.LastIndex(text, pattern) })
		return at
	}
	for to := len(text); to > 0; to -= chunk {
		m.Tick()
		from := max(0, to-chunk-len(pattern)+1)
		if at := strings.LastIndex(text[from:to], pattern); at >= 0 {
			return from + at
		}
	}
	return -1
}

// occurrences is strings.Count, up to limit, in steps that can be stopped.
func occurrences(m *vm.Machine, text, pattern string, limit int) int {
	if len(text) <= chunk {
		return min(strings.Count(text, pattern), limit)
	}
	n := 0
	for n < limit {
		m.Tick()
		at := index(m, text, pattern)
		if at < 0 {
			break
		}
		n++
		text = text[at+len(pattern):]
	}
	return n
}

// awaited is Machine.Await for what cannot fail.
func awaited(m *vm.Machine, n int, f func()) {
	_ = m.Await(n, func() error { f(); return nil })
}

// runeSet is a set of characters.
type runeSet []uint64

// setFrom is the size from which making a set, which has a bit for every character there is, is worth its time.
const setFrom = 4 << 10

// containing returns a function that says whether a character is in chars.
func containing(m *vm.Machine, chars string) func(rune) bool {
	if len(chars) < setFrom {
		return func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	set := make(runeSet, utf8.MaxRune/64+1)
	m.Chunks(chars, func(part string) {
		for _, r := range part {
			set[r/64] |= 1 << (r % 64)
		}
	})
	return func(r rune) bool { return set[r/64]&(1<<(r%64)) != 0 }
}
