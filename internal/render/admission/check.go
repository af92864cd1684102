package admission

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/jsonnet"
)

// references says what is wrong with the names in a spec, without asking whether what they name exists.
func references(snippet *renderv1.JsonnetSnippet, noCrossNamespace bool) []string {
	c := &checker{namespace: snippet.Namespace, noCrossNamespace: noCrossNamespace}
	spec := &snippet.Spec
	c.name("spec.serviceAccountName", spec.ServiceAccountName)
	if source := spec.SourceRef; source != nil {
		c.reference("spec.sourceRef", source.Name, source.Namespace)
		if group, _, _ := strings.Cut(source.APIVersion, "/"); source.APIVersion != "" && group != sourcev1.GroupVersion.Group {
			c.say("spec.sourceRef.apiVersion %q is not of the group %s", source.APIVersion, sourcev1.GroupVersion.Group)
		}
		own := source.Namespace == "" || source.Namespace == snippet.Namespace
		if source.Kind == sourcev1.ExternalArtifactKind && own && snippet.Name != "" && source.Name == snippet.Name {
			c.say("spec.sourceRef is the snippet's own artifact")
		}
	}
	for i, library := range spec.Libraries {
		c.reference(fmt.Sprintf("spec.libraries[%d]", i), library.Name, library.Namespace)
	}
	c.variables("spec.externalVariables", spec.ExternalVariables)
	c.variables("spec.tlas", spec.TLAs)
	return c.problems
}

// checker collects what is wrong.
type checker struct {
	namespace        string
	noCrossNamespace bool
	problems         []string
}

func (c *checker) say(format string, a ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, a...))
}

func (c *checker) name(field, name string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		c.say("%s %q is not the name of an object", field, name)
	}
}

func (c *checker) reference(field, name, namespace string) {
	c.name(field+".name", name)
	switch {
	case namespace == "":
	case len(validation.IsDNS1123Label(namespace)) > 0:
		c.say("%s.namespace %q is not the name of a namespace", field, namespace)
	case namespace != c.namespace && c.noCrossNamespace:
		c.say("%s leads into namespace %s, and this installation forbids references into other namespaces", field, namespace)
	}
}

func (c *checker) variables(field string, variables []renderv1.Variable) {
	for _, variable := range variables {
		from := variable.ValueFrom
		if from == nil {
			continue
		}
		for _, key := range []*renderv1.KeyReference{from.ConfigMapKeyRef, from.SecretKeyRef} {
			if key == nil {
				continue
			}
			at := fmt.Sprintf("%s[%s].valueFrom", field, variable.Name)
			c.name(at, key.Name)
			if len(validation.IsConfigMapKey(key.Key)) > 0 {
				c.say("%s: %q is not a key of a ConfigMap or a Secret", at, key.Key)
			}
		}
	}
}

// variables says which external variables are taken.
func variables(snippet *renderv1.JsonnetSnippet, taken []string) (problems []string) {
	for _, variable := range snippet.Spec.ExternalVariables {
		if slices.Contains(taken, variable.Name) {
			problems = append(problems, fmt.Sprintf(
				"spec.externalVariables[%s] is set by the operator's command line (--ext-var or RENDERER_EXT_VAR_%s) already", variable.Name, variable.Name))
		}
	}
	return problems
}

// text is Jsonnet in a spec.
type text struct {
	field, name, content string
}

// jsonnetOf returns what the spec has of Jsonnet, in a stable order. Files with other endings are imported as text.
func jsonnetOf(snippet *renderv1.JsonnetSnippet) (texts []text) {
	spec := &snippet.Spec
	for _, name := range slices.Sorted(maps.Keys(spec.Files)) {
		if extension := path.Ext(name); extension == ".jsonnet" || extension == ".libsonnet" || name == spec.EntryFile {
			texts = append(texts, text{"spec.files", name, spec.Files[name]})
		}
	}
	for _, group := range []struct {
		field     string
		variables []renderv1.Variable
	}{{"spec.externalVariables", spec.ExternalVariables}, {"spec.tlas", spec.TLAs}} {
		for _, variable := range group.variables {
			if variable.Code != nil {
				texts = append(texts, text{group.field, variable.Name, *variable.Code})
			}
		}
	}
	return texts
}

// place shows an error as file:line:column: message.
func place(err error) error {
	var failed *jsonnet.Error
	if !errors.As(err, &failed) || len(failed.Frames) == 0 {
		return err
	}
	at := failed.Frames[0]
	return fmt.Errorf("%s:%d:%d: %s", at.File, at.Line, at.Column, failed.Message)
}
