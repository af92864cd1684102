package cli

import "testing"

func TestPlanMemory(t *testing.T) {
	cases := map[string]struct {
		limit int64
		want  memoryPlan
		why   string
	}{
		"unknown": {0, memoryPlan{results: 128 << 20, files: 64 << 20, representations: 64 << 20, programs: 64 << 20, sources: 128 << 20, unpacked: 1 << 30, ballast: 64 << 20}, "no limit for evaluations"},
		"plenty":  {8 << 30, memoryPlan{limit: 8 << 30, results: 128 << 20, files: 64 << 20, representations: 64 << 20, programs: 64 << 20, sources: 128 << 20, evaluations: 4 << 30, unpacked: 1 << 30, ballast: 64 << 20}, "caches do not grow with it"},
		"little":  {240 << 20, memoryPlan{limit: 240 << 20, results: 20 << 20, files: 10 << 20, representations: 10 << 20, programs: 10 << 20, sources: 10 << 20, evaluations: 120 << 20, unpacked: 60 << 20, ballast: 15 << 20}, "a quarter for caches, half for evaluations"},
	}
	for name, c := range cases {
		got := planMemory(c.limit)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v: %s", name, got, c.want, c.why)
		}
		if (got.pool() == nil) != (c.limit == 0) {
			t.Errorf("%s: a pool for evaluations: %v", name, got.pool() != nil)
		}
	}
}

// TestPlanMemory_ArchivesFitTogether: as many as are fetched at a time are in memory before anything is known of them.
func TestPlanMemory_ArchivesFitTogether(t *testing.T) {
	for name, c := range map[string]struct {
		limit      int64
		concurrent int
		want       int64
	}{
		"unknown": {0, 8, 64 << 20},
		"plenty":  {8 << 30, 8, 64 << 20},
		"little":  {256 << 20, 8, 8 << 20},
		"many":    {8 << 30, 64, 16 << 20},
	} {
		if got := planMemory(c.limit).archive(c.concurrent); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
