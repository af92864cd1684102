package vm

import "strconv"

// typeError fails because v is not what it should be.
func (m *Machine) typeError(v Value, want string, pos *Pos) {
	m.Failf(pos, "Unexpected type %s, expected %s", Kind(v), want)
}

// TypeError fails because v is not of the type want.
func (m *Machine) TypeError(v Value, want string, pos *Pos) { m.typeError(v, want, pos) }

// Number requires a number.
func (m *Machine) Number(v Value, pos *Pos) float64 {
	n, ok := v.(Number)
	if !ok {
		m.typeError(v, "number", pos)
	}
	return float64(n)
}

// Int requires an integer of 32 bits.
func (m *Machine) Int(v Value, pos *Pos) int {
	f := m.Number(v, pos)
	n := int(int32(f))
	if float64(n) != f {
		m.Fail(pos, "Expected an integer, but got "+FormatG(f))
	}
	return n
}

// FormatG formats a number as Go's %v does.
func FormatG(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Bool requires a boolean.
func (m *Machine) Bool(v Value, pos *Pos) Bool {
	b, ok := v.(Bool)
	if !ok {
		m.typeError(v, "boolean", pos)
	}
	return b
}

// String requires a string.
func (m *Machine) String(v Value, pos *Pos) *String {
	s, ok := v.(*String)
	if !ok {
		m.typeError(v, "string", pos)
	}
	return s
}

// Array requires an array.
func (m *Machine) Array(v Value, pos *Pos) *Array {
	a, ok := v.(*Array)
	if !ok {
		m.typeError(v, "array", pos)
	}
	return a
}

// Object requires an object.
func (m *Machine) Object(v Value, pos *Pos) *Object {
	o, ok := v.(*Object)
	if !ok {
		m.typeError(v, "object", pos)
	}
	return o
}

// Function requires a function.
func (m *Machine) Function(v Value, pos *Pos) *Function {
	f, ok := v.(*Function)
	if !ok {
		m.typeError(v, "function", pos)
	}
	return f
}
