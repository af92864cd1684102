package gojsonnet

import (
	"context"
	"crypto/sha256"
	"errors"

	gojsonnet "github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/ast"
	"github.com/google/go-jsonnet/toolutils"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// errStale says that a file has another content than when this machine parsed it. A machine cannot forget one file.
var errStale = errors.New("a file has changed since it was parsed")

// importer stands between a machine, which wants the same content for a name for ever, and the jobs it runs.
type importer struct {
	contents map[string]content // by source name, as the machine has seen them

	// Of the current job:
	ctx     context.Context //nolint:containedctx // go-jsonnet's importer interface has none
	job     jsonnet.Job
	sources map[string]*jsonnet.Source
	added   int // bytes of the sources that were new to the machine
	stale   bool
}

type content struct {
	sum      [sha256.Size]byte
	contents gojsonnet.Contents
}

func (i *importer) begin(ctx context.Context, job jsonnet.Job) {
	i.ctx, i.job, i.added, i.stale = ctx, job, 0, false
	i.sources = map[string]*jsonnet.Source{job.Entry.Name: job.Entry}
}

func (i *importer) end() {
	i.ctx, i.job, i.sources = nil, jsonnet.Job{}, nil
}

// Import implements gojsonnet.Importer.
func (i *importer) Import(from, path string) (gojsonnet.Contents, string, error) {
	importing := i.sources[from] // nil for code that came as a variable
	source, err := i.job.Importer.Import(i.ctx, importing, path)
	if err != nil {
		return gojsonnet.Contents{}, "", err
	}
	i.sources[source.Name] = source
	known, ok := i.contents[source.Name]
	if !ok {
		if err := checkSource(source.Name, source.Content); err != nil && asCode(importing, path) {
			return gojsonnet.Contents{}, "", err
		}
		known = content{source.Sum, gojsonnet.MakeContents(source.Content)}
		i.contents[source.Name] = known
		i.added += len(source.Content)
	}
	if known.sum != source.Sum {
		i.stale = true
		return gojsonnet.Contents{}, "", errStale
	}
	return known.contents, source.Name, nil
}

// asCode says whether a file imports path as a program, not as text. It is asked only about files that exceed a source
// limit, and tells from the syntax tree, because go-jsonnet does not say.
func asCode(from *jsonnet.Source, path string) bool {
	if from == nil {
		return true
	}
	node, err := parse(from.Name, from.Content)
	return err != nil || importsCode(node, path)
}

func importsCode(node ast.Node, path string) bool {
	if i, ok := node.(*ast.Import); ok && i.File.Value == path {
		return true
	}
	for _, child := range toolutils.Children(node) {
		if importsCode(child, path) {
			return true
		}
	}
	return false
}
