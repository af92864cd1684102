package std

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What Jsonnet's own std.manifestYamlDoc asks of a key, as regular expressions.
var (
	bareKey   = regexp.MustCompile(`^[a-zA-Z0-9_./-]+$`)
	dateKey   = regexp.MustCompile(`^(?:[0-9]*-){2}[0-9]*$`)
	binaryKey = regexp.MustCompile(`^[-+]?0b[0-1_]+$`)
	hexKey    = regexp.MustCompile(`[-+]?0x[0-9a-fA-F_]+`)
)

func bareSafeByPatterns(s string) bool {
	for _, word := range yamlReserved {
		if strings.EqualFold(s, word) {
			return false
		}
	}
	_, integer := strconv.Atoi(s)
	_, float := strconv.ParseFloat(s, 64)
	return bareKey.MatchString(s) && !dateKey.MatchString(s) && !binaryKey.MatchString(s) && !hexKey.MatchString(s) &&
		integer != nil && float != nil
}

func TestYamlBareSafe_AgreesWithThePatterns(t *testing.T) {
	m := newMachine()
	keys := []string{
		"", "a", "NaN", "nan", "inf", "Infinity", "1e5", "1_000", "0x1p-2", "0xfg", "x0x0x_", "0b", "0b1", "-0b_", "1-2-3", "--", "-",
		"2020-01-01", "1-2", "1-2-3-4", "9999999999999999999999", "1e999", "Yes", "no", "null", "é", "a b",
		strings.Repeat("1", 3*chunk), strings.Repeat("-", 3*chunk), strings.Repeat("0x", 2*chunk) + "g", strings.Repeat("0x", 2*chunk) + "0",
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same keys in every run
	const alphabet = "0011xxbb--++__..eEaAinftyp/ é"
	for range 20_000 {
		key := make([]byte, random.IntN(8))
		for i := range key {
			key[i] = alphabet[random.IntN(len(alphabet))]
		}
		keys = append(keys, string(key))
	}
	for _, key := range keys {
		if got, want := yamlBareSafe(m, key), bareSafeByPatterns(key); got != want {
			t.Errorf("%.40q needs no quotes: %v, want %v", key, got, want)
		}
	}
}
