package model

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"toptau/diag"
)

// Signature is an ed25519 signature (RFC 8032) of all bytes of a file before the signature, with the key that
// checks it. The key proves nothing by itself, since anyone can make one. Compare it with a key from a
// trusted source (By, Model.Verify).
type Signature struct {
	Algorithm string `json:"algorithm"`  // "ed25519"
	PublicKey []byte `json:"public_key"` // 32 bytes
	Value     []byte `json:"value"`      // 64 bytes
}

const ed25519Name = "ed25519"

// newSignature returns the signature of a message.
func newSignature(key ed25519.PrivateKey, message []byte) (*Signature, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a signing key of %d bytes", len(key)),
			Expected: "an ed25519 private key"}
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, &diag.Error{Kind: diag.Usage, Found: "a signing key without a public key", Expected: "an ed25519 private key"}
	}
	return &Signature{Algorithm: ed25519Name, PublicKey: public, Value: ed25519.Sign(key, message)}, nil
}

// Check returns an error unless the signature is that of a message by its public key.
func (s *Signature) Check(message []byte) error {
	if s.Algorithm != ed25519Name || len(s.PublicKey) != ed25519.PublicKeySize || len(s.Value) != ed25519.SignatureSize {
		return fmt.Errorf("a signature of algorithm %q with a key of %d and a value of %d bytes", s.Algorithm, len(s.PublicKey), len(s.Value))
	}
	if !ed25519.Verify(s.PublicKey, message, s.Value) {
		return errors.New("the signature does not match the content")
	}
	return nil
}

// By returns an error unless the signature was made with the private key of key. A nil signature is an error.
// Errors name the file name. Content is checked against its signature when it is read, not here.
func (s *Signature) By(key ed25519.PublicKey, name string) error {
	if s == nil {
		return &diag.Error{Kind: diag.Model, File: name, Found: "not signed", Expected: "a signature by key " + KeyName(key),
			Fixes: []diag.Fix{{Param: "sign", Value: "KEYFILE"}}}
	}
	if !bytes.Equal(s.PublicKey, key) {
		return &diag.Error{Kind: diag.Model, File: name, Found: "signed by key " + KeyName(s.PublicKey),
			Expected: "key " + KeyName(key), Hint: "it was signed by someone else, or the given key is the wrong one"}
	}
	return nil
}

// KeyName returns a short name for a public key: the first 16 hexadecimal digits of its SHA-256.
func KeyName(key ed25519.PublicKey) string {
	digest := sha256.Sum256(key)
	return hex.EncodeToString(digest[:8])
}

// Sign returns the model with a signature by key, which replaces an older one.
func (m *Model) Sign(key ed25519.PrivateKey) (*Model, error) {
	signed := newModel(m.parts)
	signed.probes = m.probes
	body, err := signed.encodeFields()
	if err != nil {
		return nil, err
	}
	signed.signature, err = newSignature(key, body)
	return signed, err
}

const (
	privateBlock = "PRIVATE KEY" // PKCS #8
	publicBlock  = "PUBLIC KEY"  // PKIX
	keyHint      = "toptau keygen KEYFILE, or openssl genpkey -algorithm ed25519 -out KEYFILE"
)

// ReadPrivateKey reads an ed25519 key from a PEM file (PKCS #8), as GenerateKey and openssl genpkey write it.
// It refuses a file that others than its owner may use.
func ReadPrivateKey(path string) (ed25519.PrivateKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, keyUnreadable(path, err)
	}
	defer f.Close()
	block, err := readPEM(f, path, privateBlock)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, &diag.Error{Kind: diag.Usage, File: path,
			Found:    fmt.Sprintf("a private key that others can use (mode %#o)", info.Mode().Perm()),
			Expected: "a file for its owner alone", Hint: "chmod 600 " + path + ", and make a new key if others had access"}
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block)
	if err != nil {
		return nil, badKey(path, "a private key that cannot be read", err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, badKey(path, fmt.Sprintf("a private key of type %T", parsed), nil)
	}
	return key, nil
}

// ReadPublicKey reads an ed25519 key from a PEM file (PKIX), as GenerateKey and openssl pkey -pubout write
// it.
func ReadPublicKey(path string) (ed25519.PublicKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, keyUnreadable(path, err)
	}
	defer f.Close()
	block, err := readPEM(f, path, publicBlock)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(block)
	if err != nil {
		return nil, badKey(path, "a public key that cannot be read", err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, badKey(path, fmt.Sprintf("a public key of type %T", parsed), nil)
	}
	return key, nil
}

// maxKeyBytes is more than the size of any key file.
const maxKeyBytes = 1 << 16

// readPEM returns the content of the first PEM block of a file. Its type must be kind.
func readPEM(f *os.File, path, kind string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxKeyBytes))
	if err != nil {
		return nil, keyUnreadable(path, err)
	}
	block, _ := pem.Decode(text)
	clear(text)
	switch {
	case block == nil:
		return nil, badKey(path, "not a PEM file", nil)
	case block.Type != kind && block.Type == privateBlock:
		e := badKey(path, "a private key", nil)
		e.Expected, e.Hint = "the public key", "openssl pkey -in "+path+" -pubout"
		return nil, e
	case block.Type != kind && block.Type == publicBlock:
		e := badKey(path, "a public key", nil)
		e.Expected, e.Hint = "the private key", "which is in the file without .pub"
		return nil, e
	case block.Type != kind:
		return nil, badKey(path, "a PEM block "+diag.Quote(block.Type), nil)
	}
	return block.Bytes, nil
}

func keyUnreadable(path string, err error) error {
	return &diag.Error{Kind: diag.IO, File: path, Found: "the key cannot be read", Err: withoutPath(err)}
}

func badKey(path, found string, err error) *diag.Error {
	return &diag.Error{Kind: diag.Usage, File: path, Found: found, Err: err, Expected: "an ed25519 key in PEM form", Hint: keyHint}
}

// GenerateKey makes a key. It writes the private key to path, readable by its owner only, and the public key
// to path.pub. It does not replace existing files.
func GenerateKey(path string) (ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, Found: "no random numbers", Err: err}
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	if err := writeKey(path, privateBlock, secret, 0o600); err != nil {
		return nil, err
	}
	if err := writeKey(path+".pub", publicBlock, open, 0o644); err != nil {
		os.Remove(path)
		return nil, err
	}
	return public, nil
}

// writeKey writes a new PEM file, completely or not at all.
func writeKey(path, kind string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if errors.Is(err, fs.ErrExist) {
		return &diag.Error{Kind: diag.Usage, File: path, Found: "a file that exists", Expected: "a new name: keys are never replaced"}
	}
	if err == nil {
		err = errors.Join(pem.Encode(f, &pem.Block{Type: kind, Bytes: content}), f.Sync(), f.Close())
		if err != nil {
			os.Remove(path)
		}
	}
	if err != nil {
		return &diag.Error{Kind: diag.IO, File: path, Found: "cannot be written", Err: withoutPath(err)}
	}
	return nil
}
