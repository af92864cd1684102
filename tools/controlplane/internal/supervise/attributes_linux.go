package supervise

import "syscall"

// attributes puts a child into a process group of its own, so that Ctrl-C reaches only the supervisor, and has the
// kernel kill it when the supervisor dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
