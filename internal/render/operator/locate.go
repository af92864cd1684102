package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/kube/control"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// locate finds out where the snippet's own files are.
func (c *snippets) locate(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	spec := &s.snippet.Spec
	files, err := c.origin(ctx, s, s.snippet.Namespace, spec.Files, spec.SourceRef)
	s.files = files
	return reconcile.Next(), err
}

// origin is where the files of a snippet or a library are. A source is read as the snippet's ServiceAccount.
func (c *snippets) origin(
	ctx context.Context, s *scope, namespace string, texts map[string]string, ref *renderv1.SourceReference,
) (origin, error) {
	if ref == nil {
		files := make(bundle.Files, len(texts))
		for name, text := range texts {
			files[name] = bundle.NewFile(text)
		}
		return origin{what: "spec.files", inline: files}, nil
	}
	key := sourceKey(namespace, ref)
	object := control.SourceKinds()[ref.Kind]()
	what := fmt.Sprintf("%s %s", ref.Kind, key)
	err := s.client.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		return origin{}, reconcile.Waiting(c.later(), renderv1.ReasonSourceNotReady, fmt.Errorf("%s does not exist", what))
	}
	if err != nil {
		tried := access{"get", resourceOf(ref.Kind), key.Namespace, key.Name}
		return origin{}, c.tenantError(s, tried, err)
	}
	c.noteWatched(ctx, s, key, control.SourceKinds()[ref.Kind]())
	artifact := object.GetArtifact()
	if artifact == nil || artifact.URL == "" || artifact.Digest == "" {
		return origin{}, reconcile.Waiting(c.later(), renderv1.ReasonSourceNotReady, fmt.Errorf("%s has no artifact yet", what))
	}
	return origin{
		what: what, archive: &load.Location{URL: artifact.URL, Digest: artifact.Digest}, directory: ref.Path,
	}, nil
}

// noteWatched has the snippet looked at again now and then, if nobody would tell of a change of what it uses: an object that
// is there and that the operator's cache does not have is not watched.
func (c *snippets) noteWatched(ctx context.Context, s *scope, key types.NamespacedName, empty client.Object) {
	if key.Namespace == s.snippet.Namespace && !isLibrary(empty) {
		return // sources are watched wherever snippets are
	}
	if !c.cached(ctx, key, empty) {
		s.recheck = true
	}
}

func isLibrary(object client.Object) bool {
	_, ok := object.(*renderv1.JsonnetLibrary)
	return ok
}

func sourceKey(namespace string, ref *renderv1.SourceReference) types.NamespacedName {
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: ref.Name}
}

// resourceOf is the resource of a kind of source, as roles name it.
func resourceOf(kind string) string {
	plural := strings.ToLower(kind) + "s"
	if stem, ok := strings.CutSuffix(plural, "ys"); ok {
		plural = stem + "ies"
	}
	return plural + "." + sourcev1.GroupVersion.Group
}

// collect finds the libraries and where their files are.
func (c *snippets) collect(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.snippet.Spec.Output == renderv1.OutputSource {
		return reconcile.Next(), nil // nothing is imported
	}
	for _, ref := range s.snippet.Spec.Libraries {
		key := libraryKey(s.snippet.Namespace, ref)
		library := &renderv1.JsonnetLibrary{}
		err := s.client.Get(ctx, key, library)
		if apierrors.IsNotFound(err) || err == nil && !library.DeletionTimestamp.IsZero() {
			return reconcile.Next(), reconcile.Waiting(c.later(), renderv1.ReasonLibraryNotFound,
				fmt.Errorf("JsonnetLibrary %s does not exist", key))
		}
		if err != nil {
			tried := access{"get", "jsonnetlibraries." + renderv1.GroupVersion.Group, key.Namespace, key.Name}
			return reconcile.Next(), c.tenantError(s, tried, err)
		}
		c.noteWatched(ctx, s, key, &renderv1.JsonnetLibrary{})
		files, err := c.libraryOrigin(ctx, s, library)
		if err != nil {
			return reconcile.Next(), fmt.Errorf("JsonnetLibrary %s: %w", key, err)
		}
		files.importPath = ref.ImportPath
		if files.importPath == "" {
			files.importPath = ref.Name
		}
		s.libraries = append(s.libraries, files)
	}
	return reconcile.Next(), nil
}

func (c *snippets) libraryOrigin(ctx context.Context, s *scope, library *renderv1.JsonnetLibrary) (origin, error) {
	spec := &library.Spec
	if err := c.options.Spec.checkOrigin(library.Namespace, spec.Files, spec.SourceRef); err != nil {
		var known *reconcile.Error
		if errors.As(err, &known) { // the library is to be changed, which brings the snippet back
			err = reconcile.Waiting(c.later(), known.Reason, err)
		}
		return origin{}, err
	}
	files, err := c.origin(ctx, s, library.Namespace, spec.Files, spec.SourceRef)
	files.what = fmt.Sprintf("JsonnetLibrary %s/%s", library.Namespace, library.Name)
	return files, err
}

func libraryKey(namespace string, ref renderv1.LibraryReference) types.NamespacedName {
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: ref.Name}
}
