package std

import "github.com/stagewright/stagewright/internal/jsonnet/eval/vm"

var objectFunctions = []entry{
	{"objectFields", "o", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return names(m, fields(m, m.Object(a[0], pos), false))
	}},
	{"objectFieldsAll", "o", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return names(m, fields(m, m.Object(a[0], pos), true))
	}},
	{"objectFieldsEx", "obj hidden", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		o := m.Object(a[0], pos)
		return names(m, fields(m, o, m.Bool(a[1], pos)))
	}},
	{"objectHas", "o f", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return has(m, pos, a[0], a[1], vm.Bool(false))
	}},
	{"objectHasAll", "o f", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return has(m, pos, a[0], a[1], vm.Bool(true))
	}},
	{"objectHasEx", "obj fname hidden", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return has(m, pos, a[0], a[1], a[2])
	}},
	{"objectValues", "o", all, objectValues(false)},
	{"objectValuesAll", "o", all, objectValues(true)},
	{"objectKeysValues", "o", all, keysValues(false)},
	{"objectKeysValuesAll", "o", all, keysValues(true)},
	{"objectRemoveKey", "obj key", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		o := m.Object(a[0], pos)
		return m.Restrict(o, m.Text(m.String(a[1], pos)))
	}},
	{"get", "o f default? inc_hidden?", 2, get},
	{"mapWithKey", "func obj", 1, mapWithKey},
	{"mergePatch", "target patch", 0, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		patch := force(m, pos, a, 1)
		if _, ok := patch.(*vm.Object); !ok {
			return patch
		}
		return mergePatch(m, pos, force(m, pos, a, 0), patch)
	}},
	{"prune", "a", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value { return prune(m, pos, a[0]) }},
}

func fields(m *vm.Machine, o *vm.Object, hidden vm.Bool) []string {
	if hidden {
		return m.AllNames(o)
	}
	return m.Names(o)
}

func names(m *vm.Machine, list []string) vm.Value {
	m.Demand(120 * int64(len(list)))
	elems := m.MakeElems(len(list))
	for i, name := range list {
		elems[i] = m.View(name)
	}
	return m.NewArray(elems)
}

func has(m *vm.Machine, pos *vm.Pos, obj, name, hidden vm.Value) vm.Value {
	o := m.Object(obj, pos)
	f := m.Text(m.String(name, pos))
	all := m.Bool(hidden, pos)
	hide, ok := m.Visibility(o, f)
	return vm.Bool(ok && (bool(all) || hide != vm.Hidden))
}

// fieldOf is the thunk of a field of the object in slot 0.
var fieldOf = &vm.Code{Height: 8, Lazy: func(m *vm.Machine, env *vm.Frame, name vm.Value) vm.Value {
	return m.Field(env.Slots[0].(*vm.Object), m.Text(name.(*vm.String)), nil)
}}

func objectFrame(m *vm.Machine, o vm.Value) *vm.Frame {
	env := m.NewFrame(nil, 1)
	env.Slots[0] = o
	return env
}

func objectValues(hidden vm.Bool) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		o := m.Object(a[0], pos)
		list := fields(m, o, hidden)
		m.Demand(120 * int64(len(list)))
		elems := m.MakeElems(len(list))
		env := objectFrame(m, o)
		for i, name := range list {
			elems[i] = m.Lazy(fieldOf, env, m.View(name))
		}
		return m.NewArray(elems)
	}
}

// pairShape is the shape of {key, value}.
var pairShape = vm.NewShape([]string{"key", "value"}, []vm.Field{{Hide: vm.Inherit}, {Hide: vm.Inherit}}, nil)

func keysValues(hidden vm.Bool) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		o := m.Object(a[0], pos)
		list := fields(m, o, hidden)
		m.Demand(500 * int64(len(list)))
		elems := m.MakeElems(len(list))
		env := objectFrame(m, o)
		for i, name := range list {
			m.Tick()
			key := m.View(name)
			elems[i] = m.NewObject(pairShape, []vm.Value{key, m.Lazy(fieldOf, env, key)})
		}
		return m.NewArray(elems)
	}
}

func get(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	hidden := vm.Value(vm.Bool(true))
	if a[3] != nil {
		hidden = force(m, pos, a, 3)
	}
	o := m.Object(a[0], pos)
	name := m.Text(m.String(a[1], pos))
	all := m.Bool(hidden, pos)
	hide, ok := m.Visibility(o, name)
	switch {
	case ok && (bool(all) || hide != vm.Hidden):
		return m.Field(o, name, pos)
	case a[2] == nil:
		return vm.Null{}
	}
	return force(m, pos, a, 2)
}

