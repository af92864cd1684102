package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestProgress_ShowsLongRunsOnly(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, "checking")
	if p.out != nil {
		t.Fatal("a buffer is no terminal")
	}
	p.update(1, 10)
	p.out = &out
	p.update(2, 10)
	if out.Len() > 0 {
		t.Errorf("a run that has just started says %q", out.String())
	}
	p.next = time.Time{} // the run has taken long
	p.update(3, 10)
	p.update(4, 10) // too soon after
	if got := out.String(); got != "\rchecking 3 of 10 files" {
		t.Errorf("shown %q", got)
	}
	p.clear()
	if got := out.String(); !strings.HasSuffix(got, "\r"+strings.Repeat(" ", len("checking 3 of 10 files"))+"\r") {
		t.Errorf("not cleared: %q", got)
	}
}

func TestIsTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) || isTerminal(io.Discard) {
		t.Error("a file is no terminal")
	}
}
