package matter

import (
	"slices"
	"strings"
)

// Nearest returns the one word that a misspelt word was probably meant to be: the same but for case, hyphens and
// underscores, or a slip of the fingers away, two in a long word. None when two are equally near.
//
// What it returns is applied without asking, so that in doubt it returns nothing: "simple" is two slips from "single",
// "fake" from "false".
func Nearest(word string, words []string) (string, bool) {
	best, bestDistance, bestExact, tie := "", 99, 99, false
	folded := fold(word)
	for _, candidate := range words {
		d := distance(folded, fold(candidate))
		limit := 1
		if len(candidate) >= longWord {
			limit = 2
		}
		if d > limit || d == 1 && len(candidate) <= shortWord && !sameLetters(folded, fold(candidate)) {
			continue
		}
		exact := distance(word, candidate) // case decides between String and string
		switch {
		case d < bestDistance || d == bestDistance && exact < bestExact:
			best, bestDistance, bestExact, tie = candidate, d, exact, false
		case d == bestDistance && exact == bestExact:
			tie = true
		}
	}
	if tie {
		return "", false
	}
	return best, best != ""
}

// Lengths in bytes of the words up to which a slip is looked at more closely, and from which two slips are allowed.
const (
	shortWord = 4
	longWord  = 8
)

// sameLetters tells whether a short word is another with its letters swapped, or with one more or less behind the first:
// replacing one letter of four (time, type), or putting one in front (one, none), makes another word too easily.
func sameLetters(word, candidate string) bool {
	a, b := []rune(word), []rune(candidate)
	if len(a) != len(b) {
		return len(a) > 0 && a[0] == b[0]
	}
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

var joiners = strings.NewReplacer("-", "", "_", "")

func fold(word string) string { return strings.ToLower(joiners.Replace(word)) }

// distance counts the letters to insert, remove, replace or swap with their neighbour between two words, each letter
// touched at most once (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if abs(len(x)-len(y)) > 2 {
		return 99
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

func abs(n int) int { return max(n, -n) }
