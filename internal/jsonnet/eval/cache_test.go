package eval

import (
	"crypto/sha256"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

func TestProgramCache_TellsFilesApart(t *testing.T) {
	c := newProgramCache(0)
	a := &jsonnet.Source{Name: "a", Sum: sha256.Sum256([]byte("1"))}
	c.add(a, &vm.Program{Bytes: 1})
	for name, other := range map[string]*jsonnet.Source{
		"another name":    {Name: "b", Sum: a.Sum},
		"another content": {Name: "a", Sum: sha256.Sum256([]byte("2"))},
	} {
		if c.find(other) != nil {
			t.Errorf("%s: found the program", name)
		}
	}
	if c.find(&jsonnet.Source{Name: "a", Sum: a.Sum}) == nil {
		t.Error("the same file: found nothing")
	}
}
