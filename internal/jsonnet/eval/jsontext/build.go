package jsontext

import (
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// Value reads a document as encoding/json would; it says no to anything but plain JSON.
func Value(m *vm.Machine, text string) (vm.Value, bool) {
	return parse(text, &values{m: m})
}

var (
	_ builder[vm.Value] = (*values)(nil)
	_ builder[vm.Code]  = (*nodes)(nil)
)

// values builds values. Of fields with the same name the last one counts.
type values struct {
	m     *vm.Machine
	steps int
}

const tickEvery = 4096

// objectFieldBytes is what finding repeated names takes for each.
const objectFieldBytes = 64

func (b *values) tick(n int) {
	if b.steps += n; b.steps > tickEvery {
		b.steps = 0
		b.m.Tick()
	}
}

func (b *values) reserve(n int) {
	b.m.Demand(int64(n))
	b.m.Charge(n)
}

func (b *values) room(elems []vm.Value) []vm.Value { return vm.Grow(b.m, elems, 1, 32) }

func (b *values) scalar(v vm.Value) vm.Value {
	switch v := v.(type) {
	case *vm.String:
		b.m.CountView(v)
	case vm.Number:
		b.m.Charge(8)
	}
	return v
}

func (b *values) array(elems []vm.Value) vm.Value { return b.m.NewArray(elems) }

func (b *values) object(names []string, vals []vm.Value) (vm.Value, bool) {
	b.m.Demand(objectFieldBytes * int64(len(names)))
	seen := make(map[string]int, len(names))
	kept, keptValues := names[:0], vals[:0]
	for i, name := range names {
		b.m.Tick()
		if at, ok := seen[name]; ok {
			keptValues[at] = vals[i]
			continue
		}
		seen[name] = len(kept)
		kept, keptValues = append(kept, name), append(keptValues, vals[i])
	}
	return b.m.NewPlainObject(kept, keptValues), true
}

// Program reads a document as a program, if it means in Jsonnet what it means in JSON.
func Program(name, text string) (*vm.Program, bool) {
	b := &nodes{}
	code, ok := parse(text, b)
	if !ok {
		return nil, false
	}
	if code.Height > maxProgramDepth {
		return nil, false
	}
	return &vm.Program{Name: name, Body: code, Bytes: int64(len(text)) + b.bytes}, true
}

// maxProgramDepth keeps deep documents to the Jsonnet parser's limits.
const maxProgramDepth = 1000

// nodes builds code.
type nodes struct{ bytes int64 }

// What the parts of a program occupy, about.
const (
	scalarBytes = 88
	stringBytes = 96
	arrayBytes  = 96
	objectBytes = 300
	fieldBytes  = 88
)

func (b *nodes) tick(int) {}

func (b *nodes) reserve(int) {}

func (b *nodes) room(elems []vm.Code) []vm.Code { return elems }

func (b *nodes) scalar(v vm.Value) vm.Code {
	b.bytes += scalarBytes
	if s, ok := v.(*vm.String); ok {
		b.bytes += stringBytes
		s.Freeze()
	}
	return vm.Code{Node: &vm.Literal{Value: v}, Height: 1, Kind: vm.Constant, Const: v}
}

func (b *nodes) array(elems []vm.Code) vm.Code {
	b.bytes += arrayBytes
	return vm.Code{Node: &vm.ArrayLit{Elems: elems}, Height: height(elems), Kind: vm.Eager}
}

func (b *nodes) object(names []string, values []vm.Code) (vm.Code, bool) {
	b.bytes += objectBytes + fieldBytes*int64(len(names))
	seen := make(map[string]bool, len(names))
	fields := make([]vm.Field, len(names))
	for i, name := range names {
		if seen[name] {
			return vm.Code{}, false
		}
		seen[name] = true
		fields[i] = vm.Field{Hide: vm.Inherit, Body: &values[i]}
	}
	lit := &vm.ObjectLit{}
	lit.Shape = vm.NewShape(names, fields, lit)
	return vm.Code{Node: lit, Height: height(values), Kind: vm.Eager}, true
}

func height(codes []vm.Code) int {
	h := 0
	for i := range codes {
		h = max(h, codes[i].Height)
	}
	return h + 1
}
