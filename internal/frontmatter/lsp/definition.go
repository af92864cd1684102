package lsp

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// definition goes from a parameter in the SQL to its declaration, and from a class in the front matter to its file in
// the Java sources of the project. It goes by the names of files; Java itself is not read.
func (s *server) definition(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	var p positionParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	a := s.locate(p)
	if a == nil || a.statement == nil {
		return nil, nil //nolint:nilnil // nowhere to go
	}
	if parameter, _ := a.parameter(); parameter != nil {
		return location{a.document.uri, s.workspace.rangeOf(a.file.File, parameter.Span)}, nil
	}
	class := a.class()
	if class == "" {
		return nil, nil //nolint:nilnil // nowhere to go
	}
	if found := s.javaFile(a.document.project, class); found != nil {
		return *found, nil
	}
	message := class + " is not in the Java sources of the project; set javaSources in " + matter.ProjectFile
	return nil, s.conn.Notify(ctx, "window/logMessage", logParams{messageWarning, message})
}

// class returns the qualified class that is named at the place.
func (a *at) class() string {
	if a.statement.Written == nil {
		return ""
	}
	written := a.statement.Written
	candidates := []*matter.Node{written.Get("resultRowType"), written.Get("resultRowConverter")}
	if n := written.Get("resultRowConverter"); n != nil {
		candidates = append(candidates, n.Get("converterType"), n.Get("resultType"))
	}
	for _, n := range candidates {
		if n == nil || n.Kind != matter.Text || !n.Span.Contains(a.offset) {
			continue
		}
		if t, err := statement.ParseType(n.Value); err == nil && !t.Primitive && strings.Contains(n.Value, ".") {
			return t.Class
		}
	}
	return ""
}

// maxJavaFile bounds the files that are looked at.
const maxJavaFile = 4 << 20

// javaFile looks for the file of a class, and for that of the classes around it when it is a nested one.
func (s *server) javaFile(p *project, class string) *location {
	parts := strings.Split(class, ".")
	name := parts[len(parts)-1]
	declaration := regexp.MustCompile(`\b(?:record|enum|class|interface)\s+(` + regexp.QuoteMeta(name) + `)\b`)
	for _, root := range p.JavaSources {
		for n := len(parts); n > 0; n-- {
			path := filepath.Join(append([]string{p.Root, filepath.FromSlash(root)}, parts[:n]...)...) + ".java"
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxJavaFile {
				continue
			}
			text, err := os.ReadFile(path) //nolint:gosec // below the Java sources of the user's project
			if err != nil {
				continue
			}
			file := source.NewFile(path, string(text))
			span := source.Span{}
			if m := declaration.FindStringSubmatchIndex(file.Text); m != nil {
				span = source.Span{Start: m[2], End: m[3]}
			} else if n < len(parts) {
				continue
			}
			return &location{uriOf(path), s.workspace.rangeOf(file, span)}
		}
	}
	return nil
}
