package supervise

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 20
	tailBytes = 8 << 10
	tailWidth = 400 // of a line, in bytes; logs of Kubernetes have some of many kilobytes
)

// Tail returns the last lines of a file, indented, each cut to a readable length.
func Tail(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the caller's own log
	if err != nil {
		return "", fmt.Errorf("reading the end of a log: %w", err)
	}
	defer func() { _ = file.Close() }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", fmt.Errorf("reading the end of %s: %w", path, err)
	}
	from := max(0, size-tailBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, from, size-from))
	if err != nil {
		return "", fmt.Errorf("reading the end of %s: %w", path, err)
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	if from > 0 && len(lines) > 1 {
		lines = lines[1:] // it begins somewhere in the middle
	}
	lines = lines[max(0, len(lines)-tailLines):]
	for i, line := range lines {
		if len(line) > tailWidth {
			line = strings.ToValidUTF8(line[:tailWidth], "") + "…"
		}
		lines[i] = "  " + line
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " "), nil
}
