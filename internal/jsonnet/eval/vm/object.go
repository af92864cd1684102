package vm

// layer is what one object literal contributes to an object.
type layer struct {
	shape *Shape
	env   *Frame // where the literal stood
	extra *extra
}

// extra is what only some layers have.
type extra struct {
	values   []Value         // the fields of an object made by a native function
	frames   []*Frame        // the environment of each field of a comprehension
	retained map[string]Hide // of std.objectRemoveKey: what it lets through of the span layers below it
	span     int
}

// Object is Jsonnet's object: layers put together by inheritance. Fields are evaluated on demand, once per layer.
type Object struct {
	own         layer
	left, right *Object  // until the layers are needed
	layers      []*layer // innermost (rightmost) first
	size        int      // number of layers
	first       binding  // of layer 0
	rest        []binding
	checked     bool // the asserts have been run, or are being run
	asserts     bool // some layer has asserts
	names       *nameTable
}

// binding is a layer's state within one object.
type binding struct {
	frame  *Frame
	values []Value
}

func (m *Machine) newObject(shape *Shape, env *Frame) *Object {
	o := &Object{own: layer{shape: shape, env: env}, size: 1}
	o.asserts = shape.lit != nil && len(shape.lit.Asserts) > 0
	if m.meter.Count(208) {
		sample(m, o)
	}
	return o
}

// NewObject makes an object of values, which may be thunks, in the order of the shape's fields.
func (m *Machine) NewObject(shape *Shape, values []Value) *Object {
	m.charge(int64(64 + 24*len(values)))
	o := m.newObject(shape, nil)
	o.own.extra = &extra{values: values}
	return o
}

// NewPlainObject makes an object with visible fields.
func (m *Machine) NewPlainObject(names []string, values []Value) *Object {
	m.charge(m.shapeBytes(names))
	return m.NewObject(m.newShape(names, plainFields(len(names)), nil), values)
}

func plainFields(n int) []Field {
	fields := make([]Field, n)
	for i := range fields {
		fields[i].Hide = Inherit
	}
	return fields
}

// Extend makes left + right.
func (m *Machine) Extend(left, right *Object) *Object {
	o := &Object{left: left, right: right, size: left.size + right.size, asserts: left.asserts || right.asserts}
	if m.meter.Count(208) {
		sample(m, o)
	}
	return o
}

// Restrict makes an object without one of o's fields.
func (m *Machine) Restrict(o *Object, name string) *Object {
	retained := map[string]Hide{}
	all := m.visibility(o)
	m.Demand(int64(48 * len(all)))
	for k, h := range all {
		m.Tick()
		if k != name {
			retained[k] = h
		}
	}
	inner := m.flat(o)
	mark := &layer{extra: &extra{retained: retained, span: len(inner)}}
	r := &Object{size: 1 + o.size, asserts: o.asserts}
	r.layers = append(append(make([]*layer, 0, r.size), mark), inner...)
	chargeFor(m, int64(272+48*len(retained)+8*r.size), mark)
	return r
}

// flat returns the object's layers, innermost first. Long chains of + are walked without recursion.
func (m *Machine) flat(o *Object) []*layer {
	if o.layers != nil {
		return o.layers
	}
	if o.right == nil {
		o.layers = []*layer{&o.own}
		return o.layers
	}
	m.Demand(8 * int64(o.size))
	out := make([]*layer, 0, o.size)
	chargeFor(m, 8*int64(o.size), &out[:1][0])
	todo := []*Object{o}
	for len(todo) > 0 {
		cur := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case cur.layers != nil:
			out = append(out, cur.layers...)
		case cur.right == nil:
			out = append(out, &cur.own)
		default:
			todo = append(todo, cur.left, cur.right)
		}
		m.Tick()
	}
	o.layers, o.left, o.right = out, nil, nil
	return out
}

// find returns the layer and the number of a field, looking from layer depth outwards.
func (m *Machine) find(o *Object, depth int, name string) (int, int) {
	if o.size == 1 {
		if depth > 0 {
			return 0, -1
		}
		return 0, o.own.shape.Find(name)
	}
	layers := m.flat(o)
	i := depth
	// A restriction holds only for a search that starts at it; one that comes from a layer added later passes through.
	if i < len(layers) && layers[i].shape == nil {
		x := layers[i].extra
		if _, ok := x.retained[name]; !ok {
			i += 1 + x.span
		}
	}
	for ; i < len(layers); i++ {
		if s := layers[i].shape; s != nil {
			if n := s.Find(name); n >= 0 {
				return i, n
			}
		}
	}
	return 0, -1
}

// Has reports whether the object has a field at or below layer depth.
func (m *Machine) Has(o *Object, depth int, name string) bool {
	_, n := m.find(o, depth, name)
	return n >= 0
}

