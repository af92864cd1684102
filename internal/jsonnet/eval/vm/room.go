package vm

import (
	"strings"
	"unsafe"
)

// large is the number of bytes from which an allocation gets a goroutine of its own: the Go runtime makes who allocates
// help a garbage collection in proportion, and that help cannot be stopped. An evaluation that is stopped does not wait
// for it.
const large = 1 << 20

// aside calls f, which allocates n bytes.
func (m *Machine) aside(n int64, f func()) {
	if n < large {
		f()
		return
	}
	if err := m.Await(int(n), func() error { f(); return nil }); err != nil {
		panic(err)
	}
}

// Room makes room for n more bytes in b.
func (m *Machine) Room(b *strings.Builder, n int) {
	m.aside(int64(n), func() { b.Grow(n) })
}

// MakeElems allocates the elements of an array.
func (m *Machine) MakeElems(n int) []Value {
	const size = 24
	m.Demand(size * int64(n))
	return MakeSlice[Value](m, n, n)
}

// MakeSlice makes a slice with room for space elements. Whoever calls it has demanded the memory.
func MakeSlice[T any](m *Machine, n, space int) []T {
	var s []T
	var zero T
	m.aside(int64(space)*int64(unsafe.Sizeof(zero)), func() { s = make([]T, n, space) })
	return s
}

// Grow makes room for n more elements behind s, if memory allows. size is what an element takes.
func Grow[T any](m *Machine, s []T, n int, size int64) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	space := max(8, 2*cap(s), len(s)+n)
	m.Demand(size * int64(space))
	grown := Append(m, MakeSlice[T](m, 0, space), s)
	if m.meter.Count(size*int64(space)) && space > 0 {
		sample(m, &grown[:1][0])
	}
	return grown
}

// appendStep is how many elements are copied between two looks at the stop flag.
const appendStep = 64 << 10

// Append appends more to s, which has room for it, in steps that can be stopped.
func Append[T any](m *Machine, s, more []T) []T {
	for len(more) > appendStep {
		m.Tick()
		s = append(s, more[:appendStep]...)
		more = more[appendStep:]
	}
	return append(s, more...)
}
