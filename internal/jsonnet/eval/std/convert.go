package std

import (
	"math"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// convert formats one value by its directive.
func (f *formatter) convert(d *directive, v vm.Value, width, precision func() vm.Value, where func() string) string {
	m := f.m
	switch d.kind {
	case 's':
		return m.ToString(v, f.pos)
	case 'c':
		return f.character(v)
	}
	n, ok := v.(vm.Number)
	if !ok {
		m.Fail(f.pos, "Format required number at "+where()+", got "+vm.Kind(v))
	}
	zeros := 0.0
	if d.zero && !d.left {
		zeros = m.Number(width(), f.pos)
	}
	digits, floatDigits := 0.0, 6.0
	if d.precision.set {
		digits = f.precision(d, precision())
		floatDigits = digits
	}
	c := conversion{f: f, d: d, zeros: zeros}
	x := float64(n)
	switch d.kind {
	case 'd':
		return c.integer(x <= -1, math.Floor(math.Abs(x)), zeros, digits)
	case 'o':
		prefix := ""
		if d.alt {
			prefix = "0"
		}
		text := c.digits(math.Floor(math.Abs(x)), 8, "01234567", prefix)
		return c.sized(c.sign(x <= -1), text, zeros, digits)
	case 'x':
		return c.hex(math.Floor(x), digits)
	case 'f':
		return c.decimal(x, zeros, d.alt, true, floatDigits)
	case 'e':
		return c.scientific(x, d.alt, true, floatDigits)
	default:
		exponent := c.exponent(x)
		if exponent < -4 || exponent >= floatDigits {
			return c.scientific(x, d.alt, d.alt, floatDigits-1)
		}
		return c.decimal(x, zeros, d.alt, d.alt, floatDigits-math.Max(1, exponent+1))
	}
}

// precision requires a number, in the words of the calculation that comes to it first.
func (f *formatter) precision(d *directive, v vm.Value) float64 {
	n, ok := v.(vm.Number)
	if !ok && strings.IndexByte("dox", d.kind) >= 0 {
		f.m.Fail(f.pos, "std.max second param expected number, got "+vm.Kind(v))
	}
	if !ok {
		f.m.TypeError(v, "number", f.pos)
	}
	return float64(n)
}

func (f *formatter) character(v vm.Value) string {
	m := f.m
	switch v := v.(type) {
	case vm.Number:
		return m.Text(char(m, f.pos, []vm.Value{v}).(*vm.String))
	case *vm.String:
		if n := m.Length(v); n != 1 {
			m.Failf(f.pos, "%%c expected 1-sized string got: %d", n)
		}
		return m.Text(v)
	}
	m.Fail(f.pos, "%c expected number / string, got: "+vm.Kind(v))
	return ""
}

// conversion is a number being formatted. It calculates in the steps of the language's own definition, whose rounding
// shows in the result.
type conversion struct {
	f     *formatter
	d     *directive
	zeros float64 // width to fill with zeros
}

func (c *conversion) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case c.d.plus:
		return "+"
	case c.d.blank:
		return " "
	}
	return ""
}

// integer writes a whole number of decimal digits.
func (c *conversion) integer(negative bool, mag, width, digits float64) string {
	return c.sized(c.sign(negative), c.digits(mag, 10, "0123456789", ""), width, digits)
}

// sized puts zeros between a sign and digits.
func (c *conversion) sized(sign, digits string, width, minDigits float64) string {
	n := math.Max(width-float64(len(sign)), minDigits) - float64(len(digits))
	return sign + padding(c.f.m, c.f.pos, n, "0") + digits
}

// digits writes a whole number; zero has no prefix. What is left of a fraction, which a negative precision leads to, is
// written as it is in place of the last digit.
func (c *conversion) digits(mag, radix float64, numerals, prefix string) string {
	if mag == 0 {
		return "0"
	}
	var buf []byte
	last := ""
	if rest := math.Mod(mag, radix); rest != math.Floor(rest) {
		last = string(vm.AppendNumber(nil, rest))
		mag = math.Floor(mag / radix)
	}
	for mag != 0 {
		c.f.m.Tick()
		buf = append(buf, numerals[int(math.Mod(mag, radix))])
		mag = math.Floor(mag / radix)
	}
	for i, j := 0, len(buf)-1; i < j; i, j = i+1, j-1 {
		buf[i], buf[j] = buf[j], buf[i]
	}
	return prefix + string(buf) + last
}

func (c *conversion) hex(n, digits float64) string {
	numerals, prefix := "0123456789abcdef", ""
	if c.d.alt {
		prefix = "0x"
	}
	if c.d.caps {
		numerals, prefix = "0123456789ABCDEF", strings.ToUpper(prefix)
	}
	sign := c.sign(n < 0)
	text := c.digits(math.Abs(n), 16, numerals, "")
	pad := math.Max(c.zeros-float64(len(sign))-float64(len(prefix)), digits) - float64(len(text))
	return sign + prefix + padding(c.f.m, c.f.pos, pad, "0") + text
}

func (c *conversion) decimal(n, width float64, point, trailing bool, precision float64) string {
	m, pos := c.f.m, c.f.pos
	abs := math.Abs(n)
	denominator := finite(m, math.Pow(10, precision), pos)
	numerator := finite(m, finite(m, abs*denominator, pos)+0.5, pos)
	whole := 0.0
	if abs > 0 {
		whole = math.Floor(finite(m, numerator/denominator, pos))
	}
	dot := 1.0
	if precision == 0 && !point {
		dot = 0
	}
	text := c.integer(n < 0, whole, width-precision-dot, 0)
	if precision == 0 {
		if point {
			text += "."
		}
		return text
	}
	frac := math.Mod(math.Floor(numerator), denominator)
	if !trailing && frac <= 0 {
		return text
	}
	fracText := (&conversion{f: c.f, d: &directive{}}).integer(false, frac, precision, 0)
	if !trailing {
		fracText = strings.TrimRight(fracText, "0")
	}
	return text + "." + fracText
}

func (c *conversion) exponent(n float64) float64 {
	if n == 0 {
		return 0
	}
	return math.Floor(math.Log(math.Abs(n)) / math.Log(10))
}

func (c *conversion) scientific(n float64, point, trailing bool, precision float64) string {
	m, pos := c.f.m, c.f.pos
	exponent := c.exponent(n)
	suffix := "e"
	if c.d.caps {
		suffix = "E"
	}
	suffix += (&conversion{f: c.f, d: &directive{plus: true}}).integer(exponent < 0, math.Abs(exponent), 3, 0)
	var mantissa float64
	if exponent == -324 {
		mantissa = n * 10 / math.Pow(10, exponent+1)
	} else {
		mantissa = n / math.Pow(10, exponent)
	}
	finite(m, mantissa, pos)
	return c.decimal(mantissa, c.zeros-float64(len(suffix)), point, trailing, precision) + suffix
}
