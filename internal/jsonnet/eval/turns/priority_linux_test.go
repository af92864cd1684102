package turns

import (
	"syscall"
	"testing"
)

func TestPause_LongWorkHasLowPriorityAndOthersKeepTheirs(t *testing.T) {
	niceness := func() int {
		raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
		if err != nil {
			t.Fatal(err)
		}
		return rawOffset - raw
	}
	before := niceness()
	got := make(chan int)
	go func() {
		turn := alwaysLong(1).Begin(t.Context().Done())
		defer turn.End()
		turn.Pause()
		got <- niceness()
	}()
	if n, want := <-got, min(before+lower, leastPriority); n != want {
		t.Errorf("long work has niceness %d, want %d", n, want)
	}
	for range 64 { // goroutines that come after it, on whatever thread
		go func() { got <- niceness() }()
	}
	for range 64 {
		if n := <-got; n != before {
			t.Errorf("other work has niceness %d, want %d", n, before)
		}
	}
}
