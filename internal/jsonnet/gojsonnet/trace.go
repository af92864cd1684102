package gojsonnet

import (
	"regexp"
	"strconv"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// traceWriter turns what std.trace writes into messages. One write is one message.
type traceWriter struct {
	sink func(jsonnet.TraceMessage)
}

var traceLine = regexp.MustCompile(`(?s)\ATRACE: (.*?):(\d+) (.*)\n\z`)

func (w *traceWriter) Write(p []byte) (int, error) {
	if w.sink == nil {
		return len(p), nil
	}
	match := traceLine.FindStringSubmatch(string(p))
	if match == nil {
		w.sink(jsonnet.TraceMessage{Text: string(p)})
		return len(p), nil
	}
	line, _ := strconv.Atoi(match[2]) // 0 where it is out of range
	w.sink(jsonnet.TraceMessage{File: match[1], Line: line, Text: match[3]})
	return len(p), nil
}
