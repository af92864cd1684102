package build

import "fmt"

// cost bounds a build before it begins: everything counts as often as it is included.
type cost struct {
	directories int
	bytes       int64
	objects     int
	effort      int64 // grows with the square of the objects, in every directory they pass
}

const (
	maxDirectories    = 1_000
	maxKustomizeBytes = 32 << 20   // kustomize needs some fifty times as much memory
	maxEffort         = 20_000_000 // some 20 seconds: 4,400 objects in one directory
)

// add counts what a directory includes.
func (c *cost) add(other cost) error {
	c.directories += other.directories
	c.bytes += other.bytes
	c.objects += other.objects
	c.effort += other.effort
	switch {
	case c.directories > maxDirectories:
		return fmt.Errorf("kustomizations include more than %d directories, each counted as often as it is included",
			maxDirectories)
	case c.bytes > maxKustomizeBytes:
		return fmt.Errorf("kustomizations include more than %d bytes, each file counted as often as it is included",
			maxKustomizeBytes)
	case c.effort > maxEffort:
		return c.tooMany()
	}
	return nil
}

// close counts the directory itself, when all it includes is known.
func (c *cost) close() error {
	c.effort += int64(c.objects) * int64(c.objects)
	if c.effort > maxEffort {
		return c.tooMany()
	}
	return nil
}

func (c *cost) tooMany() error {
	return fmt.Errorf("%d objects and more are too many for kustomize, whose time grows with their square; "+
		"divide the stage, or publish what kustomize builds", c.objects)
}
