package stageset

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/kubetest"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// request asks for a reconciliation and waits until it was made.
func (r *rig) request(t testing.TB, set *stagesv1.StageSet) {
	t.Helper()
	token := fmt.Sprint(time.Now().UnixNano())
	edit(t, r, set, func(set *stagesv1.StageSet) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, fluxmeta.ReconcileRequestAnnotation, token)
	})
	r.Await(t, set, func() error {
		if set.Status.LastHandledReconcileAt != token {
			return fmt.Errorf("handled %s last", set.Status.LastHandledReconcileAt)
		}
		return nil
	})
}

// writes are the requests that change something; those about tokens and the status's own are left out.
func writes(requests []string) []string {
	var found []string
	for _, what := range requests {
		if !strings.HasPrefix(what, "GET ") && !strings.HasSuffix(what, "/token") && !strings.HasSuffix(what, "/status") {
			found = append(found, what)
		}
	}
	return found
}

func TestUnchanged_NothingIsWrittenAndLittleRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var stages []string
	last := map[string]string{}
	for i := range 3 {
		var manifests []string
		for j := range 334 {
			manifests = append(manifests, configMap(fmt.Sprintf("c%d-%d", i, j), "1"))
		}
		name := fmt.Sprintf("s%d", i)
		r.publish(t, name, append(manifests, deployment(name, 0))...)
		stages = append(stages, name)
		last[name] = ""
	}
	set := stageSet("shop", stages...)
	r.Create(t, set)
	stop := r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	look := func(when string, most int) {
		t.Helper()
		r.wire.quiet(t)
		r.request(t, set)
		r.awaitReason(t, set, stagesv1.ReasonSucceeded)
		seen := r.wire.take()
		if changes := writes(seen); len(changes) > 0 {
			t.Errorf("%s: writes: %v", when, changes)
		}
		if len(seen) > most {
			t.Errorf("%s: %d requests: %v", when, len(seen), seen)
		}
		t.Logf("%s: %d requests", when, len(seen))
	}
	look("while it runs", 12)
	stop()
	r.start(t)
	look("after a restart", 12)
}

func TestDrift_IsCorrected(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("settings", "1"), configMap("other", "1"))
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	for name, change := range map[string]func(context.Context, *corev1.ConfigMap) error{
		"changed": func(ctx context.Context, c *corev1.ConfigMap) error {
			c.Data["value"] = "2"
			return r.Client.Update(ctx, c)
		},
		"deleted": func(ctx context.Context, c *corev1.ConfigMap) error { return r.Client.Delete(ctx, c) },
		"label removed": func(ctx context.Context, c *corev1.ConfigMap) error {
			delete(c.Labels, stagesv1.NameLabel)
			return r.Client.Update(ctx, c)
		},
	} {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: r.Namespace}}
		if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			t.Fatal(err)
		}
		if err := change(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		r.request(t, set)
		kubetest.Eventually(t, func(context.Context) error {
			if got := r.configMaps(t); len(got) != 2 || got["settings"] != "1" {
				return fmt.Errorf("%s: %v", name, got)
			}
			return nil
		})
		r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	}
	r.awaitEvent(t, set, corev1.EventTypeNormal, stagesv1.EventDriftCorrected)
}

// TestDrift_WithoutTheArtifactIsTold: producers drop old artifacts, and what was made from them is watched over all the same.
func TestDrift_WithoutTheArtifactIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	base := r.publish(t, "base", configMap("settings", "1"))
	stop := r.start(t)
	set := stageSet("shop", "base")
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
	r.settle(t, set)
	stop()
	r.archives.Drop(base.Status.Artifact)
	r.options.Artifacts = load.New(load.Options{Fetcher: artifact.NewFetcher(kubetest.FastFetches())}, load.AsIs) // it has not unpacked it yet
	r.start(t)
	r.request(t, set)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded) // nothing needs it
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: r.Namespace}}
	edit(t, r, c, func(c *corev1.ConfigMap) { c.Data["value"] = "2" })
	r.request(t, set)
	message := r.awaitReason(t, set, stagesv1.ReasonArtifactFetchFailed)
	if want := "ConfigMap " + r.Namespace + "/settings is not as it was applied, which cannot be corrected"; !strings.Contains(message, want) {
		t.Errorf("the message is %q, want %q in it", message, want)
	}
	edit(t, r, c, func(c *corev1.ConfigMap) { c.Data["value"] = "1" })
	base = r.publish(t, "base", configMap("settings", "3"))
	r.awaitApplied(t, set, "base", base)
}
