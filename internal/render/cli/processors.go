package cli

import (
	"os"
	"runtime"
)

// spare is how many more processors the Go runtime is told to use than there are: one for requests and one for the
// garbage collector. The runtime looks at the network only every ten milliseconds while all of its processors are busy,
// and long evaluations keep as many busy as there are.
const spare = 2

// spareProcessors leaves processors of the Go runtime to short work, unless GOMAXPROCS says how many there are. The
// returned function undoes it.
func spareProcessors() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spare)
	return runtime.SetDefaultGOMAXPROCS
}
