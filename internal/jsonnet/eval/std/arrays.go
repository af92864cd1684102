package std

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var arrayFunctions = []entry{
	{"range", "from to", all, rangeOf},
	{"makeArray", "sz func", all, makeArray},
	{"reverse", "arr", all, reverse},
	{"member", "arr x", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Bool(member(m, a[0], a[1], pos))
	}},
	{"contains", "arr elem", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Bool(find(m, m.Array(a[0], pos), a[1], pos) >= 0)
	}},
	{"remove", "arr elem", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		arr := m.Array(a[0], pos)
		if at := find(m, arr, a[1], pos); at >= 0 {
			return removeAt(m, arr, at)
		}
		return arr
	}},
	{"removeAt", "arr i", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		arr := m.Array(a[0], pos)
		at := m.Int(a[1], pos)
		if at < 0 || at >= len(arr.Elems) {
			m.Failf(pos, "Index %d out of bounds, not within [0, %v)", at, len(arr.Elems))
		}
		return removeAt(m, arr, at)
	}},
	{"count", "arr x", 1, count},
	{"find", "value arr", 0, findAll},
	{"slice", "indexable index end step", 0, slice},
	{"flattenArrays", "arrs", all, flattenArrays},
	{"flattenDeepArray", "value", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		var elems []vm.Value
		flattenDeep(m, pos, a[0], &elems)
		return m.NewArray(elems)
	}},
	{"sum", "arr", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Num(sum(m, m.Array(a[0], pos), pos))
	}},
	{"avg", "arr", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		arr := m.Array(a[0], pos)
		if len(arr.Elems) == 0 {
			m.Fail(pos, "Cannot calculate average of an empty array.")
		}
		return vm.Num(sum(m, arr, pos) / float64(len(arr.Elems)))
	}},
	{"all", "arr", all, quantify("all", false)},
	{"any", "arr", all, quantify("any", true)},
}

func rangeOf(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	from := m.Int(a[0], pos)
	n := max(0, m.Int(a[1], pos)-from+1)
	elems := m.MakeElems(n)
	m.Integers(elems, from)
	return m.NewArray(elems)
}

// callAt is the thunk of an element that a function of one argument, in slot 0, computes.
var callAt = &vm.Code{Height: 8, Lazy: func(m *vm.Machine, env *vm.Frame, arg vm.Value) vm.Value {
	return m.Call(env.Slots[0].(*vm.Function), nil, arg)
}}

// callIndexed is the same with the index, which comes paired with the element.
var callIndexed = &vm.Code{Height: 8, Lazy: func(m *vm.Machine, env *vm.Frame, arg vm.Value) vm.Value {
	p := arg.(*indexed)
	return m.Call(env.Slots[0].(*vm.Function), nil, p.index, p.value)
}}

type indexed struct{ index, value vm.Value }

func makeArray(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	n := max(0, m.Int(a[0], pos))
	fn := m.Function(a[1], pos)
	m.Demand(80 * int64(n))
	elems := m.MakeElems(n)
	env := m.NewFrame(nil, 1)
	env.Slots[0] = fn
	for i := range elems {
		if i%4096 == 0 {
			m.Tick()
		}
		elems[i] = m.Lazy(callAt, env, vm.Int(i))
	}
	return m.NewArray(elems)
}

func reverse(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	arr := m.Array(a[0], pos)
	elems := m.MakeElems(len(arr.Elems))
	copy(elems, arr.Elems)
	slices.Reverse(elems)
	return m.NewArray(elems)
}

// member reports whether x is in an array or part of a string.
func member(m *vm.Machine, in, x vm.Value, pos *vm.Pos) bool {
	switch in := in.(type) {
	case *vm.String:
		return index(m, m.Text(in), m.Text(m.String(x, pos))) >= 0
	case *vm.Array:
		return find(m, in, x, pos) >= 0
	}
	m.Fail(pos, "std.member first argument must be an array or a string")
	return false
}

func find(m *vm.Machine, arr *vm.Array, x vm.Value, pos *vm.Pos) int {
	for i := range arr.Elems {
		m.Tick()
		if m.Equal(m.Elem(arr, i, pos), x, pos) {
			return i
		}
	}
	return -1
}

func removeAt(m *vm.Machine, arr *vm.Array, at int) vm.Value {
	elems := m.MakeElems(len(arr.Elems) - 1)
	copy(elems, arr.Elems[:at])
	copy(elems[at:], arr.Elems[at+1:])
	return m.NewArray(elems)
}

func count(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	arr := m.Array(a[0], pos)
	n := 0
	for i := range arr.Elems {
		m.Tick()
		v := m.Elem(arr, i, pos)
		if m.Equal(v, force(m, pos, a, 1), pos) {
			n++
		}
	}
	return vm.Int(n)
}

func findAll(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	arr, ok := force(m, pos, a, 1).(*vm.Array)
	if !ok {
		m.Fail(pos, "find second parameter should be an array, got "+vm.Kind(a[1]))
	}
	var elems []vm.Value
	for i := range arr.Elems {
		m.Tick()
		v := m.Elem(arr, i, pos)
		if m.Equal(v, force(m, pos, a, 0), pos) {
			elems = append(grow(m, elems), vm.Int(i))
		}
	}
	return m.NewArray(elems)
}

