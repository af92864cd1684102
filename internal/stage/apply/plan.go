package apply

import "github.com/stagewright/stagewright/internal/stage/inventory"

// Plan is a job that is ready to be sent.
type Plan struct {
	applier *Applier
	job     Job
	items   []*item // in the order in which they are applied
}

// Plan prepares a job. Its errors are RefusedError.
func (a *Applier) Plan(job Job) (*Plan, error) {
	items, err := a.prepare(job)
	if err != nil {
		return nil, err
	}
	return &Plan{applier: a, job: job, items: items}, nil
}

// Ahead is what has to be recorded of the stage before the first object is sent. See inventory.Ahead.
func (p *Plan) Ahead(recorded []inventory.Entry) []inventory.Entry {
	was := make(map[inventory.ID]inventory.Entry, len(recorded))
	for _, entry := range recorded {
		was[entry.ID] = entry
	}
	rendered := make([]inventory.Entry, len(p.items))
	for i, it := range p.items {
		rendered[i] = it.entry
		if old := was[it.entry.ID].Fingerprint; parseFingerprint(old).rendered == it.rendered {
			rendered[i].Fingerprint = old
		}
	}
	return inventory.Ahead(inventory.AheadInput{Recorded: recorded, Rendered: rendered, Live: p.job.Live, Intended: p.job.Intended})
}
