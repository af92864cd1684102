package vm

import "slices"

// Hide is the visibility of a field.
type Hide uint8

// The visibilities of a field: "::", ":" and ":::".
const (
	Hidden Hide = iota
	Inherit
	Visible
)

// Field is a field of a Shape.
type Field struct {
	Hide Hide
	Plus bool // "+:", the value is added to that of super
	Body *Code
	Pos  *Pos // of the body, for a Plus field
}

// Shape is the names and fields of a layer. The shape of a literal with constant names is part of the program.
type Shape struct {
	Names  []string
	Fields []Field
	index  map[string]int32
	order  []int32 // all fields by name
	lit    *ObjectLit
	shown  []string // the visible names in order
	hidden bool     // some fields are hidden
}

// indexFrom is the number of fields from which a map finds a name faster than looking at each.
const indexFrom = 9

// NewShape makes a shape. The slices are not copied.
func NewShape(names []string, fields []Field, lit *ObjectLit) *Shape {
	return makeShape(names, fields, lit, func() {})
}

// newShape makes a shape in steps that can be stopped.
func (m *Machine) newShape(names []string, fields []Field, lit *ObjectLit) *Shape {
	m.Demand(shapeFieldBytes * int64(len(names)))
	return makeShape(names, fields, lit, m.Tick)
}

// shapeFieldBytes is what a shape takes for each field, besides the text of its name.
const shapeFieldBytes = 160

// shapeBytes is what a shape with these names will take. Long names are counted as the strings that they come from.
func (m *Machine) shapeBytes(names []string) int64 {
	n := int64(120 + shapeFieldBytes*len(names))
	for _, name := range names {
		n += int64(min(len(name), sampleTextsOf))
	}
	return n
}

func makeShape(names []string, fields []Field, lit *ObjectLit, tick func()) *Shape {
	s := &Shape{Names: names, Fields: fields, lit: lit}
	if len(names) >= indexFrom {
		s.index = make(map[string]int32, len(names))
		for i, name := range names {
			tick()
			s.index[name] = int32(i)
		}
	}
	s.order = make([]int32, len(names))
	for i := range names {
		s.order[i] = int32(i)
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		tick()
		switch {
		case names[a] < names[b]:
			return -1
		case names[a] > names[b]:
			return 1
		}
		return 0
	})
	s.shown = make([]string, 0, len(names))
	for _, i := range s.order {
		if fields[i].Hide == Hidden {
			s.hidden = true
			continue
		}
		s.shown = append(s.shown, names[i])
	}
	return s
}

// Find returns the number of a field, or -1.
func (s *Shape) Find(name string) int {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return int(i)
		}
		return -1
	}
	for i := range s.Names {
		if s.Names[i] == name {
			return i
		}
	}
	return -1
}
