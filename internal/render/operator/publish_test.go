package operator

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
)

func TestPublish_SnippetOfFilesIsRenderedAndAnnounced(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	s := snippet("app", texts{"main.jsonnet": `import "lib/a.libsonnet"`, "lib/a.libsonnet": `{ replicas: 3 }`})
	r.Create(t, s)
	message := r.awaitReason(t, s, renderv1.ReasonSynced)
	if want := "Published revision " + s.Status.Revision; message != want {
		t.Errorf("the message is %q, want %q", message, want)
	}
	files := r.published(t, s)
	if d := cmp.Diff(map[string]string{"rendered.json": "{\n   \"replicas\": 3\n}\n"}, asTexts(files)); d != "" {
		t.Error(d)
	}
	r.awaitEvent(t, s, "Normal", renderv1.ReasonSynced)
}

func asTexts(files map[string][]byte) map[string]string {
	found := map[string]string{}
	for name, content := range files {
		found[name] = string(content)
	}
	return found
}
