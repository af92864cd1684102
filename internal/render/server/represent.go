package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/lru"
)

// representation is a result in one media type and one coding.
type representation struct {
	body      []byte
	mediaType string
	gzipped   bool
	etag      string // strong: other bytes, other tag
}

// representer makes representations and remembers them. Requests for the same one share the work, and no more are made
// at a time than there are processors.
type representer struct {
	made   *lru.Cache[representationKey, *representation]
	making singleflight.Group
	slots  chan struct{}
}

type representationKey struct {
	sum       [sha256.Size]byte
	mediaType string
	gzipped   bool
}

const (
	minGzipBytes = 1 << 10         // below that compression saves less than it costs
	maxGzipBytes = 64 << 20        // beyond that a result is sent as it is
	maxYAMLBytes = 16 << 20        // of JSON; converting takes many times its memory
	slotWait     = 5 * time.Second // for other conversions to end
)

// errNotAString says that a result is not what text/plain is for.
var errNotAString = errors.New("the result is not a string")

func newRepresenter(cacheBytes int64) *representer {
	return &representer{
		made:  lru.New[representationKey, *representation](cacheBytes),
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

// represent returns the result in the first of the media types that fits it; only strings fit text/plain. The error is
// errNotAString where none does.
func (r *representer) represent(
	ctx context.Context, result *jsonnet.Result, mediaTypes []string, gzipped bool,
) (*representation, error) {
	for _, mediaType := range mediaTypes {
		made, err := r.get(ctx, representationKey{result.Sum, mediaType, gzipped}, result)
		if !errors.Is(err, errNotAString) {
			return made, err
		}
	}
	return nil, errNotAString
}

func (r *representer) get(ctx context.Context, k representationKey, result *jsonnet.Result) (*representation, error) {
	if k.mediaType == mediaJSON && (!k.gzipped || len(result.JSON) < minGzipBytes) {
		return &representation{body: result.JSON, mediaType: mediaJSON, etag: tag(result.Sum, mediaJSON)}, nil
	}
	if made, ok := r.made.Get(k); ok {
		return made, nil
	}
	name := fmt.Sprintf("%x %s %v", k.sum, k.mediaType, k.gzipped)
	outcome := r.making.DoChan(name, func() (any, error) { return r.make(k, result.JSON) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-outcome:
		if o.Err != nil {
			return nil, o.Err
		}
		return o.Val.(*representation), nil //nolint:forcetypeassert // what make returns
	}
}

func (r *representer) make(k representationKey, document []byte) (*representation, error) {
	timer := time.NewTimer(slotWait)
	defer timer.Stop()
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-timer.C:
		return nil, &jsonnet.Error{
			Reason: jsonnet.EvaluationUnavailable, Message: "too many large results are being converted; ask again later",
		}
	}
	body, err := encode(document, k.mediaType)
	if err != nil {
		return nil, err
	}
	made := &representation{mediaType: k.mediaType, gzipped: k.gzipped && len(body) >= minGzipBytes && len(body) <= maxGzipBytes}
	if made.gzipped {
		if body, err = compress(body); err != nil {
			return nil, err
		}
	}
	made.body, made.etag = body, tag(sha256.Sum256(body), k.mediaType)
	r.made.Put(k, made, int64(len(body))+256)
	return made, nil
}

// tag is the entity tag of a body. The media type is in it for readers of logs.
func tag(sum [sha256.Size]byte, mediaType string) string {
	_, subtype, _ := strings.Cut(mediaType, "/")
	return `"` + hex.EncodeToString(sum[:16]) + "-" + subtype + `"`
}

func encode(document []byte, mediaType string) ([]byte, error) {
	switch mediaType {
	case mediaYAML:
		if len(document) > maxYAMLBytes {
			return nil, newProblem(CodeNotAcceptable, fmt.Sprintf(
				"the result has %d bytes of JSON; up to %d are converted to YAML; ask for application/json", len(document), maxYAMLBytes))
		}
		return toYAML(document)
	case mediaText:
		if !bytes.HasPrefix(document, []byte(`"`)) {
			return nil, errNotAString
		}
		var text string
		if err := json.Unmarshal(document, &text); err != nil {
			return nil, fmt.Errorf("decoding a result: %w", err)
		}
		return []byte(text), nil
	default:
		return document, nil
	}
}

func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(body); err != nil {
		return nil, fmt.Errorf("compressing a result: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compressing a result: %w", err)
	}
	return b.Bytes(), nil
}
