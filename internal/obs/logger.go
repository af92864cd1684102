package obs

import (
	"io"
	"log/slog"
)

// NewLogger returns a logger of the format json or text, for a level by its name. Names have to be validated before.
func NewLogger(w io.Writer, format, level string) *slog.Logger {
	var at slog.Level
	_ = at.UnmarshalText([]byte(level)) // validated
	options := &slog.HandlerOptions{Level: at}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
