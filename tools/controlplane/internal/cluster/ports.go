package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Systems take the ports of outgoing connections from 32768 or 49152 on. A port from below that range stays free
// between its choice and its use, unless another server chooses the same one at the same moment.
const (
	firstPort = 20000
	lastPort  = 32000
	attempts  = 1000
)

// freePorts returns n different ports of 127.0.0.1 on which nothing listens.
func freePorts(ctx context.Context, n int) (_ []int, err error) {
	var listeners []net.Listener // all kept open until the end, so that no port is chosen twice
	defer func() {
		for _, listener := range listeners {
			err = errors.Join(err, listener.Close())
		}
	}()
	ports := make([]int, 0, n)
	var last error
	for range attempts {
		if len(ports) == n {
			return ports, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // it is to be spread out, not secret
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		listeners, ports = append(listeners, listener), append(ports, port)
	}
	return nil, fmt.Errorf("looking for %d free ports: %w", n, last)
}
