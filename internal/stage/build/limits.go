package build

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// limits bound one build.
type limits struct {
	objects int
	bytes   int64
}

// What bounds the shape of a document, besides Options.
const (
	maxDepth     = 500     // of nesting; no kind of object comes near
	bytesPerNode = 8       // as few bytes as a value of an object has on average, so that many tiny ones are bounded too
	mapBytes     = 48 + 40 // about what a map takes in memory, besides its entries
	entryBytes   = 56
	valueBytes   = 16
)

// counter counts what a build has made so far.
type counter struct {
	limits
	read int64   // bytes of values as JSON
	work float64 // of substitution
}

func (c *counter) add(bytes int64) error {
	c.read += bytes
	// Everything may be there twice: as it was read, and as it was patched or after substitution.
	if c.read > 2*c.bytes {
		return c.tooLarge()
	}
	return nil
}

func (c *counter) tooLarge() error {
	return fmt.Errorf("the objects have more than %d bytes together", c.bytes)
}

func (c *counter) tooMany() error { return fmt.Errorf("there are more than %d objects", c.objects) }

// size is what a value takes.
type size struct {
	json   int64 // as JSON, about
	memory int64
}

// measure says what a JSON value takes, and refuses what is nested too deeply.
func measure(value any, depth int) (size, error) {
	if depth > maxDepth {
		return size{}, errTooDeep()
	}
	total := size{json: bytesPerNode, memory: valueBytes}
	add := func(inner any) error {
		s, err := measure(inner, depth+1)
		total.json += s.json
		total.memory += s.memory
		return err
	}
	switch v := value.(type) {
	case string:
		total.json = max(total.json, int64(len(v))+2)
		total.memory += int64(len(v))
	case map[string]any:
		total.memory += mapBytes
		for key, inner := range v {
			total.json += int64(len(key)) + 4
			total.memory += int64(len(key)) + entryBytes
			if err := add(inner); err != nil {
				return total, err
			}
		}
	case []any:
		total.memory += valueBytes
		for _, inner := range v {
			total.json++
			if err := add(inner); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

func errTooDeep() error { return fmt.Errorf("values are nested more than %d deep", maxDepth) }

// number turns a number into one of the two types that objects have.
func number(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%s is no number that JSON has", strconv.FormatFloat(f, 'g', -1, 64))
	}
	const exact = 1 << 53
	if f == math.Trunc(f) && math.Abs(f) <= exact {
		return int64(f), nil
	}
	return f, nil
}

func checkText(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("the text is not UTF-8")
	}
	return nil
}
