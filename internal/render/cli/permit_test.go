package cli

import (
	"net/netip"
	"testing"
)

func TestPermit_TheOperatorsMachineIsNotAsked(t *testing.T) {
	for name, c := range map[string]struct {
		base, address string
		want          bool
	}{
		"a pod":                 {"http://renderer.flux-system.svc:8082", "10.1.2.3:80", true},
		"this machine":          {"http://renderer.flux-system.svc:8082", "127.0.0.1:8081", false},
		"this machine by IPv6":  {"http://renderer.flux-system.svc:8082", "[::1]:8081", false},
		"this machine, mapped":  {"http://renderer.flux-system.svc:8082", "[::ffff:127.0.0.1]:8081", false},
		"a metadata service":    {"http://renderer.flux-system.svc:8082", "169.254.169.254:80", false},
		"published here":        {"http://127.0.0.1:8082/artifacts", "127.0.0.1:8082", true},
		"published by name":     {"http://localhost:8082", "[::1]:8082", true},
		"and still no metadata": {"http://localhost:8082", "169.254.169.254:80", false},
	} {
		o := operatorConfig{storage: storageConfig{baseURL: c.base}}
		if err := o.permit()(netip.MustParseAddrPort(c.address)); (err == nil) != c.want {
			t.Errorf("%s: %v, want permitted: %v", name, err, c.want)
		}
	}
}