// Field returns the value of a field.
func (m *Machine) Field(o *Object, name string, pos *Pos) Value {
	return m.fieldFrom(o, 0, name, pos)
}

func (m *Machine) fieldFrom(o *Object, depth int, name string, pos *Pos) Value {
	if o.asserts && !o.checked {
		m.CheckAsserts(o, pos)
	}
	if depth >= o.size {
		m.Fail(pos, "Attempt to use super when there is no super class.")
	}
	at, n := m.find(o, depth, name)
	if n < 0 {
		m.Fail(pos, "Field does not exist: "+name)
	}
	return m.fieldAt(o, at, n, pos)
}

func (m *Machine) layerAt(o *Object, at int) *layer {
	if o.layers == nil {
		return &o.own
	}
	return o.layers[at]
}

func (m *Machine) bindingAt(o *Object, at int) *binding {
	if at == 0 {
		return &o.first
	}
	if o.rest == nil {
		m.Demand(int64(32 * o.size))
		o.rest = make([]binding, o.size-1)
		chargeFor(m, int64(32*o.size), &o.rest[0])
	}
	return &o.rest[at-1]
}

func (m *Machine) fieldAt(o *Object, at, n int, pos *Pos) Value {
	l := m.layerAt(o, at)
	if l.extra != nil && l.extra.values != nil {
		v := m.Force(l.extra.values[n], pos)
		l.extra.values[n] = v
		return v
	}
	field := &l.shape.Fields[n]
	if field.Body.Kind == Constant && !field.Plus {
		return field.Body.Const
	}
	b := m.bindingAt(o, at)
	if b.values == nil {
		m.Demand(int64(24 * len(l.shape.Fields)))
		b.values = make([]Value, len(l.shape.Fields))
		chargeFor(m, int64(24*len(l.shape.Fields)), &b.values[0])
	}
	if v := b.values[n]; v != nil {
		return v
	}
	f := m.fieldFrame(o, at, n, l)
	var v Value
	if field.Plus {
		v = m.plusField(o, at, n, f, pos)
	} else {
		depth := m.enter(pos, false, field.Body.Height)
		size := len(m.stack)
		v = field.Body.Node.Eval(m, f)
		m.leave(size, depth)
	}
	b.values[n] = v
	return v
}

// plusField evaluates a "+:" field: super's value, if it has one, plus the body's.
func (m *Machine) plusField(o *Object, at, n int, f *Frame, pos *Pos) Value {
	shape := m.layerAt(o, at).shape
	field, name := &shape.Fields[n], shape.Names[n]
	outer := m.enter(pos, false, 4)
	outerSize := len(m.stack)
	depth := m.enter(field.Pos, false, field.Body.Height)
	size := len(m.stack)
	v := field.Body.Node.Eval(m, f)
	m.leave(size, depth)
	if m.Has(o, at+1, name) {
		v = m.Plus(m.fieldFrom(o, at+1, name, field.Pos), v, field.Pos)
	}
	m.leave(outerSize, outer)
	return v
}

// fieldFrame is the environment of a field: the object's locals with self bound to o.
func (m *Machine) fieldFrame(o *Object, at, n int, l *layer) *Frame {
	if l.extra != nil && l.extra.frames != nil {
		f := m.NewFrame(l.extra.frames[n], 0)
		f.Self, f.Depth = o, at
		return f
	}
	return m.layerFrame(o, at, l)
}

func (m *Machine) layerFrame(o *Object, at int, l *layer) *Frame {
	lit := l.shape.lit
	if lit == nil || !lit.NeedsFrame {
		return l.env
	}
	b := m.bindingAt(o, at)
	if b.frame != nil {
		return b.frame
	}
	f := m.NewFrame(l.env, lit.Slots)
	f.Self, f.Depth = o, at
	for i := range lit.Locals {
		f.Slots[lit.Locals[i].Slot] = m.Delay(lit.Locals[i].Body, f)
	}
	b.frame = f
	return f
}

// CheckAsserts runs the object's asserts unless that was done. While they run they count as passed, because they may
// read the object's fields.
func (m *Machine) CheckAsserts(o *Object, pos *Pos) {
	if o.checked || !o.asserts {
		return
	}
	o.checked = true
	for at, l := range m.flat(o) {
		if l.shape == nil || l.shape.lit == nil {
			continue
		}
		for i := range l.shape.lit.Asserts {
			code := &l.shape.lit.Asserts[i]
			f := m.layerFrame(o, at, l)
			depth := m.enter(pos, false, code.Height)
			size := len(m.stack)
			code.Node.Eval(m, f)
			m.leave(size, depth)
		}
	}
}

func duplicateField(name string) string {
	return "Duplicate field name: " + Quote(name)
}
