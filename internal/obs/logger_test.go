package obs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/obs"
)

// source is what a library logs: JSON has no words for what is in it.
type source struct{ Start func() }

func (source) String() string { return "kind source: *v1.StageSet" }

func TestLogger_NamesWhatJSONCannotExpress(t *testing.T) {
	var none *url.URL
	for name, test := range map[string]struct{ value, want any }{
		"a name":                  {source{Start: func() {}}, "kind source: *v1.StageSet"},
		"one of nothing":          {none, "<nil>"},
		"an error":                {errors.New("gone"), "gone"},
		"what writes itself":      {netip.MustParseAddr("::1"), "::1"},
		"a duration":              {time.Second, float64(time.Second)},
		"a struct without a name": {struct{ A int }{1}, map[string]any{"A": 1.0}},
		"a number":                {1, 1.0},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			obs.NewLogger(&out, "json", "info").Info("Starting", "source", test.value)
			var line map[string]any
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, line["source"]); diff != "" {
				t.Errorf("source (-want +got):\n%s", diff)
			}
			if line["level"] != "INFO" || line["msg"] != "Starting" {
				t.Errorf("the line is %s", out.Bytes())
			}
		})
	}
}
