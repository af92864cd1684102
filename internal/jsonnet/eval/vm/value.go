package vm

// Value is a Jsonnet value: Null, Bool, Number, *String, *Array, *Object or *Function. Where laziness is allowed, in
// slots, elements and arguments, it may also be a *Thunk.
type Value any

// Null is Jsonnet's null.
type Null struct{}

// Bool is Jsonnet's boolean.
type Bool bool

// Number is Jsonnet's number; it is never infinite nor NaN.
type Number float64

// Array is Jsonnet's array. Elements may be thunks. Elems is only written by the array's maker, by Force with the value
// of a thunk it replaces, and past its end by Concat.
type Array struct {
	Elems []Value
	grown bool // the space behind Elems was given to another array
}

// Function is a closure over Frame, or a native function.
type Function struct {
	Code   *Func
	Env    *Frame
	Native *Native
}

const smallNumbers = 1024

// small holds the boxed form of the numbers that programs use most; it is never written after initialisation.
var small = func() (table [smallNumbers]Value) {
	for i := range table {
		table[i] = Number(i)
	}
	return table
}()

// Num boxes a number, without allocating for small integers.
func Num(f float64) Value {
	if f > 0 && f < smallNumbers {
		if i := int(f); float64(i) == f {
			return small[i]
		}
	}
	return Number(f)
}

// Int boxes an integer.
func Int(i int) Value {
	if i >= 0 && i < smallNumbers {
		return small[i]
	}
	return Number(i)
}

// Kind is the name of a value's type, as std.type has it.
func Kind(v Value) string {
	switch v.(type) {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case *String:
		return "string"
	case *Array:
		return "array"
	case *Object:
		return "object"
	case *Function:
		return "function"
	default:
		return "unknown"
	}
}
