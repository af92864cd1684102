package std

import "github.com/stagewright/stagewright/internal/jsonnet/eval/vm"

var typeFunctions = []entry{
	{"type", "x", all, func(_ *vm.Machine, _ *vm.Pos, a []vm.Value) vm.Value { return kindOf(a[0]) }},
	{"isArray", "v", all, isKind("array")},
	{"isBoolean", "v", all, isKind("boolean")},
	{"isFunction", "v", all, isKind("function")},
	{"isNull", "x", all, isKind("null")},
	{"isNumber", "v", all, isKind("number")},
	{"isObject", "v", all, isKind("object")},
	{"isString", "v", all, isKind("string")},
	{"id", "x", all, func(_ *vm.Machine, _ *vm.Pos, a []vm.Value) vm.Value { return a[0] }},
	{"toString", "a", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value { return toString(m, a[0], pos) }},
	{"length", "x", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Int(length(m, a[0], pos))
	}},
	{"primitiveEquals", "x y", all, primitiveEquals},
	{"equals", "x y", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Bool(m.Equal(a[0], a[1], pos))
	}},
	{"assertEqual", "a b", 0, assertEqual},
	{"__compare", "v1 v2", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Num(float64(compare(m, a[0], a[1], pos)))
	}},
	{"__compare_array", "arr1 arr2", 1, compareArrays(func(c int) vm.Value { return vm.Num(float64(c)) })},
	{"__array_less", "arr1 arr2", 1, compareArrays(func(c int) vm.Value { return vm.Bool(c < 0) })},
	{"__array_greater", "arr1 arr2", 1, compareArrays(func(c int) vm.Value { return vm.Bool(c > 0) })},
	{"__array_less_or_equal", "arr1 arr2", 1, compareArrays(func(c int) vm.Value { return vm.Bool(c <= 0) })},
	{"__array_greater_or_equal", "arr1 arr2", 1, compareArrays(func(c int) vm.Value { return vm.Bool(c >= 0) })},
	{"trace", "str rest", all, trace},
	{"extVar", "x", all, extVar},
	{"native", "x", all, native},
}

// kinds are the names of the types as shared strings.
var kinds = func() map[string]*vm.String {
	k := map[string]*vm.String{}
	for _, name := range []string{"null", "boolean", "number", "string", "array", "object", "function"} {
		k[name] = vm.Str(name).Freeze()
	}
	return k
}()

func kindOf(v vm.Value) vm.Value { return kinds[vm.Kind(v)] }

func isKind(kind string) vm.NativeFunc {
	return func(_ *vm.Machine, _ *vm.Pos, a []vm.Value) vm.Value { return vm.Bool(vm.Kind(a[0]) == kind) }
}

func toString(m *vm.Machine, v vm.Value, pos *vm.Pos) *vm.String {
	if s, ok := v.(*vm.String); ok {
		return s
	}
	return vm.Str(m.ToString(v, pos))
}

func length(m *vm.Machine, v vm.Value, pos *vm.Pos) int {
	switch v := v.(type) {
	case *vm.String:
		return m.Length(v)
	case *vm.Array:
		return len(v.Elems)
	case *vm.Object:
		return len(m.Names(v))
	case *vm.Function:
		return required(v)
	}
	m.Fail(pos, "Unexpected type "+vm.Kind(v))
	return 0
}

// required is the number of parameters without a default.
func required(f *vm.Function) int {
	n := 0
	if f.Native != nil {
		for _, p := range f.Native.Params {
			if !p.Optional {
				n++
			}
		}
		return n
	}
	for i := range f.Code.Params {
		if f.Code.Params[i].Default == nil {
			n++
		}
	}
	return n
}

func primitiveEquals(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	if vm.Kind(a[0]) != vm.Kind(a[1]) {
		return vm.Bool(false)
	}
	switch a[0].(type) {
	case *vm.Array, *vm.Object:
		m.Fail(pos, "primitiveEquals operates on primitive types, got "+vm.Kind(a[0]))
	}
	return vm.Bool(m.Equal(a[0], a[1], pos))
}

func assertEqual(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	x, y := force(m, pos, a, 0), force(m, pos, a, 1)
	if m.Equal(x, y, pos) {
		return vm.Bool(true)
	}
	show := func(v vm.Value) string {
		if s, ok := v.(*vm.String); ok {
			return string(m.AppendQuoted(nil, m.Text(s)))
		}
		return m.ToString(v, pos)
	}
	m.Fail(pos, "Assertion failed. "+show(x)+" != "+show(y))
	return nil
}

// compare is std.__compare, which differs from the operators in its errors.
func compare(m *vm.Machine, x, y vm.Value, pos *vm.Pos) int {
	kx, ky := vm.Kind(x), vm.Kind(y)
	if kx != ky {
		m.Fail(pos, "Comparison requires matching types. Got "+kx+" and "+ky)
	}
	switch kx {
	case "function", "object", "boolean":
		m.Fail(pos, "Values of type "+kx+" are not comparable.")
	case "array":
		m.Descend(pos)
		defer m.Ascend()
		return compareSequences(m, x.(*vm.Array), y.(*vm.Array), pos)
	}
	return m.Compare(x, y, pos)
}

func compareSequences(m *vm.Machine, x, y *vm.Array, pos *vm.Pos) int {
	for i := range min(len(x.Elems), len(y.Elems)) {
		m.Tick()
		l := m.Elem(x, i, pos)
		if c := compare(m, l, m.Elem(y, i, pos), pos); c != 0 {
			return c
		}
	}
	return m.Compare(vm.Int(len(x.Elems)), vm.Int(len(y.Elems)), pos)
}

func compareArrays(result func(int) vm.Value) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		x := sequence(m, a[0], pos)
		y := sequence(m, force(m, pos, a, 1), pos)
		return result(compareSequences(m, x, y, pos))
	}
}

func trace(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	m.Trace(pos, m.Text(m.String(a[0], pos)))
	return a[1]
}

func extVar(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	name := m.Text(m.String(a[0], pos))
	v, ok := m.External(name)
	if !ok {
		m.Fail(pos, "Undefined external variable: "+name)
	}
	return m.Force(v, pos)
}

func native(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	if fn := m.NativeFunction(m.Text(m.String(a[0], pos))); fn != nil {
		return &vm.Function{Native: fn}
	}
	return vm.Null{}
}
