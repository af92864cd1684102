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

// expressions remembers what was compiled, because a release has the same expression in many stages.
type expressions struct {
	results map[string]error
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
		if len(c.expressions.results) >= maxExpressions {
			if !c.expressions.tooMany {
				c.errors = append(c.errors, field.TooMany(at, maxExpressions+1, maxExpressions))
			}
			c.expressions.tooMany = true
			return
		}
		_, err = cel.NewExpression(text, options...)
		c.expressions.results[kind+text] = err
	}
	if err != nil {
		message := strings.TrimPrefix(err.Error(), fmt.Sprintf("failed to parse the CEL expression '%s': ", text))
		c.wrong(at, "it is not a CEL expression: %s", strings.Join(strings.Fields(message), " "))
	}
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
