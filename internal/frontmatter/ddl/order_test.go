package ddl

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInOrder(t *testing.T) {
	tests := map[string][]string{ // as they are to stand
		"versions are numbers":             {"V1__a.sql", "V2__a.sql", "V10__a.sql", "V20240101120000000000001__a.sql"},
		"parts of versions are numbers":    {"V1__z.sql", "V1.2__y.sql", "V1_10__x.sql", "V1.10.1__w.sql", "V2__a.sql"},
		"a part that is missing is zero":   {"V1.0__a.sql", "V1__b.sql", "V1.0.1__c.sql"},
		"leading zeros count for nothing":  {"V001__a.sql", "V2__a.sql", "V010__a.sql"},
		"versions count before folders":    {"z/V1__a.sql", "a/V2__a.sql", "m/V3__a.sql"},
		"one version in several folders":   {"a/V1__a.sql", "b/V1__a.sql"},
		"a baseline holds its version":     {"V1__a.sql", "V2__a.sql", "B2__all.sql", "V3__a.sql"},
		"repeatable ones are last":         {"b/V10__a.sql", "a/R__a.sql", "a/R__b2.sql", "a/R__b10.sql"},
		"others are first":                 {"schema/tables.sql", "migrations/V1__a.sql"},
		"numbers in any name":              {"1_users.sql", "2_tasks.sql", "10_more.sql", "part2/a.sql", "part10/a.sql"},
		"zeros decide last":                {"01.sql", "1.sql"},
		"a folder is before longer names":  {"db/b.sql", "db-old/a.sql"},
		"a single underscore is no prefix": {"V2_a.sql", "V10_a.sql", "V1__a.sql"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				mixed := append(append([]string(nil), want...), want[0]) // twice, by two patterns
				rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
				if diff := cmp.Diff(want, InOrder(mixed)); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestInOrder_LeavesOutWhatTakesMigrationsBack(t *testing.T) {
	got := InOrder([]string{"U1__users.sql", "V1__users.sql", "Users.sql", "U.sql"})
	if diff := cmp.Diff([]string{"U.sql", "Users.sql", "V1__users.sql"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
