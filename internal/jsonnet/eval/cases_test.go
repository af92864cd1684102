package eval_test

import (
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
)

// cases are programs, one a line, about what generated ones rarely meet.
//
//nolint:dupword // programs repeat words
const cases = `
// Locals of objects, inheritance, super and $.
{ local x = self.a, a: 1, b: x } + { a: 2 }
{ local x = $.a, a: 1, b: { a: 3, c: x, d: $.a } } + { a: 2 }
{ a: 1, b: { a: 2, c: $.a } } + { b+: { d: $.e, e: 5 }, e: 4 }
{ a: { b: 1 } } + { a+: { c: super.b } } + { a+: { d: super.c + super.b } }
local f(x) = { local y = x + self.z, z: 1, v: y }; (f(1) + { z: 10 }) + f(5)
{ local s = super.a, b: s } + { a: 1 }
{ a: 1 } + { local s = super.a, b: s, c: super.a + self.a } + { a: 5 }
{ a: 'x' in super, b: 'a' in super }
{ x: 1 } + { a: 'x' in super, b: 'y' in super, c: 'x' in self, d: [super.x, 'x' in super] }
{ a:: 1 } + { a+: 2 }
{ a: 1 } + { a+:: 2 } + { a+::: 3 }
{ a:: 1 } + { a::: 2 } + { a: 3 }
{ a+: 1 }
{ a+: { b: 1 } } + { a+: { b+: 2 } }
{ a: [1] } + { a+: [2] } + { a+: 'x' }
{ f(x): x + self.y, y: 1, z: self.f(2) } + { y: 10, w: super.f(3) }
{ ['a' + i]: self.b, b: $.c, c: i } for i in [1]
{ ['a' + i]: { v: i, w: $['a1'].v } for i in [1, 2] if i > 0 }
local o = { a: 1, assert self.a == 1 : 'not one' }; [o.a, (o + { b: 2 }).b, (o + { a: 2 }).b]
{ assert std.trace('first', true), a: 1 } + { assert false : 'second', assert error 'third' }
{ assert false : 'left' } + { assert false : 'right' }
{ assert self.b, a: 1, b: false }.a
{ assert super.a == 1, b: 2 }
{ a: { assert $.x == 1 : 'x is ' + $.x } } + { x: 2 }
{ local a = b, local b = a, c: a }.c
{ local f(n) = if n == 0 then 0 else g(n - 1), local g(n) = f(n), a: f(5) }
local a = { x: 1, y: self.x }, b = a { x: 2 }; [a.y, b.y, (b + a).y, (a + b).y]
std.objectFieldsAll({ a:: 1, b: 2 } + { a: 3, c:: 4 })
std.objectFields({ a:: 1, b: 2 } + { a: 3, c:: 4 })
[std.objectHas(o, 'a') for o in [{ a:: 1 } + { a: 2 }, { a: 1 } + { a:: 2 }, { a::: 1 } + { a:: 2 } + { a: 3 }]]
std.objectRemoveKey({ a: 1, b:: 2 } + { a+: 3, c: self.a }, 'b')
std.objectRemoveKey({ a: 1, b: self.a }, 'a') + { a: 2 }
std.objectRemoveKey({ a: 1 }, 'a') + { b: 'a' in super, c: super.a }
// Comprehensions.
[[x, y, z] for x in [1, 2, 3] if x != 2 for y in [x, x * 10] for z in [y] if z > 1 if x < 5]
[x for x in [1, 2] for x in [x, x + 1]]
{ [k + v]: v for k in ['a', 'b'] for v in [1, 2] if k + v != 'a1' }
{ [if x > 1 then 'k' + x]: x for x in [1, 2, 3] }
{ [x]: 1 for x in ['a', 'a'] }
{ [x]: 1 for x in [1] }
[x for x in 'abc']
[error 'e' for x in [1, 2] if x > 2]
local y = 5; { local z = y + x, ['a' + x]: z for x in [1, 2] }
[f(1) for f in [function(x) x + i for i in [1, 2]]]
// Functions.
local f(a, b=a + c, c=2) = [a, b, c]; [f(1), f(1, c=5), f(b=1, a=2), f(1, 2, 3)]
local f(a=b, b=a) = a; f()
local f(a, b=error 'unused') = a; f(1)
local f(a) = a; f(1, a=2)
local f(a) = a; f(1, b=2)
local f(a, b) = a; f(b=1)
local f(x) = if x == 0 then 'end' else f(x - 1) tailstrict; f(10)
local f(x, y) = x; f(1, error 'strict') tailstrict
local f(x, y=error 'strict default') = x; f(1) tailstrict
(function(x) x)(1)(2)
local f = function(x) function(y) x + y; f(1)(2)
// Strings.
["\u0041\u00e9\ud83d\ude00", 'a\/b', @'a\n''b', std.length("\ud83d\ude00"), "😀é"[0], std.codepoint("😀")]
["\ud83d"]
["\ude00x"]
['😀' < '\uffff', 'é' < 'z', 'a' < 'ab', '' < 'a', 'B' < 'a']
std.sort(['😀', '\uffff', 'é', 'z', 'Z'])
[std.asciiUpper('aé😀z'), std.substr('aé😀z', 1, 2), std.findSubstr('é', 'éaé'), std.split('aéb', 'é')]
'abc'[1.5]
'abc'[3]
[1, 2][-1]
[1, 2][0.5]
'abc'['a']
// Numbers.
[-0, 0, -0.0, 1e21, 1e20, 123456789012345678901234, 1e-7, 0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]
1e309
1.7976931348623157e308 * 10
-1.7976931348623157e308 - 1.7976931348623157e308
[1 << 62, 1 << 63, 1 << 64, -1 >> 70, 5 >> 1, 1.9 << 1, ~5, ~-1.5, 7 & 3.7, 9007199254740991 | 0]
9007199254740992 & 1
1 << -1
-1 << 3
1 << 9007199254740992
5 % 0
5 / 0
[5 % 3, -5 % 3, 5 % -3, 5.5 % 2]
[-0 == 0, 1 == 1.0, '1' == 1, [] == {}, null == false]
// Slices.
[[1, 2, 3, 4][1:], [1, 2, 3][:-1], [1, 2, 3, 4][::2], [1, 2, 3][-2:], 'abcé'[1:3], 'abc'[:], [1, 2, 3][5:], [1, 2, 3][2:1]]
[1, 2, 3][::-1]
[1, 2, 3][::0]
[1, 2, 3][null:2:null]
[1, 2, 3]['a':]
{}[1:2]
// Formatting.
['%5d|%-5d|%05d|%+d|% d|%x|%#x|%X|%o|%#o' % [1, 2, 3, 4, 5, 255, 255, 255, 8, 8]]
['%e|%.0e|%#.0e|%E|%g|%G|%.3g|%g|%g' % [12345.678, 5, 5, 1e-10, 1e10, 1e-5, 1234.5, 0.0001, 100000]]
['%.G' % 1e21, '%.0g' % 0.5, '%+.g' % 12345]
['%s %s %s' % [null, { a: [1] }, 'é'], '%c%c' % [233, 'x'], '%%' % [], '%5s|%-5s|' % ['é', 'é']]
'%(a)s %(b)05.1f %%' % { a: [1], b: 2.25 }
'%(a)s' % { b: 1 }
'%(a)s' % [1]
'%s' % { a: 1 }
'%*.*f' % [8, 2, 3.14159]
'%(a)*d' % { a: 1 }
'%d' % 'x'
'%d %d' % [1]
'%d' % [1, 2]
'%y' % 1
'%' % 1
'%5' % 1
'%c' % 'ab'
// The library.
std.sort([3, 'a'])
std.sort([[2, 1], [1], [1, 0]])
std.sort([3, 1, 2], function(x) error 'key ' + x)
std.set(['b', 'a', 'B'], std.asciiLower)
std.setUnion([{ k: 1 }], [{ k: 0 }, { k: 2 }], function(o) o.k)
std.setMember('a', ['a', error 'not needed'])
std.foldl(function(a, x) a + x, [1, error 'x'], 0)
std.map(function(x) error 'lazy', [1, 2])[0:1] == []
std.length(std.map(function(x) error 'lazy', [1, 2]))
std.filter(function(x) 1, [1])
std.join(',', ['a', 1])
std.manifestYamlDoc({ a: [], b: {}, c: [[1, [2]], { d: 1 }], 'e f': 'x\ny', g: 'x\ny\n', '1': null, yes: true }, true, false)
std.manifestYamlStream([{ a: 1 }, [1]], c_document_end=false, quote_keys=false)
std.manifestYamlStream([1], 1, true, error 'quote_keys')
std.manifestJsonEx({ a: [1, {}], b: 'é\u2028<>&\u007f' }, '  ', ' ', '=')
std.manifestJsonMinified({ a: [], b: function(x) x })
std.manifestTomlEx({ a: 1, b: { c: [{ d: 1 }, { e: [1, 2] }] }, 'f g': '"' }, '  ')
std.manifestIni({ main: { a: [1, 2] }, sections: { s: { b: 'x' } } })
std.manifestPython({ a: [true, null, 1.5, 'é"'] })
std.manifestXmlJsonml(['a', { b: 'c' }, 'd', ['e']])
std.parseYaml('a: 1\n---\nb: 2\n')
[std.parseYaml(s) for s in ['', '1', '~', 'yes', '0x1f', '010', '1e3', '.inf', '2001-01-01', '"a"', "'b'", '- 1\n- a', '{a: 1}', '--- 1', '|\n a\n b\n', 'a: !!str 1']]
std.parseJson('{"a": 1, "a": 2, "b": [1.0, -0, 1e400]}')
std.parseJson('{"a": "\\ud800", "b": "\\u0000"}')
std.parseJson('{')
std.prune({ a: null, b: [], c: { d: {} }, e: [null, 1] })
std.mergePatch({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: null, e: { f: null } }, d: [1] })
std.assertEqual({ a: 1 }, { a: 2 })
std.thisFile
std.extVar('none')
error { a: [1, 'x'] }
assert 1 == 2; 3
assert 1 == 2 : 'message'; 3
if 1 then 2
!1
-'a'
1 + null
null + (null)
{} + 1
[] + 1
true && 1
1 || true
function(x) x
{ a: function(x) x }
[function(x) x]
import 'missing'
`

