package compile

import (
	"errors"
	"strings"

	gojsonnet "github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/ast"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
	"github.com/stagewright/stagewright/internal/jsonnet/scan"
)

// maxDepth is how deeply expressions may nest, chains of binary operators aside.
const maxDepth = 10_000

// What the parts of a program occupy, about.
const (
	programBytes  = 1024
	nodeBytes     = 32
	codeBytes     = 64
	posBytes      = 72
	stringBytes   = 96
	callBytes     = 128
	functionBytes = 128
	objectBytes   = 240
	fieldBytes    = 120
)

// Compile parses and compiles a file. std holds what "std" offers, by name.
func Compile(name, content string, std map[string]vm.Value) (p *vm.Program, err error) {
	if err := checkLimits(name, content); err != nil {
		return nil, err
	}
	node, err := gojsonnet.SnippetToAST(name, content)
	if err != nil {
		return nil, staticError(err)
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case tooDeep:
			p, err = nil, &jsonnet.Error{
				Reason: jsonnet.StackExceeded, Message: "expression is nested too deeply", Static: true,
				Frames: frameOf(r.loc),
			}
		default:
			panic(r)
		}
	}()
	c := &compiler{file: name, std: std, vars: map[ast.Identifier][]ref{}, captures: selves(node)}
	c.vars["std"] = []ref{{std: true}}
	c.vars["$std"] = []ref{{std: true}}
	c.unit = &unit{}
	body := c.code(node)
	return &vm.Program{
		Name: name, Body: *body, Slots: c.unit.slots, Bytes: programBytes + c.bytes,
	}, nil
}

// checkLimits refuses what the parser could not survive.
func checkLimits(name, content string) error {
	var limit *scan.Error
	if !errors.As(scan.Check(content), &limit) {
		return nil
	}
	return &jsonnet.Error{
		Reason: jsonnet.EvaluationFailed, Message: limit.Message, Static: true,
		Frames: []jsonnet.Frame{{File: name, Line: limit.Line, Column: limit.Column}},
	}
}

// tooDeep ends a compilation.
type tooDeep struct{ loc *ast.LocationRange }

// staticError translates what the parser and the checker report.
func staticError(err error) *jsonnet.Error {
	e := &jsonnet.Error{Reason: jsonnet.EvaluationFailed, Message: err.Error(), Static: true}
	var at interface{ Loc() ast.LocationRange }
	if errors.As(err, &at) {
		loc := at.Loc()
		e.Message = strings.TrimPrefix(e.Message, loc.String())
		e.Frames = frameOf(&loc)
	}
	e.Message = strings.TrimPrefix(e.Message, " ")
	return e
}

func frameOf(loc *ast.LocationRange) []jsonnet.Frame {
	if loc == nil || !loc.IsSet() {
		return nil
	}
	f := jsonnet.Frame{
		File: loc.FileName, Line: loc.Begin.Line, Column: loc.Begin.Column,
		EndLine: loc.End.Line, EndColumn: loc.End.Column,
	}
	if loc.File != nil {
		f.File = string(loc.File.DiagnosticFileName)
	}
	return []jsonnet.Frame{f}
}

// unit is code that runs in one frame.
type unit struct {
	depth int // frames above it
	slots int
}

// ref is what a name stands for.
type ref struct {
	unit *unit
	slot int
	std  bool // the standard library
	self bool // "$": the self of the unit's frame
}

type compiler struct {
	file     string
	std      map[string]vm.Value
	vars     map[ast.Identifier][]ref
	captures map[*ast.DesugaredObject]bool
	unit     *unit
	depth    int
	bytes    int64 // estimate of what was compiled occupies
	hasTail  bool
	mustBool *vm.Pos // of the logical operator in whose tail position the code is
}

// declare brings a name into scope; the result of mark goes to forget.
func (c *compiler) declare(name ast.Identifier, r ref) {
	c.vars[name] = append(c.vars[name], r)
}

func (c *compiler) forget(name ast.Identifier) {
	refs := c.vars[name]
	c.vars[name] = refs[:len(refs)-1]
}

func (c *compiler) lookup(name ast.Identifier) ref {
	refs := c.vars[name]
	return refs[len(refs)-1]
}

// isStd reports whether node is the standard library itself.
func (c *compiler) isStd(node ast.Node) bool {
	v, ok := node.(*ast.Var)
	return ok && c.lookup(v.Id).std
}

func (c *compiler) slot() int {
	c.unit.slots++
	return c.unit.slots - 1
}

// within compiles in a unit of its own and returns it.
func (c *compiler) within(f func()) *unit {
	outer, tail, mustBool := c.unit, c.hasTail, c.mustBool
	c.unit = &unit{depth: outer.depth + 1}
	c.mustBool = nil
	f()
	inner := c.unit
	c.unit, c.hasTail, c.mustBool = outer, tail, mustBool
	return inner
}

// code compiles an expression that may be delayed.
func (c *compiler) code(node ast.Node) *vm.Code {
	mustBool := c.mustBool
	c.mustBool = nil
	n, height := c.node(node, vm.NoTail)
	c.mustBool = mustBool
	c.bytes += codeBytes
	return codeOf(n, height)
}

func codeOf(n vm.Node, height int) *vm.Code {
	code := &vm.Code{Node: n, Height: height}
	switch n := n.(type) {
	case *vm.Literal:
		code.Kind, code.Const = vm.Constant, n.Value
	case *vm.Local, *vm.Outer:
		code.Kind = vm.Variable
	case *vm.Closure, *vm.Self, *vm.FileName:
		code.Kind = vm.Eager
	case *vm.ObjectLit:
		if n.Shape != nil {
			code.Kind = vm.Eager
		}
	case *vm.ArrayLit:
		if len(n.Elems) <= eagerElems {
			code.Kind = vm.Eager
		}
	}
	return code
}

// eagerElems is the length up to which an array literal is made at once rather than delayed.
const eagerElems = 8

// scoped compiles an expression that is evaluated more than once in the same frame, so that its variables need a frame
// of their own.
func (c *compiler) scoped(node ast.Node) *vm.Code {
	if !hasLocals(node) {
		return c.code(node)
	}
	var body *vm.Code
	u := c.within(func() { body = c.code(node) })
	return &vm.Code{Node: &vm.Scope{Slots: u.slots, Body: body.Node}, Height: body.Height + 1}
}

// pos is the place of a node, or nil for what desugaring has made.
func (c *compiler) pos(node ast.Node) *vm.Pos {
	loc := node.Loc()
	if loc == nil || !loc.IsSet() {
		return nil
	}
	c.bytes += posBytes
	p := &vm.Pos{
		File: c.file, Line: loc.Begin.Line, Column: loc.Begin.Column,
		EndLine: loc.End.Line, EndColumn: loc.End.Column,
	}
	if ctx := node.Context(); ctx != nil {
		p.Context = *ctx
	}
	return p
}
