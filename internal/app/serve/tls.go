package serve

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"sync"

	"toptau/diag"
)

// TLS returns the settings of TLS 1.2 and later. With clientCA, clients need a certificate that one of the
// authorities in that file has signed. The certificate is read again when its file changes.
func TLS(certificate, key, clientCA string) (*tls.Config, error) {
	k := &keyPair{certificate: certificate, key: key}
	if _, err := k.get(nil); err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: certificate,
			Found: "the certificate and its key cannot be used", Err: err}
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.get}
	if clientCA == "" {
		return c, nil
	}
	text, err := os.ReadFile(clientCA)
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: clientCA, Found: "the authorities cannot be read", Err: err}
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, &diag.Error{Kind: diag.Data, File: clientCA, Found: "no certificate",
			Expected: "certificates of authorities as PEM"}
	}
	return c, nil
}

// keyPair is a certificate with its key.
type keyPair struct {
	certificate, key string

	mu     sync.Mutex
	stamp  stamp
	parsed *tls.Certificate
}

// get returns the certificate. One that cannot be read does not replace the present one.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, err := stampOf(k.certificate)
	if k.parsed != nil && (err != nil || now == k.stamp) {
		return k.parsed, nil
	}
	pair, err := tls.LoadX509KeyPair(k.certificate, k.key)
	if err != nil {
		if k.parsed != nil {
			return k.parsed, nil
		}
		return nil, err
	}
	k.parsed, k.stamp = &pair, now
	return k.parsed, nil
}
