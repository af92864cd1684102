//go:build unix

package output

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock keeps other runs from writing to the folder, which is made when it is not there, until it is unlocked or the
// process ends. It does not wait. The folder itself is locked, so that no file has to be left there for that.
func (f Folder) Lock() (unlock func(), err error) {
	if err := os.MkdirAll(f.Path, 0o755); err != nil { //nolint:gosec // folders of sources are for everybody
		return nil, fmt.Errorf("creating folder: %w", err)
	}
	folder, err := os.Open(f.Path)
	if err != nil {
		return nil, fmt.Errorf("locking folder: %w", err)
	}
	err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		_ = folder.Close()
		return nil, fmt.Errorf("writing to %s: another run is writing there; try again when it has ended", f.Path)
	case err != nil && !errors.Is(err, errors.ErrUnsupported): // some network file systems have no locks
		_ = folder.Close()
		return nil, fmt.Errorf("locking %s: %w", f.Path, err)
	}
	return func() { _ = folder.Close() }, nil
}
