package vm

import "unsafe"

// boxes is how many numbers share an allocation. One that is kept keeps them all, so it must not be many.
const boxes = 64

// Integers fills elems with the integers from first on. Go would allocate each of them by itself.
func (m *Machine) Integers(elems []Value, first int) {
	for len(elems) > 0 {
		m.Tick()
		part := elems[:min(boxes, len(elems))]
		numbers := make([]Number, len(part))
		for i := range part {
			numbers[i] = Number(first + i)
			part[i] = boxed(&numbers[i])
		}
		chargeFor(m, int64(8*len(numbers)), &numbers[0])
		elems, first = elems[len(part):], first+len(part)
	}
}

// boxed is the number at n as a value, which refers to n instead of a copy. The number must not change any more.
func boxed(n *Number) Value {
	v := Value(Number(0))                                                               // has the type; what follows it in Go's layout of interfaces is the pointer to the value
	(*struct{ kind, data unsafe.Pointer })(unsafe.Pointer(&v)).data = unsafe.Pointer(n) //nolint:gosec // a test says that Go still lays them out so
	return v
}
