package ddl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// dialect returns a dialect by its name.
func dialect(t testing.TB, name string) source.Dialect {
	t.Helper()
	d, ok := source.DialectNamed(name)
	if !ok {
		t.Fatalf("there is no dialect %q", name)
	}
	return d
}

// written writes the tables of a schema and the notes down.
func written(s *Schema) string {
	var names []string
	for name := range s.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		for _, table := range s.tables[name] {
			fmt.Fprintf(&b, "%s:\n", table.Name)
			for _, c := range table.Columns {
				null := ""
				if c.NotNull {
					null = " not null"
				}
				fmt.Fprintf(&b, "  %s %s%s\n", c.Name, c.Type, null)
			}
		}
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "note %s\n", n.Text)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	tests := map[string]struct{ dialect, sql, want string }{
		"columns and constraints": {"postgresql", `
create table if not exists public.users (
  id bigint generated always as identity primary key,
  "Email" character varying(100) not null check (length(email) > 3),
  price numeric(12, 2) default (1 + 2),
  at timestamp (3) with time zone not null default now(),
  t time without time zone,
  tags text[] not null default '{}',
  grid integer array[3],
  n serial,
  ref bigint references other (id) on delete set null,
  constraint pk unique (id), unique (email), foreign key (ref) references x (id), check (price > 0)
);`, `public.users:
  id bigint not null
  Email character varying(100) not null
  price numeric(12, 2)
  at timestamp with time zone(3) not null
  t time
  tags text[] not null
  grid integer[]
  n serial not null
  ref bigint
`},
		"primary key of several columns": {"standard", "create table t (a int, b int, c int, constraint x primary key (a, b));", "t:\n  a int not null\n  b int not null\n  c int\n"},
		"mysql": {
			"mysql", "create table `t` (`id` int unsigned not null auto_increment, b tinyint(1), c enum('a', 'b,c') not null, primary key (`id`), key `k` (`b`), unique key u (c)) engine=InnoDB;",
			"t:\n  id int unsigned not null\n  b tinyint(1)\n  c enum('a', 'b,c') not null\n",
		},
		"column called key": {"postgresql", "create table t (key varchar(10), index int);", "t:\n  key varchar(10)\n  index int\n"},
		"sqlserver":         {"sqlserver", "create table [dbo].[T] ([Id] int identity(1,1) not null, [Data] varbinary(max));", "dbo.T:\n  Id int not null\n  Data varbinary(max)\n"},
		"oracle":            {"oracle", "create table t (id number(10) not null, d double precision, x timestamp(6) with local time zone, y long raw);", "t:\n  id number(10) not null\n  d double precision\n  x timestamp with local time zone(6)\n  y long raw\n"},
		"alter": {"postgresql", `
create table t (a int, b int, c int not null, d int);
alter table only t add column e text not null, add f uuid, drop column if exists b, alter column a type bigint using a::bigint,
  alter column a set not null, alter column c drop not null, alter d set default 1;
alter table t rename column d to "D";
alter table if exists t rename to t2;
alter table t2 add primary key (f);
alter table t2 add constraint ck check (a > 1);
`, "t2:\n  a bigint not null\n  c int\n  D int\n  e text not null\n  f uuid not null\n"},
		"modify and change":         {"mysql", "create table t (a int, b int); alter table t modify column a bigint not null, change b c varchar(3), add (d int, e int);", "t:\n  a bigint not null\n  c varchar(3)\n  d int\n  e int\n"},
		"whole column anew":         {"sqlserver", "create table t (a int); alter table t alter column a bigint not null;", "t:\n  a bigint not null\n"},
		"like":                      {"postgresql", "create table t (a int not null); create table u (like t including all, b int);", "t:\n  a int not null\nu:\n  a int not null\n  b int\n"},
		"dropped and created again": {"standard", "create table t (a int); drop table if exists t; create table t (b int);", "t:\n  b int\n"},
		"other statements are noted": {
			"postgresql", "create index i on t (a); insert into t values (1, ':x'); create table x as select 1; alter table nowhere add a int; do $$ begin; end $$;",
			"note CREATE INDEX I\nnote INSERT INTO T\nnote CREATE TABLE X\nnote ALTER TABLE NOWHERE\nnote DO\n",
		},
		"broken": {"standard", "create table t (a int, b varchar(10", "t:\n  a int\n  b varchar(10)\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := NewSchema()
			s.Read(source.NewFile("schema.sql", tt.sql), source.Options{Dialect: dialect(t, tt.dialect)})
			if diff := cmp.Diff(tt.want, written(s)); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUses(t *testing.T) {
	s := NewSchema()
	s.Read(source.NewFile("schema.sql", "create table a.users (id int); create table b.users (id bigint); create table orders (id int); create table lines (id int); create table notes (users int)"),
		source.Options{Dialect: dialect(t, "postgresql")})
	tests := map[string]string{
		"select users from notes":                                                           "notes",
		"select * from users u, orders as o, lines where 1 = 1":                             "a.users b.users orders lines",
		"select * from a.users":                                                             "a.users",
		"select * from orders o join lines l on l.id = o.id":                                "orders lines",
		"insert into orders (id) select id from lines":                                      "orders lines",
		"update orders set id = 1 from lines":                                               "orders lines",
		"delete from only orders using lines":                                               "orders lines",
		"with x as (select 1 from lines) select extract(day from now()) from x, \"orders\"": "lines orders",
		"select ' from orders '":                                                            "",
	}
	for sql, want := range tests {
		var got []string
		for _, table := range s.Uses(sql, dialect(t, "postgresql")) {
			got = append(got, table.Name)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("Uses(%s) = %s, want %s", sql, text, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("create table t (a int, b varchar(10) not null, primary key (a)); alter table t add c int, drop b, rename a to x;")
	f.Add("create table `x` ([a] int[], like y); alter table x change a b int; alter table x alter column b type text[3];")
	f.Fuzz(func(_ *testing.T, sql string) {
		for _, d := range source.Dialects() {
			s := NewSchema()
			s.Read(source.NewFile("schema.sql", sql), source.Options{Dialect: d})
			s.Uses(sql, d)
		}
	})
}
