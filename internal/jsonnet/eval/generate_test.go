package eval_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes random programs. They may fail, but they end: nothing in them is recursive but what std does.
type generator struct {
	r     *rand.Rand
	vars  []string
	inObj int
	next  int
}

func newGenerator(seed uint64) *generator {
	return &generator{r: rand.New(rand.NewPCG(seed, 7))}
}

func (g *generator) pick(choices ...string) string { return choices[g.r.IntN(len(choices))] }

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g *generator) fresh() string {
	g.next++
	return fmt.Sprintf("v%d", g.next)
}

// within writes with more variables in scope.
func (g *generator) within(vars []string, f func() string) string {
	n := len(g.vars)
	g.vars = append(g.vars, vars...)
	defer func() { g.vars = g.vars[:n] }()
	return f()
}

// expr writes an expression, of the wanted type more often than not.
func (g *generator) expr(want string, depth int) string {
	if g.chance(8) || want == "any" {
		want = g.pick("num", "num", "str", "str", "bool", "arr", "obj", "fun", "null")
	}
	if depth <= 0 {
		return g.leaf(want)
	}
	if g.chance(25) {
		return g.control(want, depth-1)
	}
	switch want {
	case "num":
		return g.number(depth - 1)
	case "str":
		return g.str(depth - 1)
	case "bool":
		return g.boolean(depth - 1)
	case "arr":
		return g.array(depth - 1)
	case "obj":
		return g.object(depth - 1)
	case "fun":
		return g.function(1+g.r.IntN(2), depth-1)
	}
	return g.leaf(want)
}

func (g *generator) leaf(want string) string {
	if len(g.vars) > 0 && g.chance(35) {
		return g.vars[g.r.IntN(len(g.vars))]
	}
	if g.inObj > 0 && g.chance(6) {
		return g.pick("self", "self.a", "self.b", "super.a", "$", "$.a", `"a" in super`, "super['b']")
	}
	switch want {
	case "num":
		return g.pick("0", "1", "2", "3", "-1", "7", "0.5", "1e3", "1.25", "100", "-0", "9007199254740993", "1e-7", "255", "3.7")
	case "str":
		return g.pick(`""`, `"a"`, `"abc"`, `'é€😀'`, `"a b"`, `"%s"`, `"%d-%5.2f"`, `"1"`, `"true"`, `"x\ny"`, `"x\n"`, `"é\u0001\u007f"`,
			`"a,b,c"`, `"AbC"`, `"  pad "`, `"%(a)s %(b)05d"`, `"{\"a\": [1, 2]}"`, `"a: 1\nb: [x, y]"`, `"Zm9v"`, `"-"`, `"0x1F"`, `@'\n'`)
	case "bool":
		return g.pick("true", "false")
	case "arr":
		return g.pick("[]", "[1, 2, 3]", `["a", "b"]`, "[null]", "[3, 1, 2, 1]", `[[1], [2, 3], []]`, "[true, false]", `["b", "a", "b"]`)
	case "obj":
		return g.pick("{}", "{a: 1}", "{a: 1, b:: 2}", `{a: "x", b: {c: null}}`, "{a+: 1}", "{b: self.a, a: 3}", `{"a b": 1, "": 2}`)
	case "fun":
		return g.pick("function(x) x", "function(x, y=1) y", "function(x) x + 1", "std.length", "function(a, b) a + b", "function(x) true", "function(x) x == 1")
	}
	return "null"
}

func (g *generator) control(want string, depth int) string {
	switch g.r.IntN(9) {
	case 0:
		return fmt.Sprintf("(if %s then %s else %s)", g.expr("bool", depth), g.expr(want, depth), g.expr(want, depth))
	case 1, 2:
		a, b := g.fresh(), g.fresh()
		return g.within([]string{a, b}, func() string {
			n := len(g.vars)
			init := g.within(nil, func() string { g.vars = g.vars[:n-2]; return g.expr("any", depth) })
			g.vars = append(g.vars[:n-2], a, b)
			return fmt.Sprintf("(local %s = %s, %s = %s; %s)", a, init, b, g.expr("any", depth-1), g.expr(want, depth))
		})
	case 3:
		f := g.fresh()
		p, q := g.fresh(), g.fresh()
		body := g.within([]string{p, q}, func() string { return g.expr(want, depth) })
		call := g.pick("%s(%s, %s)", "%[1]s(%[3]s, %[2]s)", "%s(%s, %s) tailstrict", "%s("+q+"=%s, "+p+"=%s)", "%s(%s)", "%[1]s(%[2]s, "+q+"=%[3]s)")
		if !strings.Contains(call, "[3]") && strings.Count(call, "%s") == 2 {
			call += "%.0s"
		}
		return fmt.Sprintf("(local %s(%s, %s=%s) = %s; "+call+")", f, p, q, g.expr("any", 0), body, f, g.expr("any", depth), g.expr("any", depth-1))
	case 4:
		return fmt.Sprintf("(assert %s : %s; %s)", g.expr("bool", depth-1), g.expr("str", 0), g.expr(want, depth))
	case 5:
		return fmt.Sprintf("(error %s)", g.expr(g.pick("str", "any"), depth-1))
	case 6:
		return fmt.Sprintf("%s.%s", g.expr("obj", depth), g.pick("a", "b", "c"))
	case 7:
		return fmt.Sprintf("%s[%s]", g.expr("arr", depth), g.expr("num", 0))
	default:
		return fmt.Sprintf("(%s)(%s)", g.expr("fun", depth), g.expr("any", depth-1))
	}
}

