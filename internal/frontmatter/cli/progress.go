package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Progress appears when a run takes longer than the first of these, and is renewed at the second.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// progress shows how far a long run is, on a terminal only.
type progress struct {
	out  io.Writer // nil when there is nobody to see it
	what string

	mu    sync.Mutex
	next  time.Time
	shown int // width of what is shown
}

func newProgress(out io.Writer, what string) *progress {
	p := &progress{what: what, next: time.Now().Add(progressAfter)}
	if isTerminal(out) {
		p.out = out
	}
	return p
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *progress) update(done, total int) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	line := fmt.Sprintf("%s %d of %s", p.what, done, count(total, "file"))
	_, _ = fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(0, p.shown-len(line))))
	p.shown = len(line)
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown > 0 {
		_, _ = fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.shown))
		p.shown = 0
	}
}
