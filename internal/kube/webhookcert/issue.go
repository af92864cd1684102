package webhookcert

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// clockSkew is how far the API server's clock may be behind ours.
const clockSkew = 5 * time.Minute

// identity is a serving certificate and the authority that it is to be trusted by.
type identity struct {
	serving   *tls.Certificate
	authority []byte // PEM
	issued    time.Time
}

// issue makes an authority and a certificate of it for a Service. The authority's key is thrown away: it never signs
// again.
func issue(service, namespace string, validity time.Duration, now time.Time) (*identity, error) {
	template := &x509.Certificate{
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(validity),
		BasicConstraintsValid: true,
	}
	authority, serving := *template, *template
	authority.Subject = pkix.Name{CommonName: "webhook authority"}
	authority.IsCA, authority.MaxPathLenZero = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	serving.Subject = pkix.Name{CommonName: "webhook"}
	serving.KeyUsage = x509.KeyUsageDigitalSignature
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	host := service + "." + namespace
	serving.DNSNames = []string{host + ".svc", host + ".svc.cluster.local", host, service}

	authorityDER, authorityKey, err := sign(&authority, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a webhook authority: %w", err)
	}
	parent, err := x509.ParseCertificate(authorityDER) // it has the key's identifier now
	if err != nil {
		return nil, fmt.Errorf("reading a webhook authority: %w", err)
	}
	servingDER, servingKey, err := sign(&serving, parent, authorityKey)
	if err != nil {
		return nil, fmt.Errorf("making a webhook certificate: %w", err)
	}
	return &identity{
		serving:   &tls.Certificate{Certificate: [][]byte{servingDER}, PrivateKey: servingKey},
		authority: encode(authorityDER),
		issued:    now,
	}, nil
}

// sign makes a key and a certificate for it, signed by the parent, or by itself where there is none.
func sign(template, parent *x509.Certificate, by *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, err
	}
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	return der, key, err
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// maxAuthorities bounds a bundle where a program in a loop of crashes adds one at each start. The oldest go; a replica
// that is still alive adds its own again.
const maxAuthorities = 64

// merge returns the bundle with our authorities and without expired ones. Those of other replicas stay, in their order.
// What is no certificate is left out, because the API server refuses it.
func merge(bundle []byte, ours [][]byte, now time.Time) []byte {
	var kept [][]byte
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil || now.After(certificate.NotAfter) {
			continue
		}
		kept = appendNew(kept, encode(block.Bytes))
	}
	missing := 0
	for _, authority := range ours {
		if !contains(kept, authority) {
			missing++
		}
	}
	if surplus := len(kept) + missing - maxAuthorities; missing > 0 && surplus > 0 {
		kept = kept[surplus:]
	}
	for _, authority := range ours {
		kept = appendNew(kept, authority)
	}
	return bytes.Join(kept, nil)
}

func appendNew(list [][]byte, item []byte) [][]byte {
	if contains(list, item) {
		return list
	}
	return append(list, item)
}

func contains(list [][]byte, item []byte) bool {
	for _, other := range list {
		if bytes.Equal(other, item) {
			return true
		}
	}
	return false
}
