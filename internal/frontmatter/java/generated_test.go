package java

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// Debian puts the drivers and the server here; `make deps` installs them.
const (
	jars    = "/usr/share/java"
	servers = "/usr/lib/postgresql"
)

// postgresPrograms returns the folder of the server's programs, of the newest version there is.
func postgresPrograms(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(servers, "*/bin/initdb"))
	if err != nil {
		t.Fatal(err)
	}
	newest, programs := -1, ""
	for _, path := range found {
		dir := filepath.Dir(path)
		if version, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && version > newest {
			newest, programs = version, dir
		}
	}
	if programs == "" {
		t.Skipf("initdb is missing in %s; apt-get install postgresql, or make deps, installs it", servers)
	}
	return programs
}

// need skips the test without a file of a Debian package.
func need(t testing.TB, path, pkg string) {
	t.Helper()
	if _, err := exec.LookPath(path); err == nil {
		return
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is missing; apt-get install %s, or make deps, installs it", path, pkg)
	}
}

// TestGenerated compiles everything that tests generate, in one call and without a warning, and runs it.
func TestGenerated(t *testing.T) {
	need(t, "javac", "openjdk-17-jdk-headless")
	need(t, filepath.Join(jars, "h2.jar"), "libh2-java")
	classes := compiled(t)
	t.Run("wide record", func(t *testing.T) { staysSmall(t, classes, "test.wide.converter.WideConverter") })
	t.Run("H2", func(t *testing.T) {
		need(t, filepath.Join(jars, "h2.jar"), "libh2-java")
		behaves(t, classes, "h2.jar", elsewhere, "h2", "jdbc:h2:mem:behaviour;DB_CLOSE_DELAY=-1", "sa")
		t.Run("example", func(t *testing.T) { runsExample(t, classes) })
	})
	t.Run("HSQLDB", func(t *testing.T) {
		need(t, filepath.Join(jars, "hsqldb.jar"), "libhsqldb-java")
		// Its driver shifts a LocalTime by the zone of the JVM.
		behaves(t, classes, "hsqldb.jar", "UTC", "hsqldb", "jdbc:hsqldb:mem:behaviour", "sa")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		need(t, filepath.Join(jars, "postgresql.jar"), "libpostgresql-jdbc-java")
		url := startPostgres(t, postgresPrograms(t))
		behaves(t, classes, "postgresql.jar", elsewhere, "postgresql", url, "postgres")
		t.Run("a million rows in 64 MB", func(t *testing.T) {
			out := run(t, "java", "-Xmx64m", "-cp", classes+":"+filepath.Join(jars, "postgresql.jar"), "test.run.Large", url, "postgres")
			if strings.TrimSpace(out) != "sum 200000000" {
				t.Errorf("got %s", out)
			}
		})
	})
}

// example is the folder of the example application.
const example = "../../../examples/java"

// runsExample runs the example application, which prints what its page shows.
func runsExample(t *testing.T, classes string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(example, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, "java", "-cp", classes+":"+filepath.Join(jars, "h2.jar"), "com.example.tasks.Main")
	if out == "" || !strings.Contains(string(page), "com.example.tasks.Main\n"+out+"```") {
		t.Errorf("the example printed, unlike its page:\n%s", out)
	}
}

