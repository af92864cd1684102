package artifact

import (
	// The algorithms that Flux sources can be told to use.
	_ "crypto/sha256"
	_ "crypto/sha512"
	"errors"
	"fmt"
	"io"

	"github.com/opencontainers/go-digest"
	_ "github.com/opencontainers/go-digest/blake3"
)

// ErrDigestMismatch is that of an archive that is not the one its digest names.
var ErrDigestMismatch = errors.New("digest mismatch")

// Verify reads an archive to its end and compares its digest: <algorithm>:<hex>, with sha256, sha384, sha512 or blake3.
func Verify(archive io.Reader, want string) error {
	parsed, err := parseDigest(want)
	if err != nil {
		return err
	}
	got, err := parsed.Algorithm().FromReader(archive)
	if err != nil {
		return fmt.Errorf("reading artifact: %w", err)
	}
	if got != parsed {
		return fmt.Errorf("verifying artifact: %w: it is %s and should be %s", ErrDigestMismatch, got, parsed)
	}
	return nil
}

func parseDigest(text string) (digest.Digest, error) {
	parsed, err := digest.Parse(text)
	if err != nil {
		return "", fmt.Errorf("reading digest %q: %w", text, err)
	}
	return parsed, nil
}
