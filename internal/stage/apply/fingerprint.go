package apply

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"hash"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// printBytes is how much of a hash is kept: 80 bits, which are 16 characters.
const printBytes = 10

// fingerprint tells whether an object is as it was applied: live is of the fields that are ours, as the API server keeps
// them for each manager, and rendered of what was sent. A field that somebody else changes or removes leaves the former. Its
// time, in seconds, tells of what was sent in our name and is not recorded: by a controller that leads no more, for instance.
type fingerprint struct {
	live, rendered string
	kept           bool
}

func (f fingerprint) String() string {
	text := f.live + "." + f.rendered
	if f.kept {
		text += inventory.KeptMark
	}
	return text
}

// parseFingerprint reads one of an inventory; what is none is like none, so that the object is sent.
func parseFingerprint(text string) fingerprint {
	text, kept := strings.CutSuffix(text, inventory.KeptMark)
	live, rendered, ok := strings.Cut(text, ".")
	if !ok {
		return fingerprint{}
	}
	return fingerprint{live: live, rendered: rendered, kept: kept}
}

// prints makes fingerprints of what is sent. Those of Secrets depend on a key: otherwise whoever may read inventories could
// try passwords until one fits.
type prints struct {
	all, secrets []byte // keys; nil is none
}

func newPrints() prints {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return prints{secrets: key}
}

func (p prints) of(id inventory.ID, body []byte) string {
	key := p.all
	if isSecret(id) {
		key = p.secrets
	}
	if key == nil {
		sum := sha256.Sum256(body)
		return shorten(sum[:])
	}
	keyed := hmac.New(sha256.New, key)
	_, _ = keyed.Write(body)
	return shorten(keyed.Sum(nil))
}

// managedPrint is of the fields that our field manager has applied. It is empty where the API server does not keep them.
func managedPrint(managed []metav1.ManagedFieldsEntry) string {
	var sum hash.Hash
	for _, m := range managed {
		if !ours(m) {
			continue
		}
		if sum == nil {
			sum = sha256.New()
		}
		_, _ = sum.Write([]byte(m.APIVersion + "\x00"))
		_, _ = sum.Write(m.FieldsV1.GetRawBytes())
		if m.Time != nil {
			_, _ = sum.Write(strconv.AppendInt([]byte{0}, m.Time.Unix(), 10))
		}
	}
	if sum == nil {
		return ""
	}
	return shorten(sum.Sum(nil))
}

// appliedAt is when our field manager has changed something last, to the second; zero where that is not known.
func appliedAt(managed []metav1.ManagedFieldsEntry) (last time.Time) {
	for _, m := range managed {
		if ours(m) && m.Time != nil && m.Time.After(last) {
			last = m.Time.Time
		}
	}
	return last
}

// ours says whether fields are those that we have applied.
func ours(m metav1.ManagedFieldsEntry) bool {
	return m.Manager == stagesv1.FieldManager && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "" && m.FieldsV1 != nil
}

func shorten(sum []byte) string {
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:printBytes]))
}

func isSecret(id inventory.ID) bool { return id.Group == "" && id.Kind == "Secret" }
