package compile

import (
	"github.com/google/go-jsonnet/ast"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

func (c *compiler) function(n *ast.Function) vm.Node {
	c.bytes += functionBytes
	fn := &vm.Func{Params: make([]vm.Param, len(n.Parameters))}
	u := c.within(func() {
		for i := range n.Parameters {
			fn.Params[i].Name = string(n.Parameters[i].Name)
			c.declare(n.Parameters[i].Name, ref{unit: c.unit, slot: c.slot()})
		}
		for i := range n.Parameters {
			if n.Parameters[i].DefaultArg != nil {
				fn.Params[i].Default = c.code(n.Parameters[i].DefaultArg)
			}
		}
		c.hasTail = false
		fn.Body, fn.Height = c.node(n.Body, vm.Tail)
		fn.Height += 2
		fn.HasTail = c.hasTail
		for i := range n.Parameters {
			c.forget(n.Parameters[i].Name)
		}
	})
	fn.Slots = u.slots
	return &vm.Closure{Func: fn}
}

func (c *compiler) apply(n *ast.Apply, tail vm.TailKind) (vm.Node, int) {
	c.bytes += callBytes
	if node, h := c.comprehension(n, tail); node != nil {
		return node, h
	}
	if native := c.native(n.Target); native != nil {
		if call, h := c.callNative(n, native, tail); call != nil {
			return call, h
		}
	}
	target, height := c.inner(n.Target)
	call := &vm.Call{
		Target: target, Args: make([]vm.Code, len(n.Arguments.Positional)), TailStrict: n.TailStrict,
		Tail: tail, Bool: c.mustBool, Pos: c.pos(n),
	}
	if tail == vm.Tail {
		c.hasTail = true
	}
	for i := range n.Arguments.Positional {
		call.Args[i] = *c.code(n.Arguments.Positional[i].Expr)
		height = max(height, call.Args[i].Height)
	}
	for i := range n.Arguments.Named {
		arg := &n.Arguments.Named[i]
		call.Named = append(call.Named, vm.NamedArg{Name: string(arg.Name), Body: *c.code(arg.Arg)})
		height = max(height, call.Named[i].Body.Height)
	}
	return call, height + 1
}

// native returns the function that "std.name" is, or nil.
func (c *compiler) native(target ast.Node) *vm.Native {
	index, ok := target.(*ast.Index)
	if !ok || !c.isStd(index.Target) {
		return nil
	}
	name, ok := index.Index.(*ast.LiteralString)
	if !ok {
		return nil
	}
	if fn, ok := c.std[name.Value].(*vm.Function); ok {
		return fn.Native
	}
	return nil
}

// callNative compiles a call whose arguments fit; a call that must fail is left to run time.
func (c *compiler) callNative(n *ast.Apply, native *vm.Native, tail vm.TailKind) (vm.Node, int) {
	if len(n.Arguments.Positional) > len(native.Params) {
		return nil, 0
	}
	args := make([]ast.Node, len(native.Params))
	for i := range n.Arguments.Positional {
		args[i] = n.Arguments.Positional[i].Expr
	}
	for i := range n.Arguments.Named {
		at := -1
		for p := range native.Params {
			if native.Params[p].Name == string(n.Arguments.Named[i].Name) {
				at = p
			}
		}
		if at < 0 || args[at] != nil {
			return nil, 0
		}
		args[at] = n.Arguments.Named[i].Arg
	}
	for i := range args {
		if args[i] == nil && !native.Params[i].Optional {
			return nil, 0
		}
	}
	call := &vm.CallNative{Native: native, Args: make([]*vm.Code, len(args)), Tail: tail, Pos: c.pos(n)}
	height := 0
	for i := range args {
		if args[i] != nil {
			call.Args[i] = c.code(args[i])
			height = max(height, call.Args[i].Height)
		}
	}
	return call, height + 4
}

// comprehension recognises what array and object comprehensions desugar to.
func (c *compiler) comprehension(n *ast.Apply, tail vm.TailKind) (vm.Node, int) {
	switch internalCall(n) {
	case "$flatMapArray":
		loop := c.loop(n, func(elem ast.Node, f *vm.For) { f.Elem = c.code(elem) })
		loop.Tail = tail
		return loop, 4
	case "$objectFlatMerge":
		comp := &vm.ObjectFor{Tail: tail, Pos: c.pos(n)}
		inner := n.Arguments.Positional[0].Expr.(*ast.Apply)
		comp.For = c.loop(inner, func(elem ast.Node, _ *vm.For) {
			comp.Lit = c.objectLit(elem.(*ast.DesugaredObject), true)
		})
		return comp, 6
	}
	return nil, 0
}

// internalCall names the internal function that n calls.
func internalCall(n *ast.Apply) string {
	index, ok := n.Target.(*ast.Index)
	if !ok {
		return ""
	}
	v, ok := index.Target.(*ast.Var)
	if !ok || v.Id != "$std" {
		return ""
	}
	return index.Index.(*ast.LiteralString).Value
}

// loop compiles one "for" and those inside it; body compiles what the innermost one yields.
func (c *compiler) loop(n *ast.Apply, body func(elem ast.Node, f *vm.For)) *vm.For {
	fn := n.Arguments.Positional[0].Expr.(*ast.Function)
	f := &vm.For{In: *c.code(n.Arguments.Positional[1].Expr), Pos: c.pos(n)}
	if call, ok := f.In.Node.(*vm.CallNative); ok && call.Native.Name == "range" {
		f.Range = call
	}
	u := c.within(func() {
		name := fn.Parameters[0].Name
		c.declare(name, ref{unit: c.unit, slot: c.slot()})
		defer c.forget(name)
		inner := fn.Body
		if cond, ok := inner.(*ast.Conditional); ok && cond.Cond != nil {
			f.Cond, f.Height = c.inner(cond.Cond)
			inner = cond.BranchTrue
		}
		if next, ok := inner.(*ast.Apply); ok {
			f.Next = c.loop(next, body)
			return
		}
		body(inner.(*ast.Array).Elements[0].Expr, f)
	})
	f.Slots = u.slots
	f.Height += 6
	return f
}

func (c *compiler) object(n *ast.DesugaredObject) vm.Node { return c.objectLit(n, false) }

// objectLit compiles an object. A member of a comprehension has a frame of its own for each field, and its locals are
// in the body already.
func (c *compiler) objectLit(n *ast.DesugaredObject, member bool) *vm.ObjectLit {
	c.bytes += objectBytes + fieldBytes*int64(len(n.Fields))
	lit := &vm.ObjectLit{Pos: c.pos(n), NeedsFrame: member || c.captures[n]}
	for i := range n.Fields {
		name, _ := c.inner(n.Fields[i].Name)
		lit.Fields = append(lit.Fields, vm.FieldLit{Name: name})
	}
	inside := func() { c.members(n, lit) }
	if lit.NeedsFrame {
		u := c.within(inside)
		lit.Slots = u.slots
	} else {
		inside()
	}
	if !member {
		lit.Shape = shapeOf(lit)
	}
	return lit
}

// members compiles what is inside an object, in the scope of its locals.
func (c *compiler) members(n *ast.DesugaredObject, lit *vm.ObjectLit) {
	for i := range n.Locals {
		b := &n.Locals[i]
		r := ref{unit: c.unit, self: isDollar(b)}
		if !r.self {
			r.slot = c.slot()
		}
		c.declare(b.Variable, r)
	}
	for i := range n.Locals {
		if b := &n.Locals[i]; !isDollar(b) {
			lit.Locals = append(lit.Locals, vm.Bind{Slot: c.lookup(b.Variable).slot, Body: c.scoped(b.Body)})
		}
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		body := c.scoped(f.Body)
		lit.Fields[i].Field = vm.Field{Hide: vm.Hide(f.Hide), Plus: f.PlusSuper, Body: body}
		if f.PlusSuper {
			lit.Fields[i].Field.Pos = c.plusPos(f.Body)
		}
	}
	for i := range n.Asserts {
		lit.Asserts = append(lit.Asserts, *c.scoped(n.Asserts[i]))
	}
	for i := range n.Locals {
		c.forget(n.Locals[i].Variable)
	}
}

// plusPos is the place of a "+:" field's body as traces show it.
func (c *compiler) plusPos(body ast.Node) *vm.Pos {
	p := c.pos(body)
	if p != nil {
		p.Context = "+:"
	}
	return p
}

// shapeOf makes the shape of an object whose names are constant and different.
func shapeOf(lit *vm.ObjectLit) *vm.Shape {
	names := make([]string, len(lit.Fields))
	fields := make([]vm.Field, len(lit.Fields))
	seen := map[string]bool{}
	for i := range lit.Fields {
		l, ok := lit.Fields[i].Name.(*vm.Literal)
		if !ok {
			return nil
		}
		s, ok := l.Value.(*vm.String)
		if !ok || seen[s.Frozen()] {
			return nil
		}
		seen[s.Frozen()] = true
		names[i], fields[i] = s.Frozen(), lit.Fields[i].Field
	}
	return vm.NewShape(names, fields, lit)
}
