package vm

import (
	"slices"
	"strings"
)

// nameTable is the fields of an object with several layers.
type nameTable struct {
	shown []string
	all   map[string]Hide
}

// Names returns the visible names in order. The slice is not to be changed.
func (m *Machine) Names(o *Object) []string {
	if o.size == 1 {
		return o.own.shape.shown
	}
	return m.table(o).shown
}

// AllNames returns the names in order, hidden ones included. The slice is not to be changed.
func (m *Machine) AllNames(o *Object) []string {
	all := m.visibility(o)
	m.Demand(int64(16 * len(all)))
	names := make([]string, 0, len(all))
	m.charge(int64(16 * len(all)))
	for name := range all {
		names = append(names, name)
	}
	m.SortNames(names)
	return names
}

// SortNames sorts names in steps that can be stopped.
func (m *Machine) SortNames(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		m.Tick()
		return strings.Compare(a, b)
	})
}

// Visibility reports whether the object has a field and whether it is hidden.
func (m *Machine) Visibility(o *Object, name string) (hide Hide, ok bool) {
	if o.size == 1 {
		n := o.own.shape.Find(name)
		if n < 0 {
			return Hidden, false
		}
		return o.own.shape.Fields[n].Hide, true
	}
	hide, ok = m.table(o).all[name]
	return hide, ok
}

func (m *Machine) visibility(o *Object) map[string]Hide { return m.table(o).all }

func (m *Machine) table(o *Object) *nameTable {
	if o.names != nil {
		return o.names
	}
	layers := m.flat(o)
	var units []*layer
	for i := 0; i < len(layers); i++ {
		units = append(units, layers[i])
		if layers[i].shape == nil {
			i += layers[i].extra.span
		}
	}
	all := map[string]Hide{}
	for i := len(units) - 1; i >= 0; i-- {
		m.Tick()
		u := units[i]
		if u.shape == nil {
			for name, h := range u.extra.retained {
				m.Tick()
				mergeHide(all, name, h)
			}
			continue
		}
		for n, name := range u.shape.Names {
			m.Tick()
			mergeHide(all, name, u.shape.Fields[n].Hide)
		}
	}
	shown := make([]string, 0, len(all))
	for name, h := range all {
		if h != Hidden {
			shown = append(shown, name)
		}
	}
	m.SortNames(shown)
	o.names = &nameTable{shown: shown, all: all}
	chargeFor(m, int64(64+64*len(all)), o.names)
	return o.names
}

func mergeHide(all map[string]Hide, name string, h Hide) {
	if h == Inherit {
		if _, ok := all[name]; ok {
			return
		}
	}
	all[name] = h
}
