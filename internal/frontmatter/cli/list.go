package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

type listed struct {
	File       string            `json:"file"`
	Line       int               `json:"line"`
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	Returning  string            `json:"returning"`
	Repository string            `json:"repository"`
	Vendor     string            `json:"vendor,omitempty"`
	Parameters []listedParameter `json:"parameters"`
}

type listedParameter struct {
	Name    string `json:"name"`
	Type    string `json:"type,omitempty"`
	Variant string `json:"variant,omitempty"`
}

func (a *app) list(ctx context.Context, args []string) error {
	options, err := a.options(args)
	if err != nil {
		return err
	}
	result, err := a.run(ctx, options)
	if err != nil {
		return err
	}
	all := []listed{}
	for _, f := range result.Files {
		for _, s := range f.Statements {
			all = append(all, listStatement(f, s))
		}
	}
	if n := result.Errors(); n > 0 {
		_, _ = fmt.Fprintf(a.stderr, "%s; what depends on them is left empty, see frontmatter check\n", count(n, "error"))
	}
	if a.values.text("format") == "json" {
		return writeJSON(a.stdout, all)
	}
	return a.listTable(all, result)
}

func listStatement(f *statement.File, s *statement.Statement) listed {
	l := listed{
		File: f.Path, Line: f.Position(s.Source.SQL.Start).Line, Name: s.Name.Text, Type: s.Type,
		Returning: s.Returning, Repository: s.Repository.Text, Vendor: s.Vendor, Parameters: []listedParameter{},
	}
	if s.Source.Block != nil {
		l.Line = f.Position(s.Source.Block.Start).Line
	}
	for _, p := range s.Parameters {
		l.Parameters = append(l.Parameters, listedParameter{p.Name, p.Type, p.Variant})
	}
	return l
}

func (a *app) listTable(all []listed, r *check.Result) error {
	if len(all) == 0 {
		a.summary(r)
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(w, "FILE\tLINE\tNAME\tTYPE\tRETURNING\tREPOSITORY\tPARAMETERS")
	for _, l := range all {
		parameters := make([]string, 0, len(l.Parameters))
		for _, p := range l.Parameters {
			text := p.Name
			if p.Type != "" {
				text += " " + p.Type
			}
			if p.Variant != "" && p.Variant != matter.In {
				text += " " + p.Variant
			}
			parameters = append(parameters, text)
		}
		name := l.Name
		if l.Vendor != "" {
			name += " (" + l.Vendor + ")"
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", oneLine(l.File), l.Line, oneLine(name), l.Type, l.Returning, l.Repository, oneLine(strings.Join(parameters, ", ")))
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing the list: %w", err)
	}
	return nil
}
