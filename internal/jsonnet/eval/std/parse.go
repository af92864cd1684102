package std

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/jsontext"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var parseFunctions = []entry{
	{"parseInt", "str", all, parseInt},
	{"parseHex", "str", all, parseNatural(16, "Not hexadecimal: \"\"")},
	{"parseOctal", "str", all, parseNatural(8, "Not an octal number: \"\"")},
	{"parseJson", "str", all, parseJSON},
	{"parseYaml", "str", all, parseYAML},
}

func parseInt(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	s := m.Text(m.String(a[0], pos))
	var n int64
	err := m.Await(len(s), func() (err error) {
		n, err = strconv.ParseInt(s, 10, 64)
		return err
	})
	if err != nil {
		m.Fail(pos, s+" is not a base 10 integer")
	}
	return vm.Num(float64(n))
}

func parseNatural(base int, empty string) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		s, ok := a[0].(*vm.String)
		if !ok {
			m.Fail(pos, "Expected string, got "+vm.Kind(a[0]))
		}
		if s.Size() == 0 {
			m.Fail(pos, empty)
		}
		n := 0.0
		for i, r := range m.Text(s) {
			if i%1024 == 0 {
				m.Tick()
			}
			digit := int(r) - '0'
			switch {
			case r >= 'a':
				digit = int(r) - 'a' + 10
			case r >= 'A':
				digit = int(r) - 'A' + 10
			}
			if digit < 0 || digit >= base {
				m.Failf(pos, "%s is not a base %d integer", m.Text(s), base)
			}
			n = finite(m, n*float64(base)+float64(digit), pos)
		}
		return vm.Num(n)
	}
}

// maxForeign is the size up to which a text is given to a library that cannot be stopped, and foreignBytes what the
// library takes for a byte of it.
const (
	maxForeign   = 4 << 20
	foreignBytes = 32
)

func parseJSON(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	text := m.Text(m.String(a[0], pos))
	if v, ok := jsontext.Value(m, text); ok {
		return v
	}
	if len(text) > maxForeign {
		m.Fail(pos, "failed to parse JSON: invalid document")
	}
	m.Demand(foreignBytes * int64(len(text)))
	var doc any
	if err := m.Await(len(text), func() error { return json.Unmarshal([]byte(text), &doc) }); err != nil {
		m.Failf(pos, "failed to parse JSON: %v", err)
	}
	return fromGo(m, pos, doc)
}

func parseYAML(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	text := m.Text(m.String(a[0], pos))
	if len(text) > maxForeign {
		m.Failf(pos, "failed to parse YAML: document of %d bytes exceeds %d bytes", len(text), maxForeign)
	}
	m.Demand(foreignBytes * int64(len(text)))
	docs, stream := splitYAML(text)
	elems := make([]vm.Value, 0, len(docs))
	for _, doc := range docs {
		m.Tick()
		var v any
		if err := m.Await(len(doc), func() error { return yaml.Unmarshal([]byte(doc), &v) }); err != nil {
			m.Failf(pos, "failed to parse YAML: %v", err)
		}
		elems = append(elems, fromGo(m, pos, v))
	}
	switch {
	case len(elems) == 0:
		return vm.Null{}
	case stream:
		return m.NewArray(elems)
	}
	return elems[0]
}

// splitYAML splits a stream at lines that start with "---", which belong to the document they start.
func splitYAML(text string) (docs []string, stream bool) {
	var doc strings.Builder
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		line = strings.TrimSuffix(line, "\r")
		if after, ok := strings.CutPrefix(line, "---"); ok && (after == "" || after[0] == ' ' || after[0] == '\t') {
			stream = true
			if doc.Len() > 0 {
				docs = append(docs, doc.String())
				doc.Reset()
			}
		}
		doc.WriteString(line)
		doc.WriteByte('\n')
	}
	if doc.Len() > 0 {
		docs = append(docs, doc.String())
	}
	return docs, stream
}

// fromGo makes a value of what encoding/json has read.
func fromGo(m *vm.Machine, pos *vm.Pos, v any) vm.Value {
	m.Descend(pos)
	defer m.Ascend()
	switch v := v.(type) {
	case nil:
		return vm.Null{}
	case bool:
		return vm.Bool(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return m.Finite(v, pos)
		}
		return vm.Num(v)
	case string:
		return m.Made(vm.ValidText(v))
	case []any:
		elems := m.MakeElems(len(v))
		for i := range v {
			elems[i] = fromGo(m, pos, v[i])
		}
		return m.NewArray(elems)
	case map[string]any:
		list := make([]string, 0, len(v))
		for name := range v {
			list = append(list, name)
		}
		slices.Sort(list)
		values := make([]vm.Value, len(list))
		for i, name := range list {
			values[i] = fromGo(m, pos, v[name])
			list[i] = vm.ValidText(name)
		}
		return m.NewPlainObject(list, values)
	}
	m.Fail(pos, fmt.Sprintf("Not a json type: %#v", v))
	return nil
}

// FromGo makes a value of what a native function written in Go returns.
func FromGo(m *vm.Machine, pos *vm.Pos, v any) vm.Value { return fromGo(m, pos, v) }
