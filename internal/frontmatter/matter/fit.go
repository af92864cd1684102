package matter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Fit compares a node with a shape and reports everything that does not fit, each thing at its own place.
func Fit(n *Node, s *Shape) []source.Finding {
	f := fitter{}
	f.value(n, s, source.Span{})
	return f.findings
}

type fitter struct{ findings []source.Finding }

func (f *fitter) find(rule source.Rule, span source.Span, message string, fixes ...source.Fix) {
	f.findings = append(f.findings, source.Finding{Rule: rule, Span: span, Message: message, Fixes: fixes})
}

// value checks a node; key is the place of its key, for values that are missing.
func (f *fitter) value(n *Node, s *Shape, key source.Span) {
	if n.Kind == Unreadable {
		return
	}
	if n.Kind == Null {
		if !s.Empty {
			span := n.Span
			if span.Start == span.End && key.End > 0 {
				span = key
			}
			f.find(RuleEmpty, span, "the value is missing: write "+s.String()+", or remove the key")
		}
		return
	}
	switch s.Kind {
	case Fields:
		if f.kind(n, s, Mapping) {
			f.fields(n, s)
		}
	case MapOf:
		if f.kind(n, s, Mapping) {
			for _, p := range n.Pairs {
				f.format(p.Key, p.Span, s.KeyFormat)
				f.value(p.Value, s.Item, p.Span)
			}
		}
	case ListOf:
		if f.kind(n, s, List) {
			for _, item := range n.Items {
				f.value(item, s.Item, source.Span{})
			}
		}
	case Either:
		f.either(n, s, key)
	default:
		f.scalar(n, s)
	}
}

func (f *fitter) kind(n *Node, s *Shape, want NodeKind) bool {
	if n.Kind != want {
		f.find(RuleType, n.Span, fmt.Sprintf("%s is wanted here, not %s", s, n.Kind))
	}
	return n.Kind == want
}

func (f *fitter) fields(n *Node, s *Shape) {
	names := s.fieldNames()
	meant := map[string]int{} // how many misspelt keys were probably meant to be this one
	for _, p := range n.Pairs {
		if !slices.Contains(names, p.Key) {
			near, _ := Nearest(p.Key, names)
			meant[near]++
		}
	}
	for _, p := range n.Pairs {
		if field := s.field(p.Key); field != nil {
			f.value(p.Value, &field.Shape, p.Span)
			continue
		}
		near, _ := Nearest(p.Key, names)
		f.unknownKey(p, s, near, n.Get(near) == nil && meant[near] == 1)
	}
	for _, field := range s.Fields {
		if field.Required && n.Get(field.Name) == nil {
			f.find(RuleMissing, n.Span, fmt.Sprintf("%s is missing: %s", field.Name, field.Text))
		}
	}
}

// unknownKey suggests the nearest key. It is sure of it when that is free: no other key is or was meant to be it.
func (f *fitter) unknownKey(p Pair, s *Shape, near string, free bool) {
	message := fmt.Sprintf("there is no key %q", p.Key)
	var fixes []source.Fix
	fits := near != "" && mendable(p.Value, &s.field(near).Shape)
	if near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
		fixes = append(fixes, source.Replacement(p.Span, near, fits && free))
	}
	switch {
	case s == &keyShape && near == "":
		message += "; put an empty line below an ordinary comment, so that it is not read as front matter"
	case s == &keyShape && !fits:
		message += " An ordinary comment needs an empty line below it, so that it is not read as front matter"
	case near == "":
		message += "; there are " + strings.Join(s.fieldNames(), ", ")
	}
	f.find(RuleUnknownKey, p.Span, message, fixes...)
}

// mendable tells whether a value fits, or would once the sure fixes are made. If it does not, its key may be no key at
// all but the first word of a comment, as in "Name: the list of users".
func mendable(n *Node, s *Shape) bool {
	return !slices.ContainsFunc(Fit(n, s), func(found source.Finding) bool {
		return !slices.ContainsFunc(found.Fixes, func(fix source.Fix) bool { return fix.Sure })
	})
}

