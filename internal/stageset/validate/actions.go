package validate

import (
	"net/url"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

func (c *checker) actions(at *field.Path, actions []stagesv1.Action) {
	seen := sets.New[string]()
	for i := range actions {
		a, here := &actions[i], at.Index(i)
		if seen.Has(a.Name) {
			c.errors = append(c.errors, field.Duplicate(here.Child("name"), a.Name))
		}
		seen.Insert(a.Name)
		c.label(here.Child("name"), a.Name)
		c.positive(here.Child("timeout"), a.Timeout)
		if a.Retries < 0 || a.Retries > 100 {
			c.invalid(here.Child("retries"), a.Retries, "it is from 0 to 100")
		}
		c.action(here, a)
	}
}

func (c *checker) action(at *field.Path, a *stagesv1.Action) {
	kinds := 0
	kind := func(is bool, check func()) {
		if is {
			kinds++
			check()
		}
	}
	kind(a.Patch != nil, func() { c.patchAction(at.Child("patch"), a.Patch) })
	kind(a.HTTP != nil, func() { c.httpAction(at.Child("http"), a.HTTP) })
	kind(a.Wait != nil, func() { c.waitAction(at.Child("wait"), a.Wait) })
	kind(a.Job != nil, func() {
		c.source(at.Child("job", "sourceRef"), a.Job.SourceRef)
		c.path(at.Child("job", "path"), a.Job.Path)
	})
	kind(a.Delete != nil, func() { c.object(at.Child("delete", "target"), a.Delete.Target) })
	kind(a.Apply != nil, func() {
		c.source(at.Child("apply", "sourceRef"), a.Apply.SourceRef)
		c.path(at.Child("apply", "path"), a.Apply.Path)
	})
	if kinds != 1 {
		c.wrong(at, "exactly one of patch, http, wait, job, delete and apply is needed, not %d", kinds)
	}
}

func (c *checker) patchAction(at *field.Path, p *stagesv1.PatchAction) {
	c.object(at.Child("target"), p.Target)
	here := at.Child("patch")
	documents, err := split(p.Patch)
	switch {
	case err != nil:
		c.wrong(here, "%v", err)
	case len(documents) != 1:
		c.wrong(here, "it is one document, not %d", len(documents))
	case p.Type == "json6902" && documents[0][0] == '[':
		c.operations(here, documents[0])
	case p.Type == "json6902":
		c.wrong(here, "of type json6902 it is a list of operations")
	case documents[0][0] != '{':
		c.wrong(here, "of type merge it is an object")
	}
}

func (c *checker) httpAction(at *field.Path, h *stagesv1.HTTPAction) {
	here := at.Child("url")
	switch parsed, err := url.Parse(h.URL); {
	case err != nil, parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "":
		c.wrong(here, "it is not a URL of http or https") // it may have a password
	case parsed.User != nil:
		c.wrong(here, "it has a user, which everybody could read; use headersFrom")
	}
	for i, status := range h.ExpectedStatus {
		if status < 100 || status > 599 {
			c.invalid(at.Child("expectedStatus").Index(i), status, "it is from 100 to 599")
		}
	}
	for i, from := range h.HeadersFrom {
		c.needsName(at.Child("headersFrom").Index(i).Child("name"), from.Name)
	}
	if h.BodyFrom != nil {
		c.needsName(at.Child("bodyFrom", "name"), h.BodyFrom.Name)
	}
}

func (c *checker) waitAction(at *field.Path, w *stagesv1.WaitAction) {
	c.positive(at.Child("duration"), w.Duration)
	switch {
	case (w.Duration != nil) == (w.Target != nil):
		c.wrong(at, "exactly one of duration and target is needed")
	case w.Target == nil && w.Expr != "":
		c.wrong(at.Child("expr"), "it belongs to a target")
	case w.Target != nil && w.Expr == "":
		c.required(at.Child("expr"), "it says what is waited for")
	}
	if w.Target != nil {
		c.object(at.Child("target"), *w.Target)
	}
	c.objectExpression(at.Child("expr"), w.Expr)
}
