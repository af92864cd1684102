package files

import (
	"io/fs"
	"syscall"
	"time"
)

// stampOf also takes the time of the last status change, which a writer cannot set.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), modified: info.ModTime()}
	s.changed = s.modified
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.device, s.inode = uint64(sys.Dev), sys.Ino //nolint:unconvert // 32 bits wide on some machines
		s.changed = time.Unix(sys.Ctim.Sec, sys.Ctim.Nsec)
	}
	return s
}
