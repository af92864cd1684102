package vm

import (
	"fmt"
	"sync/atomic"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/meter"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/turns"
)

// maxHeight is how many Go calls an evaluation may nest. One takes 200 to 500 bytes of stack, so that the deepest
// evaluation needs some 64 MiB, far from where the Go runtime ends the process.
const maxHeight = 150_000

// DefaultMaxStack is the call depth of a Config without one.
const DefaultMaxStack = 500

// Pos is a place in a source and what is being evaluated there.
type Pos struct {
	File               string
	Line, Column       int
	EndLine, EndColumn int
	Context            string
}

// Config is what an evaluation may reach and use.
type Config struct {
	MaxStack int
	Meter    *meter.Meter
	Stop     *atomic.Bool    // set to end the evaluation
	Done     <-chan struct{} // closed when Stop is set
	// Cause says why Stop was set.
	Cause func() *jsonnet.Error
	// Turn lets others run now and then.
	Turn *turns.Turn
	// Import resolves an import statement of the named file.
	Import func(file, path string) (*jsonnet.Source, error)
	// Program compiles a source; its error is shown at the import.
	Program func(src *jsonnet.Source) (*Program, error)
	// External are the external variables, which may be thunks.
	External map[string]Value
	Natives  map[string]*Native // std.native
	// Std makes the standard library's object for programs that use it as a value.
	Std   func(m *Machine) *Object
	Trace func(jsonnet.TraceMessage)
}

// Machine is one evaluation. It is used by one goroutine.
type Machine struct {
	cfg      Config
	meter    *meter.Meter
	stop     *atomic.Bool
	steps    int // left until the next pause
	pauses   uint
	stack    []call
	height   int
	pending  pendingCall
	args     []Value // arguments of the native calls in progress
	imports  map[string]*imported
	std      *Object
	stds     map[string]*Object // by file
	texts    map[string]*String // of importstr, by file
	programs []*Program         // that this evaluation has used
	memo     map[string]any
}

// call is an entry of the call stack: the place that needed a value, called a function or read a field.
type call struct {
	pos  *Pos
	trim bool // a tail call may replace it
}

// pendingCall is a tail call on its way to the loop that runs it.
type pendingCall struct {
	code  *Func
	frame *Frame
	pos   *Pos
	trim  bool
	bool  *Pos // the value must be a boolean for the operator here
}

type imported struct {
	source *jsonnet.Source
	value  Value
}

// New returns a machine that has evaluated nothing.
func New(cfg Config) *Machine {
	if cfg.MaxStack <= 0 {
		cfg.MaxStack = DefaultMaxStack
	}
	return &Machine{cfg: cfg, meter: cfg.Meter, stop: cfg.Stop, steps: pauseSteps, imports: map[string]*imported{}, stds: map[string]*Object{}, texts: map[string]*String{}, memo: map[string]any{}}
}

// failure carries an error out of the machine.
type failure struct{ err *jsonnet.Error }

// Run calls f and returns the error that ended it. Anything else that panics becomes an internal error, so that a
// mistake in the evaluator cannot end the process.
func (m *Machine) Run(f func()) (err *jsonnet.Error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.err
		default:
			err = &jsonnet.Error{
				Reason:  jsonnet.EvaluationFailed,
				Message: fmt.Sprintf("internal error: %v", r),
				Frames:  m.frames(nil),
			}
		}
	}()
	f()
	return nil
}

// Fail ends the evaluation with an error at pos.
func (m *Machine) Fail(pos *Pos, message string) {
	m.FailAs(jsonnet.EvaluationFailed, pos, message)
}

// Failf is Fail with a format.
func (m *Machine) Failf(pos *Pos, format string, args ...any) {
	m.Fail(pos, fmt.Sprintf(format, args...))
}

// FailAs ends the evaluation with an error at pos that is not the program's fault alone.
func (m *Machine) FailAs(reason jsonnet.Reason, pos *Pos, message string) {
	panic(failure{&jsonnet.Error{Reason: reason, Message: message, Frames: m.frames(pos)}})
}

// FailWith ends the evaluation with err as it is.
func (m *Machine) FailWith(err *jsonnet.Error) { panic(failure{err}) }

// maxFrames bounds the frames an error carries; the middle of a longer trace says nothing.
const maxFrames = 1000

