package vm

type (
	// Index is x[i] and x.f.
	Index struct {
		Target, Index Node
		Pos           *Pos
	}
	// IndexField is x.f with a name known to the compiler.
	IndexField struct {
		Target Node
		Name   string
		Pos    *Pos
	}
	// Super is super[i] and super.f; Hops finds the frame with self.
	Super struct {
		Index Node
		Pos   *Pos
	}
	// InSuper is "x in super".
	InSuper struct {
		Index Node
		Pos   *Pos
	}
)

// Eval reads an element or a field.
func (n *Index) Eval(m *Machine, f *Frame) Value {
	target := n.Target.Eval(m, f)
	i := n.Index.Eval(m, f)
	switch t := target.(type) {
	case *Object:
		return m.Field(t, m.Text(m.String(i, n.Pos)), n.Pos)
	case *Array:
		at := int(m.Number(i, n.Pos))
		if at < 0 || at >= len(t.Elems) {
			m.outOfBounds(at, len(t.Elems), n.Pos)
		}
		return m.Elem(t, at, n.Pos)
	case *String:
		at := int(m.Number(i, n.Pos))
		if at < 0 || at >= m.Length(t) {
			m.outOfBounds(at, m.Length(t), n.Pos)
		}
		return m.Substring(t, at, at+1)
	}
	m.notIndexable(target, n.Pos)
	return nil
}

func (m *Machine) outOfBounds(at, n int, pos *Pos) {
	m.Failf(pos, "Index %d out of bounds, not within [0, %v)", at, n)
}

// notIndexable names types as go-jsonnet does in this message.
func (m *Machine) notIndexable(v Value, pos *Pos) {
	name := map[string]string{
		"null": "Null", "boolean": "Boolean", "number": "Number", "function": "Function",
	}[Kind(v)]
	m.Fail(pos, "Value non indexable: *jsonnet.value"+name)
}

// NotIndexable fails because v has neither elements nor fields.
func (m *Machine) NotIndexable(v Value, pos *Pos) { m.notIndexable(v, pos) }

// Eval reads a field.
func (n *IndexField) Eval(m *Machine, f *Frame) Value {
	target := n.Target.Eval(m, f)
	switch t := target.(type) {
	case *Object:
		return m.Field(t, n.Name, n.Pos)
	case *Array, *String:
		m.typeError(Str(n.Name), "number", n.Pos)
	}
	m.notIndexable(target, n.Pos)
	return nil
}

// Eval reads a field of the layers below the current one.
func (n *Super) Eval(m *Machine, f *Frame) Value {
	i := m.String(n.Index.Eval(m, f), n.Pos)
	return m.fieldFrom(f.Self, f.Depth+1, m.Text(i), n.Pos)
}

// Eval looks for a field in the layers below the current one.
func (n *InSuper) Eval(m *Machine, f *Frame) Value {
	i := m.String(n.Index.Eval(m, f), n.Pos)
	return Bool(m.Has(f.Self, f.Depth+1, m.Text(i)))
}
