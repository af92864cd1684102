package std

import (
	"crypto/md5"  //nolint:gosec // std.md5 is a function of the language, not a protection
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var codecFunctions = []entry{
	{"md5", "s", all, digest(md5.New)},
	{"sha1", "s", all, digest(sha1.New)},
	{"sha256", "s", all, digest(sha256.New)},
	{"sha512", "s", all, digest(sha512.New)},
	{"sha3", "s", all, digest(func() hash.Hash { return sha3.New512() })},
	{"base64", "input", all, encodeBase64},
	{"base64Decode", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return m.Made(m.ValidText(decodeBase64(m, pos, a[0])))
	}},
	{"base64DecodeBytes", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return m.Bytes(decodeBase64(m, pos, a[0]))
	}},
	{"encodeUTF8", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return m.Bytes(m.Text(m.String(a[0], pos)))
	}},
	{"decodeUTF8", "arr", all, decodeUTF8},
}

// chunk is how much of a text is processed between two checks of the machine.
const chunk = 1 << 20

func digest(algorithm func() hash.Hash) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		text := m.Text(m.String(a[0], pos))
		h := algorithm()
		for len(text) > 0 {
			m.Tick()
			n := min(chunk, len(text))
			h.Write([]byte(text[:n]))
			text = text[n:]
		}
		return m.Made(hex.EncodeToString(h.Sum(nil)))
	}
}

func encodeBase64(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	var text string
	switch v := a[0].(type) {
	case *vm.String:
		text = m.Text(v)
		m.Chunks(text, func(part string) {
			for _, r := range part {
				checkByte(m, pos, int(r))
			}
		})
	case *vm.Array:
		m.Demand(int64(len(v.Elems)))
		b := vm.MakeSlice[byte](m, len(v.Elems), len(v.Elems))
		for i := range v.Elems {
			m.Tick()
			e := m.Elem(v, i, pos)
			n, ok := e.(vm.Number)
			if !ok || float64(int(int32(n))) != float64(n) {
				m.Fail(pos, "base64 encountered a non-integer value in the array, got "+vm.Kind(e))
			}
			checkByte(m, pos, int(n))
			b[i] = byte(n)
		}
		m.Demand(int64(len(b)))
		text = string(b)
	default:
		m.Fail(pos, "base64 can only base64 encode strings / arrays of single bytes, got "+vm.Kind(a[0]))
	}
	m.DemandString(int64(len(text))/3*4+4, pos)
	var b strings.Builder
	m.Room(&b, base64.StdEncoding.EncodedLen(len(text)))
	for len(text) > 0 {
		m.Tick()
		n := min(chunk/3*3, len(text))
		b.WriteString(base64.StdEncoding.EncodeToString([]byte(text[:n])))
		text = text[n:]
	}
	return m.Made(b.String())
}

func checkByte(m *vm.Machine, pos *vm.Pos, n int) {
	if n < 0 || n > 255 {
		m.Failf(pos, "base64 encountered invalid codepoint value in the array (must be 0 <= X <= 255), got %d", n)
	}
}

func decodeBase64(m *vm.Machine, pos *vm.Pos, v vm.Value) string {
	s, ok := v.(*vm.String)
	if !ok {
		m.Fail(pos, "base64DecodeBytes requires a string, got "+vm.Kind(v))
	}
	text := m.Text(s)
	if len(text)%4 != 0 {
		m.Failf(pos, "input string appears not to be a base64 encoded string. Wrong length found (%d)", len(text))
	}
	m.Demand(int64(len(text)))
	var b []byte
	err := m.Await(len(text), func() (err error) {
		b, err = base64.StdEncoding.DecodeString(text)
		return err
	})
	if err != nil {
		m.Failf(pos, "failed to decode: %s", err)
	}
	m.Demand(int64(len(b)))
	return string(b)
}

func decodeUTF8(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	arr := m.Array(a[0], pos)
	m.Demand(int64(len(arr.Elems)))
	b := vm.MakeSlice[byte](m, len(arr.Elems), len(arr.Elems))
	for i := range arr.Elems {
		m.Tick()
		n := m.Int(m.Elem(arr, i, pos), pos)
		if n < 0 || n > 255 {
			m.Failf(pos, "Bytes must be integers in range [0, 255], got %d", n)
		}
		b[i] = byte(n)
	}
	m.Demand(int64(len(b)))
	return m.Made(m.ValidText(string(b)))
}
