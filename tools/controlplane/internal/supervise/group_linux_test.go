package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestGroup_SupervisorIsKilled: what no signal handler can clean up, the kernel does.
func TestGroup_SupervisorIsKilled(t *testing.T) {
	supervisor := exec.Command(os.Args[0], t.TempDir())
	supervisor.Env = append(os.Environ(), roleVariable+"=supervisor")
	output, err := supervisor.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(output, &pid); err != nil {
		t.Fatal(err)
	}
	if !runs(pid) {
		t.Fatal("the child does not run")
	}
	if err := supervisor.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = supervisor.Wait()
	for deadline := time.Now().Add(patience); runs(pid); {
		if time.Now().After(deadline) {
			t.Fatal("the child outlives its supervisor")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// runs tells whether a process runs; one that has ended and that nobody has waited for, a zombie, does not.
func runs(pid int) bool {
	if !alive(pid) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
