package tenant

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Account names a ServiceAccount. With a UID it is that account and no later one of the same name.
type Account struct {
	Namespace string
	Name      string
	UID       types.UID // optional
}

func (a Account) String() string { return a.Namespace + "/" + a.Name }

// MissingError says that there is no such ServiceAccount, or that another one has taken its name. Whoever uses a client
// finds it by errors.As in what the client returns.
type MissingError struct {
	Account  Account
	Replaced bool // there is one of the name with another UID
}

func (e *MissingError) Error() string {
	if e.Replaced {
		return fmt.Sprintf("ServiceAccount %s was replaced by another of the same name", e.Account)
	}
	return fmt.Sprintf("ServiceAccount %s does not exist", e.Account)
}
