package cli

import (
	"net/url"
	"path"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/version"
)

// sarifReport is a log of SARIF 2.1.0 (OASIS), with the rules that the run had findings of.
func sarifReport(r *check.Result) any {
	type object = map[string]any
	index := map[source.Rule]int{}
	rules := []object{}
	results := make([]object, 0, len(r.Diagnostics))
	for _, d := range r.Diagnostics {
		i, known := index[d.Rule]
		if !known {
			i = len(rules)
			index[d.Rule] = i
			row, _ := check.RuleNamed(string(d.Rule))
			rules = append(rules, object{
				"id":                   d.Rule,
				"shortDescription":     object{"text": row.Summary},
				"fullDescription":      object{"text": row.Text},
				"defaultConfiguration": object{"level": row.Severity.String()},
			})
		}
		start, end := d.File.Position(d.Span.Start), d.File.Position(d.Span.End)
		results = append(results, object{
			"ruleId": d.Rule, "ruleIndex": i, "level": d.Severity.String(),
			"message": object{"text": d.Message},
			"locations": []object{{"physicalLocation": object{
				"artifactLocation": object{"uri": sarifURI(d.Path)},
				"region": object{
					"startLine": start.Line, "startColumn": start.Column, "endLine": end.Line, "endColumn": end.Column,
				},
			}}},
		})
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []object{{
			"columnKind": "unicodeCodePoints",
			"tool": object{"driver": object{
				"name": "frontmatter", "version": strings.Fields(version.String("frontmatter"))[1], "rules": rules,
			}},
			"results": results,
		}},
	}
}

// sarifURI is a relative reference, or a file URI for a path outside of the working folder. A relative one begins with
// ./ where its first part would else be a scheme.
func sarifURI(p string) string {
	if path.IsAbs(p) {
		return (&url.URL{Scheme: "file", Path: p}).String()
	}
	return (&url.URL{Path: p}).String()
}
