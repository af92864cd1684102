package stageset

import (
	fluxmeta "github.com/fluxcd/pkg/apis/meta"
)

// secretRef names the Secret with a kubeconfig.
func secretRef(name string) *fluxmeta.KubeConfigReference {
	return &fluxmeta.KubeConfigReference{SecretRef: &fluxmeta.SecretKeyReference{Name: name}}
}
