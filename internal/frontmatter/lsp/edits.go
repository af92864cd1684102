package lsp

import (
	"context"
	"slices"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/format"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll"
)

func (s *server) edits(f *source.File, edits []source.Edit) []textEdit {
	out := make([]textEdit, 0, len(edits))
	for _, e := range edits {
		out = append(out, textEdit{s.workspace.rangeOf(f, e.Span), e.Text})
	}
	return out
}

// formatting returns nothing for a document with errors in its form, as fmt leaves such files alone.
func (s *server) formatting(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p documentParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	d, ok := s.workspace.documents[p.TextDocument.URI]
	if !ok {
		return []textEdit{}, nil
	}
	for _, found := range d.findings() {
		row, _ := check.RuleNamed(string(found.Rule))
		if found.Severity == check.Error && (row.Layer == check.LayerFile || row.Layer == check.LayerShape) {
			return []textEdit{}, nil
		}
	}
	file := d.current()
	return s.edits(file.File, format.Edits(file)), nil
}

// codeAction offers the fixes of the findings in a range, and all sure ones of the document at once.
func (s *server) codeAction(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p codeActionParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	actions := []codeAction{}
	d, ok := s.workspace.documents[p.TextDocument.URI]
	if !ok {
		return actions, nil
	}
	file := d.current().File
	start, end := s.workspace.offsetOf(file, p.Range.Start), s.workspace.offsetOf(file, p.Range.End)
	wanted := func(kind string) bool { return len(p.Context.Only) == 0 || slices.Contains(p.Context.Only, kind) }
	found := d.findings()
	for _, f := range found {
		if !wanted(quickFix) || f.Span.End < start || end < f.Span.Start {
			continue
		}
		for _, fix := range f.Fixes {
			actions = append(actions, codeAction{
				Title: fix.Title, Kind: quickFix, IsPreferred: fix.Sure, Diagnostics: []diagnostic{s.diagnostic(d, f)},
				Edit: &workspaceEdit{map[string][]textEdit{d.uri: s.edits(file, fix.Edits)}},
			})
		}
	}
	if edits, n := check.SureEdits(found); n > 0 && wanted(fixAll) {
		actions = append(actions, codeAction{
			Title: "Apply all sure suggestions", Kind: fixAll,
			Edit: &workspaceEdit{map[string][]textEdit{d.uri: s.edits(file, edits)}},
		})
	}
	return actions, nil
}
