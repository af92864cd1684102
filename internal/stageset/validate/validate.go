package validate

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// Rules are what an installation adds.
type Rules struct {
	NoCrossNamespaceRefs bool
}

// Validate returns everything that is wrong with a spec. A reference into another namespace that the rules deny is of the
// type field.ErrorTypeForbidden, and nothing else is.
func Validate(set *stagesv1.StageSet, rules Rules) field.ErrorList {
	c := &checker{set: set, rules: rules, stages: sets.New[string](), expressions: expressions{results: map[string]error{}}}
	for i := range set.Spec.Stages {
		c.stages.Insert(set.Spec.Stages[i].Name)
	}
	c.spec(field.NewPath("spec"), &set.Spec)
	return c.errors
}

// checker collects what is wrong.
type checker struct {
	set         *stagesv1.StageSet
	rules       Rules
	stages      sets.Set[string] // names
	expressions expressions
	errors      field.ErrorList
}

func (c *checker) invalid(at *field.Path, value any, format string, a ...any) {
	c.errors = append(c.errors, field.Invalid(at, value, fmt.Sprintf(format, a...)))
}

// wrong is invalid without the value, which is long or may be private.
func (c *checker) wrong(at *field.Path, format string, a ...any) {
	c.invalid(at, field.OmitValueType{}, format, a...)
}

func (c *checker) required(at *field.Path, format string, a ...any) {
	c.errors = append(c.errors, field.Required(at, fmt.Sprintf(format, a...)))
}

func (c *checker) spec(at *field.Path, spec *stagesv1.StageSetSpec) {
	c.atLeast(at.Child("interval"), spec.Interval, 5*time.Second)
	c.atLeast(at.Child("retryInterval"), spec.RetryInterval, time.Second)
	c.positive(at.Child("timeout"), spec.Timeout)
	c.objectName(at.Child("serviceAccountName"), spec.ServiceAccountName)
	c.kubeConfig(at.Child("kubeConfig"), spec)
	c.dependencies(at.Child("dependsOn"), spec.DependsOn)
	c.adoptions(at.Child("adoptFrom"), spec.AdoptFrom)
	if d := spec.Decryption; d != nil && d.SecretRef != nil {
		c.needsName(at.Child("decryption", "secretRef", "name"), d.SecretRef.Name)
	}
	c.version(at.Child("version"), spec.Version)
	c.migrations(at, spec)
	c.actions(at.Child("onRollback"), spec.OnRollback)
	for i := range spec.UpdateWindows {
		c.window(at.Child("updateWindows").Index(i), &spec.UpdateWindows[i])
	}
	c.allStages(at.Child("stages"), spec.Stages)
}

func (c *checker) kubeConfig(at *field.Path, spec *stagesv1.StageSetSpec) {
	k := spec.KubeConfig
	if k == nil {
		return
	}
	switch {
	case (k.SecretRef == nil) == (k.ConfigMapRef == nil):
		c.wrong(at, "exactly one of secretRef and configMapRef is needed")
	case k.SecretRef != nil:
		c.needsName(at.Child("secretRef", "name"), k.SecretRef.Name)
	default:
		c.needsName(at.Child("configMapRef", "name"), k.ConfigMapRef.Name)
	}
}

func (c *checker) allStages(at *field.Path, stages []stagesv1.Stage) {
	if len(stages) == 0 {
		c.required(at, "at least one stage is needed")
	}
	seen, anchor := sets.New[string](), ""
	for i := range stages {
		s, here := &stages[i], at.Index(i)
		if seen.Has(s.Name) {
			c.errors = append(c.errors, field.Duplicate(here.Child("name"), s.Name))
		}
		seen.Insert(s.Name)
		c.label(here.Child("name"), s.Name)
		if s.MigrationAnchor && anchor != "" {
			c.invalid(here.Child("migrationAnchor"), true, "stage %q is the anchor already", anchor)
		}
		if s.MigrationAnchor {
			anchor = s.Name
		}
		c.stage(here, s)
	}
}

