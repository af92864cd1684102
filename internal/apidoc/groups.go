package apidoc

import (
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Group is a page with the definitions that it is made from.
type Group struct {
	Page, Title, Intro string
	Files              []string // in the directory of the definitions
}

// Groups are the pages of this project.
func Groups() []Group {
	return []Group{{
		Page: "stages-api.md", Title: "API of stages.stagewright.dev",
		Intro: "The kinds of the stage controller. Fields that this release does not act on are refused when a StageSet is reconciled, " +
			"with the reason `InvalidSpec`.",
		Files: []string{
			"stages.stagewright.dev_stagesets.yaml", "stages.stagewright.dev_stageinventories.yaml",
			"stages.stagewright.dev_imageverificationpolicies.yaml",
		},
	}, {
		Page: "render-api.md", Title: "API of render.stagewright.dev", Intro: "The kinds of the renderer's operator.",
		Files: []string{"render.stagewright.dev_jsonnetsnippets.yaml", "render.stagewright.dev_jsonnetlibraries.yaml"},
	}}
}

// Markdown is the group's page, from the definitions in a directory.
func (g Group) Markdown(directory string) (string, error) {
	kinds := make([]Kind, 0, len(g.Files))
	for _, file := range g.Files {
		content, err := os.ReadFile(filepath.Join(directory, file)) //nolint:gosec // a file of this repository
		if err != nil {
			return "", fmt.Errorf("reading a definition: %w", err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(content, definition); err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		kinds = append(kinds, Kind{Definition: definition, Parts: []string{"spec", "status"}})
	}
	return Page(g.Title, g.Intro, kinds...), nil
}
