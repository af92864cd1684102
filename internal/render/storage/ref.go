package storage

import (
	"fmt"
	"strings"
)

// Snippet names whose artifacts are meant.
type Snippet struct {
	Namespace string
	Name      string
}

// Ref names one artifact.
type Ref struct {
	Snippet
	Revision string // sha256:<hex of the content>
}

const (
	revisionPrefix  = "sha256:"
	archiveSuffix   = ".tar.gz"
	temporarySuffix = ".tar.gz.tmp" // of a file that is being written
)

// Path is where the artifact is below the root of the storage, and in its URL: <namespace>/<name>/<hex>.tar.gz.
func (r Ref) Path() string { return r.directory() + "/" + r.file() }

func (s Snippet) directory() string { return s.Namespace + "/" + s.Name }

func (r Ref) file() string { return strings.TrimPrefix(r.Revision, revisionPrefix) + archiveSuffix }

// ParsePath is the inverse of Path. It accepts nothing that Path would not return.
func ParsePath(path string) (Ref, error) {
	elements := strings.Split(path, "/")
	if len(elements) != 3 {
		return Ref{}, fmt.Errorf("reading path %q: it should be <namespace>/<name>/<revision>%s", path, archiveSuffix)
	}
	ref, ok := (Snippet{elements[0], elements[1]}).ref(elements[2])
	if !ok {
		return Ref{}, fmt.Errorf("reading path %q: %q is not the file of an artifact", path, elements[2])
	}
	return ref, ref.Validate()
}

// ref turns the name of a file into a Ref, if it is that of an artifact.
func (s Snippet) ref(file string) (Ref, bool) {
	hexadecimal, ok := strings.CutSuffix(file, archiveSuffix)
	return Ref{s, revisionPrefix + hexadecimal}, ok && isHexSHA256(hexadecimal)
}

// Validate accepts the names that Kubernetes gives to namespaces and objects. None of them can leave a directory.
func (s Snippet) Validate() error {
	if !isLabel(s.Namespace) {
		return fmt.Errorf("naming artifact: %q is not the name of a namespace", s.Namespace)
	}
	const maxName = 253
	if s.Name == "" || len(s.Name) > maxName {
		return fmt.Errorf("naming artifact: %q is not the name of an object", s.Name)
	}
	for label := range strings.SplitSeq(s.Name, ".") {
		if !isAlphanumeric(label) {
			return fmt.Errorf("naming artifact: %q is not the name of an object", s.Name)
		}
	}
	return nil
}

// Validate accepts refs whose Path is below the root.
func (r Ref) Validate() error {
	if err := r.Snippet.Validate(); err != nil {
		return err
	}
	hexadecimal, ok := strings.CutPrefix(r.Revision, revisionPrefix)
	if !ok || !isHexSHA256(hexadecimal) {
		return fmt.Errorf("naming artifact: %q is not a revision of the form sha256:<hex>", r.Revision)
	}
	return nil
}

// isLabel is RFC 1123's label.
func isLabel(s string) bool {
	const maxLabel = 63
	return len(s) <= maxLabel && isAlphanumeric(s)
}

// isAlphanumeric accepts lower case letters, digits and, not at the ends, hyphens.
func isAlphanumeric(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

func isHexSHA256(s string) bool {
	const length = 64
	return len(s) == length && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'f') && (r < '0' || r > '9')
	})
}
