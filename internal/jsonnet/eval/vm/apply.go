package vm

import "github.com/stagewright/stagewright/internal/jsonnet"

type (
	// Func is the code of a function.
	Func struct {
		Params  []Param
		Slots   int // parameters first
		Body    Node
		Height  int
		HasTail bool // the body may end in a tail call
	}
	// Param is a parameter of a Func.
	Param struct {
		Name    string
		Default *Code // nil if the argument is required
	}
	// Native is a function of the standard library.
	Native struct {
		Name   string
		Params []NativeParam
		Forced int // the number of leading arguments that Fn gets as values; the others may be thunks
		Fn     NativeFunc
	}
	// NativeParam is a parameter of a Native.
	NativeParam struct {
		Name     string
		Optional bool // Fn gets nil if there is no argument
	}
	// NativeFunc computes the value of a call at pos. It does not keep args.
	NativeFunc func(m *Machine, pos *Pos, args []Value) Value

	// Call is a function call.
	Call struct {
		Target     Node
		Args       []Code // positional
		Named      []NamedArg
		TailStrict bool
		Tail       TailKind
		Bool       *Pos // of the logical operator whose operand a tail call is
		Pos        *Pos
	}
	// NamedArg is an argument passed by name.
	NamedArg struct {
		Name string
		Body Code
	}
	// CallNative is a call of a native function that the compiler has resolved.
	CallNative struct {
		Native *Native
		Args   []*Code // by parameter; nil if there is no argument
		Tail   TailKind
		Pos    *Pos
	}
)

// TailKind says whether a call may replace the call it stands in.
type TailKind uint8

// The kinds of calls.
const (
	NoTail    TailKind = iota
	Tail               // its value is the value of the enclosing function
	TrimFrame          // go-jsonnet drops the enclosing frame although it still has work to do
)

// tailCall is what the body of a function returns to have a pending call run in its place.
var tailCall Value = &Thunk{}

// trimmed removes the current call if it may be replaced.
func (m *Machine) trimmed(kind TailKind) bool {
	if kind == NoTail {
		return false
	}
	if n := len(m.stack); n > 0 && m.stack[n-1].trim {
		m.stack = m.stack[:n-1]
		return true
	}
	return false
}

// Eval calls the function.
func (n *Call) Eval(m *Machine, f *Frame) Value {
	target := n.Target.Eval(m, f)
	fn, ok := target.(*Function)
	if !ok {
		m.typeError(target, "function", n.Pos)
	}
	if fn.Native != nil {
		return n.native(m, f, fn.Native)
	}
	code := fn.Code
	frame := m.NewFrame(fn.Env, code.Slots)
	replaced := m.trimmed(n.Tail)
	switch {
	case len(n.Named) != 0 || len(n.Args) != len(code.Params):
		n.bind(m, f, frame, code)
		if n.TailStrict {
			for i := range code.Params {
				frame.Slots[i] = m.Force(frame.Slots[i], n.Pos)
			}
		}
	case n.TailStrict:
		for i := range n.Args {
			frame.Slots[i] = m.now(&n.Args[i], f, n.Pos)
		}
	default:
		for i := range n.Args {
			frame.Slots[i] = m.Delay(&n.Args[i], f)
		}
	}
	if replaced && n.Tail == Tail {
		m.pending = pendingCall{code: code, frame: frame, pos: n.Pos, trim: n.TailStrict, bool: n.Bool}
		return tailCall
	}
	return m.call(code, frame, n.Pos, n.TailStrict)
}

// bind checks the arguments against the parameters and puts them into the callee's frame.
func (n *Call) bind(m *Machine, f, frame *Frame, code *Func) {
	if len(n.Args) > len(code.Params) {
		m.Failf(n.Pos, "function expected %v positional argument(s), but got %v", len(code.Params), len(n.Args))
	}
	for i := range n.Args {
		frame.Slots[i] = m.Delay(&n.Args[i], f)
	}
	for i := range n.Named {
		at := code.param(n.Named[i].Name)
		m.checkNamed(at, frame.Slots, n.Named[i].Name, n.Pos)
		frame.Slots[at] = m.Delay(&n.Named[i].Body, f)
	}
	m.defaults(code, frame, n.Pos)
}

func (c *Func) param(name string) int {
	for i := range c.Params {
		if c.Params[i].Name == name {
			return i
		}
	}
	return -1
}

func (m *Machine) checkNamed(at int, have []Value, name string, pos *Pos) {
	switch {
	case at < 0:
		m.Fail(pos, "function has no parameter "+name)
	case have[at] != nil:
		m.Failf(pos, "Argument %v already provided", name)
	}
}

// defaults fills the parameters without arguments.
func (m *Machine) defaults(code *Func, frame *Frame, pos *Pos) {
	for i := range code.Params {
		if frame.Slots[i] == nil && code.Params[i].Default == nil {
			m.Fail(pos, "Missing argument: "+code.Params[i].Name)
		}
	}
	for i := range code.Params {
		if frame.Slots[i] == nil {
			frame.Slots[i] = m.newThunk(nil, frame, code.Params[i].Default)
		}
	}
}

// call runs a function's body, and the tail calls it ends in, in constant stack.
func (m *Machine) call(code *Func, frame *Frame, pos *Pos, trim bool) Value {
	before := m.enter(pos, trim, code.Height)
	size := len(m.stack)
	v := code.Body.Eval(m, frame)
	var mustBool *Pos
	for code.HasTail && v == tailCall {
		next := m.pending
		if next.bool != nil {
			mustBool = next.bool
		}
		m.pending = pendingCall{}
		m.height = before
		code = next.code
		m.enter(next.pos, next.trim, code.Height)
		v = code.Body.Eval(m, next.frame)
	}
	if mustBool != nil {
		m.Bool(v, mustBool)
	}
	m.leave(size, before)
	return v
}

