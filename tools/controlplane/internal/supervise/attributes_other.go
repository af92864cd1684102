//go:build !linux

package supervise

import "syscall"

// attributes puts a child into a process group of its own, so that Ctrl-C reaches only the supervisor.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
