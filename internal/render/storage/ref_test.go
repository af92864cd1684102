package storage_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/render/storage"
)

const hexadecimal = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParsePath_AcceptsOnlyPathsOfArtifacts(t *testing.T) {
	long := strings.Repeat("a", 63)
	tests := map[string]bool{
		"ns/name/" + hexadecimal + ".tar.gz":                           true,
		"ns/a.b-c.d/" + hexadecimal + ".tar.gz":                        true,
		long + "/" + long + "." + long + "/" + hexadecimal + ".tar.gz": true,
		"":                                                                       false,
		"ns":                                                                     false,
		"ns/name":                                                                false,
		"ns/name/":                                                               false,
		"/ns/name/" + hexadecimal + ".tar.gz":                                    false,
		"ns/name/" + hexadecimal + ".tar.gz/":                                    false,
		"ns/name/x/" + hexadecimal + ".tar.gz":                                   false,
		"ns/../" + hexadecimal + ".tar.gz":                                       false,
		"../name/" + hexadecimal + ".tar.gz":                                     false,
		"./name/" + hexadecimal + ".tar.gz":                                      false,
		"ns//" + hexadecimal + ".tar.gz":                                         false,
		"ns/name/" + hexadecimal + ".tar.gz.tmp":                                 false,
		"ns/name/ABC." + hexadecimal + ".tar.gz.tmp":                             false,
		"ns/name/" + hexadecimal:                                                 false,
		"ns/name/" + hexadecimal[1:] + ".tar.gz":                                 false,
		"ns/name/" + strings.ToUpper(hexadecimal) + ".tar.gz":                    false,
		"ns/name/sha256:" + hexadecimal + ".tar.gz":                              false,
		"ns/name/../../../../../etc/passwd":                                      false,
		"Ns/name/" + hexadecimal + ".tar.gz":                                     false,
		"n.s/name/" + hexadecimal + ".tar.gz":                                    false,
		"-ns/name/" + hexadecimal + ".tar.gz":                                    false,
		"ns/name-/" + hexadecimal + ".tar.gz":                                    false,
		"ns/a..b/" + hexadecimal + ".tar.gz":                                     false,
		"ns/.hidden/" + hexadecimal + ".tar.gz":                                  false,
		"ns/na\x00me/" + hexadecimal + ".tar.gz":                                 false,
		`ns\name/x/` + hexadecimal + ".tar.gz":                                   false,
		long + "a/name/" + hexadecimal + ".tar.gz":                               false,
		"ns/" + strings.Repeat("a.", 127) + "a/" + hexadecimal + ".tar.gz":       false,
		"ns/" + strings.Repeat("a.", 126) + "a/" + hexadecimal + ".tar.gz":       true,
		"ns/n\u00e4me/" + hexadecimal + ".tar.gz":                                false,
		"ns/name/" + strings.Repeat("\uff11", 21) + hexadecimal[63:] + ".tar.gz": false,
	}
	for text, want := range tests {
		ref, err := storage.ParsePath(text)
		if (err == nil) != want {
			t.Errorf("%q: %v, %v", text, ref, err)
		}
		if err == nil && ref.Path() != text {
			t.Errorf("%q becomes %q", text, ref.Path())
		}
	}
}

func FuzzParsePath_StaysInside(f *testing.F) {
	f.Add("ns/name/" + hexadecimal + ".tar.gz")
	f.Add("../../etc/passwd")
	f.Add("ns/name/" + hexadecimal + ".tar.gz.tmp")
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := storage.ParsePath(text)
		if err != nil {
			return
		}
		if ref.Validate() != nil || ref.Path() != text {
			t.Errorf("%q becomes %+v", text, ref)
		}
		if !filepath.IsLocal(text) || path.Clean(text) != text || strings.Count(text, "/") != 2 || strings.Contains(text, ".tmp") {
			t.Errorf("%q is accepted", text)
		}
	})
}
