package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// loadOptions describe requests over keep-alive connections.
type loadOptions struct {
	address     string
	duration    time.Duration
	connections int
	rate        int // requests per second on a fixed schedule; 0 is one after the other
	coding      string
	target      func(n int64) string
}

// latencies are those of the answered requests, in order of size. With a rate they count from when a request was due,
// so that a server that falls behind cannot hide it.
type latencies struct {
	sorted []time.Duration
	took   time.Duration
}

func (l latencies) perSecond() float64 { return float64(len(l.sorted)) / l.took.Seconds() }

func (l latencies) percentile(p float64) time.Duration {
	if len(l.sorted) == 0 {
		return 0
	}
	return l.sorted[int(p*float64(len(l.sorted)-1))].Round(time.Microsecond)
}

func load(ctx context.Context, o loadOptions) (latencies, error) {
	var next atomic.Int64
	var mu sync.Mutex
	var all latencies
	var failures []error
	var workers sync.WaitGroup
	began := time.Now()
	for range o.connections {
		workers.Go(func() {
			own, err := o.connection(ctx, began, &next)
			mu.Lock()
			defer mu.Unlock()
			all.sorted = append(all.sorted, own...)
			failures = append(failures, err)
		})
	}
	workers.Wait()
	all.took = time.Since(began)
	slices.Sort(all.sorted)
	return all, errors.Join(failures...)
}

// connection asks on one connection until time is up.
func (o loadOptions) connection(ctx context.Context, began time.Time, next *atomic.Int64) ([]time.Duration, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", o.address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(began.Add(o.duration + time.Minute)); err != nil {
		return nil, err
	}
	reader := bufio.NewReaderSize(c, 64<<10)
	var own []time.Duration
	for {
		n := next.Add(1) - 1
		due := time.Now()
		if o.rate > 0 {
			due = began.Add(time.Duration(n) * time.Second / time.Duration(o.rate))
		}
		if due.Sub(began) >= o.duration {
			return own, nil
		}
		time.Sleep(time.Until(due))
		if err := o.ask(c, reader, n); err != nil {
			return own, err
		}
		own = append(own, time.Since(due))
	}
}

func (o loadOptions) ask(c net.Conn, reader *bufio.Reader, n int64) error {
	coding := o.coding
	if coding == "" {
		coding = "identity"
	}
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: %s\r\n\r\n", o.target(n), coding); err != nil {
		return err
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}
