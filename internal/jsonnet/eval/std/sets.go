package std

import "github.com/stagewright/stagewright/internal/jsonnet/eval/vm"

var setFunctions = []entry{
	{"set", "arr keyF?", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return uniq(m, pos, sorted(m, pos, a[0], a[1]), a[1])
	}},
	{"uniq", "arr keyF?", 1, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return uniq(m, pos, foldable(m, pos, a[0], "foldl"), a[1])
	}},
	{"setMember", "x arr keyF?", 0, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		w := newWalk(m, pos, m.NewArray([]vm.Value{a[0]}), force(m, pos, a, 1), a[2])
		for w.i == 0 && w.j < w.sizeB() {
			if w.step() == both {
				return vm.Bool(true)
			}
		}
		return vm.Bool(false)
	}},
	{"setInter", "a b keyF?", 2, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		w := newWalk(m, pos, a[0], a[1], a[2])
		for w.i < len(w.a.Elems) && w.j < w.sizeB() {
			if w.step() == both {
				w.take(w.a.Elems[w.i-1])
			}
		}
		return m.NewArray(w.out)
	}},
	{"setDiff", "a b keyF?", 2, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		w := newWalk(m, pos, a[0], a[1], a[2])
		for w.i < len(w.a.Elems) {
			if w.j >= w.sizeB() {
				return w.rest(a[0], w.i)
			}
			if w.step() == onlyA {
				w.take(w.a.Elems[w.i-1])
			}
		}
		return m.NewArray(w.out)
	}},
	{"setUnion", "a b keyF?", 1, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		w := newWalk(m, pos, a[0], a[1], a[2])
		for w.i < len(w.a.Elems) {
			if w.j >= w.sizeB() {
				return w.rest(a[0], w.i)
			}
			if w.step() == onlyB {
				w.take(w.b.Elems[w.j-1])
			} else {
				w.take(w.a.Elems[w.i-1])
			}
		}
		return w.rest(a[1], w.j)
	}},
}

func uniq(m *vm.Machine, pos *vm.Pos, arr *vm.Array, keyF vm.Value) vm.Value {
	if len(arr.Elems) <= 1 {
		return arr
	}
	if keyF != nil {
		keyF = m.Function(m.Force(keyF, pos), pos)
	}
	var elems []vm.Value
	var last vm.Value
	for i := range arr.Elems {
		m.Tick()
		key := keyed(m, pos, keyF, arr.Elems[i])
		if i > 0 && m.Equal(last, key, pos) {
			continue
		}
		last = key
		elems = append(grow(m, elems), arr.Elems[i])
	}
	return m.NewArray(elems)
}

// walk goes through two sorted arrays side by side.
type walk struct {
	m          *vm.Machine
	pos        *vm.Pos
	a, b       *vm.Array
	unreadB    vm.Value
	keyF       vm.Value
	i, j       int
	keyA, keyB vm.Value // of the current elements, nil if not known yet
	out        []vm.Value
}

// side says where a step found its element.
type side uint8

const (
	both side = iota
	onlyA
	onlyB
)

func newWalk(m *vm.Machine, pos *vm.Pos, a, b, keyF vm.Value) *walk {
	return &walk{m: m, pos: pos, a: sequence(m, a, pos), unreadB: b, keyF: keyF}
}

// sizeB is the length of b, which is not looked at before.
func (w *walk) sizeB() int {
	if w.b == nil {
		w.b = sequence(w.m, w.m.Force(w.unreadB, w.pos), w.pos)
	}
	return len(w.b.Elems)
}

// key calls the key function, which need not be one until then.
func (w *walk) key(v vm.Value) vm.Value {
	if w.keyF != nil {
		w.keyF = w.m.Function(w.m.Force(w.keyF, w.pos), w.pos)
	}
	return keyed(w.m, w.pos, w.keyF, v)
}

// step compares the current elements and moves past the smaller one, or both.
func (w *walk) step() side {
	w.m.Tick()
	if w.keyA == nil {
		w.keyA = w.key(w.a.Elems[w.i])
	}
	if w.keyB == nil {
		w.keyB = w.key(w.b.Elems[w.j])
	}
	switch {
	case w.m.Equal(w.keyA, w.keyB, w.pos):
		w.i, w.j, w.keyA, w.keyB = w.i+1, w.j+1, nil, nil
		return both
	case w.m.Compare(w.keyA, w.keyB, w.pos) < 0:
		w.i, w.keyA = w.i+1, nil
		return onlyA
	default:
		w.j, w.keyB = w.j+1, nil
		return onlyB
	}
}

func (w *walk) take(v vm.Value) { w.out = append(grow(w.m, w.out), v) }

// rest ends the walk with what is left of one side.
func (w *walk) rest(of vm.Value, from int) vm.Value {
	left := slice(w.m, w.pos, []vm.Value{of, vm.Int(from), vm.Null{}, vm.Null{}})
	return w.m.Plus(w.m.NewArray(w.out), left, w.pos)
}
