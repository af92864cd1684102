package inventory

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// separator stands between the parts of an ID. Neither namespaces nor groups nor kinds can hold it.
const separator = "_"

// String is the ID as inventories have it: namespace_name_group_kind, with an empty namespace for kinds without one and an
// empty group for the core API. Names stay as they are, also those of RBAC objects, which may hold ":" and "_": what lies
// between the first separator and the last but one is the name.
func (id ID) String() string {
	return id.Namespace + separator + id.Name + separator + id.Group + separator + id.Kind
}

// Display names the object for people: Deployment shop/web, Namespace shop.
func (id ID) Display() string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// ParseID is the reverse of String.
func ParseID(text string) (ID, error) {
	namespace, rest, ok := strings.Cut(text, separator)
	kindAt := strings.LastIndex(rest, separator)
	if !ok || kindAt < 0 {
		return ID{}, fmt.Errorf("reading id %q: it is not namespace_name_group_kind", text)
	}
	rest, kind := rest[:kindAt], rest[kindAt+1:]
	groupAt := strings.LastIndex(rest, separator)
	if groupAt < 0 {
		return ID{}, fmt.Errorf("reading id %q: it is not namespace_name_group_kind", text)
	}
	id := ID{Namespace: namespace, Name: rest[:groupAt], Group: rest[groupAt+1:], Kind: kind}
	if id.Name == "" || id.Kind == "" {
		return ID{}, fmt.Errorf("reading id %q: it has no name or no kind", text)
	}
	for _, part := range []string{id.Namespace, id.Name, id.Group, id.Kind} { // they become parts of the path of a request
		if part != "" && len(content.IsPathSegmentName(part)) > 0 {
			return ID{}, fmt.Errorf("reading id %q: %q cannot be a name", text, part)
		}
	}
	return id, nil
}

// Compare orders IDs by group, kind, namespace and name.
func Compare(a, b ID) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
