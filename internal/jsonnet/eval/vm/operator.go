package vm

import (
	"cmp"
	"math"

	"github.com/google/go-jsonnet/ast"
)

type (
	// Chain is operators of one or several kinds applied from left to right, however many there are.
	Chain struct {
		First Node
		Steps []Step
	}
	// Step is an operator and its right operand.
	Step struct {
		Op    ast.BinaryOp
		Right Node
		Pos   *Pos
	}
	// And is &&.
	And struct {
		Left, Right Node
		Pos         *Pos
	}
	// Or is ||.
	Or struct {
		Left, Right Node
		Pos         *Pos
	}
	// Unary is a prefix operator.
	Unary struct {
		Op  ast.UnaryOp
		X   Node
		Pos *Pos
	}
)

// Eval applies the operators.
func (n *Chain) Eval(m *Machine, f *Frame) Value {
	v := n.First.Eval(m, f)
	for i := range n.Steps {
		s := &n.Steps[i]
		r := s.Right.Eval(m, f)
		v = m.Binary(s.Op, v, r, s.Pos)
	}
	return v
}

// Eval evaluates the right operand only if it decides.
func (n *And) Eval(m *Machine, f *Frame) Value {
	l := n.Left.Eval(m, f)
	if b := m.Bool(l, n.Pos); !b {
		return l
	}
	return rightOperand(m, f, n.Right, n.Pos)
}

// Eval evaluates the right operand only if it decides.
func (n *Or) Eval(m *Machine, f *Frame) Value {
	l := n.Left.Eval(m, f)
	if b := m.Bool(l, n.Pos); b {
		return l
	}
	return rightOperand(m, f, n.Right, n.Pos)
}

func rightOperand(m *Machine, f *Frame, n Node, pos *Pos) Value {
	r := n.Eval(m, f)
	if _, ok := r.(Bool); !ok && r != tailCall {
		m.typeError(r, "boolean", pos)
	}
	return r
}

// Eval applies the operator.
func (n *Unary) Eval(m *Machine, f *Frame) Value {
	v := n.X.Eval(m, f)
	switch n.Op {
	case ast.UopNot:
		return !m.Bool(v, n.Pos)
	case ast.UopBitwiseNot:
		return Num(float64(^int64(m.Number(v, n.Pos))))
	case ast.UopMinus:
		return Num(-m.Number(v, n.Pos))
	default:
		return Num(m.Number(v, n.Pos))
	}
}

// Binary applies an operator that evaluates both operands.
func (m *Machine) Binary(op ast.BinaryOp, x, y Value, pos *Pos) Value {
	switch op {
	case ast.BopPlus:
		return m.Plus(x, y, pos)
	case ast.BopManifestEqual:
		return Bool(m.Equal(x, y, pos))
	case ast.BopManifestUnequal:
		return Bool(!m.Equal(x, y, pos))
	case ast.BopLess:
		return Bool(m.Compare(x, y, pos) < 0)
	case ast.BopLessEq:
		return Bool(m.Compare(x, y, pos) <= 0)
	case ast.BopGreater:
		return Bool(m.Compare(x, y, pos) > 0)
	case ast.BopGreaterEq:
		return Bool(m.Compare(x, y, pos) >= 0)
	default:
		return m.arithmetic(op, m.Number(x, pos), m.Number(y, pos), pos)
	}
}

func (m *Machine) arithmetic(op ast.BinaryOp, x, y float64, pos *Pos) Value {
	switch op {
	case ast.BopMinus:
		return m.Finite(x-y, pos)
	case ast.BopMult:
		return m.Finite(x*y, pos)
	case ast.BopDiv:
		if y == 0 {
			m.Fail(pos, "Division by zero.")
		}
		return m.Finite(x/y, pos)
	case ast.BopShiftL:
		a, b := m.bits(x, y, pos)
		return m.Finite(float64(a<<m.shift(b, y, pos)), pos)
	case ast.BopShiftR:
		a, b := m.bits(x, y, pos)
		return m.Finite(float64(a>>m.shift(b, y, pos)), pos)
	case ast.BopBitwiseAnd:
		a, b := m.bits(x, y, pos)
		return m.Finite(float64(a&b), pos)
	case ast.BopBitwiseXor:
		a, b := m.bits(x, y, pos)
		return m.Finite(float64(a^b), pos)
	case ast.BopBitwiseOr:
		a, b := m.bits(x, y, pos)
		return m.Finite(float64(a|b), pos)
	default:
		m.Failf(pos, "unknown operator %d", op)
		return nil
	}
}

// maxSafe is the largest integer from which all smaller ones are exact.
const maxSafe = 1<<53 - 1

func (m *Machine) bits(x, y float64, pos *Pos) (int64, int64) {
	for _, v := range [2]float64{x, y} {
		if v < -maxSafe || v > maxSafe {
			m.Failf(pos, "Bitwise operator argument %v outside of range [%v, %v]", v, int64(-maxSafe), int64(maxSafe))
		}
	}
	return int64(x), int64(y)
}

