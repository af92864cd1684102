package obstest

import (
	"os"
	"strings"
	"testing"
)

// CompareMetrics compares what is served, in Prometheus' text form, with a reference page, as far as names begin with a
// prefix. A metric with labels may be missing: it appears with its first value. At least so many are to be on the page.
func CompareMetrics(t testing.TB, served, page, prefix string, least int) {
	t.Helper()
	reference, err := os.ReadFile(page) //nolint:gosec // which the test names
	if err != nil {
		t.Fatal(err)
	}
	documented, found := map[string]string{}, map[string]string{} // from name to kind
	labelled := map[string]bool{}
	for line := range strings.Lines(string(reference)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `"+prefix) && len(cells) == 4 {
			name := strings.Trim(cells[0], "|` ")
			documented[name], labelled[name] = cells[1], strings.TrimSpace(cells[2]) != ""
		}
	}
	for line := range strings.Lines(served) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "# TYPE "+prefix) && len(fields) == 4 {
			found[fields[2]] = fields[3]
		}
	}
	for name, kind := range documented {
		if found[name] != kind && (found[name] != "" || !labelled[name]) {
			t.Errorf("%s is served as %q, documented as %s", name, found[name], kind)
		}
	}
	for name := range found {
		if documented[name] == "" {
			t.Errorf("%s is served and not documented", name)
		}
	}
	if len(documented) < least {
		t.Errorf("only %d metrics are documented", len(documented))
	}
}