// compiled generates all projects of the test data and compiles them together with their own sources.
func compiled(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	behaviour := filepath.Join(dir, "behaviour")
	if err := os.CopyFS(behaviour, os.DirFS("testdata/behaviour")); err != nil {
		t.Fatal(err)
	}
	application := filepath.Join(dir, "application")
	if err := os.CopyFS(application, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	projects := []string{behaviour, application}
	cases, err := filepath.Glob("testdata/hard/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		project := filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".txtar"))
		unpack(t, archive, project)
		projects = append(projects, project)
	}
	projects = append(projects, longSQL(t, filepath.Join(dir, "long")), wideRecord(t, filepath.Join(dir, "wide")))
	var sources []string
	for _, project := range projects {
		files, findings := generated(t, project)
		if findings != "" {
			t.Fatalf("%s:\n%s", project, findings)
		}
		for _, f := range files {
			path := filepath.Join(project, "gen", filepath.FromSlash(f.Path))
			writeFile(t, path, f.Content)
			if strings.IndexFunc(f.Content, func(r rune) bool { return r > '~' }) >= 0 {
				t.Errorf("%s is not ASCII", path)
			}
		}
		sources = append(sources, javaFiles(t, project)...)
	}
	classes := filepath.Join(dir, "classes")
	list := filepath.Join(dir, "sources")
	writeFile(t, list, strings.Join(sources, "\n"))
	// The example names the class of H2's data source.
	run(t, "javac", "-J-XX:TieredStopAtLevel=1", "-Xlint:all,-path", "-Werror", "-encoding", "UTF-8", "-cp", filepath.Join(jars, "h2.jar"), "-d", classes, "@"+list)
	return classes
}

// longSQL is a project whose statements are longer than a constant of a class file can be: of many lines, of one line,
// and of characters that take three bytes each.
func longSQL(t testing.TB, dir string) string {
	t.Helper()
	writeFile(t, filepath.Join(dir, "frontmatter.yaml"), "basePackage: test.long_\n")
	for name, text := range map[string]string{
		"findLines": strings.Repeat("  -- a line of a comment\n", 5000),
		"findLine":  "'" + strings.Repeat("x", 200_000) + "',",
		"findWide":  "'" + strings.Repeat("\u20AC", 50_000) + "',",
	} {
		writeFile(t, filepath.Join(dir, name+".sql"), "SELECT\n"+text+"\n1;\n")
	}
	return dir
}

// wideRecord is a project with a record of as many components as there can be, of a type that takes the most code to read.
func wideRecord(t testing.TB, dir string) string {
	t.Helper()
	components := make([]string, 0, maxComponents)
	for i := range maxComponents {
		components = append(components, fmt.Sprintf("Integer c%d", i))
	}
	writeFile(t, filepath.Join(dir, "frontmatter.yaml"), "basePackage: test.wide\njavaSources: [java]\n")
	writeFile(t, filepath.Join(dir, "java/test/wide/Wide.java"), "package test.wide;\npublic record Wide("+strings.Join(components, ", ")+") {}\n")
	writeFile(t, filepath.Join(dir, "findWide.sql"), "-- resultRowType: test.wide.Wide\nSELECT * FROM wide;\n")
	return dir
}

// offset is the place of an instruction in its method, as javap prints it.
var offset = regexp.MustCompile(`(?m)^ +([0-9]+): `)

// staysSmall: no method of a class is so large that the JVM only ever interprets it.
func staysSmall(t *testing.T, classes, class string) {
	t.Helper()
	largest := 0
	for _, m := range offset.FindAllStringSubmatch(run(t, "javap", "-c", "-cp", classes, class), -1) {
		at, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, at)
	}
	if largest < 1000 || largest > 7900 {
		t.Errorf("the largest method has %d bytes, want at most 7,900", largest)
	}
}

func javaFiles(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".java") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// run runs a command to its end, in a locale whose encoding is UTF-8, and returns what it prints.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// elsewhere is a time zone of whole and half hours, in which nothing happens to be right.
const elsewhere = "Asia/Kolkata"

// behaves runs the checks against a database, in a time zone; each is a test.
func behaves(t *testing.T, classes, jar, zone string, args ...string) {
	t.Helper()
	args = append([]string{"-Duser.timezone=" + zone, "-cp", classes + ":" + filepath.Join(jars, jar), "test.run.Run"}, args...)
	cmd := exec.CommandContext(t.Context(), "java", args...)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	checks := 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "ok "); ok {
			checks++
			t.Run(name, func(*testing.T) {})
		} else if name, ok := strings.CutPrefix(line, "FAIL "); ok {
			checks++
			name, why, _ := strings.Cut(name, ": /")
			t.Run(name, func(t *testing.T) { t.Error(why) })
		}
	}
	if checks == 0 || err != nil && !t.Failed() {
		t.Errorf("%v:\n%s", err, out)
	}
}

// startPostgres starts a server of its own on a free port and returns its URL. The server does not run as root.
func startPostgres(t *testing.T, programs string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "frontmatter-postgres-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	initdb := exec.CommandContext(t.Context(), filepath.Join(programs, "initdb"), "-D", dir+"/data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = attributes, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(t)
	server := exec.Command(filepath.Join(programs, "postgres"), "-D", dir+"/data", "-p", port, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	server.SysProcAttr, server.Dir = attributes, dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT) // at once: nothing is kept
		_ = server.Wait()
	})
	deadline := time.Now().Add(time.Minute)
	for {
		ready := exec.CommandContext(t.Context(), filepath.Join(programs, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", port)
		if err := ready.Run(); err == nil {
			return fmt.Sprintf("jdbc:postgresql://127.0.0.1:%s/postgres", port)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not answer:\n%s", log.String())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
