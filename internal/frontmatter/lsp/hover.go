package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// at is what stands at a place of a document.
type at struct {
	document  *document
	file      *statement.File
	offset    int
	statement *statement.Statement // nil between statements
}

// locate decodes a place; nil for a document that is not open.
func (s *server) locate(p positionParams) *at {
	d, ok := s.workspace.documents[p.TextDocument.URI]
	if !ok {
		return nil
	}
	a := &at{document: d, file: d.current()}
	a.offset = s.workspace.offsetOf(a.file.File, p.Position)
	for _, st := range a.file.Statements {
		if st.Source.Contains(a.offset) {
			a.statement = st
			if a.offset < st.Source.End {
				break
			}
		}
	}
	return a
}

// parameter returns the parameter at the place, and the span of its name there.
func (a *at) parameter() (*statement.Parameter, source.Span) {
	if a.statement == nil {
		return nil, source.Span{}
	}
	for i := range a.statement.Parameters {
		p := &a.statement.Parameters[i]
		if p.Declared() && p.Span.Contains(a.offset) {
			return p, p.Span
		}
		for _, use := range p.Uses {
			if use.Contains(a.offset) {
				return p, source.Span{Start: use.Start + 1, End: use.End}
			}
		}
	}
	return nil, source.Span{}
}

func (s *server) hover(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p positionParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	a := s.locate(p)
	if a == nil || a.statement == nil {
		return nil, nil //nolint:nilnil // nothing to show
	}
	text, span := a.describe()
	if text == "" {
		return nil, nil //nolint:nilnil // nothing to show
	}
	return hoverResult{markup{"markdown", text}, s.workspace.rangeOf(a.file.File, span)}, nil
}

// describe says what stands at the place.
func (a *at) describe() (string, source.Span) {
	if p, span := a.parameter(); p != nil {
		return parameterMarkdown(p), span
	}
	if a.statement.Written != nil {
		if text, span := describeKey(a.statement.Written, matter.KeyShape(), a.offset, true); text != "" {
			return text, span
		}
	}
	return "", source.Span{}
}

func parameterMarkdown(p *statement.Parameter) string {
	kind := "its type is not declared"
	if p.Type != "" {
		kind = "`" + p.Type + "`"
		if t, err := statement.ParseType(p.Type); err == nil && t.String() != p.Type {
			kind += " (`" + t.String() + "`)"
		}
	}
	if p.Variant != "" {
		kind += ", " + p.Variant
	}
	times := fmt.Sprintf("used %d times", len(p.Uses))
	if len(p.Uses) == 1 {
		times = "used once"
	}
	return fmt.Sprintf("**:%s**: %s, %s", p.Name, kind, times)
}

// describeKey finds the key at an offset, from the top of the front matter to inner mappings.
func describeKey(n *matter.Node, shape *matter.Shape, offset int, top bool) (string, source.Span) {
	for _, p := range n.Pairs {
		field := fieldOf(shape, p.Key)
		if field == nil {
			continue
		}
		if p.Span.Contains(offset) || top && p.Value.Span.Contains(offset) && p.Value.Kind != matter.List && p.Value.Kind != matter.Mapping {
			if k, ok := matter.KeyNamed(p.Key); ok && top {
				return keyMarkdown(k), p.Span
			}
			return "**" + field.Name + "**: " + field.Shape.String() + "\n\n" + field.Text, p.Span
		}
		for _, inner := range expand([]*matter.Shape{&field.Shape}) {
			for _, child := range append([]*matter.Node{p.Value}, p.Value.Items...) {
				if text, span := describeKey(child, inner, offset, false); text != "" {
					return text, span
				}
			}
		}
	}
	return "", source.Span{}
}

func fieldOf(shape *matter.Shape, key string) *matter.Field {
	for i := range shape.Fields {
		if shape.Fields[i].Name == key {
			return &shape.Fields[i]
		}
	}
	return nil
}

func (s *server) documentSymbols(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p documentParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	symbols := []documentSymbol{}
	d, ok := s.workspace.documents[p.TextDocument.URI]
	if !ok {
		return symbols, nil
	}
	file := d.current()
	for _, st := range file.Statements {
		whole := st.Source.SQL
		if st.Source.Block != nil {
			whole.Start = st.Source.Block.Start
		}
		name, selection := st.Name.Text, st.Name.Span
		if name == "" {
			name = "(no name)"
		}
		if selection.Start < whole.Start || selection.End > whole.End || selection.End == 0 {
			selection = source.Span{Start: st.Source.SQL.Start, End: st.Source.SQL.Start}
		}
		symbols = append(symbols, documentSymbol{
			Name: name, Detail: strings.TrimSpace(st.Type + " " + st.Returning), Kind: kindMethod,
			Range: s.workspace.rangeOf(file.File, whole), SelectionRange: s.workspace.rangeOf(file.File, selection),
		})
	}
	return symbols, nil
}
