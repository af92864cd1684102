package vm

import (
	"errors"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// Node is a compiled expression. Nodes are immutable and shared by concurrent machines.
type Node interface {
	// Eval returns the expression's value; never a thunk, unless it is tailCall in a tail position.
	Eval(m *Machine, f *Frame) Value
}

// Program is a compiled file.
type Program struct {
	Name  string
	Body  Code
	Slots int
	Bytes int64 // estimate of what it occupies
}

// variable is a Node whose value may be known already.
type variable interface {
	peek(f *Frame) Value
}

type (
	// Literal is a value known to the compiler.
	Literal struct{ Value Value }
	// Local reads a slot of the current frame.
	Local struct {
		Slot int
		Pos  *Pos
	}
	// Outer reads a slot of an enclosing frame.
	Outer struct {
		Hops, Slot int
		Pos        *Pos
	}
	// Self is the object the code belongs to, as the frame Hops up knows it.
	Self struct{ Hops int }
	// Let evaluates its body with more variables.
	Let struct {
		Binds []Bind
		Body  Node
	}
	// If is a conditional.
	If struct {
		Cond, Then, Else Node
		Pos              *Pos
	}
	// Fail is the error expression.
	Fail struct {
		Message Node
		Pos     *Pos
	}
	// ArrayLit is an array of delayed elements.
	ArrayLit struct{ Elems []Code }
	// Closure makes a function.
	Closure struct{ Func *Func }
	// Scope evaluates its body in a frame of its own, because the frame it is in may be used more than once.
	Scope struct {
		Slots int
		Body  Node
	}
	// Std is the standard library as a value.
	Std struct{ File string }
	// FileName is std.thisFile.
	FileName struct{ Name *String }
	// Import is the import of a Jsonnet or JSON file.
	Import struct {
		Path string
		Pos  *Pos
	}
	// ImportText is importstr.
	ImportText struct {
		Path string
		Pos  *Pos
	}
	// ImportBytes is importbin.
	ImportBytes struct {
		Path string
		Pos  *Pos
	}
)

// Bind is a local variable and its value.
type Bind struct {
	Slot int
	Body *Code
}

// Eval returns the literal.
func (n *Literal) Eval(*Machine, *Frame) Value { return n.Value }

// Eval forces the variable.
func (n *Local) Eval(m *Machine, f *Frame) Value {
	t, ok := f.Slots[n.Slot].(*Thunk)
	if !ok {
		return f.Slots[n.Slot]
	}
	v := m.Force(t, n.Pos)
	f.Slots[n.Slot] = v
	return v
}

func (n *Local) peek(f *Frame) Value { return ready(f.Slots[n.Slot]) }

// Eval forces the variable.
func (n *Outer) Eval(m *Machine, f *Frame) Value {
	for range n.Hops {
		f = f.Up
	}
	t, ok := f.Slots[n.Slot].(*Thunk)
	if !ok {
		return f.Slots[n.Slot]
	}
	v := m.Force(t, n.Pos)
	f.Slots[n.Slot] = v
	return v
}

func (n *Outer) peek(f *Frame) Value {
	for range n.Hops {
		f = f.Up
	}
	return ready(f.Slots[n.Slot])
}

// Eval returns the object.
func (n *Self) Eval(_ *Machine, f *Frame) Value {
	for range n.Hops {
		f = f.Up
	}
	return f.Self
}

// Eval binds the variables, which may refer to each other, and evaluates the body.
func (n *Let) Eval(m *Machine, f *Frame) Value {
	for i := range n.Binds {
		f.Slots[n.Binds[i].Slot] = nil
	}
	for i := range n.Binds {
		f.Slots[n.Binds[i].Slot] = m.Delay(n.Binds[i].Body, f)
	}
	return n.Body.Eval(m, f)
}

// Eval evaluates one branch.
func (n *If) Eval(m *Machine, f *Frame) Value {
	v := n.Cond.Eval(m, f)
	b, ok := v.(Bool)
	if !ok {
		m.typeError(v, "boolean", n.Pos)
	}
	if b {
		return n.Then.Eval(m, f)
	}
	return n.Else.Eval(m, f)
}

// Eval fails with the message.
func (n *Fail) Eval(m *Machine, f *Frame) Value {
	m.Fail(n.Pos, m.ToString(n.Message.Eval(m, f), n.Pos))
	return nil
}

// Eval delays the elements.
func (n *ArrayLit) Eval(m *Machine, f *Frame) Value {
	elems := make([]Value, len(n.Elems))
	for i := range n.Elems {
		elems[i] = m.Delay(&n.Elems[i], f)
	}
	return m.NewArray(elems)
}

// Eval captures the frame.
func (n *Closure) Eval(m *Machine, f *Frame) Value {
	fn := &Function{Code: n.Func, Env: f}
	if m.meter.Count(48) {
		sample(m, fn)
	}
	return fn
}

// Eval evaluates the body in a new frame.
func (n *Scope) Eval(m *Machine, f *Frame) Value { return n.Body.Eval(m, m.NewFrame(f, n.Slots)) }

// Eval returns the library with std.thisFile.
func (n *Std) Eval(m *Machine, _ *Frame) Value {
	if m.std == nil {
		m.std = m.cfg.Std(m)
	}
	if o := m.stds[n.File]; o != nil {
		return o
	}
	file := m.NewObject(NewShape([]string{"thisFile"}, []Field{{Hide: Hidden}}, nil), []Value{Str(n.File)})
	o := m.Extend(m.std, file)
	m.stds[n.File] = o
	return o
}

// Eval returns the name.
func (n *FileName) Eval(*Machine, *Frame) Value { return n.Name }

// Eval evaluates the file, once for all imports of it.
func (n *Import) Eval(m *Machine, _ *Frame) Value {
	src := m.load(n.Pos, n.Path)
	known := m.imports[src.Name]
	if known == nil {
		program, err := m.cfg.Program(src)
		if err != nil {
			m.checkDone(n.Pos)
			m.failImport(n.Pos, err)
		}
		m.keep(program)
		frame := m.NewFrame(nil, program.Slots)
		known = &imported{source: src, value: m.newThunk(nil, frame, &program.Body)}
		m.imports[src.Name] = known
	}
	v := m.Force(known.value, n.Pos)
	known.value = v
	return v
}

// failImport ends the evaluation at an import of a file that cannot be compiled, and says where in it the error is.
func (m *Machine) failImport(pos *Pos, err error) {
	failed := &jsonnet.Error{Reason: jsonnet.EvaluationFailed, Message: err.Error(), Frames: m.frames(pos)}
	if static := (*jsonnet.Error)(nil); errors.As(err, &static) && len(static.Frames) > 0 {
		failed.Reason, failed.At = static.Reason, &static.Frames[0]
	}
	m.FailWith(failed)
}

func (m *Machine) load(pos *Pos, path string) *jsonnet.Source {
	src, err := m.cfg.Import(pos.File, path)
	if err != nil {
		m.checkDone(pos)
		m.Fail(pos, err.Error())
	}
	return src
}

// Eval returns the file's text.
func (n *ImportText) Eval(m *Machine, _ *Frame) Value {
	src := m.load(n.Pos, n.Path)
	text := m.texts[src.Name]
	if text == nil {
		text = m.Made(m.ValidText(src.Content))
		m.texts[src.Name] = text
	}
	return text
}

// Eval returns the file's bytes as numbers.
func (n *ImportBytes) Eval(m *Machine, _ *Frame) Value {
	return m.Bytes(m.load(n.Pos, n.Path).Content)
}

// Bytes makes an array of the bytes of s.
func (m *Machine) Bytes(s string) *Array {
	elems := m.MakeElems(len(s))
	for i := range elems {
		elems[i] = Int(int(s[i]))
	}
	return m.NewArray(elems)
}
