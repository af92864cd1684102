package lsp

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

func (s *server) didOpen(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p openParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	d := s.workspace.open(p.TextDocument.URI, p.TextDocument.Text, p.TextDocument.Version)
	d.current()
	s.workspace.touch(d.project)
	return nil, nil //nolint:nilnil // a notification has no result
}

func (s *server) didChange(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p changeParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	d, ok := s.workspace.documents[p.TextDocument.URI]
	if !ok {
		return nil, nil //nolint:nilnil // a notification has no result
	}
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			d.text = c.Text
			continue
		}
		file := source.NewFile(d.path, d.text)
		start, end := s.workspace.offsetOf(file, c.Range.Start), s.workspace.offsetOf(file, c.Range.End)
		d.text = d.text[:start] + c.Text + d.text[max(start, end):]
	}
	d.version = p.TextDocument.Version
	d.file = nil
	s.workspace.touch(d.project)
	return nil, nil //nolint:nilnil // a notification has no result
}

// didSave reads a project anew when its settings were saved.
func (s *server) didSave(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p documentParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	s.changedOnDisk(p.TextDocument.URI)
	return nil, nil //nolint:nilnil // a notification has no result
}

func (s *server) didClose(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	var p documentParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	d, ok := s.workspace.documents[p.TextDocument.URI]
	if !ok {
		return nil, nil //nolint:nilnil // a notification has no result
	}
	delete(s.workspace.documents, d.uri)
	if d.project.File != nil {
		d.project.load(d.path)
	} else {
		delete(d.project.files, d.path)
	}
	s.workspace.touch(d.project)
	return nil, s.conn.Notify(ctx, "textDocument/publishDiagnostics", publishParams{URI: d.uri, Diagnostics: []diagnostic{}})
}

func (s *server) didChangeWatchedFiles(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p watchedParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	for _, c := range p.Changes {
		s.changedOnDisk(c.URI)
	}
	return nil, nil //nolint:nilnil // a notification has no result
}

func (s *server) didChangeFolders(context.Context, *jsonrpc2.Request) (any, error) {
	return nil, nil //nolint:nilnil // projects are found by their files, not by folders of the client
}

func (s *server) changedOnDisk(uri string) {
	path, ok := pathOf(uri)
	if !ok {
		return
	}
	path = resolved(path)
	if filepath.Base(path) == matter.ProjectFile {
		s.workspace.reload(filepath.Dir(path))
		return
	}
	for _, d := range s.workspace.documents {
		if d.path == path {
			return // the open text is what counts
		}
	}
	for _, p := range s.workspace.projects {
		if _, inside := p.Relative(path); inside && p.File != nil && strings.HasSuffix(path, ".sql") {
			p.load(path)
			s.workspace.touch(p)
		}
	}
}

// publish sends the diagnostics of documents that changed, or whose project did.
func (s *server) publish(ctx context.Context) {
	for _, d := range s.workspace.documents {
		d.current() // all texts first, because statements are checked against each other
	}
	for _, uri := range slices.Sorted(maps.Keys(s.workspace.documents)) {
		d := s.workspace.documents[uri]
		if !d.dirty {
			continue
		}
		d.dirty = false
		version := d.version
		params := publishParams{URI: d.uri, Version: &version, Diagnostics: []diagnostic{}}
		for _, found := range d.findings() {
			params.Diagnostics = append(params.Diagnostics, s.diagnostic(d, found))
		}
		// Nothing is left to do when the client cannot be reached.
		_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", params)
	}
}

func (s *server) diagnostic(d *document, found check.Diagnostic) diagnostic {
	severity := severityWarning
	if found.Severity == check.Error {
		severity = severityError
	}
	out := diagnostic{
		Range: s.workspace.rangeOf(found.File, found.Span), Severity: severity,
		Code: string(found.Rule), Source: "frontmatter", Message: found.Message,
	}
	for _, r := range found.Related {
		file, uri := found.File, d.uri
		if r.Path != "" && r.Path != d.path {
			other, ok := d.project.files[r.Path]
			if !ok {
				continue
			}
			file, uri = other.File, s.uriFor(r.Path)
		}
		out.Related = append(out.Related, related{location{uri, s.workspace.rangeOf(file, r.Span)}, r.Message})
	}
	return out
}

// uriFor returns the client's own URI of a path when it is open.
func (s *server) uriFor(path string) string {
	for _, d := range s.workspace.documents {
		if d.path == path {
			return d.uri
		}
	}
	return uriOf(path)
}
