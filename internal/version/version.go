package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version and Commit are set by the linker and constant afterwards.
var (
	Version = ""
	Commit  = ""
)

// String names the program's release, the commit it was built from where that is known, and the Go version.
func String(program string) string {
	version, commit := Version, Commit
	if version == "" {
		version = "devel"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
			version = info.Main.Version
		}
	}
	if commit == "" {
		commit = "unknown"
	}
	return fmt.Sprintf("%s %s (commit %s, %s)", program, version, commit, runtime.Version())
}
