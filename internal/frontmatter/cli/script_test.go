package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stagewright/stagewright/internal/frontmatter/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"frontmatter": func() {
			os.Exit(cli.Run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs the whole program as users do.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"frame": frame, "crlf": crlf, "append": appendLine, "spoil": spoil},
	})
}

// frame turns a file with one JSON message on each line into what an editor sends: `frame messages out`.
func frame(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		line = strings.TrimSpace(line)
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(line), line)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o644))
}

// crlf gives a file the line ends of Windows: `crlf file`.
func crlf(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "\n", "\r\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// appendLine adds a line to a file: `append file line`.
func appendLine(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+args[1]+"\n"), 0o644))
}

// spoil writes nonsense into every file below a folder: `spoil folder`.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		return os.WriteFile(path, []byte("{nonsense"), 0o600)
	}))
	if files == 0 {
		ts.Fatalf("there is nothing in %s", args[0])
	}
}