func slice(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	size := func() float64 { return float64(length(m, force(m, pos, a, 0), pos)) }
	bound := func(i int, missing, negative func(float64) float64) vm.Value {
		v := force(m, pos, a, i)
		switch {
		case vm.Kind(v) == "null":
			return vm.Num(missing(0))
		case m.Compare(v, vm.Int(0), pos) < 0:
			return vm.Num(negative(m.Number(v, pos)))
		}
		return v
	}
	index := func() vm.Value {
		return bound(1, func(float64) float64 { return 0 }, func(f float64) float64 { return max(0, size()+f) })
	}
	end := func() vm.Value {
		return bound(2, func(float64) float64 { return size() }, func(f float64) float64 { return size() + f })
	}
	step := force(m, pos, a, 3)
	if vm.Kind(step) == "null" {
		step = vm.Int(1)
	}
	if c := m.Compare(step, vm.Int(0), pos); c < 0 {
		from := m.ToString(index(), pos)
		m.Failf(pos, "got [%s:%s:%s] but negative steps are not supported", from, m.ToString(end(), pos), m.ToString(step, pos))
	} else if c == 0 {
		m.Fail(pos, "got "+m.ToString(step, pos)+" but step must be greater than 0")
	}
	switch v := force(m, pos, a, 0).(type) {
	case *vm.String, *vm.Array:
	default:
		m.Fail(pos, "std.slice accepts a string or an array, but got: "+vm.Kind(v))
	}
	from := index()
	to := end()
	if m.Compare(from, to, pos) >= 0 || m.Compare(from, vm.Num(size()), pos) >= 0 {
		to = from
	}
	return sliced(m, a[0], int(size()), interval{m.Number(from, pos), m.Number(to, pos), m.Number(step, pos)})
}

// interval is some indices: the first one, the first one that is not in it, and the distance between two.
type interval struct{ from, to, step float64 }

func sliced(m *vm.Machine, v vm.Value, n int, of interval) vm.Value {
	from, to, step := of.from, min(of.to, float64(n)), of.step
	if s, ok := v.(*vm.String); ok {
		if step == 1 && from == float64(int(from)) && to == float64(int(to)) {
			return m.Substring(s, min(int(from), n), max(int(to), min(int(from), n)))
		}
		var b strings.Builder
		for at := from; at < to; at += step {
			m.Tick()
			b.WriteString(m.Text(m.Substring(s, int(at), int(at)+1)))
		}
		return m.Made(b.String())
	}
	arr := v.(*vm.Array)
	if step == 1 && from == float64(int(from)) && to == float64(int(to)) {
		if from >= to {
			return m.NewArray(nil)
		}
		return m.ViewArray(arr.Elems[int(from):int(to)])
	}
	var elems []vm.Value
	for at := from; at < to; at += step {
		m.Tick()
		elems = append(grow(m, elems), arr.Elems[int(at)])
	}
	return m.NewArray(elems)
}

func flattenArrays(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	arr := foldable(m, pos, a[0], "foldl")
	acc := vm.Value(m.NewArray(nil))
	var elems []vm.Value
	for i := range arr.Elems {
		m.Tick()
		v := m.Elem(arr, i, pos)
		if next, ok := v.(*vm.Array); ok && vm.Kind(acc) == "array" {
			elems = vm.Append(m, vm.Grow(m, elems, len(next.Elems), 16), next.Elems)
			continue
		}
		if elems != nil {
			acc = m.NewArray(elems)
			elems = nil
		}
		acc = m.Plus(acc, v, pos)
	}
	if elems != nil {
		return m.NewArray(elems)
	}
	return acc
}

func flattenDeep(m *vm.Machine, pos *vm.Pos, v vm.Value, out *[]vm.Value) {
	arr, ok := v.(*vm.Array)
	if !ok {
		*out = append(grow(m, *out), v)
		return
	}
	m.Descend(pos)
	for i := range arr.Elems {
		m.Tick()
		flattenDeep(m, pos, m.Elem(arr, i, pos), out)
	}
	m.Ascend()
}

func sum(m *vm.Machine, arr *vm.Array, pos *vm.Pos) float64 {
	total := 0.0
	for i := range arr.Elems {
		m.Tick()
		total += m.Number(m.Elem(arr, i, pos), pos)
	}
	return total
}

// quantify looks for an element that is decisive.
func quantify(name string, decisive vm.Bool) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		arr, ok := a[0].(*vm.Array)
		if !ok {
			m.Fail(pos, name+"() parameter should be an array, got "+vm.Kind(a[0]))
		}
		for i := range arr.Elems {
			m.Tick()
			e := m.Elem(arr, i, pos)
			b, ok := e.(vm.Bool)
			if !ok {
				m.Failf(pos, "element \"%s\" of type %s is not a boolean", m.ToString(e, pos), vm.Kind(e))
			}
			if b == decisive {
				return decisive
			}
		}
		return !decisive
	}
}
