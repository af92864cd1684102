package vm

type (
	// ObjectLit makes an object. Shape is set if all names are constant.
	ObjectLit struct {
		Shape      *Shape
		Fields     []FieldLit
		Locals     []Bind // in the frame that binds self
		Asserts    []Code
		Slots      int
		NeedsFrame bool // fields refer to self, super, $ or locals
		Pos        *Pos
	}
	// FieldLit is a field of an ObjectLit; Name is evaluated outside of the object.
	FieldLit struct {
		Name  Node
		Field Field
	}
	// For is an array comprehension: Body for each element of In that passes Cond.
	For struct {
		In    Code
		Range *CallNative // In, if it is a call of std.range
		Slots int         // the element is in slot 0 of a frame of its own
		Cond  Node
		// Exactly one of these is set.
		Elem   *Code // the element of the result
		Next   *For  // an inner comprehension
		Height int
		Tail   TailKind
		Pos    *Pos
	}
	// ObjectFor is an object comprehension: Lit is evaluated in each frame of For.
	ObjectFor struct {
		For  *For
		Lit  *ObjectLit
		Tail TailKind
		Pos  *Pos
	}
)

// Eval makes the object. Only names are evaluated.
func (n *ObjectLit) Eval(m *Machine, f *Frame) Value {
	if n.Shape != nil {
		return m.newObject(n.Shape, f)
	}
	names := make([]string, 0, len(n.Fields))
	fields := make([]Field, 0, len(n.Fields))
	seen := make(map[string]bool, len(n.Fields))
	for i := range n.Fields {
		name, ok := m.fieldName(n.Fields[i].Name.Eval(m, f), n.Pos)
		if !ok {
			continue
		}
		if seen[name] {
			m.Fail(n.Pos, duplicateField(name))
		}
		seen[name] = true
		names = append(names, name)
		fields = append(fields, n.Fields[i].Field)
	}
	m.charge(m.shapeBytes(names))
	return m.newObject(m.newShape(names, fields, n), f)
}

// fieldName is the name that v stands for; null omits the field.
func (m *Machine) fieldName(v Value, pos *Pos) (string, bool) {
	switch v := v.(type) {
	case *String:
		return m.Text(v), true
	case Null:
		return "", false
	default:
		m.Fail(pos, "Field name must be string, got "+Kind(v))
		return "", false
	}
}

// Eval makes the array.
func (n *For) Eval(m *Machine, f *Frame) Value {
	m.trimmed(n.Tail)
	var elems []Value
	n.each(m, f, func(frame *Frame) {
		elems = append(Grow(m, elems, 1, 16), m.Delay(n.inner().Elem, frame))
	})
	return m.NewArray(elems)
}

func (n *For) inner() *For {
	for n.Next != nil {
		n = n.Next
	}
	return n
}

// each calls yield with the frame of each result, before anything of the result is evaluated.
func (n *For) each(m *Machine, f *Frame, yield func(*Frame)) {
	if n.Range != nil {
		from, count := n.bounds(m, f)
		for i := range count {
			n.one(m, f, Int(from+i), yield)
		}
		return
	}
	v := m.now(&n.In, f, n.Pos)
	in, ok := v.(*Array)
	if !ok {
		m.typeError(v, "array", n.Pos)
	}
	for i := range in.Elems {
		n.one(m, f, in.Elems[i], yield)
	}
}

func (n *For) one(m *Machine, f *Frame, elem Value, yield func(*Frame)) {
	frame := m.NewFrame(f, n.Slots)
	frame.Slots[0] = elem
	before := m.enter(n.Pos, false, n.Height)
	size := len(m.stack)
	if n.passes(m, frame) {
		if n.Next != nil {
			n.Next.each(m, frame, yield)
		} else {
			yield(frame)
		}
	}
	m.leave(size, before)
}

// bounds evaluates the arguments of std.range, without making its array.
func (n *For) bounds(m *Machine, f *Frame) (from, count int) {
	before := m.enter(n.Pos, false, n.In.Height)
	size := len(m.stack)
	first := m.now(n.Range.Args[0], f, n.Range.Pos)
	last := m.now(n.Range.Args[1], f, n.Range.Pos)
	from = m.Int(first, n.Range.Pos)
	count = max(0, m.Int(last, n.Range.Pos)-from+1)
	m.leave(size, before)
	return from, count
}

func (n *For) passes(m *Machine, f *Frame) bool {
	if n.Cond == nil {
		return true
	}
	return bool(m.Bool(n.Cond.Eval(m, f), nil))
}

// Eval makes the object. All frames come first, then the names, as go-jsonnet evaluates them.
func (n *ObjectFor) Eval(m *Machine, f *Frame) Value {
	m.trimmed(n.Tail)
	var frames []*Frame
	before := m.enter(n.Pos, false, 4)
	size := len(m.stack)
	n.For.each(m, f, func(frame *Frame) {
		frames = append(Grow(m, frames, 1, 8), frame)
	})
	m.leave(size, before)
	names := make([]string, 0, len(frames))
	fields := make([]Field, 0, len(frames))
	kept := frames[:0]
	seen := make(map[string]bool, len(frames))
	lit := &n.Lit.Fields[0]
	m.Demand(int64(len(frames)) * 160)
	for _, frame := range frames {
		before := m.enter(n.Pos, false, 4)
		size := len(m.stack)
		name, ok := m.fieldName(lit.Name.Eval(m, frame), n.Lit.Pos)
		m.leave(size, before)
		if !ok {
			continue
		}
		if seen[name] {
			m.Fail(n.Pos, duplicateField(name))
		}
		seen[name] = true
		names = append(names, name)
		fields = append(fields, lit.Field)
		kept = append(kept, frame)
	}
	m.charge(m.shapeBytes(names))
	o := m.newObject(m.newShape(names, fields, nil), nil)
	o.own.extra = &extra{frames: kept}
	return o
}