func (g *generator) number(depth int) string {
	switch g.r.IntN(4) {
	case 0:
		op := g.pick("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
		return fmt.Sprintf("(%s %s %s)", g.expr("num", depth), op, g.expr("num", depth))
	case 1:
		return fmt.Sprintf("%s%s", g.pick("-", "+", "~"), g.expr("num", depth))
	}
	return g.call(depth, numberCalls)
}

func (g *generator) str(depth int) string {
	switch g.r.IntN(4) {
	case 0:
		return fmt.Sprintf("(%s + %s)", g.expr("str", depth), g.expr("any", depth))
	case 1:
		return fmt.Sprintf("(%s %% %s)", g.pick(`"%s"`, `"%5d"`, `"%-7s|"`, `"%x %X %#x"`, `"%o"`, `"%e"`, `"%g"`, `"%08.3f"`, `"%c"`, `"%+d % d"`, `"%(a)s"`, `"%*d"`, `"%.3s"`, `"%5.1e"`, `"%#.0f"`, `"%%"`, `"%#g"`),
			g.expr(g.pick("num", "arr", "str", "obj"), depth))
	}
	return g.call(depth, stringCalls)
}

func (g *generator) boolean(depth int) string {
	switch g.r.IntN(4) {
	case 0:
		op := g.pick("==", "!=", "<", "<=", ">", ">=")
		kind := g.pick("num", "str", "arr", "any")
		return fmt.Sprintf("(%s %s %s)", g.expr(kind, depth), op, g.expr(kind, depth))
	case 1:
		return fmt.Sprintf("(%s %s %s)", g.expr("bool", depth), g.pick("&&", "||"), g.expr("bool", depth))
	case 2:
		return "!" + g.expr("bool", depth)
	}
	return g.call(depth, boolCalls)
}

func (g *generator) array(depth int) string {
	switch g.r.IntN(5) {
	case 0:
		var elems []string
		for range g.r.IntN(4) {
			elems = append(elems, g.expr("any", depth))
		}
		return "[" + strings.Join(elems, ", ") + "]"
	case 1:
		v := g.fresh()
		in := g.expr("arr", depth)
		return g.within([]string{v}, func() string {
			cond := ""
			if g.chance(40) {
				cond = " if " + g.expr("bool", depth-1)
			}
			if g.chance(30) {
				cond += fmt.Sprintf(" for %s in %s", v, g.expr("arr", depth-1))
			}
			return fmt.Sprintf("[%s for %s in %s%s]", g.expr("any", depth), v, in, cond)
		})
	case 2:
		return fmt.Sprintf("(%s + %s)", g.expr("arr", depth), g.expr("arr", depth))
	case 3:
		return fmt.Sprintf("%s[%s:%s:%s]", g.expr(g.pick("arr", "arr", "str"), depth), g.pick("", "0", "1", "-2", "5"), g.pick("", "1", "2", "-1"), g.pick("", "1", "2"))
	}
	return g.call(depth, arrayCalls)
}

func (g *generator) object(depth int) string {
	switch g.r.IntN(6) {
	case 0, 1:
		return g.fields(depth)
	case 2:
		return fmt.Sprintf("(%s + %s)", g.expr("obj", depth), g.expr("obj", depth))
	case 3:
		return fmt.Sprintf("(%s %s)", g.expr("obj", depth), g.fields(depth))
	case 4:
		v := g.fresh()
		in := g.expr("arr", depth-1)
		return g.within([]string{v}, func() string {
			g.inObj++
			defer func() { g.inObj-- }()
			return fmt.Sprintf("{[%s]: %s for %s in %s}", g.pick("std.toString("+v+")", v, "'k' + "+v, "null"), g.expr("any", depth), v, in)
		})
	}
	return g.call(depth, objectCalls)
}

func (g *generator) fields(depth int) string {
	g.inObj++
	defer func() { g.inObj-- }()
	var local []string
	var parts []string
	if g.chance(30) {
		local = append(local, g.fresh())
	}
	return g.within(local, func() string {
		for _, v := range local {
			parts = append(parts, fmt.Sprintf("local %s = %s", v, g.expr("any", depth-1)))
		}
		names := []string{"a", "b", "c", "'d e'"}
		g.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names[:g.r.IntN(4)] {
			if g.chance(15) {
				name = "['" + strings.Trim(name, "'") + "']"
			}
			parts = append(parts, name+g.pick(":", ":", ":", "::", ":::", "+:", "+::")+" "+g.expr("any", depth))
		}
		if g.chance(12) {
			parts = append(parts, fmt.Sprintf("assert %s : 'assertion'", g.expr("bool", depth-1)))
		}
		if g.chance(10) {
			p := g.fresh()
			parts = append(parts, fmt.Sprintf("m(%s):: %s", p, g.within([]string{p}, func() string { return g.expr("any", depth-1) })))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	})
}

func (g *generator) function(params, depth int) string {
	names := make([]string, params)
	for i := range names {
		names[i] = g.fresh()
	}
	return g.within(names, func() string {
		return fmt.Sprintf("(function(%s) %s)", strings.Join(names, ", "), g.expr("any", depth))
	})
}

// call writes a call from a table: a name and the types of its arguments.
func (g *generator) call(depth int, table []string) string {
	parts := strings.FieldsFunc(table[g.r.IntN(len(table))], func(r rune) bool { return r == ' ' || r == ',' })
	var args []string
	for _, kind := range parts[1:] {
		switch kind {
		case "fun1", "fun2":
			if g.chance(60) {
				args = append(args, g.function(int(kind[3]-'0'), depth))
				continue
			}
			kind = "fun"
		}
		args = append(args, g.expr(kind, depth))
	}
	return "std." + parts[0] + "(" + strings.Join(args, ", ") + ")"
}

var numberCalls = []string{
	"length any", "abs num", "sign num", "max num,num", "min num,num", "floor num", "ceil num", "round num", "sqrt num", "pow num,num", "exp num", "log num",
	"mod num,num", "modulo num,num", "codepoint str", "parseInt str", "parseHex str", "parseOctal str", "sum arr", "avg arr", "count arr,any", "foldl fun2,arr,num",
	"foldr fun2,arr,num", "minArray arr", "maxArray arr", "clamp num,num,num", "mantissa num", "exponent num", "hypot num,num", "atan2 num,num", "log2 num", "log10 num",
	"deg2rad num", "rad2deg num", "trace str,num", "id any", "__compare any,any", "minArray arr,fun1", "maxArray arr,fun1", "sin num",
}

var stringCalls = []string{
	"toString any", "substr str,num,num", "join str,arr", "lines arr", "asciiUpper str", "asciiLower str", "strReplace str,str,str", "char num", "type any", "md5 str", "sha1 str", "sha256 str",
	"base64 str", "base64Decode str", "escapeStringJson any", "escapeStringBash any", "escapeStringDollars any", "escapeStringPython str", "escapeStringXML any", "manifestJson any",
	"manifestJsonMinified any", "manifestJsonEx any,str", "manifestYamlDoc any", "manifestYamlDoc any,bool,bool", "manifestYamlStream arr", "manifestYamlStream arr,bool,bool", "manifestPython any", "manifestPythonVars obj",
	"manifestToml obj", "manifestTomlEx obj,str", "manifestIni obj", "manifestXmlJsonml arr", "format str,any", "repeat str,num", "stripChars str,str", "lstripChars str,str", "rstripChars str,str", "trim str", "resolvePath str,str",
	"deepJoin any", "flatMap fun1,str", "decodeUTF8 arr", "sha512 str", "sha3 str", "foldl fun2,str,str",
}

var boolCalls = []string{
	"isString any", "isNumber any", "isArray any", "isObject any", "isFunction any", "isBoolean any", "isNull any", "isEven num", "isOdd num", "isInteger num", "isDecimal num", "startsWith str,str",
	"endsWith str,str", "isEmpty str", "member arr,any", "member str,str", "contains arr,any", "all arr", "any arr", "objectHas obj,str", "objectHasAll obj,str", "setMember any,arr", "xor bool,bool", "xnor bool,bool",
	"equals any,any", "primitiveEquals any,any", "assertEqual any,any", "equalsIgnoreCase str,str", "objectHasEx obj,str,bool", "__array_less arr,arr",
}

var arrayCalls = []string{
	"map fun1,arr", "map fun1,str", "filter fun1,arr", "mapWithIndex fun2,arr", "flatMap fun1,arr", "filterMap fun1,fun1,arr", "range num,num", "makeArray num,fun1", "reverse arr", "sort arr", "sort arr,fun1", "uniq arr", "uniq arr,fun1", "set arr",
	"set arr,fun1", "setUnion arr,arr", "setInter arr,arr", "setDiff arr,arr", "setUnion arr,arr,fun1", "setInter arr,arr,fun1", "setDiff arr,arr,fun1", "join arr,arr", "flattenArrays arr", "flattenDeepArray any", "repeat arr,num", "split str,str", "splitLimit str,str,num", "splitLimitR str,str,num",
	"stringChars str", "findSubstr str,str", "find any,arr", "remove arr,any", "removeAt arr,num", "slice any,num,num,num", "objectFields obj", "objectFieldsAll obj", "objectValues obj", "objectValuesAll obj", "objectKeysValues obj", "objectKeysValuesAll obj",
	"encodeUTF8 str", "base64DecodeBytes str", "prune arr", "parseJson str", "parseYaml str", "lines arr",
}

var objectCalls = []string{
	"mapWithKey fun2,obj", "mergePatch obj,obj", "mergePatch any,any", "prune obj", "prune any", "objectRemoveKey obj,str", "get obj,str", "get obj,str,any", "get obj,str,any,bool", "parseJson str", "parseYaml str", "foldl fun2,arr,obj",
}
