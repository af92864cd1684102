package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/compile"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/std"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
)

// Path is where the webhook is served.
const Path = "/validate-render-stagewright-dev-v1-jsonnetsnippet"

// Options are what the webhook is made of.
type Options struct {
	ExternalVariables    []string // names that the command line and the environment have set
	NoCrossNamespaceRefs bool
	Observe              func(outcome string) // told the outcome of each request, for a metric; may be nil
	Logger               *slog.Logger
	Timing               Timing
}

// Timing bounds parsing. Fields that are zero have their defaults.
type Timing struct {
	Patience time.Duration // for a turn to parse; after that the files are not looked at
	Parse    time.Duration // of all files of one object
}

const (
	defaultPatience = 300 * time.Millisecond
	defaultParse    = time.Second
	// maxProblems is how many are told at once.
	maxProblems = 20
)

// Handler returns the webhook's HTTP handler.
func Handler(o Options) http.Handler {
	if o.Timing.Patience == 0 {
		o.Timing.Patience = defaultPatience
	}
	if o.Timing.Parse == 0 {
		o.Timing.Parse = defaultParse
	}
	library := std.Library()
	v := &validator{options: o, turns: webhookserve.NewTurns(max(runtime.GOMAXPROCS(0), 2)), parse: func(name, content string) error {
		_, err := compile.Compile(name, content, library)
		return err
	}}
	return webhookserve.Handler(Path, v.handler(), o.Logger)
}

// validator decides about one snippet at a time; it is used concurrently.
type validator struct {
	options Options
	turns   *webhookserve.Turns
	parse   func(name, content string) error
}

func (v *validator) handler() admission.Handler {
	return webhookserve.Validator[renderv1.JsonnetSnippet, *renderv1.JsonnetSnippet]{
		Spec:   func(snippet *renderv1.JsonnetSnippet) any { return snippet.Spec },
		Decide: v.decide, Observe: v.options.Observe,
	}
}

func (v *validator) decide(ctx context.Context, snippet *renderv1.JsonnetSnippet) (response admission.Response, outcome string) {
	problems := append(references(snippet, v.options.NoCrossNamespaceRefs), variables(snippet, v.options.ExternalVariables)...)
	wrong, unchecked := v.parseAll(ctx, snippet)
	if problems = append(problems, wrong...); len(problems) > 0 {
		return admission.Denied(summary(problems)), webhookserve.Denied
	}
	if unchecked == nil {
		return admission.Allowed(""), webhookserve.Allowed
	}
	response = admission.Allowed("")
	response.Warnings = []string{"spec.files were not all parsed here: " + unchecked.Error() + "; what is wrong with them shows in the Ready condition"}
	return response, webhookserve.Unchecked
}

func summary(problems []string) string {
	if surplus := len(problems) - maxProblems; surplus > 0 {
		problems = append(problems[:maxProblems:maxProblems], fmt.Sprintf("and %d more", surplus))
	}
	return strings.Join(problems, "; ")
}

var errTooSlow = errors.New("parsing them takes too long")

// parseAll parses what is Jsonnet. The second result says why some of it was not looked at.
func (v *validator) parseAll(ctx context.Context, snippet *renderv1.JsonnetSnippet) (wrong []string, unchecked error) {
	texts := jsonnetOf(snippet)
	if len(texts) == 0 {
		return nil, nil
	}
	giveUp, err := v.turns.Take(ctx, snippet.Namespace, v.options.Timing.Patience)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, v.options.Timing.Parse)
	defer cancel()
	// The parser cannot be stopped, so what takes too long is left behind. It ends by itself, because sources are limited,
	// and until then it keeps the turn of its namespace.
	found := make(chan []string, 1)
	go func() {
		defer giveUp()
		found <- v.parseTexts(ctx, texts)
	}()
	select {
	case wrong := <-found:
		if ctx.Err() != nil {
			return wrong, errTooSlow
		}
		return wrong, nil
	case <-ctx.Done():
		return nil, errTooSlow
	}
}

func (v *validator) parseTexts(ctx context.Context, texts []text) (wrong []string) {
	for _, t := range texts {
		if ctx.Err() != nil {
			return wrong
		}
		if err := v.parseText(t); err != nil {
			wrong = append(wrong, t.field+": "+err.Error())
		}
	}
	return wrong
}

// parseText survives the parser, which panics on some sources.
func (v *validator) parseText(t text) (err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("%s cannot be parsed", t.name)
		}
	}()
	return place(v.parse(t.name, t.content))
}
