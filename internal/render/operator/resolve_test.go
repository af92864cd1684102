package operator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
)

// holder has every ConfigMap and every Secret, each with one large value.
type holder struct {
	client.WithWatch
	value []byte
}

func (h holder) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch object := into.(type) {
	case *corev1.Secret:
		object.Data = map[string][]byte{"key": h.value}
	case *corev1.ConfigMap:
		object.BinaryData = map[string][]byte{"key": h.value}
	}
	return nil
}

// deaf watches nothing.
type deaf struct{}

func (deaf) Set(types.NamespacedName, []objectwatch.Need) bool { return true }

// TestResolve_VariablesOfOneKeyShareItsValue: a value of 1 MiB for each of 512 variables would not fit into the operator.
func TestResolve_VariablesOfOneKeyShareItsValue(t *testing.T) {
	t.Parallel()
	s := &scope{snippet: &renderv1.JsonnetSnippet{}}
	s.client = holder{value: []byte(strings.Repeat("x", 1<<20))}
	of := func(prefix string) (variables []renderv1.Variable) {
		ref := &renderv1.KeyReference{Name: "large", Key: "key"}
		for i := range 8 {
			variables = append(variables,
				renderv1.Variable{Name: fmt.Sprint(prefix, "s", i), ValueFrom: &renderv1.VariableSource{SecretKeyRef: ref}},
				renderv1.Variable{Name: fmt.Sprint(prefix, "c", i), ValueFrom: &renderv1.VariableSource{ConfigMapKeyRef: ref}})
		}
		return variables
	}
	s.snippet.Spec.ExternalVariables, s.snippet.Spec.TLAs = of("e"), of("t")
	if _, err := (&snippets{watches: deaf{}}).resolve(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	copies := map[*byte]bool{}
	for _, text := range s.secrets {
		copies[unsafe.StringData(text)] = true
	}
	for i := range 8 {
		for _, kind := range []string{"s", "c"} {
			copies[unsafe.StringData(s.external[fmt.Sprint("e", kind, i)].Text)] = true
			copies[unsafe.StringData(s.arguments[fmt.Sprint("t", kind, i)].Text)] = true
		}
	}
	if len(copies) != 2 || len(s.secrets) != 1 {
		t.Errorf("%d copies of two values, %d values of Secrets; want 2 and 1", len(copies), len(s.secrets))
	}
}
