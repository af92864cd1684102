package cli

import (
	"log/slog"
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/meter"
)

// memoryPlan says how the process's memory is divided, in bytes.
type memoryPlan struct {
	limit                           int64 // of the process; 0 is unknown
	results, files, representations int64 // caches
	programs, sources               int64
	evaluations                     int64 // all evaluations together; 0 is no limit
	unpacked                        int64 // sources of snippets that are being rendered
	ballast                         int64 // see maxBallast
}

// archive is how large one archive may be of as many as are fetched at a time: all of them together take no more than what
// is unpacked.
func (p memoryPlan) archive(concurrent int) int64 {
	return min(artifact.DefaultLimits().ArchiveBytes, p.unpacked/int64(max(concurrent, 1)))
}

// The largest caches; a process with little memory has smaller ones.
const (
	maxResultCache         = 128 << 20
	maxFileCache           = 64 << 20
	maxRepresentationCache = 64 << 20
	maxProgramCache        = 64 << 20
	maxSourceCache         = 128 << 20
)

// maxBallast is the most memory that is allocated and never used. The garbage collector starts when the heap has doubled:
// with nothing but a few megabytes in it, an evaluation that allocates much would start it a hundred times a second.
const maxBallast = 64 << 20

// planMemory gives half of the limit to evaluations and up to a quarter to caches; the rest is for unpacked sources, for
// requests and for what the garbage collector has not freed yet. Not all of it is full at the same time.
func planMemory(limit int64) memoryPlan {
	plan := memoryPlan{
		limit: limit, results: maxResultCache, files: maxFileCache, representations: maxRepresentationCache,
		programs: maxProgramCache, sources: maxSourceCache, unpacked: load.DefaultHeldBytes, ballast: maxBallast,
	}
	if limit <= 0 {
		return plan
	}
	const parts = 6 // the result cache is twice as large as each of the others
	share := limit / 4 / parts
	plan.results = min(plan.results, 2*share)
	plan.files = min(plan.files, share)
	plan.representations = min(plan.representations, share)
	plan.programs = min(plan.programs, share)
	plan.sources = min(plan.sources, share)
	plan.evaluations = limit / 2
	plan.unpacked = min(plan.unpacked, limit/4)
	const ballastPart = 16
	plan.ballast = min(plan.ballast, limit/ballastPart)
	return plan
}

// memoryLimit is what the process may use: GOMEMLIMIT, or nine tenths of the cgroup's limit, which becomes the garbage
// collector's limit too. 0 is unknown.
func memoryLimit(logger *slog.Logger) int64 {
	if _, err := memlimit.Set(memlimit.WithProvider(memlimit.FromCgroup), memlimit.WithRatio(0.9)); err != nil {
		logger.Debug("no memory limit of a cgroup", "reason", err)
	}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	return 0
}

// pool is the memory that all evaluations share; nil is no limit.
func (p memoryPlan) pool() meter.Process {
	if p.evaluations == 0 {
		return nil
	}
	return meter.NewPool(p.evaluations)
}
