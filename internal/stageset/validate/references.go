package validate

import (
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// own is the StageSet's name. The namespace is missing where a tool validates a file.
func (c *checker) own() types.NamespacedName {
	return types.NamespacedName{Namespace: c.set.Namespace, Name: c.set.Name}
}

// namespaceOf checks the namespace of a reference and returns it.
func (c *checker) namespaceOf(at *field.Path, namespace string) string {
	if namespace == "" || namespace == c.set.Namespace {
		return c.set.Namespace
	}
	c.label(at, namespace)
	if c.rules.NoCrossNamespaceRefs {
		c.errors = append(c.errors, field.Forbidden(at,
			fmt.Sprintf("it leads into namespace %s, and this installation forbids references into other namespaces", namespace)))
	}
	return namespace
}

func (c *checker) source(at *field.Path, ref stagesv1.SourceReference) {
	c.sourceKind(at, ref)
	c.namespaceOf(at.Child("namespace"), ref.Namespace)
}

func (c *checker) sourceKind(at *field.Path, ref stagesv1.SourceReference) {
	c.needsName(at.Child("name"), ref.Name)
	if ref.APIVersion != "" {
		c.apiVersion(at.Child("apiVersion"), ref.APIVersion)
		return
	}
	switch ref.Kind {
	case "", sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind:
	default:
		c.required(at.Child("apiVersion"), "kind %s is none of Flux's sources, so its apiVersion is needed", ref.Kind)
	}
}

func (c *checker) apiVersion(at *field.Path, text string) schema.GroupVersion {
	version, err := schema.ParseGroupVersion(text)
	if err != nil || version.Version == "" {
		c.invalid(at, text, "it is of the form group/version, or v1")
	}
	return version
}

func (c *checker) kind(at *field.Path, apiVersion, kind string) schema.GroupKind {
	if kind == "" {
		c.required(at.Child("kind"), "a kind is needed")
	}
	return c.apiVersion(at.Child("apiVersion"), apiVersion).WithKind(kind).GroupKind()
}

// object checks a reference to an object. Its name may be one of those that are no DNS names, as those of roles.
func (c *checker) object(at *field.Path, ref stagesv1.ObjectReference) {
	c.kind(at, ref.APIVersion, ref.Kind)
	if ref.Name == "" {
		c.required(at.Child("name"), "a name is needed")
	}
	if ref.Namespace != "" {
		c.label(at.Child("namespace"), ref.Namespace)
	}
}

func (c *checker) dependencies(at *field.Path, dependencies []stagesv1.Dependency) {
	seen := sets.New[types.NamespacedName]()
	for i, d := range dependencies {
		here := at.Index(i)
		c.stageSet(here, d.Name, d.Namespace, seen)
		if d.MinVersion != "" {
			c.semver(here.Child("minVersion"), d.MinVersion)
		}
		c.readyExpression(here.Child("readyExpr"), d.ReadyExpr)
	}
}

func (c *checker) adoptions(at *field.Path, from []stagesv1.StageSetReference) {
	seen := sets.New[types.NamespacedName]()
	for i, ref := range from {
		c.stageSet(at.Index(i), ref.Name, ref.Namespace, seen)
	}
}

// stageSet checks a reference to another StageSet, of which a list has each once.
func (c *checker) stageSet(at *field.Path, name, namespace string, seen sets.Set[types.NamespacedName]) {
	c.needsName(at.Child("name"), name)
	key := types.NamespacedName{Namespace: c.namespaceOf(at.Child("namespace"), namespace), Name: name}
	switch {
	case key == c.own():
		c.invalid(at.Child("name"), name, "this is the StageSet itself")
	case seen.Has(key):
		c.errors = append(c.errors, field.Duplicate(at, key.String()))
	}
	seen.Insert(key)
}

func (c *checker) knownStage(at *field.Path, name string) {
	if !c.stages.Has(name) {
		c.errors = append(c.errors, field.NotFound(at, name))
	}
}
