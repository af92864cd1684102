package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

func resultOf(document string) *jsonnet.Result {
	return &jsonnet.Result{JSON: []byte(document), Sum: sha256.Sum256([]byte(document))}
}

func TestRepresent_SharesTheWork(t *testing.T) {
	r, result := newRepresenter(1<<20), resultOf("["+strings.Repeat("1,", 20_000)+"1]\n")
	made := make([]*representation, 16)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = r.represent(t.Context(), result, []string{mediaYAML}, true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, m := range made {
		if m != made[0] {
			t.Fatal("the same representation was made more than once")
		}
	}
}

func TestRepresent_TagsWhatIsSent(t *testing.T) {
	r := newRepresenter(1 << 20)
	tags := map[string]string{}
	for _, document := range []string{"\"a\"\n", "[\"a\"]\n", "\"" + strings.Repeat("a", 2000) + "\"\n"} {
		for _, mediaType := range offers {
			for _, gzipped := range []bool{false, true} {
				made, err := r.represent(t.Context(), resultOf(document), []string{mediaType}, gzipped)
				if errors.Is(err, errNotAString) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if body, ok := tags[made.etag]; ok && body != string(made.body) {
					t.Errorf("%s stands for two bodies", made.etag)
				}
				tags[made.etag] = string(made.body)
			}
		}
	}
	if len(tags) != 10 {
		t.Errorf("%d different tags, want 10", len(tags))
	}
}

func TestRepresent_RefusesToConvertTooMuch(t *testing.T) {
	document := "\"" + strings.Repeat("a", maxYAMLBytes) + "\"\n"
	_, err := newRepresenter(1<<20).represent(t.Context(), resultOf(document), []string{mediaYAML}, false)
	var problem *ProblemError
	if !errors.As(err, &problem) || problem.Code != CodeNotAcceptable {
		t.Errorf("error = %v", err)
	}
}

func TestRepresent_LeavesWithItsClient(t *testing.T) {
	r := newRepresenter(1 << 20)
	for range cap(r.slots) {
		r.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.represent(ctx, resultOf("[]\n"), []string{mediaYAML}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}