func (c *checker) stage(at *field.Path, s *stagesv1.Stage) {
	c.source(at.Child("sourceRef"), s.SourceRef)
	c.path(at.Child("path"), s.Path)
	c.objectName(at.Child("serviceAccountName"), s.ServiceAccountName)
	c.positive(at.Child("timeout"), s.Timeout)
	for i := range s.Patches {
		c.kustomizePatch(at.Child("patches").Index(i), s.Patches[i])
	}
	if p := s.PostBuild; p != nil {
		c.postBuild(at.Child("postBuild"), p)
	}
	if p := s.ConflictPolicy; p != nil {
		if s.Force && p.Default != "" {
			c.invalid(at.Child("conflictPolicy", "default"), p.Default, "force says it already: remove one of them")
		}
		for i := range p.Rules {
			c.conflictRule(at.Child("conflictPolicy", "rules").Index(i), &p.Rules[i])
		}
	}
	if r := s.ReadyChecks; r != nil {
		c.readyChecks(at.Child("readyChecks"), r)
	}
	if a := s.Actions; a != nil {
		c.actions(at.Child("actions", "pre"), a.Pre)
		c.actions(at.Child("actions", "post"), a.Post)
		c.actions(at.Child("actions", "onFailure"), a.OnFailure)
	}
}

// variableName is what Flux accepts as a name in postBuild.
var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

func (c *checker) postBuild(at *field.Path, p *stagesv1.PostBuild) {
	for _, name := range sets.List(sets.KeySet(p.Substitute)) {
		if !variableName.MatchString(name) {
			c.wrong(at.Child("substitute").Key(name), "a variable's name has letters, digits and _ alone, and begins with no digit")
		}
	}
	for i, from := range p.SubstituteFrom {
		c.needsName(at.Child("substituteFrom").Index(i).Child("name"), from.Name)
	}
}

func (c *checker) readyChecks(at *field.Path, r *stagesv1.ReadyChecks) {
	c.positive(at.Child("timeout"), r.Timeout)
	for i, check := range r.Checks {
		c.object(at.Child("checks").Index(i), check)
	}
	seen := sets.New[schema.GroupKind]()
	for i, e := range r.Exprs {
		here := at.Child("exprs").Index(i)
		kind := c.kind(here, e.APIVersion, e.Kind)
		if seen.Has(kind) {
			c.errors = append(c.errors, field.Duplicate(here, kind.String()))
		}
		seen.Insert(kind)
		if e.Current == "" {
			c.required(here.Child("current"), "without it, no object of the kind would become healthy")
		}
		for name, text := range map[string]string{"current": e.Current, "inProgress": e.InProgress, "failed": e.Failed} {
			c.objectExpression(here.Child(name), text)
		}
	}
}

func (c *checker) atLeast(at *field.Path, d *metav1.Duration, least time.Duration) {
	if d != nil && d.Duration < least {
		c.invalid(at, d.Duration.String(), "it has to be at least %s", least)
	}
}

func (c *checker) positive(at *field.Path, d *metav1.Duration) {
	if d != nil && d.Duration <= 0 {
		c.invalid(at, d.Duration.String(), "it has to be more than 0s")
	}
}

func (c *checker) label(at *field.Path, name string) {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		c.invalid(at, name, "%s", strings.Join(problems, "; "))
	}
}

// objectName is for names that may be missing.
func (c *checker) objectName(at *field.Path, name string) {
	if problems := validation.IsDNS1123Subdomain(name); name != "" && len(problems) > 0 {
		c.invalid(at, name, "%s", strings.Join(problems, "; "))
	}
}

func (c *checker) needsName(at *field.Path, name string) {
	if name == "" {
		c.required(at, "a name is needed")
	}
	c.objectName(at, name)
}

// path is a directory in an artifact. "" and "./" are its root.
func (c *checker) path(at *field.Path, p string) {
	switch {
	case path.IsAbs(p), strings.Contains(p, `\`):
		c.invalid(at, p, "it is a relative path with slashes")
	case sets.New(strings.Split(p, "/")...).Has(".."):
		c.invalid(at, p, "it leads out of the artifact by ..")
	case strings.ContainsRune(p, 0):
		c.wrong(at, "it has a zero byte")
	}
}