func TestEvaluate_AgreesOnCases(t *testing.T) {
	e := eval.New(eval.Options{})
	n := 0
	for line := range strings.Lines(cases) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		n++
		if _, same := agree(t, e, jsonnet.Job{Entry: source("case", line), Importer: &files{}}); !same {
			t.Log(line)
		}
	}
	t.Logf("%d cases", n)
}

func TestEvaluate_AgreesAcrossFiles(t *testing.T) {
	e := eval.New(eval.Options{})
	texts := map[string]string{
		"lib.libsonnet":   `{ file: std.thisFile, f(x):: error 'in f: ' + x, g(x):: std.map(function(y) y.a, x), o:: { assert self.n > 1 : 'n is small', n: 1 }, inner: import 'inner.libsonnet' }`,
		"inner.libsonnet": `{ file: std.thisFile, up:: (import 'lib.libsonnet').file }`,
		"syntax.jsonnet":  "{\n  a: 1,\n  b: [1, 2\n}",
		"static.jsonnet":  "{\n  a: unknown\n}",
		"data.json":       `{"a": [1, {"b": null}], "c": "é"}`,
		"broken.json":     `{"a": [1, }`,
		"text":            "é\n",
	}
	for _, program := range []string{
		`local l = import 'lib.libsonnet'; [l.file, l.inner.file, l.inner.up, std.thisFile]`,
		`(import 'lib.libsonnet').f(1)`,
		`local l = import 'lib.libsonnet'; l.g([{ a: 1 }, { b: 2 }])`,
		`local l = import 'lib.libsonnet'; l { n: l.o.n }`,
		`local l = import 'lib.libsonnet'; l.o { n: 2 }`,
		`local l = import 'lib.libsonnet'; std.sort([l.o, l.o], function(o) o.n)`,
		`{ a: import 'syntax.jsonnet' }`,
		`{ a: [import 'static.jsonnet'] }`,
		`(import 'data.json') + { a+: [2] }`,
		`import 'broken.json'`,
		`[importstr 'text', importbin 'text', std.length(importstr 'text')]`,
		`importstr 'missing'`,
		`local a = import 'lib.libsonnet', b = import 'lib.libsonnet'; a == b`,
	} {
		agree(t, e, jsonnet.Job{Entry: source("main.jsonnet", program), Importer: &files{texts: texts}})
	}
}
