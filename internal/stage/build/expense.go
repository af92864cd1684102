package build

import (
	"errors"
	"math"
	"strings"

	"github.com/fluxcd/pkg/envsubst/parse"
)

// What one object may ask of substitution, whose library bounds nothing: it recurses for every variable, ${a//b/c} makes
// much of little, and ${a##b} tries every prefix.
const (
	maxDollars = 10_000
	maxWork    = 1 << 30 // of one build, in bytes that are looked at
)

var (
	errManyVariables = errors.New("there are too many $ in one object; set the annotation " + disableKey + ": disabled")
	errExpensive     = errors.New("substitution would make too much of it, or take too long")
)

// expense is an upper bound of what it takes to fill in a template.
type expense struct {
	bytes float64 // of the result
	work  float64
}

// estimate says what filling in a text takes, before it is done.
func estimate(text string, variables map[string]string) (expense, error) {
	if strings.Count(text, "$") > maxDollars {
		return expense{}, errManyVariables
	}
	tree, err := parse.Parse(text)
	if err != nil {
		return expense{}, errors.New("a ${…} is not understood; write $${…} for one that is to stay")
	}
	return expenseOf(tree.Root, variables), nil
}

func expenseOf(node parse.Node, variables map[string]string) expense {
	switch n := node.(type) {
	case *parse.TextNode:
		return expense{float64(len(n.Value)), float64(len(n.Value))}
	case *parse.ListNode:
		var total expense
		for _, inner := range n.Nodes {
			e := expenseOf(inner, variables)
			total.bytes += e.bytes
			total.work += e.work
		}
		return total
	case *parse.FuncNode:
		return expenseOfFunc(n, variables)
	}
	return expense{}
}

func expenseOfFunc(n *parse.FuncNode, variables map[string]string) expense {
	value := float64(len(variables[n.Param]))
	var total expense // of all arguments
	last := 0.0
	for _, argument := range n.Args {
		e := expenseOf(argument, variables)
		last = e.bytes
		total.bytes += e.bytes
		total.work += e.work
	}
	result := expense{bytes: math.Max(value, total.bytes)}
	switch n.Name {
	case "/", "/#", "/%":
		result.bytes = value + last
	case "//":
		result.bytes = value + (value+1)*last
	case ",", ",,", "^", "^^":
		const widest = 4 // bytes of a rune whose other case is longer
		result.bytes = widest * value
	case "#", "##", "%", "%%":
		result.bytes = value + 20 //nolint:mnd // digits of a length
		result.work = value * (value + 1) * (total.bytes + 1)
	}
	result.work += total.work + result.bytes + value + 1
	return result
}
