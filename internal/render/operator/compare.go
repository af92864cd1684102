package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"github.com/opencontainers/go-digest"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// compare ends a run whose inputs are those of the published artifact, after making sure that it is there, and one whose
// inputs are known to fail. Nothing is fetched for it: artifacts are told apart by their digests.
func (c *snippets) compare(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	s.fingerprint = c.fingerprint(s)
	if s.fingerprint == s.snippet.Status.Fingerprint || s.fingerprint == s.past.accepted {
		present, err := c.present(ctx, s)
		if err != nil {
			return reconcile.Next(), err
		}
		if present {
			if outcome, err := c.publish(ctx, s); err != nil || outcome != reconcile.Next() {
				return outcome, err
			}
			_, err := c.remember(ctx, s)
			return reconcile.Done(), err
		}
	}
	if failed := s.past.failed; failed.fingerprint == s.fingerprint && failed.request == requestOf(s.snippet) &&
		(failed.until.IsZero() || c.options.Now().Before(failed.until)) {
		return reconcile.Next(), failed.err
	}
	return reconcile.Next(), nil
}

func requestOf(snippet *renderv1.JsonnetSnippet) string {
	token, _ := fluxmeta.ReconcileAnnotationValue(snippet.Annotations)
	return token
}

// present says whether the published artifact can be read from storage. It is read once for each process and each change
// of the stored file; after that, size and time of the file vouch for it.
func (c *snippets) present(ctx context.Context, s *scope) (bool, error) {
	status := &s.snippet.Status
	if len(status.History) == 0 || status.History[0].Revision != status.Revision {
		return false, nil
	}
	want := status.History[0].Digest
	ref := storage.Ref{Snippet: s.ref(), Revision: status.Revision}
	stored, err := c.options.Publish.Store.Stat(ctx, ref)
	if known := s.past.verified; err == nil && (known.Ref != ref || known.Digest.String() != want ||
		known.Size != stored.Size || !known.Time.Equal(stored.Time)) {
		err = storage.Verify(ctx, c.options.Publish.Store, ref, want)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, artifact.ErrDigestMismatch):
		return false, nil
	case err != nil:
		return false, reconcile.Failed(renderv1.ReasonStorageFailed, fmt.Errorf("reading the published artifact: %w", err))
	}
	stored.Digest = digest.Digest(want)
	s.stored, s.past.verified = stored, stored
	return true, nil
}

// fingerprint identifies all inputs. It is written to the status, where others may read it, so values of Secrets are not
// part of it: a short value could be found by trying all.
func (c *snippets) fingerprint(s *scope) string {
	h := sha256.New()
	add := func(text string) { fmt.Fprintf(h, "%d:%s\n", len(text), text) }
	spec := &s.snippet.Spec
	add("1") // raised when what follows is put together in another way
	add(c.options.Evaluator.Version())
	add(string(spec.Output))
	add(spec.EntryFile)
	for _, from := range append([]origin{s.files}, s.libraries...) {
		add(from.importPath)
		if from.fetched() {
			add(from.archive.Digest)
			add(from.directory)
		} else {
			add(from.inline.Sum())
		}
	}
	if spec.Output != renderv1.OutputSource {
		addVariables(h, "external", spec.ExternalVariables, s.external, s.versions)
		addVariables(h, "arguments", spec.TLAs, s.arguments, s.versions)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func addVariables(
	h hash.Hash, what string, variables []renderv1.Variable, values map[string]jsonnet.Binding, versions map[string]string,
) {
	fmt.Fprintf(h, "%s %d\n", what, len(variables))
	for _, variable := range variables {
		text := values[variable.Name].Text
		kind := values[variable.Name].Kind
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
			text = fmt.Sprintf("%q %s %q", from.SecretKeyRef.Name, versions[from.SecretKeyRef.Name], from.SecretKeyRef.Key)
			fmt.Fprint(h, "secret ")
		}
		fmt.Fprintf(h, "%q %d %d:%s\n", variable.Name, kind, len(text), text)
	}
}
