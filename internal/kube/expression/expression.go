package expression

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
)

const (
	// maxLength bounds the text of an expression.
	maxLength = 4096
	// maxCost bounds what one evaluation does, in CEL's own unit: a field, a comparison, an element that is looked at.
	// It is what Kubernetes allows the expressions of an admission policy.
	maxCost = 1_000_000
	// interruptEvery is how many elements are looked at before a context is; as in Kubernetes.
	interruptEvery = 100
)

// Condition is an expression that is true or false. It can be used concurrently.
type Condition struct {
	program cel.Program
}

// Compile reads an expression. As fields are known only once there is an object, types are checked only when it is
// evaluated. Flux's own package is not used because what its expressions cost is not limited.
func Compile(source string) (*Condition, error) {
	if len(source) > maxLength {
		return nil, fmt.Errorf("the expression has %d characters, more than %d", len(source), maxLength)
	}
	env, err := cel.NewEnv(
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		ext.Strings(),
		ext.Sets(),
		ext.Encoders(),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing to read expressions: %w", err)
	}
	parsed, issues := env.Parse(source)
	if issues != nil {
		return nil, errors.New(firstLine(issues.String()))
	}
	program, err := env.Program(parsed, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost),
		cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, err
	}
	return &Condition{program: program}, nil
}

// Holds evaluates the condition for an object. An error says in words that repeat no value of the object why it cannot be
// evaluated: mostly that a field is missing.
func (c *Condition) Holds(ctx context.Context, object map[string]any) (holds bool, err error) {
	defer func() {
		if recover() != nil { // a library that meets odd data must not end the program
			holds, err = false, errors.New("it cannot be evaluated")
		}
	}()
	value, _, err := c.program.ContextEval(ctx, object)
	if err != nil {
		return false, withoutValues(err)
	}
	result, ok := value.(types.Bool)
	if !ok {
		return false, errors.New("its value is neither true nor false")
	}
	return bool(result), nil
}

// withoutValues keeps of an error what tells no value: that of a failed conversion, say, has it in full.
func withoutValues(err error) error {
	message := firstLine(err.Error())
	for _, known := range []string{"no such key: ", "no such attribute(s): "} {
		if field, ok := strings.CutPrefix(message, known); ok && isPath(field) {
			return fmt.Errorf("there is no %s", field)
		}
	}
	for known, told := range map[string]string{
		"cost limit": "it costs too much", "no such overload": "a value is of another type than is expected",
		"interrupted": "it takes too long",
	} {
		if strings.Contains(message, known) {
			return errors.New(told)
		}
	}
	return errors.New("it cannot be evaluated")
}

// isPath reports whether a text looks like the name of a field. A key may be computed from a value.
func isPath(text string) bool {
	const longest = 63
	for _, r := range text {
		if r != '.' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return text != "" && len(text) <= longest
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
