package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/lru"
)

// representation is a result in one media type and one coding.
type representation struct {
	body      []byte
	mediaType string
	gzipped   bool
	etag      string // strong: other bytes, other tag
}

// representer makes representations and remembers them.
type representer struct {
	made *lru.Cache[representationKey, *representation]
}

type representationKey struct {
	sum       [sha256.Size]byte
	mediaType string
	gzipped   bool
}

// minGzipBytes is the size below which compression saves less than it costs.
const minGzipBytes = 1 << 10

var errNotAString = errors.New("the result is not a string")

func newRepresenter(cacheBytes int64) *representer {
	return &representer{made: lru.New[representationKey, *representation](cacheBytes)}
}

// represent returns the result in the first of the media types that fits it; only strings fit text/plain. The error is
// errNotAString where none does.
func (r *representer) represent(result *jsonnet.Result, mediaTypes []string, gzipped bool) (*representation, error) {
	for _, mediaType := range mediaTypes {
		made, err := r.get(representationKey{result.Sum, mediaType, gzipped}, result)
		if !errors.Is(err, errNotAString) {
			return made, err
		}
	}
	return nil, errNotAString
}

func (r *representer) get(k representationKey, result *jsonnet.Result) (*representation, error) {
	if k.mediaType == mediaJSON && !k.gzipped {
		return k.represent(result.JSON), nil // already in memory
	}
	if made, ok := r.made.Get(k); ok {
		return made, nil
	}
	body, err := encode(result.JSON, k.mediaType)
	if err != nil {
		return nil, err
	}
	asked := k
	if k.gzipped = k.gzipped && len(body) >= minGzipBytes; k.gzipped {
		if body, err = compress(body); err != nil {
			return nil, err
		}
	}
	made := k.represent(body)
	r.made.Put(asked, made, int64(len(body))+256)
	return made, nil
}

func (k representationKey) represent(body []byte) *representation {
	_, subtype, _ := strings.Cut(k.mediaType, "/")
	tag := hex.EncodeToString(k.sum[:16]) + "-" + subtype
	if k.gzipped {
		tag += "-gzip"
	}
	return &representation{body: body, mediaType: k.mediaType, gzipped: k.gzipped, etag: `"` + tag + `"`}
}

func encode(document []byte, mediaType string) ([]byte, error) {
	switch mediaType {
	case mediaYAML:
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

// toYAML turns a JSON document into YAML, and an array into a stream with a document for each element,
// which is empty for an empty array.
func toYAML(document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decoding a result: %w", err)
	}
	documents, isStream := value.([]any)
	if !isStream {
		documents = []any{value}
	}
	if isStream && len(documents) == 0 {
		return nil, nil // a stream of no documents
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	for _, d := range documents {
		if err := encoder.Encode(withNumbers(d)); err != nil {
			return nil, fmt.Errorf("encoding a result as YAML: %w", err)
		}
	}
	if err := encoder.Close(); err != nil {
		return nil, fmt.Errorf("encoding a result as YAML: %w", err)
	}
	return b.Bytes(), nil
}

// withNumbers replaces the numbers of a decoded document, so that whole ones are written without an exponent.
func withNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return whole
		}
		number, _ := value.Float64() // an evaluation's numbers are finite
		return number
	case []any:
		for i := range value {
			value[i] = withNumbers(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = withNumbers(value[name])
		}
	}
	return value
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
