package v1

// Labels and annotations. The labels are on every object that a stage applies; they tell whose it is.
const (
	// NameLabel holds the name of the StageSet that owns an object.
	NameLabel = "stages.stagewright.dev/name"
	// NamespaceLabel holds the namespace of that StageSet.
	NamespaceLabel = "stages.stagewright.dev/namespace"
	// StageLabel holds the name of the stage that applies an object, and is on inventories too.
	StageLabel = "stages.stagewright.dev/stage"

	// PruneAnnotation with the value "disabled" keeps an object that is no longer rendered: it is released, not deleted.
	PruneAnnotation = "stages.stagewright.dev/prune"
	// Disabled is the value of annotations that switch something off.
	Disabled = "disabled"
	// ApprovePruneAnnotation on a StageSet holds the id of the run whose held deletions may go on. It is removed when a run has
	// ended.
	ApprovePruneAnnotation = "stages.stagewright.dev/approve-prune"

	// Finalizer keeps a deleted StageSet until its objects are torn down.
	Finalizer = "stages.stagewright.dev/teardown"
	// InventoryFinalizer keeps a shard until its entries are gone, however its owner goes.
	InventoryFinalizer = "stages.stagewright.dev/inventory"

	// FieldManager applies what stages render.
	FieldManager = "stageset-controller"
)
