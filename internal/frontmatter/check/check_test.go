package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

func summary(all []Diagnostic) []string {
	var got []string
	for _, d := range all {
		at := d.File.Position(d.Span.Start)
		got = append(got, fmt.Sprintf("%s:%d:%d %s %s", filepath.Base(d.Path), at.Line, at.Column, d.Rule, d.Message))
	}
	return got
}

// TestRun_FromAnyFolder: the verdict, messages and order included, does not depend on the working folder or on how
// the path is written.
func TestRun_FromAnyFolder(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "p/frontmatter.yaml"), "sqlRoot: sql\n")
	write(t, filepath.Join(root, "p/sql/a/findX.sql"), "-- nmame: x\nselect 1; select 2; select ?")
	write(t, filepath.Join(root, "p/sql/a.sql"), "-- name: findX\n-- repository: ARepository\nselect 1")
	write(t, filepath.Join(root, "p/sql/b/listX.sql"), "select 1")
	var want []string
	for _, from := range []struct{ dir, path string }{
		{"p", "."}, {"", "p"}, {"p/sql/a", "../.."}, {"p/sql", ".."}, {"p/sql/b", filepath.Join(root, "p")}, {"p/sql/a", "../../../p/sql"},
	} {
		result, err := Run(t.Context(), Options{Paths: []string{from.path}, Dir: filepath.Join(root, from.dir)})
		if err != nil {
			t.Fatal(err)
		}
		got := summary(result.Diagnostics)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 4 {
			t.Errorf("from %q, %d diagnostics of %q (-want +got):\n%s", from.dir, len(got), from.path, diff)
		}
	}
}

