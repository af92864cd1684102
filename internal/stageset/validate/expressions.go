package validate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	celgo "github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxExpressions bounds the different expressions of one StageSet: compiling one takes as long as many other checks.
const maxExpressions = 128

const (
	// maxExpressionText bounds the length of all different expressions together, in bytes.
	maxExpressionText = 16 << 10
	// maxNesting bounds brackets inside each other, and maxLoops what goes through lists: the time that it takes to find out
	// the type of lists of lists grows with a power of their depth, however they are made.
	maxNesting = 16
	maxLoops   = 16
	// maxExpressionError bounds what is told of one, in bytes: the compiler repeats the expression for each error in it.
	maxExpressionError = 512
)

// expressions remembers what was compiled, because a release has the same expression in many stages.
type expressions struct {
	results map[string]error
	length  int // of all texts
	tooMany bool
}

// objectExpression is one whose variables are the fields of an object, which may be any.
func (c *checker) objectExpression(at *field.Path, text string) { c.expression(at, text, "object") }

// readyExpression is one over the StageSet that is depended on, and the one that depends.
func (c *checker) readyExpression(at *field.Path, text string) {
	c.expression(at, text, "ready", cel.WithCompile(), cel.WithOutputType(celgo.BoolType), cel.WithStructVariables("dep", "self"))
}

func (c *checker) expression(at *field.Path, text, kind string, options ...cel.Option) {
	if text == "" {
		return
	}
	err, known := c.expressions.results[kind+text]
	if !known {
		c.expressions.length += len(text)
		if len(c.expressions.results) >= maxExpressions || c.expressions.length > maxExpressionText {
			switch {
			case c.expressions.tooMany:
			case c.expressions.length > maxExpressionText:
				c.wrong(at, "all different expressions together have more than %d bytes", maxExpressionText)
			default:
				c.errors = append(c.errors, field.TooMany(at, maxExpressions+1, maxExpressions))
			}
			c.expressions.tooMany = true
			return
		}
		if err = checkNesting(text); err == nil {
			_, err = cel.NewExpression(text, options...)
		}
		c.expressions.results[kind+text] = err
	}
	if err != nil {
		message := strings.TrimPrefix(err.Error(), fmt.Sprintf("failed to parse the CEL expression '%s': ", text))
		message = strings.Join(strings.Fields(message), " ")
		if len(message) > maxExpressionError {
			message = strings.ToValidUTF8(message[:maxExpressionError], "") + "..."
		}
		c.wrong(at, "it is not a CEL expression: %s", message)
	}
}

var loop = regexp.MustCompile(`\b(all|exists|exists_one|map|filter)\b`)

// checkNesting counts brackets and loops, also those in strings, where they are seldom many.
func checkNesting(text string) error {
	if len(loop.FindAllStringIndex(text, maxLoops+1)) > maxLoops {
		return fmt.Errorf("there are more than %d of all, exists, exists_one, map and filter", maxLoops)
	}
	depth := 0
	for _, r := range text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth > maxNesting {
			return fmt.Errorf("more than %d brackets are inside each other", maxNesting)
		}
	}
	return nil
}

// selector checks what selects objects as kustomize does: names are regular expressions that match as a whole.
func (c *checker) selector(at *field.Path, s kustomize.Selector) {
	for _, f := range []struct{ name, text string }{
		{"group", s.Group},
		{"version", s.Version},
		{"kind", s.Kind},
		{"namespace", s.Namespace},
		{"name", s.Name},
	} {
		if _, err := anchored(f.text); err != nil {
			c.invalid(at.Child(f.name), f.text, "it is not a regular expression: %v", err)
		}
	}
	for _, f := range []struct{ name, text string }{
		{"labelSelector", s.LabelSelector},
		{"annotationSelector", s.AnnotationSelector},
	} {
		if _, err := labels.Parse(f.text); err != nil {
			c.invalid(at.Child(f.name), f.text, "it is not a selector: %v", err)
		}
	}
}

func anchored(pattern string) (*regexp.Regexp, error) { return regexp.Compile("^(?:" + pattern + ")$") }
