package turns

import (
	"runtime"
	"syscall"
)

// lower is what is added to the niceness of a thread with long work. At 10 it gets a tenth of a processor that others
// want too: little enough to be out of their way, enough to let go of what they may be waiting for.
const lower = 10

const (
	leastPriority = 19
	// rawOffset is what the system call of getpriority adds, so that its results are never negative.
	rawOffset = 20
)

// lowerPriority gives the goroutine a thread of its own with a low priority. The Go runtime ends the thread together with
// the goroutine, and starts no other threads from it.
func lowerPriority() {
	runtime.LockOSThread()
	thread := syscall.Gettid()
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread)
	if err == nil {
		err = syscall.Setpriority(syscall.PRIO_PROCESS, thread, min(rawOffset-raw+lower, leastPriority))
	}
	if err != nil { // forbidden here: long work still takes turns
		runtime.UnlockOSThread()
	}
}
