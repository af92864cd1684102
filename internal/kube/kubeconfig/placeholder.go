package kubeconfig

import (
	"errors"

	"k8s.io/client-go/rest"
)

type Options struct{ Impersonate string }
type RefusedError struct{ error }

func Load(data []byte, o Options) (*rest.Config, error) { return nil, errors.New("not yet") }
