package stageset

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// scope is what the steps of one reconciliation share.
type scope struct {
	set    *stagesv1.StageSet // as read at the start; steps change its status
	before *stagesv1.StageSet // a copy as it was
	now    time.Time          // of the start

	fallback   cluster.Cluster            // where stages are that the spec has no more; set by identify
	kubeconfig *corev1.Secret             // of spec.kubeConfig; read once
	hold       *load.Hold[artifact.Files] // what is unpacked for this reconciliation
	needs      []objectwatch.Need
	recheck    bool          // set by any step: something is not watched and is looked at again
	again      time.Duration // set by any step: not later than this

	wanted    wanted                  // set by resolve
	choice    choice                  // set by choose
	run       *stagesv1.Run           // that goes on or begins; nil when everything is settled. Set by choose
	stages    []*stage                // in the order of the spec; set by resolve
	removed   []inventory.Stage       // recorded stages that the spec has no more; set by record
	rendered  map[inventory.ID]string // by which stage an object is rendered; set by build
	drifted   string                  // an object that is not as it was applied, while nothing is rolled out; set by watch
	corrected []string                // objects that somebody had changed
}

// stage is what the steps know of one stage.
type stage struct {
	spec     *stagesv1.Stage
	position int
	cluster  cluster.Cluster        // where it is applied, as whom; set by identify
	revision stagesv1.StageRevision // pinned; set by choose
	rules    *health.Rules          // set by check
	values   values                 // of substituteFrom; set by resolve

	built   bool                         // objects is set
	objects []*unstructured.Unstructured // in the order in which they are applied; shared, never changed
	ids     []inventory.ID               // of objects

	recorded    inventory.Stage // as it is in the cluster; set by record, kept up by whoever saves
	generations map[inventory.ID]int64
	live        map[inventory.ID]inventory.Live // what is labelled as ours; set by survey
	began       time.Time                       // when the run came to it, if that was in this reconciliation
	changed     bool                            // something was written for it in this reconciliation
}

func (s *scope) key() types.NamespacedName { return client.ObjectKeyFromObject(s.set) }

func (s *scope) owner() inventory.Owner {
	return inventory.Owner{Namespace: s.set.Namespace, Name: s.set.Name, UID: s.set.UID}
}

// interval is when the StageSet is looked at again although nothing was told.
func (s *scope) interval(fallback time.Duration) time.Duration {
	if s.set.Spec.Interval != nil {
		return s.set.Spec.Interval.Duration
	}
	return fallback
}

// retry is when something that failed is tried again.
func (s *scope) retry(fallback time.Duration) time.Time {
	if s.set.Spec.RetryInterval != nil {
		return s.now.Add(s.set.Spec.RetryInterval.Duration)
	}
	return s.now.Add(s.interval(fallback))
}

// statusOf returns the status of a stage, which it adds where there is none.
func (s *scope) statusOf(name string) *stagesv1.StageStatus {
	stages := &s.set.Status.Stages
	for i := range *stages {
		if (*stages)[i].Name == name {
			return &(*stages)[i]
		}
	}
	*stages = append(*stages, stagesv1.StageStatus{Name: name, Phase: stagesv1.PhasePending})
	return &(*stages)[len(*stages)-1]
}

func (s *scope) stageNamed(name string) *stage {
	for _, w := range s.stages {
		if w.spec.Name == name {
			return w
		}
	}
	return nil
}

// need notes that an object of the StageSet's namespace is read, so that its changes are heard of. What the controller reads
// as itself it may not watch.
func (s *scope) need(account string, kind objectwatch.Kind, name, version string) {
	if account == "" {
		s.recheck = true
		return
	}
	s.needs = append(s.needs, objectwatch.Need{Version: version, Object: objectwatch.Object{
		Account: tenant.Account{Namespace: s.set.Namespace, Name: account}, Kind: kind, Namespace: s.set.Namespace, Name: name,
	}})
}