// frames lists the places in the author's files from pos outwards.
func (m *Machine) frames(pos *Pos) []jsonnet.Frame {
	var frames []jsonnet.Frame
	add := func(p *Pos) {
		if p == nil || p.Line == 0 {
			return
		}
		frames = append(frames, jsonnet.Frame{
			File: p.File, Line: p.Line, Column: p.Column, EndLine: p.EndLine, EndColumn: p.EndColumn,
			Function: p.Context,
		})
	}
	add(pos)
	for i := len(m.stack) - 1; i >= 0; i-- {
		if len(frames) >= maxFrames/2 && i >= maxFrames/2 {
			continue
		}
		add(m.stack[i].pos)
	}
	return frames
}

// enter puts a call on the stack and returns what leave needs.
func (m *Machine) enter(pos *Pos, trim bool, height int) int {
	m.poll(pos)
	if len(m.stack) >= m.cfg.MaxStack {
		m.FailAs(jsonnet.StackExceeded, pos, "max stack frames exceeded.")
	}
	before := m.height
	m.height += height
	if m.height > maxHeight {
		m.tooDeep(pos)
	}
	m.stack = append(m.stack, call{pos: pos, trim: trim})
	return before
}

// leave removes the call that made the stack size long, unless a tail call has removed it already.
func (m *Machine) leave(size, before int) {
	if len(m.stack) == size {
		m.stack = m.stack[:size-1]
	}
	m.height = before
}

func (m *Machine) tooDeep(pos *Pos) {
	m.FailAs(jsonnet.StackExceeded, pos, "max stack frames exceeded.")
}

// Enter puts a call on the stack for a native function; the result goes to Leave.
func (m *Machine) Enter(pos *Pos) (size, before int) {
	before = m.enter(pos, false, nativeHeight)
	return len(m.stack), before
}

// Leave undoes Enter.
func (m *Machine) Leave(size, before int) { m.leave(size, before) }

// nativeHeight is the height counted for one recursion of a native function, which uses larger Go frames than a node.
const nativeHeight = 4

// Descend counts one recursion of a native function that is no Jsonnet call; Ascend undoes it.
func (m *Machine) Descend(pos *Pos) {
	m.poll(pos)
	m.height += nativeHeight
	if m.height > maxHeight {
		m.tooDeep(pos)
	}
}

// Ascend undoes Descend.
func (m *Machine) Ascend() { m.height -= nativeHeight }

// Tick ends the evaluation if it was stopped. Native functions call it in every loop.
func (m *Machine) Tick() {
	m.poll(nil)
}

// The machine pauses after so many looks at the stop flag, to look at what sets the flag, which may have to wait for a
// processor before it does. In one of some pauses it lets others run: every few tenths of a millisecond. The Go runtime
// would do so after ten milliseconds, which with a dozen long evaluations on two processors is a long wait for a request
// that needs no more than one.
const (
	pauseSteps = 256
	yieldEvery = 16
)

// poll ends the evaluation if it was stopped, and pauses now and then. Everything that can take long calls it.
func (m *Machine) poll(pos *Pos) {
	if m.steps--; m.steps < 0 || m.stop.Load() {
		m.pause(pos)
	}
}

func (m *Machine) pause(pos *Pos) {
	if m.stop.Load() || m.done() {
		m.stopped(pos)
	}
	m.steps = pauseSteps
	if m.pauses++; m.pauses%yieldEvery == 0 {
		m.cfg.Turn.Pause()
		m.checkDone(pos)
	}
}

// CheckDone ends the evaluation if its context has ended.
func (m *Machine) CheckDone() { m.checkDone(nil) }

func (m *Machine) done() bool {
	select {
	case <-m.cfg.Done:
		return true
	default:
		return false
	}
}

// checkDone ends the evaluation if its context has ended, even if the flag is not set yet.
func (m *Machine) checkDone(pos *Pos) {
	if m.done() {
		m.stopped(pos)
	}
}

func (m *Machine) stopped(pos *Pos) {
	err := m.cfg.Cause()
	err.Frames = m.frames(pos)
	panic(failure{err})
}

// MaxStack is the call depth the evaluation may reach.
func (m *Machine) MaxStack() int { return m.cfg.MaxStack }

// charge counts n allocated bytes that are not sampled themselves; what is sampled next stands for them.
func (m *Machine) charge(n int64) { m.meter.Count(n) }

// chargeFor counts n allocated bytes for which p, a part of them, stands if they are sampled.
func chargeFor[T any](m *Machine, n int64, p *T) {
	if m.meter.Count(n) {
		sample(m, p)
	}
}

