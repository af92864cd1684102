package artifact

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestPermitPublished_ForbidsWhatGivesOutCredentials(t *testing.T) {
	for address, permitted := range map[string]bool{
		"10.96.0.12:80": true, "127.0.0.1:8082": true, "[fd00::12]:80": true, "203.0.113.7:443": true,
		"169.254.169.254:80": false, "169.254.170.2:80": false, "[fe80::1%eth0]:80": false,
		"[::ffff:169.254.169.254]:80": false, "[fd00:ec2::254]:80": false, "100.100.100.200:80": false,
		"192.0.0.192:80": false, "0.0.0.0:8081": false, "[::]:8081": false, "224.0.0.1:80": false,
	} {
		if err := PermitPublished(netip.MustParseAddrPort(address)); (err == nil) != permitted {
			t.Errorf("%s: %v, want permitted: %v", address, err, permitted)
		}
	}
}

func TestFetch_AsksNoMetadataService(t *testing.T) {
	const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	start := time.Now()
	_, err := NewFetcher(DefaultFetchOptions()).Fetch(t.Context(), "http://169.254.169.254/latest/meta-data", digest)
	if err == nil || !strings.Contains(err.Error(), "metadata services") {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}
