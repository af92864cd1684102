package webhookcert

import (
	"fmt"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// Mounted reads tls.crt and tls.key from a directory, and again when they change, also by the swap of a mounted Secret.
// A pair that cannot be read or does not match leaves the last good one in use. Its Start runs it and its GetCertificate
// is for tls.Config.
func Mounted(directory string) (*certwatcher.CertWatcher, error) {
	watcher, err := certwatcher.New(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the webhook's certificate in %s: %w", directory, err)
	}
	return watcher, nil
}
