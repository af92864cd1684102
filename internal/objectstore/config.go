package objectstore

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Config says where a bucket is and who asks. Its fields are those of the flags.
type Config struct {
	Endpoint string // host or host:port
	Bucket   string
	Prefix   string // of all keys; may be empty
	Region   string // empty: the store is asked
	UseSSL   bool

	AccessKey    string // empty: credentials are looked for in the environment
	SecretKey    string
	SessionToken string
	Anonymous    bool // requests are not signed

	// Transport, if there is one, takes the place of the usual one.
	Transport http.RoundTripper
}

// Validate says what is wrong with a configuration, in the words of its fields.
func (c Config) Validate() error {
	switch {
	case c.Endpoint == "":
		return errors.New("the endpoint is missing")
	case strings.Contains(c.Endpoint, "/"):
		return fmt.Errorf("the endpoint %q should be host:port, without a scheme or a path", c.Endpoint)
	case c.Bucket == "":
		return errors.New("the bucket is missing")
	case c.Anonymous && (c.AccessKey != "" || c.SecretKey != "" || c.SessionToken != ""):
		return errors.New("anonymous access and keys exclude each other")
	case c.AccessKey == "" && c.SecretKey != "":
		return errors.New("there is a secret key without an access key")
	case c.AccessKey != "" && c.SecretKey == "":
		return errors.New("there is an access key without a secret key")
	case c.AccessKey == "" && c.SessionToken != "":
		return errors.New("there is a session token without an access key")
	}
	_, err := cleanPrefix(c.Prefix)
	return err
}

// cleanPrefix returns the prefix with a slash behind it, or nothing.
func cleanPrefix(prefix string) (string, error) {
	trimmed := strings.Trim(prefix, "/")
	if trimmed == "" {
		return "", nil
	}
	for element := range strings.SplitSeq(trimmed, "/") {
		if element == "" || element == "." || element == ".." {
			return "", fmt.Errorf(`the prefix %q has an empty element, a "." or a ".."`, prefix)
		}
	}
	return trimmed + "/", nil
}

const (
	maxAttempts   = 4                // of a request, with up to a second between them; callers come back anyway
	headerTimeout = 15 * time.Second // a store that accepts and says nothing
	dialTimeout   = 10 * time.Second
)

// Open makes the client of a bucket. It sends nothing yet.
func Open(c Config) (*Bucket, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuring object store: %w", err)
	}
	prefix, _ := cleanPrefix(c.Prefix) // was validated
	transport := c.Transport
	if transport == nil {
		usual, err := minio.DefaultTransport(c.UseSSL)
		if err != nil {
			return nil, fmt.Errorf("configuring object store: %w", err)
		}
		usual.ResponseHeaderTimeout = headerTimeout
		usual.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		transport = usual
	}
	core, err := minio.NewCore(c.Endpoint, &minio.Options{
		Creds: c.credentials(), Secure: c.UseSSL, Region: c.Region, Transport: transport, MaxRetries: maxAttempts,
	})
	if err != nil {
		return nil, fmt.Errorf("configuring object store: %w", err)
	}
	return &Bucket{core: core, name: c.Bucket, prefix: prefix}, nil
}

func (c Config) credentials() *credentials.Credentials {
	switch {
	case c.Anonymous:
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	case c.AccessKey != "":
		return credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken)
	default:
		return credentials.New(newAmbient())
	}
}
