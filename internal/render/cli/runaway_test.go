package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// runaways are programs that would never end or never fit, with the codes that their requests may be answered with.
var runaways = map[string]struct{ program, code string }{
	"loop":          {"local f(x) = f(x + 1) tailstrict; f(0)", "evaluation_timeout"},
	"recursion":     {"local f(x) = 1 + f(x + 1); f(0)", "evaluation_limit_exceeded"},
	"doubling":      {"std.length(std.foldl(function(s, x) s + s, std.range(1, 34), 'x'))", "evaluation_limit_exceeded|evaluation_timeout"},
	"array":         {"std.length(std.makeArray(2000000000, function(i) i))", "evaluation_limit_exceeded"},
	"comprehension": {"[a + b + c + d for a in std.range(1, 999) for b in std.range(1, 999) for c in std.range(1, 999) for d in std.range(1, 999)]", "evaluation_limit_exceeded|evaluation_timeout"},
	"list":          {"local f(l, n) = f([l, n], n + 1) tailstrict; f([], 0)", "evaluation_limit_exceeded|evaluation_timeout"},
}

// TestRunaways_AreNobodyElsesProblem asks for all of them in loops. Meanwhile a healthy snippet, evaluated anew for each
// request, is answered each time, the process stays within its memory, and at the end nothing is left running.
func TestRunaways_AreNobodyElsesProblem(t *testing.T) {
	directory := t.TempDir()
	snippet := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(directory, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, name, "main.jsonnet"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, r := range runaways {
		snippet(name, r.program)
	}
	snippet("healthy", "function(n) { a: [n + x for x in ['1', '2', '3']] }")
	const budget = 48 << 20
	p := start(t, "--snippet-directory="+directory, "--evaluation-timeout=1s", "--max-evaluation-memory="+fmt.Sprint(budget), "--shutdown-delay=0")

	var ended atomic.Bool
	var answers atomic.Int64
	var loops sync.WaitGroup
	for name, r := range runaways {
		loops.Go(func() {
			for !ended.Load() {
				if code := codeOf(t, p.address, name); !strings.Contains(r.code, code) || code == "" {
					t.Errorf("%s: code %q, want %s", name, code, r.code)
					return
				}
				answers.Add(1)
			}
		})
	}
	slowest, background := time.Duration(0), false
	for n := 0; n < 300 || answers.Load() < 60 && !t.Failed(); n++ {
		began := time.Now()
		if code := codeOf(t, p.address, fmt.Sprintf("healthy?n=%d", n)); code != "" {
			t.Errorf("the healthy snippet: %s", code)
		}
		slowest = max(slowest, time.Since(began))
		background = background || hasBackgroundThread(t, p.Process.Pid)
	}
	if runtime.GOOS == "linux" && !background {
		t.Error("no thread had a low priority while endless programs were evaluated")
	}
	ended.Store(true)
	loops.Wait()
	peak := peakMemory(t, p.Process.Pid)
	t.Logf("%d runaways were answered; the slowest healthy request took %s; the process took at most %d MiB", answers.Load(), slowest, peak>>20)
	if limit := int64(len(runaways)*budget*3/2 + 256<<20); peak > limit {
		t.Errorf("the process took %d MiB, more than %d MiB", peak>>20, limit>>20)
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-p.exited; err != nil {
		t.Errorf("the renderer ended with %v", err)
	}
}

var codePattern = regexp.MustCompile(`"code":"([a-z_]+)"`)

// codeOf returns the code of a problem, or nothing when the request succeeds.
func codeOf(t *testing.T, address, target string) string {
	t.Helper()
	response, err := http.Get("http://" + address + "/jsonnet/" + target)
	if err != nil {
		t.Errorf("asking for %s: %v", target, err)
		return "no answer"
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("asking for %s: %v", target, err)
	}
	if response.StatusCode == http.StatusOK {
		return ""
	}
	match := codePattern.FindSubmatch(body)
	if match == nil {
		return string(body)
	}
	return string(match[1])
}

// hasBackgroundThread says whether a thread of a process has a lower priority than this one.
func hasBackgroundThread(t *testing.T, pid int) bool {
	t.Helper()
	own, err := niceness("/proc/self/stat")
	if err != nil {
		t.Logf("this system does not tell priorities: %v", err)
		return false
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(threads, func(thread string) bool {
		n, err := niceness(thread)
		return err == nil && n > own // a thread may have ended meanwhile
	})
}

func niceness(stat string) (int, error) {
	line, err := os.ReadFile(stat)
	if err != nil {
		return 0, err
	}
	const field = 16 // counted behind the name, which may have blanks
	_, after, _ := strings.Cut(string(line), ") ")
	return strconv.Atoi(strings.Fields(after)[field])
}

// peakMemory is the most memory a process has had, in bytes; 0 where the system does not tell.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Logf("this system does not tell how much memory a process has had: %v", err)
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(after + " 0")[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
