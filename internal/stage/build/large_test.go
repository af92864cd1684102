package build

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/artifact"
)

func TestBuild_ReadsOneLargeFileAtATime(t *testing.T) {
	manifest := func(bytes int) Input {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: " + strings.Repeat("x", bytes) + "}\n"
		return Input{Files: artifact.Files{"small.yaml": []byte("# nothing\n"), "a.yaml": []byte(text)}, Namespace: "prod"}
	}
	b := New(Options{CacheBytes: -1})
	build := func(in Input) error {
		objects, err := b.Build(t.Context(), "", func(context.Context) (Input, error) { return in, nil })
		if err == nil && len(objects) != 1 {
			return fmt.Errorf("%d objects", len(objects))
		}
		return err
	}
	b.large <- struct{}{} // somebody else reads one
	if err := build(manifest(largeFile)); !errors.Is(err, ErrBusy) {
		t.Errorf("while another one is read: error %v", err)
	}
	if err := build(manifest(1000)); err != nil {
		t.Errorf("a small one while a large one is read: %v", err)
	}
	<-b.large
	for range 2 { // each gives the place back
		if err := build(manifest(largeFile)); err != nil {
			t.Errorf("when nobody else reads one: %v", err)
		}
	}
}
