package jsonnet

import "context"

// Workspace says where a program and its imports come from.
type Workspace interface {
	// ID is equal for two workspaces that look the same files up in the same places.
	ID() string
	// Open begins one evaluation's view of the files.
	Open() (Session, error)
}

// Session is one evaluation's view of a workspace. It records every look-up, found or missed.
type Session interface {
	Importer
	// Entry returns the program's own file.
	Entry(ctx context.Context) (*Source, error)
	// Lookups returns what has been looked up so far.
	Lookups() Lookups
	Close() error
}

// Lookups are the look-ups that an evaluation made, in their order, with what each found. A result holds as long as
// they would give the same again.
type Lookups interface {
	Unchanged(ctx context.Context) bool
	// Weight is the memory they take, in bytes.
	Weight() int64
}
