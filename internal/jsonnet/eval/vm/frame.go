package vm

// Frame is the variables of one activation: of a function call, of an object bound to a self, of a file. Variables of
// enclosing activations are reached through Up, a number of steps that the compiler knows.
type Frame struct {
	Up    *Frame
	Self  *Object
	Depth int // the layer of Self that the code belongs to; super starts at the next one
	Slots []Value
}

// The common sizes come with their slots in one allocation.
type (
	frame1 struct {
		Frame
		slots [1]Value
	}
	frame2 struct {
		Frame
		slots [2]Value
	}
	frame4 struct {
		Frame
		slots [4]Value
	}
	frame8 struct {
		Frame
		slots [8]Value
	}
)

// NewFrame makes a frame below up with n empty slots and up's self.
func (m *Machine) NewFrame(up *Frame, n int) *Frame {
	var f *Frame
	switch {
	case n == 0:
		f = &Frame{}
	case n == 1:
		g := &frame1{}
		g.Slots = g.slots[:]
		f = &g.Frame
	case n == 2:
		g := &frame2{}
		g.Slots = g.slots[:]
		f = &g.Frame
	case n <= 4:
		g := &frame4{}
		g.Slots = g.slots[:n]
		f = &g.Frame
	case n <= 8:
		g := &frame8{}
		g.Slots = g.slots[:n]
		f = &g.Frame
	default:
		f = &Frame{Slots: make([]Value, n)}
	}
	f.Up = up
	if up != nil {
		f.Self, f.Depth = up.Self, up.Depth
	}
	if m.meter.Count(int64(48 + 20*n)) {
		sample(m, f)
	}
	return f
}

// Code is an expression with what the machine needs to know to delay it.
type Code struct {
	Node   Node
	Height int   // Go calls that evaluating it may nest, without those behind calls and thunks
	Const  Value // the value of a literal
	Kind   CodeKind
	// Lazy, if set, computes the value of a thunk that a native function made.
	Lazy func(m *Machine, env *Frame, payload Value) Value
}

// CodeKind says what may be done instead of delaying a Code.
type CodeKind uint8

// The kinds of code.
const (
	Delayed  CodeKind = iota // must wait until it is needed
	Constant                 // Const is its value
	Variable                 // a variable, which may have its value already
	Eager                    // cannot fail and takes no longer than making a thunk
)

// Thunk is a value that has not been needed yet.
type Thunk struct {
	value Value // the value, or what Code.Lazy gets
	env   *Frame
	code  *Code // nil once value is the value
}

// Delay returns the value of code in f, or a thunk for it.
func (m *Machine) Delay(code *Code, f *Frame) Value {
	switch code.Kind {
	case Constant:
		return code.Const
	case Eager:
		return code.Node.Eval(m, f)
	case Variable:
		if v := code.Node.(variable).peek(f); v != nil {
			return v
		}
	case Delayed:
	}
	return m.newThunk(nil, f, code)
}

// Lazy makes a thunk for a native function.
func (m *Machine) Lazy(code *Code, env *Frame, payload Value) Value {
	return m.newThunk(payload, env, code)
}

func (m *Machine) newThunk(v Value, f *Frame, code *Code) Value {
	t := &Thunk{value: v, env: f, code: code}
	if m.meter.Count(48) {
		sample(m, t)
	}
	return t
}

// ready returns the value of v if it is known, or nil.
func ready(v Value) Value {
	if t, ok := v.(*Thunk); ok {
		if t.code != nil {
			return nil
		}
		return t.value
	}
	return v
}

// Force returns the value of what may be a thunk. pos is the place that needs it.
func (m *Machine) Force(v Value, pos *Pos) Value {
	t, ok := v.(*Thunk)
	if !ok {
		return v
	}
	if t.code == nil {
		return t.value
	}
	return m.run(t, pos)
}

func (m *Machine) run(t *Thunk, pos *Pos) Value {
	code, env, payload := t.code, t.env, t.value
	depth := m.enter(pos, false, code.Height)
	size := len(m.stack)
	var v Value
	if code.Lazy != nil {
		v = code.Lazy(m, env, payload)
	} else {
		v = code.Node.Eval(m, env)
	}
	m.leave(size, depth)
	t.value, t.env, t.code = v, nil, nil
	return v
}

// Elem returns element i of an array.
func (m *Machine) Elem(a *Array, i int, pos *Pos) Value {
	t, ok := a.Elems[i].(*Thunk)
	if !ok {
		return a.Elems[i]
	}
	v := m.Force(t, pos)
	a.Elems[i] = v
	return v
}