// shift is the distance of a shift; y is the operand before it was truncated to n.
func (m *Machine) shift(n int64, y float64, pos *Pos) uint {
	if y < 0 {
		m.Fail(pos, "Shift by negative exponent.")
	}
	return uint(n % 64)
}

// Finite boxes the result of a calculation.
func (m *Machine) Finite(f float64, pos *Pos) Value {
	if math.IsNaN(f) {
		m.Fail(pos, "Not a number")
	}
	if math.IsInf(f, 0) {
		m.Fail(pos, "Overflow")
	}
	m.charge(8)
	return Num(f)
}

// Plus is the operator +.
func (m *Machine) Plus(x, y Value, pos *Pos) Value {
	if s, ok := y.(*String); ok {
		return m.ConcatStrings(m.toString(x, pos), s, pos)
	}
	switch x := x.(type) {
	case Number:
		return m.Finite(float64(x)+m.Number(y, pos), pos)
	case *String:
		return m.ConcatStrings(x, m.toString(y, pos), pos)
	case *Object:
		o, ok := y.(*Object)
		if !ok {
			m.typeError(y, "object", pos)
		}
		return m.Extend(x, o)
	case *Array:
		return m.ConcatArrays(x, m.Array(y, pos))
	default:
		m.Failf(pos, "Unexpected type %s", Kind(x))
		return nil
	}
}

// growFrom is the length from which a concatenation leaves space for the next one.
const growFrom = 32

// ConcatArrays puts two arrays together. Appending to the result of an append takes constant time per element: the
// space behind an array belongs to the first array made from it.
func (m *Machine) ConcatArrays(a, b *Array) *Array {
	n := len(a.Elems) + len(b.Elems)
	switch {
	case len(b.Elems) == 0:
		return a
	case len(a.Elems) == 0:
		return b
	case !a.grown && cap(a.Elems) >= n:
		a.grown = true
		m.charge(48)
		return &Array{Elems: Append(m, a.Elems, b.Elems)}
	}
	space := n
	if len(a.Elems) >= growFrom && len(b.Elems) < len(a.Elems) {
		space += n / 4
	}
	m.Demand(24 * int64(space))
	elems := Append(m, Append(m, MakeSlice[Value](m, 0, space), a.Elems), b.Elems)
	m.charge(24 * int64(space-n))
	return m.NewArray(elems)
}

// Equal is the operator ==.
func (m *Machine) Equal(x, y Value, pos *Pos) bool {
	switch x := x.(type) {
	case Null:
		_, ok := y.(Null)
		return ok
	case Bool:
		b, ok := y.(Bool)
		return ok && x == b
	case Number:
		n, ok := y.(Number)
		return ok && x == n
	case *String:
		s, ok := y.(*String)
		return ok && m.EqualStrings(x, s)
	case *Array:
		a, ok := y.(*Array)
		return ok && m.equalArrays(x, a, pos)
	case *Object:
		o, ok := y.(*Object)
		return ok && m.equalObjects(x, o, pos)
	default:
		if _, ok := y.(*Function); ok {
			m.Fail(pos, "Cannot test equality of functions")
		}
		return false
	}
}

func (m *Machine) equalArrays(x, y *Array, pos *Pos) bool {
	if len(x.Elems) != len(y.Elems) {
		return false
	}
	m.Descend(pos)
	defer m.Ascend()
	for i := range x.Elems {
		m.Tick()
		l := m.Elem(x, i, pos)
		if !m.Equal(l, m.Elem(y, i, pos), pos) {
			return false
		}
	}
	return true
}

func (m *Machine) equalObjects(x, y *Object, pos *Pos) bool {
	xs, ys := m.Names(x), m.Names(y)
	if len(xs) != len(ys) {
		return false
	}
	for i := range xs {
		if xs[i] != ys[i] {
			return false
		}
	}
	m.Descend(pos)
	defer m.Ascend()
	for _, name := range xs {
		l := m.Field(x, name, pos)
		if !m.Equal(l, m.Field(y, name, pos), pos) {
			return false
		}
	}
	return true
}

// Compare orders numbers, strings and arrays.
func (m *Machine) Compare(x, y Value, pos *Pos) int {
	switch x := x.(type) {
	case Number:
		return cmp.Compare(float64(x), m.Number(y, pos))
	case *String:
		return m.CompareStrings(x, m.String(y, pos))
	case *Array:
		a := m.Array(y, pos)
		m.Descend(pos)
		defer m.Ascend()
		for i := range min(len(x.Elems), len(a.Elems)) {
			m.Tick()
			l := m.Elem(x, i, pos)
			if c := m.Compare(l, m.Elem(a, i, pos), pos); c != 0 {
				return c
			}
		}
		return cmp.Compare(len(x.Elems), len(a.Elems))
	default:
		m.Failf(pos, "Unexpected type %s", Kind(x))
		return 0
	}
}
