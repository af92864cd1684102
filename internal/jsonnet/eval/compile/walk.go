package compile

import "github.com/google/go-jsonnet/ast"

// children lists the expressions directly below a node.
func children(node ast.Node, visit func(ast.Node)) {
	switch n := node.(type) {
	case *ast.Apply:
		visit(n.Target)
		for i := range n.Arguments.Positional {
			visit(n.Arguments.Positional[i].Expr)
		}
		for i := range n.Arguments.Named {
			visit(n.Arguments.Named[i].Arg)
		}
	case *ast.Array:
		for i := range n.Elements {
			visit(n.Elements[i].Expr)
		}
	case *ast.Binary:
		// A long chain leans to the left; it is walked without recursion.
		var left ast.Node = n
		for {
			b, ok := left.(*ast.Binary)
			if !ok {
				break
			}
			visit(b.Right)
			left = b.Left
		}
		visit(left)
	case *ast.Conditional:
		visit(n.Cond)
		visit(n.BranchTrue)
		visit(n.BranchFalse)
	case *ast.Error:
		visit(n.Expr)
	case *ast.Function:
		for i := range n.Parameters {
			if n.Parameters[i].DefaultArg != nil {
				visit(n.Parameters[i].DefaultArg)
			}
		}
		visit(n.Body)
	case *ast.Index:
		visit(n.Target)
		visit(n.Index)
	case *ast.InSuper:
		visit(n.Index)
	case *ast.SuperIndex:
		visit(n.Index)
	case *ast.Local:
		for i := range n.Binds {
			visit(n.Binds[i].Body)
		}
		visit(n.Body)
	case *ast.Unary:
		visit(n.Expr)
	case *ast.DesugaredObject:
		for i := range n.Fields {
			visit(n.Fields[i].Name)
			visit(n.Fields[i].Body)
		}
		for i := range n.Locals {
			visit(n.Locals[i].Body)
		}
		for i := range n.Asserts {
			visit(n.Asserts[i])
		}
	}
}

// hasLocals reports whether evaluating node in a frame needs slots of that frame.
func hasLocals(node ast.Node) bool {
	found := false
	depth := 0
	var visit func(ast.Node)
	visit = func(n ast.Node) {
		if found {
			return
		}
		if depth++; depth > maxDepth {
			panic(tooDeep{n.Loc()})
		}
		switch n := n.(type) {
		case *ast.Local:
			found = true
		case *ast.Function:
			// It has a frame of its own.
		case *ast.DesugaredObject:
			for i := range n.Fields {
				visit(n.Fields[i].Name)
			}
		default:
			children(n, visit)
		}
		depth--
	}
	visit(node)
	return found
}

// selves finds the objects whose fields refer to self, super or $, or that have locals: these bind a frame.
func selves(root ast.Node) map[*ast.DesugaredObject]bool {
	w := selfWalk{found: map[*ast.DesugaredObject]bool{}}
	w.visit(root)
	return w.found
}

type selfWalk struct {
	found   map[*ast.DesugaredObject]bool
	objects []*ast.DesugaredObject // the enclosing ones
	roots   []*ast.DesugaredObject // those that "$" means
	depth   int
}

func (w *selfWalk) mark(stack []*ast.DesugaredObject) {
	if len(stack) > 0 {
		w.found[stack[len(stack)-1]] = true
	}
}

func (w *selfWalk) visit(node ast.Node) {
	if w.depth++; w.depth > maxDepth {
		panic(tooDeep{node.Loc()})
	}
	defer func() { w.depth-- }()
	switch n := node.(type) {
	case *ast.Self:
		w.mark(w.objects)
	case *ast.SuperIndex:
		w.mark(w.objects)
		w.visit(n.Index)
	case *ast.InSuper:
		w.mark(w.objects)
		w.visit(n.Index)
	case *ast.Var:
		if n.Id == "$" {
			w.mark(w.roots)
		}
	case *ast.DesugaredObject:
		w.object(n)
	default:
		children(node, w.visit)
	}
}

func (w *selfWalk) object(n *ast.DesugaredObject) {
	for i := range n.Fields {
		w.visit(n.Fields[i].Name)
	}
	w.objects = append(w.objects, n)
	isRoot := false
	for i := range n.Locals {
		if isDollar(&n.Locals[i]) {
			isRoot = true
			continue
		}
		w.found[n] = true
	}
	if isRoot {
		w.roots = append(w.roots, n)
	}
	for i := range n.Fields {
		w.visit(n.Fields[i].Body)
	}
	for i := range n.Locals {
		if !isDollar(&n.Locals[i]) {
			w.visit(n.Locals[i].Body)
		}
	}
	for i := range n.Asserts {
		w.visit(n.Asserts[i])
	}
	w.objects = w.objects[:len(w.objects)-1]
	if isRoot {
		w.roots = w.roots[:len(w.roots)-1]
	}
}

// isDollar recognises the variable that desugaring binds to the outermost object.
func isDollar(b *ast.LocalBind) bool {
	_, self := b.Body.(*ast.Self)
	return b.Variable == "$" && self
}
