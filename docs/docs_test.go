package docs

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

const root = ".."

// What the pages show, and what stands for it while they are tested.
const (
	shownJsonnet    = "http://127.0.0.1:8080"
	shownManagement = "http://127.0.0.1:8081"
	ofExamples      = "renderer --snippet-directory examples/snippets --library-path examples/lib --ext-var environment=staging"
)

// fromSource is how the pages start a program in a clone; the one that was built once, from the same sources, runs instead.
var fromSource = regexp.MustCompile(`go run \./cmd/(\w+)`)

const (
	startTimeout = 20 * time.Second
	blockTimeout = time.Minute
)

// TestConsole_ShowsWhatHappens runs the ```console blocks of the pages and compares the output. The comment before a
// block says how:
//
//	<!-- run -->                   in a copy of the tree, which the blocks of a page share
//	<!-- run: server=examples -->  while a renderer serves the examples
//	<!-- run: serve -->            its one command is a renderer, which keeps running for the next blocks of the page
//	<!-- not run: REASON -->
func TestConsole_ShowsWhatHappens(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the pages use %s, which is not installed: %v", tool, err)
		}
	}
	binaries := build(t)
	for _, page := range pages(t) {
		found := blocks(t, page)
		if len(found) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, binaries)
			for _, b := range found {
				s.play(t, b)
			}
		})
	}
}

// TestSession_LeavesTheCachesOfTheUserAlone: what pages run writes to no cache but its own, and Go compiles nothing twice.
func TestSession_LeavesTheCachesOfTheUserAlone(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("the pages use bash, which is not installed: %v", err)
	}
	s := newSession(t, build(t))
	compiled, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	user := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", user)
	output, err := s.bash(t.Context(), "frontmatter generate java examples/java && ls $XDG_CACHE_HOME && go env GOCACHE").CombinedOutput()
	if err != nil || !strings.HasSuffix(string(output), "\nstagewright-frontmatter\n"+string(compiled)) {
		t.Errorf("%v, want a cache and %s in\n%s", err, compiled, output)
	}
	left, err := os.ReadDir(user)
	if err != nil || len(left) > 0 {
		t.Errorf("%v, the cache of the user has %v", err, left)
	}
}

// TestDemo_EveryStepGoesAsExpected runs what "make demo EXIT=1 OPERATOR=0" runs.
func TestDemo_EveryStepGoesAsExpected(t *testing.T) {
	demo(t, "OPERATOR=0", "All 8 steps over HTTP went as expected.")
}

// TestDemo_ChangesAreRolledOutInStages runs what "make demo EXIT=1" runs, on the control plane of the tests.
func TestDemo_ChangesAreRolledOutInStages(t *testing.T) {
	kubetest.Start(t) // skips without one
	plane := filepath.Join(root, "bin", "controlplane")
	if _, err := os.Stat(plane); err != nil {
		t.Fatalf("the demo uses the kubectl of the control plane's binary: %v", err)
	}
	demo(t, "OPERATOR=1", "All 7 steps of the operator and the stages went as expected.")
}

// demo runs the demo until it ends by itself, and expects a line.
func demo(t *testing.T, part, want string) {
	t.Helper()
	binaries := build(t)
	command := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "demo"),
		filepath.Join(binaries, "renderer"), filepath.Join(binaries, "stageset-controller"))
	command.Env = append(os.Environ(), "EXIT=1", part)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // so that it cleans up
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), want+"\n") {
		t.Errorf("%v, want %q in\n%s", err, want, output)
	}
}

// session is where the blocks of one page run.
type session struct {
	directory, binaries string
	caches              []string // settings of where programs keep what they remember
	server              *exec.Cmd
	ended               chan struct{} // closed when the server has
	command             string        // that started it
	addresses           *strings.Replacer
}

