package expression

import (
	"strings"
	"testing"
)

func TestHolds(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"generation": int64(2)},
		"status": map[string]any{
			"phase": "Ready", "observedGeneration": int64(2),
			"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
		},
		"data": map[string]any{"password": "hunter2"},
	}
	for name, c := range map[string]struct {
		source string
		want   bool
		err    string
	}{
		"a field":                 {source: "status.phase == 'Ready'", want: true},
		"numbers":                 {source: "metadata.generation == status.observedGeneration", want: true},
		"conditions":              {source: "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", want: true},
		"no":                      {source: "status.phase == 'Failed'"},
		"functions of Flux":       {source: "status.phase.lowerAscii() == 'ready' && sets.contains([1, 2], [2])", want: true},
		"optional field":          {source: "status.?missing.orValue('x') == 'x'", want: true},
		"missing field":           {source: "status.missing == 'x'", err: "there is no missing"},
		"missing top":             {source: "nothing.at.all", err: "there is no nothing.at.all"},
		"not a bool":              {source: "status.phase", err: "its value is neither true nor false"},
		"wrong type":              {source: "status.phase + 1 == 2", err: "a value is of another type than is expected"},
		"conversion tells":        {source: "int(data.password) == 1", err: "it cannot be evaluated"},
		"computed key tells":      {source: "status[data.password + '!'] == 1", err: "it cannot be evaluated"},
		"a result that is a type": {source: "type(status)", err: "its value is neither true nor false"},
	} {
		t.Run(name, func(t *testing.T) {
			condition, err := Compile(c.source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := condition.Holds(t.Context(), object)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if got != c.want || message != c.err {
				t.Errorf("%v, %q, want %v, %q", got, message, c.want, c.err)
			}
			if strings.Contains(message, "hunter2") {
				t.Error("the error tells a value")
			}
		})
	}
}

func TestHolds_CostIsLimited(t *testing.T) {
	many := make([]any, 2000)
	for i := range many {
		many[i] = int64(i)
	}
	condition, err := Compile("spec.all.all(a, spec.all.all(b, spec.all.all(c, a + b + c >= 0)))")
	if err != nil {
		t.Fatal(err)
	}
	_, err = condition.Holds(t.Context(), map[string]any{"spec": map[string]any{"all": many}})
	if err == nil || err.Error() != "it costs too much" {
		t.Errorf("error = %v, want that it costs too much", err)
	}
}

func TestCompile_RefusesWhatIsNoExpression(t *testing.T) {
	for name, source := range map[string]string{
		"empty": "", "syntax": "status.", "too long": strings.Repeat("a", maxLength+1), "deep": strings.Repeat("(", 2000),
	} {
		if _, err := Compile(source); err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q has several lines", name, err)
		}
	}
}
