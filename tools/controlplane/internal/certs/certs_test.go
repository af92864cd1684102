package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

func TestAuthority_ServerAndClientTrustEachOther(t *testing.T) {
	authority, err := NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	serving, client := must(authority.Serving("kubernetes")), must(authority.Client("admin", "system:masters"))
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority.Certificate()) {
		t.Fatal("the authority's certificate is no PEM certificate")
	}

	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		_, _ = w.Write([]byte(subject.CommonName + " " + subject.Organization[0]))
	}))
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{keyPair(t, serving)}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
	server.StartTLS()
	defer server.Close()

	for name, serverName := range map[string]string{"by address": "", "by name": "kubernetes"} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{TLSClientConfig: &tls.Config{
				RootCAs: pool, Certificates: []tls.Certificate{keyPair(t, client)}, ServerName: serverName,
			}}
			defer transport.CloseIdleConnections()
			response, err := (&http.Client{Transport: transport}).Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var body bytes.Buffer
			_, _ = body.ReadFrom(response.Body)
			if got, want := body.String(), "admin system:masters"; got != want {
				t.Errorf("the server saw %q, want %q", got, want)
			}
		})
	}
}

func TestAuthority_IsNewEachTime(t *testing.T) {
	one, other := must(NewAuthority(time.Now())), must(NewAuthority(time.Now()))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(other.Certificate())
	certificate := parse(t, must(one.Client("admin")).Certificate)
	options := x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := certificate.Verify(options); err == nil {
		t.Error("an authority accepts what another one of the same name has signed")
	}
}

func TestClient_CannotServe(t *testing.T) {
	certificate := parse(t, must(must(NewAuthority(time.Now())).Client("admin")).Certificate)
	if slices.Contains(certificate.ExtKeyUsage, x509.ExtKeyUsageServerAuth) {
		t.Error("a client's certificate is good for a server")
	}
}

func TestAuthority_ValidityIsCountedFromItsTime(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	certificate := parse(t, must(must(NewAuthority(now)).Serving()).Certificate)
	if !certificate.NotBefore.Equal(now.Add(-skew)) || !certificate.NotAfter.Equal(now.Add(validity)) {
		t.Errorf("valid from %v to %v", certificate.NotBefore, certificate.NotAfter)
	}
}

func TestNewSigningKey_HalvesBelongTogether(t *testing.T) {
	key := must(NewSigningKey())
	private, public := decode(t, key.Private), decode(t, key.Public)
	signer, err := x509.ParseECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := x509.ParsePKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	if !signer.PublicKey.Equal(verifier) {
		t.Error("the public key is not that of the private one")
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func keyPair(t *testing.T, pair Pair) tls.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func parse(t *testing.T, encoded []byte) *x509.Certificate {
	t.Helper()
	certificate, err := x509.ParseCertificate(decode(t, encoded))
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func decode(t *testing.T, encoded []byte) []byte {
	t.Helper()
	block, rest := pem.Decode(encoded)
	if block == nil || len(rest) > 0 {
		t.Fatalf("not one PEM block: %s", encoded)
	}
	return block.Bytes
}
