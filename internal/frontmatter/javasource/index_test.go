package javasource

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// sources writes files into a folder of Java sources and returns their index.
func sources(t *testing.T, archive string) *Index {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return New([]string{filepath.Join(root, "none"), root})
}

// described writes a declaration down on a line for each thing it has.
func described(d *Declaration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", d.Kind, d.Name)
	for _, flag := range []struct {
		name string
		on   bool
	}{{"generic", d.Generic}, {"public", d.Public}, {"static", d.Static}, {"abstract", d.Abstract}, {"creatable", d.Creatable}} {
		if flag.on {
			b.WriteString(" " + flag.name)
		}
	}
	b.WriteString("\n")
	text := func(t Type) string {
		if t.Unresolved != "" {
			return t.String() + "?" + t.Unresolved
		}
		return t.String()
	}
	for _, c := range d.Components {
		fmt.Fprintf(&b, "  %s %s\n", c.Name, text(c.Type))
	}
	if d.Constants != nil {
		fmt.Fprintf(&b, "  constants %s\n", strings.Join(d.Constants, " "))
	}
	for _, m := range d.Methods {
		parts := []string{}
		for _, p := range m.Parameters {
			parts = append(parts, text(p))
		}
		static := ""
		if m.Static {
			static = "static "
		}
		fmt.Fprintf(&b, "  %s%s %s(%s)", static, text(m.Returns), m.Name, strings.Join(parts, ", "))
		for _, e := range m.Throws {
			b.WriteString(" throws " + text(e))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFind_ReadsDeclarations(t *testing.T) {
	tests := map[string]struct{ class, files, want string }{
		"record with imports, own package, java.lang and nested types": {
			class: "com.example.User",
			files: `
-- com/example/User.java --
package com.example;

import java.time.Instant;
import java.util.*;
import static java.util.Objects.requireNonNull;

/** A user { with braces; in a comment. */
@Deprecated(since = "2.0")
public record User(long id, String email, @Nullable Instant registered, UUID key, Address address, Status status,
                   List<? extends Address> old, int[] codes, String... tags) implements Comparable<User> {
    static final String TEXT = "}}} \" {";
    static final char BRACE = '{';
    static final String BLOCK = """
        } " {
        """;
    public User {
        requireNonNull(email);
    }
    public User(long id) { this(id, ""); }
    public enum Status { ACTIVE, GONE("x") { @Override int f() { return 1; } }; int f() { return 0; } }
    public int compareTo(User other) { return 0; }
}
-- com/example/Address.java --
package com.example;
record Address(String zip) {}
`,
			want: `a record com.example.User public static
  id long
  email java.lang.String
  registered java.time.Instant
  key java.util.UUID
  address com.example.Address
  status com.example.User.Status
  old java.util.List<? extends com.example.Address>
  codes int[]
  tags java.lang.String[]
  int compareTo(com.example.User)
`,
		},
		"nested enum": {
			class: "a.B.C",
			files: "-- a/B.java --\npackage a; class B { enum C { @X(1) ONE, TWO(2), THREE { }, ; private C() {} } }\n",
			want:  "an enum a.B.C static\n  constants ONE TWO THREE\n",
		},
		"interface members are public and static": {
			class: "a.I.R",
			files: "-- a/I.java --\npackage a; public interface I { record R(int x) {} default void f() {} }\n",
			want:  "a record a.I.R public static\n  x int\n",
		},
		"converter": {
			class: "a.UserConverter",
			files: `
-- a/UserConverter.java --
package a;
import java.sql.*;
public final class UserConverter {
    private final int x = f(new int[] {1, 2}, () -> { return 3; });
    { System.out.println("init"); }
    static { }
    public UserConverter() { super(); }
    UserConverter(int x) { }
    public User asUser(final ResultSet row) throws SQLException, java.io.IOException { if (row == null) { return null; } return x < 1 ? null : null; }
    String hidden() { return ""; }
    public static <T extends Comparable<T>> T generic(T t, java.util.Map<String, T[]> m) { return t; }
}
-- a/User.java --
package a;
public class User { private User(int x) {} public static User valueOf(String s) { return null; } int a[], b = 1; public int c()[] { return a; } }
`,
			want: `a class a.UserConverter public static creatable
  a.User asUser(java.sql.ResultSet) throws java.sql.SQLException throws java.io.IOException
  static T?T generic(T?T, java.util.Map<java.lang.String, T[]>?T)
`,
		},
		"class without a public constructor": {
			class: "a.User",
			files: "-- a/User.java --\npackage a;\npublic class User { private User(int x) {} public static User valueOf(String s) { return null; } public int c()[] { return a; } }\n",
			want:  "a class a.User public static" + "\n  static a.User valueOf(java.lang.String)\n  int[] c()\n",
		},
		"generic record": {
			class: "a.Pair",
			files: "-- a/Pair.java --\npackage a;\npublic record Pair<A extends Comparable<? super A> & java.io.Serializable, B>(A first, B second, Unknown x) {}\n",
			want:  "a record a.Pair generic public static\n  first A?A\n  second B?B\n  x Unknown?Unknown\n",
		},
		"record, sealed and permits as names": {
			class: "a.Odd",
			files: "-- a/Odd.java --\npackage a;\npublic sealed class Odd permits X { int record; String sealed; public int record(int record) { return record; } non-sealed static class N {} record R(int x) {} }\n",
			want:  "a class a.Odd public static creatable\n  int record(int)\n",
		},
		"unicode escapes": {
			class: "a.B",
			files: "-- a/B.java --\npackage a; record B(int gr\\u00f6sse, String t) { String s = \"\\\\u007d\"; }\n",
			want:  "a record a.B static\n  grösse int\n  t java.lang.String\n",
		},
		"class of the default package": {
			class: "B", files: "-- B.java --\nrecord B(C c) {}\nrecord C(int x) {}\n", want: "a record B static\n  c C\n",
		},
		"inner class that is not static": {
			class: "a.B.C", files: "-- a/B.java --\npackage a; public class B { public class C { } }\n", want: "a class a.B.C public\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := sources(t, tt.files).Find(tt.class)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, described(d)); diff != "" {
				t.Errorf("declaration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFind_UnknownClass(t *testing.T) {
	x := sources(t, "-- a/B.java --\npackage elsewhere; record B(int x) {}\n")
	for _, class := range []string{"a.B", "a.C", "", "a..b", strings.Repeat("x", 5000)} {
		if _, err := x.Find(class); !errors.Is(err, ErrNotFound) {
			t.Errorf("Find(%.20q) = %v, want not found", class, err)
		}
	}
}

func TestFind_FileThatIsNotUTF8(t *testing.T) {
	x := sources(t, "-- a/B.java --\npackage a; // \xff\nrecord B(int x) {}\n")
	if _, err := x.Find("a.B"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want an error about the encoding", err)
	}
}

// TestParseFile_DeepNesting: nesting that nobody writes neither exhausts the stack nor takes long.
func TestParseFile_DeepNesting(t *testing.T) {
	for name, text := range map[string]string{
		"classes":     strings.Repeat("class A {", 100_000),
		"braces":      "class A {" + strings.Repeat("{", 1_000_000),
		"types":       "record A(" + strings.Repeat("B<", 1_000_000),
		"annotations": strings.Repeat("@A(", 1_000_000),
		"dimensions":  "record A(int" + strings.Repeat("[]", 1_000_000) + " x) {}",
		"components":  "record A(" + strings.Repeat("int x, ", 100_000) + "int y) {}",
	} {
		t.Run(name, func(t *testing.T) {
			if f := parseFile("A.java", text); f == nil {
				t.Error("nothing read")
			}
		})
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add("package a; import b.*; public record R<T>(int x, List<? super T>[]... y) { enum E { A, B { } } class C { C() {} } }")
	f.Add("@interface A { int x() default 5; } interface I { static <T> T f(T t) throws X { } } class C { int x[] = {1}; }")
	f.Add("class C { String s = \"\"\"\n } \"\"\"; char c = '\\''; double d = 1e-5; int f(C this, @A int... x)[] { } }")
	f.Add("\\u0063lass C { non-sealed class D extends C implements E<F> {} }")
	f.Fuzz(func(t *testing.T, text string) {
		parsed := parseFile("A.java", text)
		x := New(nil)
		for _, d := range parsed.declarations {
			resolved := x.resolve(parsed, d)
			if resolved.Offset < 0 || resolved.Offset > len(text)*4 {
				t.Errorf("offset %d of %d", resolved.Offset, len(text))
			}
		}
	})
}
