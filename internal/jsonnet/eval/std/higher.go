package std

import (
	"slices"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var higherFunctions = []entry{
	{"map", "func arr", 1, mapping("map", "array / string", false)},
	{"mapWithIndex", "func arr", 1, mapping("mapWithIndex", "array", true)},
	{"filter", "func arr", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		arr := m.Array(a[1], pos)
		return filter(m, pos, m.Function(a[0], pos), arr)
	}},
	{"filterMap", "filter_func map_func arr", 0, filterMap},
	{"flatMap", "func arr", all, flatMap},
	{"foldl", "func arr init", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		fn := m.Function(a[0], pos)
		arr := foldable(m, pos, a[1], "foldl")
		acc := a[2]
		for i := range arr.Elems {
			acc = m.Call(fn, pos, acc, arr.Elems[i])
		}
		return acc
	}},
	{"foldr", "func arr init", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		fn := m.Function(a[0], pos)
		arr := foldable(m, pos, a[1], "foldr")
		acc := a[2]
		for i := len(arr.Elems) - 1; i >= 0; i-- {
			acc = m.Call(fn, pos, arr.Elems[i], acc)
		}
		return acc
	}},
	{"sort", "arr keyF?", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return sorted(m, pos, a[0], a[1])
	}},
	{"minArray", "arr keyF? onEmpty?", all, extreme(func(c int) bool { return c > 0 })},
	{"maxArray", "arr keyF? onEmpty?", all, extreme(func(c int) bool { return c < 0 })},
}

// foldable is the elements of what a fold takes.
func foldable(m *vm.Machine, pos *vm.Pos, v vm.Value, name string) *vm.Array {
	switch v := v.(type) {
	case *vm.Array:
		return v
	case *vm.String:
		return characters(m, v)
	}
	m.Fail(pos, name+" second parameter should be string or array, got "+vm.Kind(v))
	return nil
}

func mapping(name, takes string, withIndex bool) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		if _, ok := a[0].(*vm.Function); !ok {
			m.Fail(pos, "std."+name+" first param must be function, got "+vm.Kind(a[0]))
		}
		switch force(m, pos, a, 1).(type) {
		case *vm.Array, *vm.String:
		default:
			m.Fail(pos, "std."+name+" second param must be "+takes+", got "+vm.Kind(a[1]))
		}
		return mapped(m, a[0], sequence(m, a[1], pos), withIndex)
	}
}

func mapped(m *vm.Machine, fn vm.Value, seq *vm.Array, withIndex bool) vm.Value {
	m.Demand(80 * int64(len(seq.Elems)))
	elems := m.MakeElems(len(seq.Elems))
	env := m.NewFrame(nil, 1)
	env.Slots[0] = fn
	for i, e := range seq.Elems {
		if i%1024 == 0 {
			m.Tick()
		}
		if withIndex {
			m.Charge(32)
			elems[i] = m.Lazy(callIndexed, env, &indexed{vm.Int(i), e})
			continue
		}
		elems[i] = m.Lazy(callAt, env, e)
	}
	return m.NewArray(elems)
}

func filter(m *vm.Machine, pos *vm.Pos, fn *vm.Function, arr *vm.Array) *vm.Array {
	var elems []vm.Value
	for i := range arr.Elems {
		v := m.Call(fn, pos, arr.Elems[i])
		if m.Bool(v, pos) {
			elems = append(grow(m, elems), arr.Elems[i])
		}
	}
	return m.NewArray(elems)
}

func filterMap(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	for i, want := range []string{"function", "function", "array"} {
		if got := vm.Kind(force(m, pos, a, i)); got != want {
			m.Failf(pos, "std.filterMap %s param must be %s, got %s", []string{"first", "second", "third"}[i], want, got)
		}
	}
	return mapped(m, a[1], filter(m, pos, a[0].(*vm.Function), a[2].(*vm.Array)), false)
}

func flatMap(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	fn := m.Function(a[0], pos)
	switch arr := a[1].(type) {
	case *vm.Array:
		var elems []vm.Value
		for i := range arr.Elems {
			part := m.Array(m.Call(fn, pos, arr.Elems[i]), pos)
			elems = vm.Append(m, vm.Grow(m, elems, len(part.Elems), 16), part.Elems)
		}
		return m.NewArray(elems)
	case *vm.String:
		var p pieces
		for _, c := range characters(m, arr).Elems {
			p.add(m, m.Text(m.String(m.Call(fn, pos, c), pos)))
		}
		return p.join(m, pos, "")
	}
	m.Fail(pos, "std.flatMap second param must be array / string, got "+vm.Kind(a[1]))
	return nil
}

// keyed calls a key function; nil stands for the identity.
func keyed(m *vm.Machine, pos *vm.Pos, keyF, v vm.Value) vm.Value {
	if keyF == nil {
		return m.Force(v, pos)
	}
	return m.Call(keyF.(*vm.Function), pos, v)
}

// sorted sorts stably, comparing in the order in which go-jsonnet does.
func sorted(m *vm.Machine, pos *vm.Pos, v, keyF vm.Value) *vm.Array {
	arr := m.Array(v, pos)
	if keyF != nil {
		m.Function(keyF, pos)
	}
	type item struct{ elem, key vm.Value }
	m.Demand(64 * int64(len(arr.Elems)))
	items := vm.MakeSlice[item](m, len(arr.Elems), len(arr.Elems))
	for i := range arr.Elems {
		m.Tick()
		items[i] = item{arr.Elems[i], keyed(m, pos, keyF, arr.Elems[i])}
	}
	slices.SortStableFunc(items, func(a, b item) int {
		m.Tick()
		return m.Compare(a.key, b.key, pos)
	})
	elems := m.MakeElems(len(items))
	for i := range items {
		elems[i] = items[i].elem
	}
	return m.NewArray(elems)
}

// extreme finds the element that no other one beats.
func extreme(beats func(c int) bool) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		arr := m.Array(a[0], pos)
		if a[1] != nil {
			m.Function(a[1], pos)
		}
		if len(arr.Elems) == 0 {
			if a[2] == nil {
				m.Fail(pos, "Expected at least one element in array. Got none")
			}
			return a[2]
		}
		best := m.Elem(arr, 0, pos)
		bestKey := keyed(m, pos, a[1], arr.Elems[0])
		for i := 1; i < len(arr.Elems); i++ {
			m.Tick()
			v := m.Elem(arr, i, pos)
			key := keyed(m, pos, a[1], arr.Elems[i])
			if beats(m.Compare(bestKey, key, pos)) {
				best, bestKey = v, key
			}
		}
		return best
	}
}