// either takes the option for the kind of the node: a list, a mapping, or a single value.
func (f *fitter) either(n *Node, s *Shape, key source.Span) {
	for i := range s.Options {
		if o := &s.Options[i]; nodeKindFits(n.Kind, o.Kind) {
			f.value(n, o, key)
			return
		}
	}
	f.find(RuleType, n.Span, fmt.Sprintf("%s is wanted here, not %s", s, n.Kind))
}

func nodeKindFits(n NodeKind, s ShapeKind) bool {
	switch s {
	case ListOf:
		return n == List
	case Fields, MapOf:
		return n == Mapping
	default:
		return n != List && n != Mapping
	}
}

func (f *fitter) scalar(n *Node, s *Shape) {
	switch s.Kind {
	case AnyValue:
		if n.Kind == List || n.Kind == Mapping {
			f.find(RuleType, n.Span, "a single value is wanted here, not "+n.Kind.String())
		}
	case Boolean:
		if n.Kind != Bool {
			f.find(RuleType, n.Span, fmt.Sprintf("true or false is wanted here, not %s", said(n)), booleanFix(n)...)
		}
	case Whole:
		if !isWhole(n) {
			f.find(RuleType, n.Span, fmt.Sprintf("a whole number from 0 is wanted here, not %s", said(n)))
		}
	case OneWord:
		f.word(n, s)
	default:
		f.text(n, s)
	}
}

// maxWhole is the largest whole number that a shape allows.
const maxWhole = 999_999_999

// isWhole goes by the value, as a schema does: 1.0 is a whole number.
func isWhole(n *Node) bool {
	v, ok := n.Number()
	return ok && v == math.Trunc(v) && v >= 0 && v <= maxWhole
}

func said(n *Node) string {
	if n.Kind == List || n.Kind == Mapping || len(n.Value) > 40 || strings.Contains(n.Value, "\n") {
		return n.Kind.String()
	}
	return fmt.Sprintf("%s (%s)", n.Kind, n.Value)
}

// booleanFix suggests the boolean that a text was probably meant to be. It is sure for a misspelt or quoted one.
func booleanFix(n *Node) []source.Fix {
	if n.Kind != Text {
		return nil
	}
	if near, ok := Nearest(n.Value, []string{"true", "false"}); ok {
		return n.Replacement(near, true)
	}
	switch strings.ToLower(n.Value) {
	case "yes", "on", "y":
		return n.Replacement("true", false)
	case "no", "off", "n":
		return n.Replacement("false", false)
	}
	return nil
}

func (f *fitter) word(n *Node, s *Shape) {
	if n.Kind == List || n.Kind == Mapping {
		f.find(RuleType, n.Span, fmt.Sprintf("%s is wanted here, not %s", s, n.Kind))
		return
	}
	if n.Kind == Text && slices.Contains(s.Words, n.Value) {
		return
	}
	message := fmt.Sprintf("%q is not %s", n.Value, s)
	if near, ok := Nearest(n.Value, s.Words); ok {
		f.find(RuleWord, n.Span, fmt.Sprintf("%s; did you mean %s?", message, near), n.Replacement(near, true)...)
		return
	}
	f.find(RuleWord, n.Span, message)
}

func (f *fitter) text(n *Node, s *Shape) {
	if n.Kind != Text {
		var fixes []source.Fix
		if n.Plain {
			fixes = []source.Fix{source.Replacement(n.Span, `"`+n.Value+`"`, false)}
			fixes[0].Title = "Quote the value"
		}
		message := fmt.Sprintf("%s is wanted here, not %s", s, said(n))
		if n.Plain {
			message += "; quote it if it is a text"
		}
		f.find(RuleType, n.Span, message, fixes...)
		return
	}
	if s.NotBlank && n.Value == "" {
		f.find(RuleEmpty, n.Span, "the text is empty: write "+s.String()+", or remove the key")
		return
	}
	if s.Format != nil {
		f.format(n.Value, n.Span, s.Format)
	}
}

func (f *fitter) format(text string, span source.Span, format *Format) {
	if format == nil || format.regexp.MatchString(text) && !slices.Contains(format.Not, text) {
		return
	}
	f.find(RuleFormat, span, fmt.Sprintf("%q is not %s: %s", text, format.Name, format.Text))
}
