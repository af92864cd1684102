package std

import (
	"strings"
	"sync"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// entry is a function of the library. Params lists the parameters, a question mark after those that may be left out.
// Forced is how many leading arguments the function always needs, in this order; the others it forces itself.
type entry struct {
	name   string
	params string
	forced int
	fn     vm.NativeFunc
}

// all stands for every parameter in entry.forced.
const all = -1

// Library returns everything that std offers but thisFile, by name. It is made once and not to be changed.
func Library() map[string]vm.Value { return library() }

var library = sync.OnceValue(makeLibrary)

func makeLibrary() map[string]vm.Value {
	lib := map[string]vm.Value{"pi": vm.Num(3.14159265358979311600)}
	for _, group := range [][]entry{
		typeFunctions, mathFunctions, stringFunctions, textFunctions, arrayFunctions, higherFunctions, setFunctions,
		objectFunctions, codecFunctions, manifestFunctions, parseFunctions,
	} {
		for i := range group {
			lib[group[i].name] = function(&group[i])
		}
	}
	return lib
}

func function(e *entry) *vm.Function {
	n := &vm.Native{Name: e.name, Fn: e.fn, Forced: e.forced}
	for _, p := range strings.Fields(e.params) {
		name, optional := strings.CutSuffix(p, "?")
		n.Params = append(n.Params, vm.NativeParam{Name: name, Optional: optional})
	}
	if e.forced == all {
		n.Forced = len(n.Params)
	}
	return &vm.Function{Native: n}
}

// Object makes the library's object for a machine.
func Object(lib map[string]vm.Value) func(*vm.Machine) *vm.Object {
	return func(m *vm.Machine) *vm.Object {
		names := make([]string, 0, len(lib))
		fields := make([]vm.Field, 0, len(lib))
		values := make([]vm.Value, 0, len(lib))
		for name, v := range lib {
			names = append(names, name)
			fields = append(fields, vm.Field{Hide: vm.Hidden})
			values = append(values, v)
		}
		return m.NewObject(vm.NewShape(names, fields, nil), values)
	}
}

// force makes sure that argument i is a value and returns it.
func force(m *vm.Machine, pos *vm.Pos, args []vm.Value, i int) vm.Value {
	args[i] = m.Force(args[i], pos)
	return args[i]
}
