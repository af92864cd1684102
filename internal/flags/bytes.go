package flags

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory. It is written as a whole number with one of the units B, KiB, MiB, GiB or TiB; Ki, Mi,
// Gi and Ti, as Kubernetes writes them, are the same, and without a unit it is bytes.
type Bytes int64

var units = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// String is the amount in the largest unit that gives a whole number.
func (b Bytes) String() string {
	for _, unit := range units {
		if b != 0 && int64(b)%unit.bytes == 0 {
			return strconv.FormatInt(int64(b)/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Set implements pflag.Value.
func (b *Bytes) Set(text string) error {
	number, factor := strings.TrimSuffix(text, "B"), int64(1)
	for _, unit := range units {
		if rest, ok := strings.CutSuffix(number, strings.TrimSuffix(unit.name, "B")); ok {
			number, factor = rest, unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return fmt.Errorf("%q is not an amount of memory such as 512MiB or 2GiB", text)
	}
	*b = Bytes(n * factor)
	return nil
}

// Type implements pflag.Value.
func (b *Bytes) Type() string { return "bytes" }
