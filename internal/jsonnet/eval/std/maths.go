package std

import (
	"math"

	"github.com/google/go-jsonnet/ast"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var mathFunctions = []entry{
	{"ceil", "x", all, numeric(math.Ceil)},
	{"floor", "x", all, numeric(math.Floor)},
	{"sqrt", "x", all, numeric(math.Sqrt)},
	{"sin", "x", all, numeric(math.Sin)},
	{"cos", "x", all, numeric(math.Cos)},
	{"tan", "x", all, numeric(math.Tan)},
	{"asin", "x", all, numeric(math.Asin)},
	{"acos", "x", all, numeric(math.Acos)},
	{"atan", "x", all, numeric(math.Atan)},
	{"log", "x", all, numeric(math.Log)},
	{"exp", "x", all, numeric(exp)},
	{"round", "x", all, numeric(math.Round)},
	{"mantissa", "x", all, numeric(func(f float64) float64 { frac, _ := math.Frexp(f); return frac })},
	{"exponent", "x", all, numeric(func(f float64) float64 { _, e := math.Frexp(f); return float64(e) })},
	{"isEven", "x", all, test(func(whole, _ float64) bool { return math.Mod(whole, 2) == 0 })},
	{"isOdd", "x", all, test(func(whole, _ float64) bool { return math.Mod(whole, 2) != 0 })},
	{"isInteger", "x", all, test(func(_, frac float64) bool { return frac == 0 })},
	{"isDecimal", "x", all, test(func(_, frac float64) bool { return frac != 0 })},
	{"pow", "x n", all, numeric2(math.Pow)},
	{"hypot", "x y", all, numeric2(math.Hypot)},
	{"atan2", "y x", all, numeric2(math.Atan2)},
	{"modulo", "x y", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		x := m.Number(a[0], pos)
		return modulo(m, pos, x, m.Number(a[1], pos))
	}},
	{"mod", "a b", 1, mod},
	{"abs", "n", all, abs},
	{"sign", "n", all, sign},
	{"max", "a b", 1, pick("max", ast.BopGreater)},
	{"min", "a b", 1, pick("min", ast.BopLess)},
	{"clamp", "x minVal maxVal", 0, clamp},
	{"log2", "x", all, logarithm(2)},
	{"log10", "x", all, logarithm(10)},
	{"deg2rad", "x", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return m.Finite(finite(m, m.Number(a[0], pos)*math.Pi, pos)/180, pos)
	}},
	{"rad2deg", "x", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return m.Finite(finite(m, m.Number(a[0], pos)*180, pos)/math.Pi, pos)
	}},
	{"xor", "x y", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		x := m.Bool(a[0], pos)
		return vm.Bool(x != m.Bool(a[1], pos))
	}},
	{"xnor", "x y", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		x := m.Bool(a[0], pos)
		return vm.Bool(x == m.Bool(a[1], pos))
	}},
}

// finite checks the result of a step of a calculation.
func finite(m *vm.Machine, f float64, pos *vm.Pos) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		m.Finite(f, pos)
	}
	return f
}

func exp(f float64) float64 {
	r := math.Exp(f)
	if r == 0 && f > 0 {
		return math.Inf(1)
	}
	return r
}

func numeric(f func(float64) float64) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return m.Finite(f(m.Number(a[0], pos)), pos)
	}
}

func numeric2(f func(x, y float64) float64) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		x := m.Number(a[0], pos)
		return m.Finite(f(x, m.Number(a[1], pos)), pos)
	}
}

func test(f func(whole, frac float64) bool) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Bool(f(math.Modf(m.Number(a[0], pos))))
	}
}

func modulo(m *vm.Machine, pos *vm.Pos, x, y float64) vm.Value {
	if y == 0 {
		m.Fail(pos, "Division by zero.")
	}
	return m.Finite(math.Mod(x, y), pos)
}

// mod is the operator %.
func mod(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	switch x := a[0].(type) {
	case vm.Number:
		y := force(m, pos, a, 1)
		if n, ok := y.(vm.Number); ok {
			return modulo(m, pos, float64(x), float64(n))
		}
	case *vm.String:
		return format(m, pos, a)
	}
	y := force(m, pos, a, 1)
	m.Fail(pos, "Operator % cannot be used on types "+vm.Kind(a[0])+" and "+vm.Kind(y)+".")
	return nil
}

func abs(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	n, ok := a[0].(vm.Number)
	if !ok {
		m.Fail(pos, "std.abs expected number, got "+vm.Kind(a[0]))
	}
	if n > 0 {
		return a[0]
	}
	return vm.Num(-float64(n))
}

func sign(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	n, ok := a[0].(vm.Number)
	switch {
	case !ok:
		m.Fail(pos, "std.sign expected number, got "+vm.Kind(a[0]))
	case n > 0:
		return vm.Int(1)
	case n < 0:
		return vm.Num(-1)
	}
	return vm.Int(0)
}

func pick(name string, op ast.BinaryOp) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		if _, ok := a[0].(vm.Number); !ok {
			m.Fail(pos, "std."+name+" first param expected number, got "+vm.Kind(a[0]))
		}
		b := force(m, pos, a, 1)
		if _, ok := b.(vm.Number); !ok {
			m.Fail(pos, "std."+name+" second param expected number, got "+vm.Kind(b))
		}
		if m.Binary(op, a[0], b, pos) == vm.Bool(true) {
			return a[0]
		}
		return b
	}
}

func clamp(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	x := force(m, pos, a, 0)
	if low := force(m, pos, a, 1); m.Compare(x, low, pos) < 0 {
		return low
	}
	if high := force(m, pos, a, 2); m.Compare(x, high, pos) > 0 {
		return high
	}
	return x
}

func logarithm(base float64) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return m.Finite(finite(m, math.Log(m.Number(a[0], pos)), pos)/math.Log(base), pos)
	}
}
