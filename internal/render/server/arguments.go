package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// The limits of a request body with arguments.
const (
	maxBodyBytes   = 1 << 20
	maxBodyNesting = 1_000
)

// arguments returns a request's top-level arguments: those of the query, and over them those of a POST body.
func arguments(w http.ResponseWriter, r *http.Request) (map[string]jsonnet.Binding, error) {
	bindings, err := queryArguments(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	if r.Method != http.MethodPost {
		return bindings, nil
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	members, err := bodyArguments(body)
	if err != nil {
		return nil, err
	}
	for name, binding := range members {
		bindings[name] = binding
	}
	return bindings, nil
}

// queryArguments binds a string to a name with one value, an array of strings to a repeated name, and the empty string
// to a bare one.
func queryArguments(query string) (map[string]jsonnet.Binding, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, newProblem(CodeInvalidArguments, "the query cannot be read: "+err.Error())
	}
	bindings := make(map[string]jsonnet.Binding, len(values))
	for name, texts := range values {
		if name == "" {
			return nil, newProblem(CodeInvalidArguments, "the query has a value without a name")
		}
		if !utf8.ValidString(name) || !utf8.ValidString(strings.Join(texts, "")) {
			return nil, newProblem(CodeInvalidArguments, fmt.Sprintf("argument %q of the query is not valid UTF-8", name))
		}
		if len(texts) == 1 {
			bindings[name] = jsonnet.Binding{Kind: jsonnet.BindString, Text: texts[0]}
			continue
		}
		array, err := json.Marshal(texts)
		if err != nil {
			return nil, fmt.Errorf("encoding argument %q: %w", name, err)
		}
		bindings[name] = jsonnet.Binding{Kind: jsonnet.BindJSON, Text: string(array)}
	}
	return bindings, nil
}

func bodyTooLarge(limit int64) *ProblemError {
	problem := newProblem(CodeRequestTooLarge, fmt.Sprintf("the request body is larger than %d bytes", limit))
	problem.header.Set("Connection", "close")
	return problem
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBodyBytes {
		return nil, bodyTooLarge(maxBodyBytes)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		problem := newProblem(CodeInvalidArguments, "the request body did not arrive within the read timeout")
		problem.header.Set("Connection", "close")
		return nil, problem
	case err != nil:
		return nil, newProblem(CodeInvalidArguments, "the request body cannot be read: it ended early or is badly framed")
	}
	if len(body) == 0 {
		return nil, nil
	}
	contentType := r.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(contentType); err != nil || mediaType != mediaJSON {
		return nil, newProblem(CodeInvalidArguments, fmt.Sprintf(
			"the request body has Content-Type %q; arguments are sent as application/json", contentType))
	}
	return body, nil
}

// bodyArguments binds each member of a JSON object as a value of its own type.
func bodyArguments(body []byte) (map[string]jsonnet.Binding, error) {
	if len(body) == 0 {
		return nil, nil
	}
	if err := checkJSON(body); err != nil {
		return nil, newProblem(CodeInvalidArguments, "the request body cannot be used: "+err.Error())
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return nil, newProblem(CodeInvalidArguments, "the request body is not a JSON object whose members are the arguments")
	}
	bindings := make(map[string]jsonnet.Binding, len(members))
	for name, value := range members {
		var text bytes.Buffer
		if err := json.Compact(&text, value); err != nil {
			return nil, fmt.Errorf("reading argument %q: %w", name, err)
		}
		bindings[name] = jsonnet.Binding{Kind: jsonnet.BindJSON, Text: text.String()}
	}
	return bindings, nil
}

// checkJSON refuses what an evaluation could not take: text that is not UTF-8 or not JSON, deep nesting, and numbers
// that are not finite.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("it is not valid UTF-8")
	}
	if deep := nesting(body); deep > maxBodyNesting {
		return fmt.Errorf("it is nested %d deep; at most %d are allowed", deep, maxBodyNesting)
	}
	if !json.Valid(body) {
		return fmt.Errorf("it is not JSON: %w", json.Unmarshal(body, new(any)))
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not JSON: %w", err)
		}
		if number, ok := token.(json.Number); ok {
			if _, err := strconv.ParseFloat(number.String(), 64); err != nil {
				return fmt.Errorf("the number %.40s is too large", number)
			}
		}
	}
}

// nesting counts brackets outside of strings, for text that may not be JSON.
func nesting(body []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