// Charge is charge for native functions.
func (m *Machine) Charge(n int) { m.charge(int64(n)) }

// Demand fails unless n bytes may be allocated at once.
func (m *Machine) Demand(n int64) {
	m.rule(m.meter.Demand(n))
}

// DemandString fails unless a string of n bytes could be made.
func (m *Machine) DemandString(n int64, _ *Pos) {
	if n > MaxString {
		m.rule(meter.OverBudget)
	}
	m.Demand(n)
}

// NewArray makes an array around elements that were just allocated.
func (m *Machine) NewArray(elems []Value) *Array {
	a := &Array{Elems: elems}
	if m.meter.Count(int64(48 + 24*len(elems))) {
		sampleElems(m, a)
	}
	return a
}

// ViewArray makes an array that shares the elements of another one.
func (m *Machine) ViewArray(elems []Value) *Array {
	m.charge(48)
	return &Array{Elems: elems[:len(elems):len(elems)]}
}

func sample[T any](m *Machine, p *T) { m.rule(meter.Sample(m.meter, p)) }

// sampleElems lets the elements of an array stand for its memory, because other arrays may share them.
func sampleElems(m *Machine, a *Array) {
	if len(a.Elems) == 0 {
		sample(m, a)
		return
	}
	sample(m, &a.Elems[0])
}

func (m *Machine) rule(v meter.Verdict) {
	if v != meter.Granted {
		m.checkDone(nil) // a collection may have been cut short
	}
	switch v {
	case meter.OverBudget:
		m.FailAs(jsonnet.EvaluationMemoryExceeded, nil, "evaluation memory exceeded.")
	case meter.OverProcess:
		m.FailAs(jsonnet.EvaluationUnavailable, nil, "no memory left for this evaluation; try again later.")
	case meter.Granted:
		m.Tick()
	}
}

// Trace reports a message of std.trace.
func (m *Machine) Trace(pos *Pos, text string) {
	if m.cfg.Trace == nil || pos == nil {
		return
	}
	m.cfg.Trace(jsonnet.TraceMessage{File: pos.File, Line: pos.Line, Text: text})
}

// External returns an external variable, which may be a thunk.
func (m *Machine) External(name string) (Value, bool) {
	v, ok := m.cfg.External[name]
	return v, ok
}

// NativeFunction returns a function registered for std.native, or nil.
func (m *Machine) NativeFunction(name string) *Native { return m.cfg.Natives[name] }

// awaitFrom is the number of bytes from which a library call is worth a goroutine.
const awaitFrom = 32 << 10

// Memo returns what Remember has kept for a text, or nil.
func (m *Machine) Memo(text string) any { return m.memo[text] }

// What a machine remembers is bounded in number and in the size of the texts, for it is not accounted for.
const (
	maxMemo     = 256
	maxMemoText = 1 << 10
)

// Remember keeps the result of analysing a text for the rest of the evaluation, unless the text is long.
func (m *Machine) Remember(text string, result any) {
	if len(text) > maxMemoText {
		return
	}
	if len(m.memo) >= maxMemo {
		clear(m.memo)
	}
	m.memo[text] = result
}

// Await runs a library call that cannot be stopped and works on n bytes. It does not wait for the end of a long one
// once the evaluation is stopped.
func (m *Machine) Await(n int, f func() error) error {
	if n < awaitFrom {
		return f()
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("%v", r)
			}
		}()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-m.cfg.Done:
		m.stopped(nil)
		return nil
	}
}

// RunProgram evaluates a file from the start, as a call of its own.
func (m *Machine) RunProgram(p *Program) Value {
	before := m.enter(nil, false, p.Body.Height)
	size := len(m.stack)
	v := m.Evaluated(p)
	m.leave(size, before)
	return v
}

// Evaluated evaluates a program within the current call.
func (m *Machine) Evaluated(p *Program) Value {
	m.keep(p)
	m.height += p.Body.Height
	if m.height > maxHeight {
		m.tooDeep(nil)
	}
	v := p.Body.Node.Eval(m, m.NewFrame(nil, p.Slots))
	m.height -= p.Body.Height
	return v
}

// keep counts a program for as long as the evaluation lasts, whoever shares it: the cache may drop it meanwhile.
func (m *Machine) keep(p *Program) {
	m.Demand(p.Bytes)
	m.programs = append(m.programs, p)
	chargeFor(m, p.Bytes, p)
}

// NewLazy makes a thunk before there is a machine.
func NewLazy(code *Code) Value { return &Thunk{code: code} }
