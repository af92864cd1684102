//go:build !unix

package output

// Lock does nothing where folders cannot be locked.
func (Folder) Lock() (unlock func(), err error) { return func() {}, nil }
