package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	validity = 365 * 24 * time.Hour
	skew     = time.Hour // certificates count from this much earlier, for clocks that are set back
)

// Pair is a certificate and its private key, both PEM.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// Authority signs the certificates of one control plane.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	encoded     []byte
	now         time.Time
}

// NewAuthority makes a self-signed authority whose certificates are valid from now on.
func NewAuthority(now time.Time) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "controlplane"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	a := &Authority{certificate: template, key: key, now: now}
	if a.encoded, err = a.sign(template, key); err != nil {
		return nil, fmt.Errorf("signing the authority: %w", err)
	}
	block, _ := pem.Decode(a.encoded)
	if a.certificate, err = x509.ParseCertificate(block.Bytes); err != nil {
		return nil, fmt.Errorf("reading the authority back: %w", err)
	}
	return a, nil
}

// Certificate returns the authority's own certificate, PEM.
func (a *Authority) Certificate() []byte { return a.encoded }

// Serving makes a certificate for a server on loopback, known by the names as well. It is good for a client too,
// because etcd uses one certificate for both.
func (a *Authority) Serving(names ...string) (Pair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    append([]string{"localhost"}, names...),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
}

// Client makes a certificate that the API server takes as the user and groups it names.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *Authority) issue(template *x509.Certificate) (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	certificate, err := a.sign(template, key)
	if err != nil {
		return Pair{}, fmt.Errorf("signing a certificate for %q: %w", template.Subject.CommonName, err)
	}
	encoded, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: certificate, Key: encoded}, nil
}

func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = a.now.Add(-skew), a.now.Add(validity)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// SigningKey is the key pair of service account tokens, both PEM.
type SigningKey struct {
	Private []byte
	Public  []byte
}

// NewSigningKey makes one.
func NewSigningKey() (SigningKey, error) {
	key, err := newKey()
	if err != nil {
		return SigningKey{}, err
	}
	private, err := encodeKey(key)
	if err != nil {
		return SigningKey{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return SigningKey{}, fmt.Errorf("encoding a public key: %w", err)
	}
	return SigningKey{Private: private, Public: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return key, nil
}

// encodeKey writes "EC PRIVATE KEY", the form that every reader of the programs takes.
func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