// native calls a native function with the arguments of n.
func (n *Call) native(m *Machine, f *Frame, fn *Native) Value {
	m.trimmed(n.Tail)
	if len(n.Args) > len(fn.Params) {
		m.Failf(n.Pos, "function expected %v positional argument(s), but got %v", len(fn.Params), len(n.Args))
	}
	base := len(m.args)
	args := m.pushArgs(len(fn.Params))
	for i := range n.Args {
		args[i] = m.Delay(&n.Args[i], f)
	}
	for i := range n.Named {
		at := -1
		for p := range fn.Params {
			if fn.Params[p].Name == n.Named[i].Name {
				at = p
			}
		}
		m.checkNamed(at, args, n.Named[i].Name, n.Pos)
		args[at] = m.Delay(&n.Named[i].Body, f)
	}
	for i := range args {
		if args[i] == nil && !fn.Params[i].Optional {
			m.Fail(n.Pos, "Missing argument: "+fn.Params[i].Name)
		}
	}
	return m.runNative(fn, base, args, n.Pos)
}

// pushArgs takes n empty argument slots from the machine's stack of arguments.
func (m *Machine) pushArgs(n int) []Value {
	base := len(m.args)
	for range n {
		m.args = append(m.args, nil)
	}
	return m.args[base : base+n : base+n]
}

func (m *Machine) runNative(fn *Native, base int, args []Value, pos *Pos) Value {
	m.poll(pos)
	for i := range fn.Forced {
		if args[i] != nil {
			args[i] = m.Force(args[i], pos)
		}
	}
	v := fn.Fn(m, pos, args)
	clear(args)
	clear(m.args[base:])
	m.args = m.args[:base]
	return v
}

// Eval calls the function.
func (n *CallNative) Eval(m *Machine, f *Frame) Value {
	m.trimmed(n.Tail)
	base := len(m.args)
	args := m.pushArgs(len(n.Args))
	for i, code := range n.Args {
		switch {
		case code == nil:
		case i < n.Native.Forced:
			args[i] = m.now(code, f, n.Pos)
		default:
			args[i] = m.Delay(code, f)
		}
	}
	return m.runNative(n.Native, base, args, n.Pos)
}

// now evaluates an argument as forcing its thunk would, without making one.
func (m *Machine) now(code *Code, f *Frame, pos *Pos) Value {
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
	before := m.enter(pos, false, code.Height)
	size := len(m.stack)
	v := code.Node.Eval(m, f)
	m.leave(size, before)
	return v
}

// Call calls a function with positional arguments, which may be thunks, on behalf of a native function.
func (m *Machine) Call(fn *Function, pos *Pos, args ...Value) Value {
	if fn.Native != nil {
		if len(args) > len(fn.Native.Params) {
			m.Failf(pos, "function expected %v positional argument(s), but got %v", len(fn.Native.Params), len(args))
		}
		base := len(m.args)
		slots := m.pushArgs(len(fn.Native.Params))
		copy(slots, args)
		for i := range slots {
			if slots[i] == nil && !fn.Native.Params[i].Optional {
				m.Fail(pos, "Missing argument: "+fn.Native.Params[i].Name)
			}
		}
		m.Descend(pos)
		v := m.runNative(fn.Native, base, slots, pos)
		m.Ascend()
		return v
	}
	code := fn.Code
	if len(args) > len(code.Params) {
		m.Failf(pos, "function expected %v positional argument(s), but got %v", len(code.Params), len(args))
	}
	frame := m.NewFrame(fn.Env, code.Slots)
	copy(frame.Slots, args)
	if len(args) < len(code.Params) {
		m.defaults(code, frame, pos)
	}
	m.height += nativeHeight
	v := m.call(code, frame, pos, false)
	m.height -= nativeHeight
	return v
}

// CallNamed calls a function with named arguments only, from outside any program. Arguments that do not fit are the
// caller's mistake, not the program's.
func (m *Machine) CallNamed(fn *Function, names []string, values map[string]Value) Value {
	mismatch := func(message string) { m.FailAs(jsonnet.InvalidArguments, nil, message) }
	if fn.Native != nil {
		base := len(m.args)
		args := m.pushArgs(len(fn.Native.Params))
		given := map[string]bool{}
		for i, p := range fn.Native.Params {
			args[i] = values[p.Name]
			given[p.Name] = true
		}
		for _, name := range names {
			if !given[name] {
				mismatch("function has no parameter " + name)
			}
		}
		for i, p := range fn.Native.Params {
			if args[i] == nil && !p.Optional {
				mismatch("Missing argument: " + p.Name)
			}
		}
		return m.runNative(fn.Native, base, args, nil)
	}
	code := fn.Code
	frame := m.NewFrame(fn.Env, code.Slots)
	for _, name := range names {
		at := code.param(name)
		if at < 0 {
			mismatch("function has no parameter " + name)
		}
		frame.Slots[at] = values[name]
	}
	for i := range code.Params {
		if frame.Slots[i] == nil && code.Params[i].Default == nil {
			mismatch("Missing argument: " + code.Params[i].Name)
		}
	}
	m.defaults(code, frame, nil)
	return m.call(code, frame, nil, false)
}