// callWithKey is the thunk of a field: the function in slot 0 called with a name and the field of slot 1.
var callWithKey = &vm.Code{Height: 8, Lazy: func(m *vm.Machine, env *vm.Frame, name vm.Value) vm.Value {
	return m.Call(env.Slots[0].(*vm.Function), nil, name, m.Lazy(fieldOf, objectFrame(m, env.Slots[1]), name))
}}

func mapWithKey(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	if _, ok := a[0].(*vm.Function); !ok {
		m.Fail(pos, "std.mapWithKey first param must be function, got "+vm.Kind(a[0]))
	}
	o, ok := force(m, pos, a, 1).(*vm.Object)
	if !ok {
		m.Fail(pos, "std.mapWithKey second param must be object, got "+vm.Kind(a[1]))
	}
	list := m.Names(o)
	m.Demand(200 * int64(len(list)))
	env := m.NewFrame(nil, 2)
	env.Slots[0], env.Slots[1] = a[0], o
	values := m.MakeElems(len(list))
	for i, name := range list {
		values[i] = m.Lazy(callWithKey, env, m.View(name))
	}
	return m.NewPlainObject(list, values)
}

// mergeField computes a field of a merged object: slot 0 is the target, slot 1 the patch.
func mergeField(m *vm.Machine, env *vm.Frame, name vm.Value) vm.Value {
	field := m.Text(name.(*vm.String))
	patch := m.Field(env.Slots[1].(*vm.Object), field, nil)
	var target vm.Value = vm.Null{}
	if o, ok := env.Slots[0].(*vm.Object); ok {
		if hide, ok := m.Visibility(o, field); ok && hide != vm.Hidden {
			target = m.Field(o, field, nil)
		}
	}
	return mergePatch(m, nil, target, patch)
}

func mergePatch(m *vm.Machine, pos *vm.Pos, target, patch vm.Value) vm.Value {
	p, ok := patch.(*vm.Object)
	if !ok {
		return patch
	}
	var targetNames []string
	t, _ := target.(*vm.Object)
	if t != nil {
		targetNames = m.Names(t)
	}
	env := m.NewFrame(nil, 2)
	env.Slots[0], env.Slots[1] = target, p
	merged := &vm.Code{Height: 8, Lazy: mergeField}
	patchNames := m.Names(p)
	m.Demand(300 * int64(len(targetNames)+len(patchNames)))
	var list []string
	var values []vm.Value
	for len(targetNames) > 0 || len(patchNames) > 0 {
		m.Tick()
		if len(patchNames) == 0 || len(targetNames) > 0 && targetNames[0] < patchNames[0] {
			list = append(list, targetNames[0])
			values = append(values, m.Lazy(fieldOf, objectFrame(m, t), m.View(targetNames[0])))
			targetNames = targetNames[1:]
			continue
		}
		name := patchNames[0]
		if len(targetNames) > 0 && targetNames[0] == name {
			targetNames = targetNames[1:]
		}
		patchNames = patchNames[1:]
		if vm.Kind(m.Field(p, name, pos)) != "null" {
			list = append(list, name)
			values = append(values, m.Lazy(merged, env, m.View(name)))
		}
	}
	return m.NewPlainObject(list, values)
}

// prune removes what is null or empty, and what becomes so.
func prune(m *vm.Machine, pos *vm.Pos, v vm.Value) vm.Value {
	switch v := v.(type) {
	case *vm.Array:
		size, before := m.Enter(nil)
		var elems []vm.Value
		for i := range v.Elems {
			if e := prune(m, pos, m.Elem(v, i, pos)); hasContent(m, e) {
				elems = append(grow(m, elems), e)
			}
		}
		m.Leave(size, before)
		return m.NewArray(elems)
	case *vm.Object:
		size, before := m.Enter(nil)
		var list []string
		var values []vm.Value
		for _, name := range m.Names(v) {
			if e := prune(m, pos, m.Field(v, name, pos)); hasContent(m, e) {
				list = append(list, name)
				values = append(grow(m, values), e)
			}
		}
		m.Leave(size, before)
		return m.NewPlainObject(list, values)
	}
	return v
}

func hasContent(m *vm.Machine, v vm.Value) bool {
	switch v := v.(type) {
	case vm.Null:
		return false
	case *vm.Array:
		return len(v.Elems) > 0
	case *vm.Object:
		return len(m.Names(v)) > 0
	}
	return true
}
