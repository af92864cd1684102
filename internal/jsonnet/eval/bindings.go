package eval

import (
	"crypto/sha256"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/compile"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/jsontext"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// compile parses and compiles a source.
func (e *Evaluator) compile(src *jsonnet.Source) (p *vm.Program, err error) {
	defer recovered(&err)
	if isJSON(src.Name) {
		if p, ok := jsontext.Program(src.Name, src.Content); ok {
			return p, nil
		}
	}
	return compile.Compile(src.Name, src.Content, e.std)
}

// external makes the external variables. They are evaluated when they are asked for.
func (r *evaluation) external() map[string]vm.Value {
	values := make(map[string]vm.Value, len(r.job.External))
	for name, b := range r.job.External {
		values[name] = r.delayed("<extvar:"+name+">", b)
	}
	return values
}

// delayed is a binding that is looked at when it is needed. Its errors are errors of the program that needs it.
func (r *evaluation) delayed(file string, b jsonnet.Binding) vm.Value {
	if b.Kind == jsonnet.BindString {
		return vm.Text(b.Text)
	}
	code := &vm.Code{Height: 8, Lazy: func(m *vm.Machine, _ *vm.Frame, _ vm.Value) vm.Value {
		if b.Kind == jsonnet.BindJSON {
			v, ok := jsontext.Value(m, b.Text)
			if !ok {
				m.FailAs(jsonnet.InvalidArguments, nil, file+" is not a JSON document")
			}
			return v
		}
		program, err := r.codeProgram(file, b.Text)
		if err != nil {
			m.CheckDone()
			m.FailWith(asError(err))
		}
		return m.Evaluated(program)
	}}
	return vm.NewLazy(code)
}

func (r *evaluation) codeProgram(file, text string) (*vm.Program, error) {
	src := &jsonnet.Source{Name: file, Content: text, Sum: sha256.Sum256([]byte(text))}
	r.sources[file] = src
	return r.program(src)
}

// arguments makes the top-level arguments. What cannot be one is reported before the program is called.
func (r *evaluation) arguments() (map[string]vm.Value, *jsonnet.Error) {
	values := make(map[string]vm.Value, len(r.job.Arguments))
	for name, b := range r.job.Arguments {
		file := "<top-level-arg:" + name + ">"
		switch b.Kind {
		case jsonnet.BindJSON:
			v, ok := jsontext.Value(r.machine, b.Text)
			if !ok {
				return nil, &jsonnet.Error{
					Reason: jsonnet.InvalidArguments, Message: "top-level argument " + name + " is not a JSON document",
				}
			}
			values[name] = v
		case jsonnet.BindCode:
			if _, err := r.codeProgram(file, b.Text); err != nil {
				r.machine.CheckDone()
				e := *asError(err)
				e.Reason = jsonnet.InvalidArguments
				return nil, &e
			}
			values[name] = r.delayed(file, b)
		default:
			values[name] = r.delayed(file, b)
		}
	}
	return values, nil
}
