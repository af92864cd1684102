package obs

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// NewLogger returns a logger of the format json or text, for a level by its name. Names have to be validated before.
func NewLogger(w io.Writer, format, level string) *slog.Logger {
	var at slog.Level
	_ = at.UnmarshalText([]byte(level)) // validated
	options := &slog.HandlerOptions{Level: at, ReplaceAttr: named}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// named is an attribute by its name where it has one and is nothing that JSON can express by itself: libraries log values with
// functions and channels in them.
func named(_ []string, attribute slog.Attr) slog.Attr {
	value := attribute.Value.Any()
	switch value.(type) {
	case json.Marshaler, encoding.TextMarshaler, error:
		return attribute
	}
	if _, ok := value.(fmt.Stringer); ok && attribute.Value.Kind() == slog.KindAny {
		return slog.String(attribute.Key, fmt.Sprint(value)) // which bears with one that is nil
	}
	return attribute
}
