package output

import (
	"os"
	"strings"
	"testing"
)

func TestLock_OneRunAtATime(t *testing.T) {
	f := folder(t)
	unlock, err := f.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Lock(); err == nil || !strings.Contains(err.Error(), "another run is writing there") {
		t.Errorf("a second run was let in: %v", err)
	}
	unlock()
	again, err := f.Lock()
	if err != nil {
		t.Fatal(err)
	}
	again()
	entries, err := os.ReadDir(f.Path)
	if err != nil || len(entries) != 0 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}

func TestState_IsThatOfWhatWasGenerated(t *testing.T) {
	f := folder(t)
	if _, ok := f.State(); ok {
		t.Error("an empty folder has a state")
	}
	apply(t, f, map[string]string{"A.java": "1", "B.java": "1"})
	first, ok := f.State()
	if !ok {
		t.Fatal("no state")
	}
	apply(t, f, map[string]string{"A.java": "1", "B.java": "2"})
	if second, ok := f.State(); !ok || second == first {
		t.Errorf("the same state: %t", ok)
	}
	write(t, f, "A.java", header+"\nby hand\n")
	if _, ok := f.State(); ok {
		t.Error("a changed file has a state")
	}
	write(t, f, "A.java", header+"\r\n1\r\n")
	if _, ok := f.State(); !ok {
		t.Error("other line ends have no state")
	}
	if err := os.Mkdir(f.Path+"/"+stagingName, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.State(); ok {
		t.Error("an interrupted run has a state")
	}
}