func newSession(t *testing.T, binaries string) *session {
	t.Helper()
	s := &session{directory: t.TempDir(), binaries: binaries, caches: caches(t), addresses: strings.NewReplacer()}
	copied := filepath.Join(s.directory, "examples")
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	// On a terminal curl shows no progress; here it would.
	if err := os.WriteFile(filepath.Join(s.directory, ".curlrc"), []byte("silent\nshow-error\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// caches keeps programs out of the cache of the user who runs the tests, but for what Go has compiled there.
func caches(t *testing.T) []string {
	t.Helper()
	compiled, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"XDG_CACHE_HOME=" + t.TempDir(), "GOCACHE=" + strings.TrimSpace(string(compiled))}
}

func (s *session) play(t *testing.T, b block) {
	t.Helper()
	why, skipped := b.reason()
	switch {
	case skipped && strings.TrimSpace(why) != "":
	case b.marker == "run":
		s.run(t, b)
	case b.marker == "run: server=examples":
		s.serve(t, b, ofExamples)
		s.run(t, b)
	case b.marker == "run: serve" && len(b.steps) == 1 && b.steps[0].output == "":
		s.serve(t, b, b.steps[0].command)
	case b.marker == "run: serve":
		t.Errorf("%s: a block that serves is one command without output", b)
	default:
		t.Errorf("%s: the comment before a console block says \"run\", \"run: server=examples\", \"run: serve\" or "+
			"\"not run: REASON\"; this one has %q", b, b.marker)
	}
}

// run gives a block to one bash, and compares command by command.
func (s *session) run(t *testing.T, b block) {
	t.Helper()
	const separator = "\x1e"
	script := "mark() { local status=$?; printf '\\036'; return $status; }\n"
	for _, step := range b.steps {
		if s.server == nil && strings.Contains(step.command, "://127.0.0.1:808") {
			t.Fatalf("%s:%d: $ %s\nno renderer is serving here", b.page, step.line, step.command)
		}
		script += fromSource.ReplaceAllString(s.addresses.Replace(step.command), "$1") + "\nmark\n"
	}
	ctx, cancel := context.WithTimeout(t.Context(), blockTimeout)
	defer cancel()
	output, err := s.bash(ctx, script).CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s: the commands did not end within %s", b, blockTimeout)
	}
	outputs := strings.Split(string(output), separator)
	if len(outputs) != len(b.steps)+1 {
		t.Fatalf("%s: bash ended early: %v\n%s", b, err, output)
	}
	for i, step := range b.steps {
		if !matches(s.addresses.Replace(step.output), outputs[i]) {
			t.Errorf("%s:%d: $ %s\n--- the page shows:\n%s--- it printed:\n%s", b.page, step.line, step.command, step.output, outputs[i])
		}
	}
}

func (s *session) bash(ctx context.Context, script string) *exec.Cmd {
	command := exec.CommandContext(ctx, "bash", "-c", script)
	command.Dir = s.directory
	command.Env = append(os.Environ(), "PATH="+s.binaries+":"+os.Getenv("PATH"), "CURL_HOME="+s.directory, "LC_ALL=C.UTF-8")
	command.Env = append(command.Env, s.caches...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	return command
}

// serve starts a renderer on free ports, unless the same one runs already, and waits until it is ready.
func (s *session) serve(t *testing.T, b block, shown string) {
	t.Helper()
	if s.server != nil && s.command == shown {
		return
	}
	s.stop()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	command := fromSource.ReplaceAllString(shown, "$1")
	s.server = s.bash(context.Background(), command+" --port 0 --management-port 0 --shutdown-delay 0")
	s.server.Stdout, s.server.Stderr = log, log
	if err := s.server.Start(); err != nil {
		s.server = nil
		t.Fatalf("%s: %v", b, err)
	}
	server, ended := s.server, make(chan struct{})
	s.command, s.ended = shown, ended
	go func() {
		_ = server.Wait() // its log tells more than its status
		close(ended)
	}()
	address := regexp.MustCompile(`server\W+(jsonnet|management)\W+address\W+([0-9.:]+)`)
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		content, _ := os.ReadFile(log.Name())
		content = content[:bytes.LastIndexByte(content, '\n')+1] // a line may be half written
		at := map[string]string{}
		for _, match := range address.FindAllStringSubmatch(string(content), -1) {
			at[match[1]] = "http://" + match[2]
		}
		// The servers start in any order: one that is ready may have told so before another has told its address.
		if at["jsonnet"] != "" && ready(at["management"]) {
			s.addresses = strings.NewReplacer(shownJsonnet, at["jsonnet"], shownManagement, at["management"])
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s: $ %s\nended instead of serving; its log:\n%s", b, shown, content)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: $ %s\nwas not ready within %s; its log:\n%s", b, shown, startTimeout, content)
		}
	}
}

func ready(management string) bool {
	if management == "" {
		return false
	}
	response, err := http.Get(management + "/ready")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (s *session) stop() {
	if s.server == nil {
		return
	}
	_ = syscall.Kill(-s.server.Process.Pid, syscall.SIGTERM)
	<-s.ended
	s.server = nil
}

// build makes the programs that the pages call, and returns their directory.
func build(t *testing.T) string {
	t.Helper()
	binaries := t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "build", "-o", binaries, root+"/cmd/renderer", root+"/cmd/frontmatter",
		root+"/cmd/stageset-controller")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, output)
	}
	return binaries
}

// pages are the Markdown files at the root, in docs, editors and examples; those that npm installs are not ours.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := fs.Glob(os.DirFS(root), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, directory := range []string{"docs", "editors", "examples"} {
		err := fs.WalkDir(os.DirFS(root), directory, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err == nil && entry.Name() == "node_modules":
				return fs.SkipDir
			case filepath.Ext(path) == ".md":
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) == 0 {
		t.Fatal(fmt.Errorf("there are no pages in %s", root))
	}
	return found
}
