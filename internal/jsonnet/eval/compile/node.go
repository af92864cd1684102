package compile

import (
	"strconv"

	"github.com/google/go-jsonnet/ast"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// node compiles an expression and returns it with its height.
func (c *compiler) node(node ast.Node, tail vm.TailKind) (vm.Node, int) {
	if c.depth++; c.depth > maxDepth {
		panic(tooDeep{node.Loc()})
	}
	defer func() { c.depth-- }()
	c.bytes += nodeBytes
	switch n := node.(type) {
	case *ast.LiteralNull:
		return &vm.Literal{Value: vm.Null{}}, 1
	case *ast.LiteralBoolean:
		return &vm.Literal{Value: vm.Bool(n.Value)}, 1
	case *ast.LiteralNumber:
		return c.number(n)
	case *ast.LiteralString:
		c.bytes += stringBytes + int64(len(n.Value))
		return &vm.Literal{Value: vm.Text(n.Value).Freeze()}, 1
	case *ast.Var:
		return c.variable(n), 1
	case *ast.Self:
		return &vm.Self{}, 1
	case *ast.Array:
		return c.array(n)
	case *ast.Binary:
		return c.binary(n, tail)
	case *ast.Unary:
		x, h := c.operand(n.Expr, tail)
		return &vm.Unary{Op: n.Op, X: x, Pos: c.pos(n)}, h + 1
	case *ast.Conditional:
		return c.conditional(n, tail)
	case *ast.Error:
		x, h := c.inner(n.Expr)
		return &vm.Fail{Message: x, Pos: c.pos(n)}, h + 1
	case *ast.Local:
		return c.local(n, tail)
	case *ast.Function:
		return c.function(n), 1
	case *ast.Apply:
		return c.apply(n, tail)
	case *ast.Index:
		return c.index(n)
	case *ast.SuperIndex:
		x, h := c.inner(n.Index)
		return &vm.Super{Index: x, Pos: c.pos(n)}, h + 1
	case *ast.InSuper:
		x, h := c.inner(n.Index)
		return &vm.InSuper{Index: x, Pos: c.pos(n)}, h + 1
	case *ast.DesugaredObject:
		return c.object(n), 2
	case *ast.Import:
		return &vm.Import{Path: n.File.Value, Pos: c.pos(n)}, 2
	case *ast.ImportStr:
		return &vm.ImportText{Path: n.File.Value, Pos: c.pos(n)}, 2
	case *ast.ImportBin:
		return &vm.ImportBytes{Path: n.File.Value, Pos: c.pos(n)}, 2
	default:
		panic("unknown kind of expression")
	}
}

// inner compiles an expression that is evaluated on the way, not in tail position.
func (c *compiler) inner(node ast.Node) (vm.Node, int) {
	mustBool := c.mustBool
	c.mustBool = nil
	n, h := c.node(node, vm.NoTail)
	c.mustBool = mustBool
	return n, h
}

// operand compiles the last operand of an operator. A call there is no tail call, but go-jsonnet takes it for one.
func (c *compiler) operand(node ast.Node, tail vm.TailKind) (vm.Node, int) {
	if tail != vm.NoTail {
		tail = vm.TrimFrame
	}
	mustBool := c.mustBool
	c.mustBool = nil
	n, h := c.node(node, tail)
	c.mustBool = mustBool
	return n, h
}

func (c *compiler) number(n *ast.LiteralNumber) (vm.Node, int) {
	f, err := strconv.ParseFloat(n.OriginalString, 64)
	if err != nil {
		return &vm.Fail{Message: &vm.Literal{Value: vm.Str("overflow").Freeze()}, Pos: c.pos(n)}, 2
	}
	return &vm.Literal{Value: vm.Num(f)}, 1
}

func (c *compiler) variable(n *ast.Var) vm.Node {
	r := c.lookup(n.Id)
	if r.std {
		return &vm.Std{File: c.file}
	}
	hops := c.unit.depth - r.unit.depth
	if r.self {
		return &vm.Self{Hops: hops}
	}
	if hops == 0 {
		return &vm.Local{Slot: r.slot, Pos: c.pos(n)}
	}
	return &vm.Outer{Hops: hops, Slot: r.slot, Pos: c.pos(n)}
}

func (c *compiler) array(n *ast.Array) (vm.Node, int) {
	lit := &vm.ArrayLit{Elems: make([]vm.Code, len(n.Elements))}
	height := 0
	for i := range n.Elements {
		code := c.code(n.Elements[i].Expr)
		if code.Kind == vm.Eager {
			height = max(height, code.Height)
		}
		lit.Elems[i] = *code
	}
	return lit, height + 1
}

func (c *compiler) binary(n *ast.Binary, tail vm.TailKind) (vm.Node, int) {
	if n.Op == ast.BopAnd || n.Op == ast.BopOr {
		return c.logical(n, tail)
	}
	var spine []*ast.Binary
	var first ast.Node = n
	for {
		b, ok := first.(*ast.Binary)
		if !ok || b.Op == ast.BopAnd || b.Op == ast.BopOr {
			break
		}
		spine = append(spine, b)
		first = b.Left
	}
	chain := &vm.Chain{Steps: make([]vm.Step, len(spine))}
	var height int
	chain.First, height = c.inner(first)
	for i := len(spine) - 1; i >= 0; i-- {
		b := spine[i]
		kind := vm.NoTail
		if i == 0 {
			kind = tail
		}
		right, h := c.operand(b.Right, kind)
		height = max(height, h)
		chain.Steps[len(spine)-1-i] = vm.Step{Op: b.Op, Right: right, Pos: c.pos(b)}
	}
	return chain, height + 2
}

// logical compiles && and ||. Their right operand is in tail position, but its value must be a boolean.
func (c *compiler) logical(n *ast.Binary, tail vm.TailKind) (vm.Node, int) {
	var spine []*ast.Binary
	var first ast.Node = n
	for {
		b, ok := first.(*ast.Binary)
		if !ok || b.Op != n.Op {
			break
		}
		spine = append(spine, b)
		first = b.Left
	}
	left, height := c.inner(first)
	for i := len(spine) - 1; i >= 0; i-- {
		b := spine[i]
		p := c.pos(b)
		var right vm.Node
		var h int
		if i > 0 || tail == vm.NoTail {
			right, h = c.inner(b.Right)
		} else {
			mustBool := c.mustBool
			c.mustBool = p
			if p == nil {
				c.mustBool = &vm.Pos{}
			}
			right, h = c.node(b.Right, tail)
			c.mustBool = mustBool
		}
		height = max(height, h) + 1
		if n.Op == ast.BopAnd {
			left = &vm.And{Left: left, Right: right, Pos: p}
		} else {
			left = &vm.Or{Left: left, Right: right, Pos: p}
		}
	}
	return left, height
}

func (c *compiler) conditional(n *ast.Conditional, tail vm.TailKind) (vm.Node, int) {
	cond, h1 := c.inner(n.Cond)
	then, h2 := c.node(n.BranchTrue, tail)
	otherwise, h3 := c.node(n.BranchFalse, tail)
	return &vm.If{Cond: cond, Then: then, Else: otherwise, Pos: c.pos(n)}, max(h1, h2, h3) + 1
}

func (c *compiler) local(n *ast.Local, tail vm.TailKind) (vm.Node, int) {
	let := &vm.Let{Binds: make([]vm.Bind, len(n.Binds))}
	for i := range n.Binds {
		let.Binds[i].Slot = c.slot()
		c.declare(n.Binds[i].Variable, ref{unit: c.unit, slot: let.Binds[i].Slot})
	}
	height := 0
	for i := range n.Binds {
		let.Binds[i].Body = c.code(n.Binds[i].Body)
		if let.Binds[i].Body.Kind == vm.Eager {
			height = max(height, let.Binds[i].Body.Height)
		}
	}
	body, h := c.node(n.Body, tail)
	let.Body = body
	for i := range n.Binds {
		c.forget(n.Binds[i].Variable)
	}
	return let, max(height, h) + 1
}

func (c *compiler) index(n *ast.Index) (vm.Node, int) {
	if name, ok := n.Index.(*ast.LiteralString); ok {
		if c.isStd(n.Target) {
			if name.Value == "thisFile" {
				return &vm.FileName{Name: vm.Text(c.file).Freeze()}, 1
			}
			if v := c.std[name.Value]; v != nil {
				return &vm.Literal{Value: v}, 1
			}
		}
		target, h := c.inner(n.Target)
		return &vm.IndexField{Target: target, Name: vm.ValidText(name.Value), Pos: c.pos(n)}, h + 1
	}
	target, h1 := c.inner(n.Target)
	i, h2 := c.inner(n.Index)
	return &vm.Index{Target: target, Index: i, Pos: c.pos(n)}, max(h1, h2) + 1
}
