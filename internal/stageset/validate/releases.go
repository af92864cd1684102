package validate

import (
	"strings"
	"time"
	_ "time/tzdata" // images have no time zones of their own

	"github.com/Masterminds/semver/v3"
	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

func (c *checker) semver(at *field.Path, text string) {
	if _, err := semver.NewVersion(text); err != nil {
		c.invalid(at, text, "it is not a semantic version such as 1.4.0")
	}
}

func (c *checker) version(at *field.Path, v *stagesv1.Version) {
	if v == nil {
		return
	}
	sources := 0
	if v.Value != "" {
		sources++
		c.semver(at.Child("value"), v.Value)
	}
	if from := v.FromObject; from != nil {
		sources++
		c.knownStage(at.Child("fromObject", "stage"), from.Stage)
		c.object(at.Child("fromObject"), from.ObjectReference)
	}
	if from := v.FromArtifact; from != nil {
		sources++
		c.knownStage(at.Child("fromArtifact", "stage"), from.Stage)
		c.path(at.Child("fromArtifact", "path"), from.Path)
	}
	if sources != 1 {
		c.wrong(at, "exactly one of value, fromObject and fromArtifact is needed, not %d", sources)
	}
}

func (c *checker) migrations(at *field.Path, spec *stagesv1.StageSetSpec) {
	if ref := spec.MigrationsSourceRef; ref != nil {
		here := at.Child("migrationsSourceRef")
		if len(spec.Migrations) > 0 {
			c.wrong(here, "migrations and migrationsSourceRef exclude each other")
		}
		c.sourceKind(here.Child("sourceRef"), ref.SourceRef)
		if namespace := ref.SourceRef.Namespace; namespace != "" && namespace != c.set.Namespace {
			c.invalid(here.Child("sourceRef", "namespace"), namespace, "migrations come from the StageSet's own namespace alone")
		}
		c.path(here.Child("path"), ref.Path)
	}
	seen := sets.New[string]()
	for i := range spec.Migrations {
		m, here := &spec.Migrations[i], at.Child("migrations").Index(i)
		if seen.Has(m.Name) {
			c.errors = append(c.errors, field.Duplicate(here.Child("name"), m.Name))
		}
		seen.Insert(m.Name)
		c.label(here.Child("name"), m.Name)
		if _, err := semver.NewConstraint(m.From); err != nil {
			c.invalid(here.Child("from"), m.From, `it is not a constraint on versions such as ">=1.2 <2"`)
		}
		c.semver(here.Child("to"), m.To)
		if m.Stage != "" {
			c.knownStage(here.Child("stage"), m.Stage)
		}
		if len(m.Actions) == 0 {
			c.required(here.Child("actions"), "a migration has at least one action")
		}
		c.actions(here.Child("actions"), m.Actions)
		c.actions(here.Child("down"), m.Down)
	}
}

func (c *checker) window(at *field.Path, w *stagesv1.UpdateWindow) {
	c.positive(at.Child("duration"), w.Duration)
	if w.Schedule != "" {
		switch {
		case w.From != nil || w.To != nil:
			c.wrong(at, "either schedule and duration, or from and to")
		case w.Duration == nil:
			c.required(at.Child("duration"), "a scheduled window needs its end")
		}
		c.schedule(at.Child("schedule"), w.Schedule)
		c.timeZone(at.Child("timeZone"), w.TimeZone)
		return
	}
	switch {
	case w.Duration != nil:
		c.wrong(at.Child("duration"), "it belongs to a schedule")
	case w.From == nil && w.To == nil:
		c.required(at, "either schedule and duration, or from and to")
	case w.To == nil:
		c.required(at.Child("to"), "a window needs its end")
	case w.From == nil:
		c.required(at.Child("from"), "a window needs its beginning")
	case !w.To.After(w.From.Time):
		c.invalid(at.Child("to"), w.To.UTC().Format(time.RFC3339), "the window ends before it begins")
	}
	if w.TimeZone != "" {
		c.invalid(at.Child("timeZone"), w.TimeZone, "it belongs to a schedule; from and to have their own")
	}
}

func (c *checker) schedule(at *field.Path, text string) {
	if strings.Contains(text, "TZ=") {
		c.invalid(at, text, "the time zone is given by timeZone")
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "@every") {
		c.invalid(at, text, "@every has no fixed times; write them as minute, hour, day, month and weekday")
		return
	}
	schedule, err := cron.ParseStandard(text)
	switch {
	case err != nil:
		c.invalid(at, text, "it is not a cron expression of minute, hour, day, month and weekday")
	case schedule.Next(time.Unix(0, 0).UTC()).IsZero(): // which looks five years ahead
		c.invalid(at, text, "there is no such day")
	}
}

func (c *checker) timeZone(at *field.Path, name string) {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		c.invalid(at, name, "it is not a time zone such as Europe/Berlin")
	}
}
