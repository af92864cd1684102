package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

func (s *server) prepareRename(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p positionParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	a := s.locate(p)
	if a == nil {
		return nil, nil //nolint:nilnil // nothing to rename
	}
	parameter, span := a.parameter()
	if parameter == nil {
		return nil, nil //nolint:nilnil // nothing to rename
	}
	return prepareResult{s.workspace.rangeOf(a.file.File, span), parameter.Name}, nil
}

// rename renames a parameter where it is declared and used, in all variants of the statement.
func (s *server) rename(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p renameParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	a := s.locate(p.positionParams)
	if a == nil {
		return nil, nil //nolint:nilnil // nothing to rename
	}
	parameter, _ := a.parameter()
	if parameter == nil {
		return nil, failed("only parameters can be renamed")
	}
	if !parameterName(p.NewName) {
		return nil, failed("%q cannot name a parameter: it must be letters, digits and _, and no keyword of Java", p.NewName)
	}
	edit := workspaceEdit{map[string][]textEdit{}}
	for _, variant := range a.variants() {
		for i := range variant.Parameters {
			other := &variant.Parameters[i]
			if other.Name == p.NewName && p.NewName != parameter.Name {
				return nil, failed("%s has a parameter %s already", variant.File.Relative, p.NewName)
			}
			if other.Name == parameter.Name {
				uri := s.uriFor(variant.File.Path)
				edit.Changes[uri] = append(edit.Changes[uri], s.edits(variant.File.File, renameEdits(variant, other, p.NewName))...)
			}
		}
	}
	return edit, nil
}

func failed(format string, args ...any) error {
	return &jsonrpc2.Error{Code: codeRequestFailed, Message: fmt.Sprintf(format, args...)}
}

// parameterName tells whether the lexer reads :name as one parameter of a name that Java allows.
func parameterName(name string) bool {
	l := source.Lexer{Text: ":" + name}
	token, _ := l.Next()
	return token.Kind == source.Parameter && token.End == len(name)+1 && matter.IsName(name)
}

func renameEdits(st *statement.Statement, p *statement.Parameter, name string) []source.Edit {
	var edits []source.Edit
	for _, use := range p.Uses {
		edits = append(edits, source.Edit{Span: source.Span{Start: use.Start + 1, End: use.End}, Text: name})
	}
	if p.Declared() {
		text := name
		if declared := p.Span.Text(st.File.Text); declared != p.Name {
			text = declared[:1] + name + declared[:1] // quoted
		}
		edits = append(edits, source.Edit{Span: p.Span, Text: text})
	}
	slices.SortFunc(edits, func(a, b source.Edit) int { return cmp.Compare(a.Start, b.Start) })
	return edits
}

// variants returns the statements of the same name in the same repository, the one at the place among them.
func (a *at) variants() []*statement.Statement {
	all := []*statement.Statement{a.statement}
	if a.statement.Name.Text == "" || a.statement.Repository.Text == "" {
		return all
	}
	for _, f := range a.document.project.files {
		for _, st := range f.Statements {
			if st != a.statement && st.Name.Text == a.statement.Name.Text && st.Repository.Text == a.statement.Repository.Text {
				all = append(all, st)
			}
		}
	}
	return all
}
