package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// report prints the diagnostics of a run in one of the forms of --format.
func report(format string, out io.Writer, r *check.Result) error {
	switch format {
	case "json":
		return writeJSON(out, jsonReport(r))
	case "sarif":
		return writeJSON(out, sarifReport(r))
	case "github":
		return lines(out, r, githubLine)
	default:
		return lines(out, r, textLine)
	}
}

func lines(out io.Writer, r *check.Result, line func(check.Diagnostic) string) error {
	var b strings.Builder
	for _, d := range r.Diagnostics {
		b.WriteString(line(d))
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("writing diagnostics: %w", err)
	}
	return nil
}

func textLine(d check.Diagnostic) string {
	at := d.File.Position(d.Span.Start)
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", oneLine(d.Path), at.Line, at.Column, d.Severity, oneLine(d.Message), d.Rule)
}

// oneLine keeps a diagnostic on one line and terminals safe, whatever the file holds: nothing in it moves the cursor or
// turns the direction of the text around.
func oneLine(message string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || 0x80 <= r && r < 0xA0 || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, message)
}

// githubLine is a workflow command, which GitHub shows beside the line. Values escape what the format uses.
func githubLine(d check.Diagnostic) string {
	start, end := d.File.Position(d.Span.Start), d.File.Position(d.Span.End)
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	return fmt.Sprintf("::%s file=%s,line=%d,col=%d,endLine=%d,endColumn=%d,title=%s::%s",
		d.Severity, property.Replace(d.Path), start.Line, start.Column, end.Line, end.Column, property.Replace(string(d.Rule)), data.Replace(d.Message))
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

type jsonDiagnostic struct {
	File     string       `json:"file"`
	Start    jsonPosition `json:"start"`
	End      jsonPosition `json:"end"`
	Severity string       `json:"severity"`
	Rule     source.Rule  `json:"rule"`
	Message  string       `json:"message"`
	Fixes    []jsonFix    `json:"fixes,omitempty"`
}

type jsonPosition struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

type jsonFix struct {
	Title string     `json:"title"`
	Sure  bool       `json:"sure"`
	Edits []jsonEdit `json:"edits"`
}

type jsonEdit struct {
	Start jsonPosition `json:"start"`
	End   jsonPosition `json:"end"`
	Text  string       `json:"text"`
}

func position(f *source.File, offset int) jsonPosition {
	p := f.Position(offset)
	return jsonPosition{p.Line, p.Column, offset}
}

func jsonReport(r *check.Result) any {
	diagnostics := make([]jsonDiagnostic, 0, len(r.Diagnostics))
	for _, d := range r.Diagnostics {
		j := jsonDiagnostic{
			File: d.Path, Start: position(d.File, d.Span.Start), End: position(d.File, d.Span.End),
			Severity: d.Severity.String(), Rule: d.Rule, Message: d.Message,
		}
		for _, f := range d.Fixes {
			fix := jsonFix{Title: f.Title, Sure: f.Sure}
			for _, e := range f.Edits {
				fix.Edits = append(fix.Edits, jsonEdit{position(d.File, e.Start), position(d.File, e.End), e.Text})
			}
			j.Fixes = append(j.Fixes, fix)
		}
		diagnostics = append(diagnostics, j)
	}
	return struct {
		Version     int              `json:"version"`
		Errors      int              `json:"errors"`
		Warnings    int              `json:"warnings"`
		Diagnostics []jsonDiagnostic `json:"diagnostics"`
	}{1, r.Errors(), len(r.Diagnostics) - r.Errors(), diagnostics}
}