func TestStatement_SettingsAndDefaults(t *testing.T) {
	tests := []struct{ why, path, sql, want string }{
		{"a prefix ends at a capital", "findUser.sql", "select 1", "findUser reading multiple Repository"},
		{"a prefix ends at an underscore", "insert_user.sql", "insert", "insert_user writing none Repository"},
		{"a prefix is a whole word", "getaway.sql", "-- type: calling\nselect 1", "getaway calling single Repository"},
		{"writing is tried before reading", "addFind.sql", "insert", "addFind writing none Repository"},
		{"folders make packages and a class", "user/vips/findX.sql", "select 1", "findX reading multiple user.VipsRepository"},
		{"a folder with hyphens", "my-users/findX.sql", "select 1", "findX reading multiple MyUsersRepository"},
		{"a short repository", "a/findX.sql", "-- repository: Users\nselect 1", "findX reading multiple Users"},
		{"an OUT parameter returns none", "callX.sql", "-- parameters:\n--   - {name: a, variant: OUT}\ncall x(:a)", "callX calling none Repository a:/OUT"},
		{"declared parameters come first", "findX.sql", "-- parameters: {b: long, a: }\nselect :c, :a, :b, :c", "findX reading multiple Repository b:long/ a:/ c:/"},
		{"a variant selects nothing", "findX.sql", "-- vendor: H2\nselect 1", "findX reading multiple Repository H2"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			f := File(statement.NewProject("."), source.NewFile(tt.path, tt.sql), tt.path)
			if len(f.Findings) > 0 || len(f.Statements) != 1 {
				t.Fatalf("findings %+v, %d statements", f.Findings, len(f.Statements))
			}
			s := f.Statements[0]
			got := []string{s.Name.Text, s.Type, s.Returning, s.Repository.Text}
			if s.Vendor != "" {
				got = append(got, s.Vendor)
			}
			for _, p := range s.Parameters {
				got = append(got, p.Name+":"+p.Type+"/"+p.Variant)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVariants_InheritAndConflict(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.sql"), "-- name: findX\n-- returning: single\n-- parameters: {id: long}\nselect :id;\n")
	write(t, filepath.Join(dir, "b.sql"), "-- name: findX\n-- vendor: H2\nselect :id;\n-- name: findX\n-- vendor: Oracle\n-- parameters: {id: int}\nselect :id;\n-- name: findX\n-- vendor: H2\nselect 1")
	result, err := Run(t.Context(), Options{Paths: []string{dir}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"b.sql:1:10 duplicate-name Repository has another variant of findX for H2, at b.sql:8:10",
		"b.sql:8:10 duplicate-name Repository has another variant of findX for H2, at b.sql:1:10",
	}
	if diff := cmp.Diff(want, summary(result.Diagnostics)); diff != "" {
		t.Errorf("two for one vendor (-want +got):\n%s", diff)
	}
	write(t, filepath.Join(dir, "b.sql"), "-- name: findX\n-- vendor: H2\nselect :id;\n-- name: findX\n-- vendor: Oracle\n-- parameters: {id: int}\nselect :id;\n")
	if result, err = Run(t.Context(), Options{Paths: []string{dir}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	want = []string{
		"a.sql:3:4 variant-conflict the variants of findX differ in parameters, see b.sql:6:4; write it once, or the same in both",
		"b.sql:6:4 variant-conflict the variants of findX differ in parameters, see a.sql:3:4; write it once, or the same in both",
	}
	if diff := cmp.Diff(want, summary(result.Diagnostics)); diff != "" {
		t.Errorf("a conflict (-want +got):\n%s", diff)
	}
}

// TestInjection_ConflictsInOneRepository: what is said about the same converter of the same class is the same.
func TestInjection_ConflictsInOneRepository(t *testing.T) {
	statement := func(name, more string) string { return "-- name: " + name + "\n" + more + "select 1;\n" }
	const yes, no = "-- injectConverters: true\n", "-- injectConverters: false\n"
	const named, mapped = "-- resultRowConverter: a.UserConverter\n", "-- resultRowConverter: {alias: %, converterType: a.UserConverter, methodName: m, resultType: string}\n"
	const record, columns = "-- resultRowType: a.User\n", "-- resultRowType: a.User\n-- resultRowColumns: {id: user_id}\n"
	aliased := func(alias string) string { return strings.ReplaceAll(mapped, "%", alias) }
	for name, test := range map[string]struct {
		sql  string
		want bool
	}{
		"maps":                         {statement("findA", yes) + statement("findB", no), true},
		"one says nothing":             {statement("findA", yes) + statement("findB", "") + statement("findC", yes), false},
		"one has no rows":              {statement("findA", yes) + statement("findB", no+"-- returning: none\n"), false},
		"one has no converter":         {statement("findA", yes) + statement("findB", no+"-- resultRowType: string\n"), false},
		"one record":                   {statement("findA", yes+record) + statement("findB", record+no), true},
		"other columns":                {statement("findA", yes+record) + statement("findB", columns+no), false},
		"a record and maps":            {statement("findA", yes+record) + statement("findB", no), false},
		"one converter, one alias":     {statement("findA", yes+named) + statement("findB", no+aliased("userConverter")), true},
		"one converter, two aliases":   {statement("findA", yes+named) + statement("findB", no+aliased("other")), false},
		"two repositories":             {statement("findA", yes) + statement("findB", "-- repository: a.B\n"+no), false},
		"written by a variant":         {statement("findA", yes) + statement("findB", "-- vendor: H2\n") + statement("findB", no), true},
		"the type by another variant":  {statement("findA", yes+record) + statement("findB", record) + statement("findB", "-- vendor: H2\n"+no), true},
		"all say the same, three ways": {statement("findA", yes) + statement("findB", yes) + statement("findC", yes), false},
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for _, d := range run(t, Example{SQL: test.sql}) {
				if d.Rule != RuleInjection || len(d.Related) != 1 || d.Related[0].Span == d.Span {
					t.Errorf("%s: %s, %d other places", d.Rule, d.Message, len(d.Related))
				}
				found++
			}
			if want := map[bool]int{true: 2}[test.want]; found != want {
				t.Errorf("%d findings, want %d", found, want)
			}
		})
	}
}

func TestGlobs(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"**/*.sql", "a.sql", true},
		{"**/*.sql", "a/b/c.sql", true},
		{"*.sql", "a/b.sql", false},
		{"a/**", "a/b/c.sql", true},
		{"a/**/c.sql", "a/c.sql", true},
		{"./a/?.sql", "a/b.sql", true},
		{"a.sql", "axsql", false},
		{"(a|b).sql", "a.sql", false},
	}
	for _, tt := range tests {
		if got := compileGlobs([]string{tt.pattern}).match(tt.path); got != tt.want {
			t.Errorf("%s matches %s: %v, want %v", tt.pattern, tt.path, got, tt.want)
		}
	}
}

func TestInherit_CompletesVariants(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.sql"), "-- name: findX\n-- vendor: H2\nselect :more, :b, :a;\n")
	write(t, filepath.Join(dir, "b.sql"), "-- name: findX\n-- returning: single\n-- parameters: {a: long, b: uuid}\nselect :b, :a;\n")
	result, err := Run(t.Context(), Options{Paths: []string{filepath.Join(dir, "a.sql"), dir}, Dir: dir})
	if err != nil || len(result.Diagnostics) > 0 {
		t.Fatalf("%v, %v", err, summary(result.Diagnostics))
	}
	s := result.Files[0].Statements[0]
	got := s.Returning
	for _, p := range s.Parameters {
		got += " " + p.Name + ":" + p.Type
	}
	if diff := cmp.Diff("single a:long b:uuid more:", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzApply: fixes only fix. They never touch SQL, never write a key or a parameter twice, and come to an end.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		"-- Name: a\n-- returning: Single\nselect 1", "-- parameters: {usr: Strng}\nselect :user", "-- vendor: postgres\n-- \"tpye\": Reading\nselect 'x'",
		"-- nam3: a\n-- naem: b\n-- parameters: {usera: long, userb: long}\nselect :user", "-- Name: the list of users\nselect 1",
		"-- executeOnce: 'ture'\n-- execute-batch: falze\n/* Name: x */ select 1", "-- parameters:\n--   - Name: a\n--     sqltype: VARCHR\nselect :a",
	} {
		f.Add(seed)
	}
	project := statement.NewProject(".")
	f.Add("-- name: a\nselect :a; -- name: a\nselect :b")
	f.Fuzz(func(t *testing.T, text string) {
		before := File(project, source.NewFile("findX.sql", text), "findX.sql")
		Across(project, []*statement.File{before})
		for round := 0; ; round++ {
			fixed, n := Apply(before.Text, diagnostics(before))
			if n == 0 {
				return
			}
			if round > 20 {
				t.Fatal("fixing does not come to an end")
			}
			after := File(project, source.NewFile("findX.sql", fixed), "findX.sql")
			if len(after.Statements) != len(before.Statements) {
				t.Fatalf("%d statements become %d:\n%s", len(before.Statements), len(after.Statements), fixed)
			}
			if twice(after) > twice(before) {
				t.Fatalf("fixing writes something twice:\n%s", fixed)
			}
			for i, s := range before.Statements {
				if a := after.Statements[i]; a.Source.SQL.Text(fixed) != s.Source.SQL.Text(before.Text) {
					t.Fatalf("fixing changes SQL:\n%s", fixed)
				}
			}
			before = after
		}
	})
}

func twice(f *statement.File) int {
	n := 0
	for _, found := range f.Findings {
		if found.Rule == matter.RuleDuplicate || found.Rule == RuleParameterTwice {
			n++
		}
	}
	return n
}

func diagnostics(f *statement.File) []Diagnostic {
	var all []Diagnostic
	for _, finding := range f.Findings {
		all = append(all, Diagnostic{Finding: finding, File: f.File})
	}
	return Sort(all)
}

// TestRun_RefusesPipes: a pipe that nobody writes to would be waited for without an end.
func TestRun_RefusesPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "findX.sql")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	result, err := Run(t.Context(), Options{Paths: []string{pipe}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"findX.sql:1:1 unreadable the file cannot be read: it is not a regular file"}
	if diff := cmp.Diff(want, summary(result.Diagnostics)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRun_SurvivesHostileFiles: size, depth, bytes and links of a folder are whatever somebody put there.
func TestRun_SurvivesHostileFiles(t *testing.T) {
	dir := t.TempDir()
	hostile := map[string]string{
		"findDeep.sql":   "-- name: " + strings.Repeat("[", 30000) + "\nselect 1",
		"findFlow.sql":   "-- name: " + strings.Repeat("{a: ", 10000) + "\nselect 1",
		"findWide.sql":   "-- parameters:\n" + strings.Repeat("--   - {name: a}\n", 3000) + "select :a",
		"findLine.sql":   "select '" + strings.Repeat("x", 8<<20) + "', :a",
		"findMarks.sql":  strings.Repeat("?", 20000),
		"findBytes.sql":  "select \xff\xfe\x00",
		"findNul.sql":    "-- name: a\x00\nselect \x00",
		"findCommas.sql": strings.Repeat(";", 100000),
		"findNested.sql": strings.Repeat("/*", 100000),
		"findDollar.sql": strings.Repeat("$a", 100000),
		"findDashes.sql": strings.Repeat("--a: b\n\n", 10000),
		"findBlock.sql":  strings.Repeat("--a: b\n", 200000) + "select 1",
		"findKeys.sql":   "/*\n" + strings.Repeat(" name: x\n", 20000) + "*/ select 1",
		"findOnes.sql":   strings.Repeat("a;", 110000),
	}
	for name, text := range hostile {
		write(t, filepath.Join(dir, name), text)
	}
	hostile["findHuge.sql"] = "" // 100 MB without a line end
	write(t, filepath.Join(dir, "findHuge.sql"), "")
	if err := os.Truncate(filepath.Join(dir, "findHuge.sql"), 100_000_000); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Skip("no symlinks here")
	}
	if err := os.Symlink("/does/not/exist", filepath.Join(dir, "findBroken.sql")); err != nil {
		t.Fatal(err)
	}
	for _, dialect := range []string{"postgresql", "mysql"} {
		result, err := Run(t.Context(), Options{Paths: []string{dir}, Dir: dir, Overrides: Overrides{Dialect: dialect}})
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Files) != len(hostile) {
			t.Errorf("%d files read, want %d", len(result.Files), len(hostile))
		}
		rules := map[string]bool{}
		for _, d := range result.Diagnostics {
			rules[filepath.Base(d.Path)+" "+string(d.Rule)] = true
		}
		for _, want := range []string{"findDeep.sql front-matter-size", "findBytes.sql file-encoding", "findHuge.sql file-size", "findMarks.sql unnamed-parameter", "findMarks.sql too-many-findings", "findOnes.sql too-many-findings", "findBlock.sql front-matter-size"} {
			if !rules[want] {
				t.Errorf("%s: %s was not found", dialect, want)
			}
		}
	}
}
