package inventory

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestID_String(t *testing.T) {
	for want, id := range map[string]ID{
		"shop_web_apps_Deployment":                                       {"shop", "web", "apps", "Deployment"},
		"shop_config__ConfigMap":                                         {"shop", "config", "", "ConfigMap"},
		"_shop__Namespace":                                               {"", "shop", "", "Namespace"},
		"_system:node_x_rbac.authorization.k8s.io_ClusterRole":           {"", "system:node_x", "rbac.authorization.k8s.io", "ClusterRole"},
		"shop__a__b__rbac.authorization.k8s.io_Role":                     {"shop", "_a__b_", "rbac.authorization.k8s.io", "Role"},
		"_a-b.c_apiextensions.k8s.io_CustomResourceDefinition":           {"", "a-b.c", "apiextensions.k8s.io", "CustomResourceDefinition"},
		"shop_system:controller:x_rbac.authorization.k8s.io_RoleBinding": {"shop", "system:controller:x", "rbac.authorization.k8s.io", "RoleBinding"},
		"shop_____ConfigMap":                                             {"shop", "__", "", "ConfigMap"},
	} {
		if got := id.String(); got != want {
			t.Errorf("id is %q, want %q", got, want)
		}
		if got, err := ParseID(want); err != nil || got != id {
			t.Errorf("reading %q: %+v, %v", want, got, err)
		}
	}
}

func TestID_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID{
			Namespace: rapid.StringMatching(`([a-z0-9][-a-z0-9]{0,10})?`).Draw(t, "namespace"),
			Name:      rapid.StringMatching(`[-_:.a-zA-Z0-9]{0,11}[-_:a-zA-Z0-9]`).Draw(t, "name"),
			Group:     rapid.StringMatching(`([a-z0-9][-.a-z0-9]{0,10}[a-z])?`).Draw(t, "group"),
			Kind:      rapid.StringMatching(`[A-Z][A-Za-z0-9]{0,10}`).Draw(t, "kind"),
		}
		got, err := ParseID(id.String())
		if err != nil || got != id {
			t.Fatalf("reading %q: %+v, %v; want %+v", id.String(), got, err, id)
		}
	})
}

func TestParseID_RefusesWhatNamesNoObject(t *testing.T) {
	for _, text := range []string{
		"", "a", "a_b", "a_b_c", "shop___ConfigMap", "shop_web_apps_", "../x_web_apps_Deployment", "shop_a/b_apps_Deployment",
		"shop_.._apps_Deployment", "shop_a%2fb_apps_Deployment",
	} {
		if id, err := ParseID(text); err == nil {
			t.Errorf("reading %q gives %+v", text, id)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("shop_web_apps_Deployment")
	f.Add("____")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseID(text)
		if err != nil {
			return
		}
		if got := id.String(); got != text {
			t.Errorf("%q was read as %+v, which is %q", text, id, got)
		}
		if strings.Contains(id.Name, "/") {
			t.Errorf("%q has a path in it", text)
		}
	})
}
