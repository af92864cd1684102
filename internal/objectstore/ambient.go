package objectstore

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	metadataTimeout = 5 * time.Second // services that give credentials are near, or not there at all
	// searchAgain is how long a search that found nothing is remembered. Requests wait for each other's search, and
	// one that takes seconds would hold up all of them one after the other.
	searchAgain = 5 * time.Second
)

// ambient looks for credentials in several places. The chain of the library would go on without signing when it finds
// none, and the store's "access denied" would say nothing about the reason. Its user holds a lock around all calls.
type ambient struct {
	places []credentials.Provider
	found  credentials.Provider // where the present ones are from, or nil
	failed error                // of the last search
	until  time.Time            // when failed is forgotten
}

func newAmbient() *ambient {
	return &ambient{places: []credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.EnvMinio{},
		&credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Timeout: metadataTimeout}}, // also web identity and container credentials
	}}
}

var errNoCredentials = errors.New("no credentials were found in the environment, the shared credentials file or from an " +
	"identity service: give an access key, or set anonymous access for a public bucket")

// Retrieve is what the interface asks for beside RetrieveWithCredContext.
func (a *ambient) Retrieve() (credentials.Value, error) { return a.RetrieveWithCredContext(nil) }

func (a *ambient) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	if a.failed != nil && time.Now().Before(a.until) {
		return credentials.Value{}, a.failed
	}
	a.found, a.failed = nil, nil
	var last error
	for _, place := range a.places {
		value, err := place.RetrieveWithCredContext(cc)
		if err == nil && value.AccessKeyID != "" {
			a.found = place
			return value, nil
		}
		if err != nil {
			last = err // the services come last; that there is no file says nothing
		}
	}
	a.failed, a.until = errNoCredentials, time.Now().Add(searchAgain)
	if last != nil {
		a.failed = fmt.Errorf("%w (the last place: %s)", errNoCredentials, last.Error())
	}
	return credentials.Value{}, a.failed
}

func (a *ambient) IsExpired() bool { return a.found == nil || a.found.IsExpired() }
