package toptau

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"

	"toptau/diag"
	"toptau/model"
)

// Sign signs the certificate. One that is changed afterwards must be signed again, or its Signature set to nil: Save refuses it.
func (c *Certificate) Sign(key ed25519.PrivateKey) error {
	message, err := c.unsigned()
	if err != nil {
		return err
	}
	c.Signature, err = model.NewSignature(key, message)
	return err
}

// VerifySignature reports whether the certificate as it is now was signed with the private key of key.
func (c *Certificate) VerifySignature(key ed25519.PublicKey) error {
	if err := c.Signature.By(key, ""); err != nil {
		return err
	}
	return c.checkSignature()
}

// LoadVerifiedCertificate is LoadCertificate for a certificate that must have been signed with the private key of key.
func LoadVerifiedCertificate(path string, key ed25519.PublicKey) (*Certificate, error) {
	c, err := LoadCertificate(path)
	if err != nil {
		return nil, err
	}
	return c, c.Signature.By(key, path)
}

// LoadVerified is Load for a model that must have been signed with the private key of key.
func LoadVerified(path string, key ed25519.PublicKey) (*model.Model, error) {
	return model.LoadVerified(path, key)
}

// unsigned returns the bytes that a signature covers: those of the file without it.
func (c *Certificate) unsigned() ([]byte, error) {
	plain := *c
	plain.Signature = nil
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(&plain)
	return b.Bytes(), err
}

// checkSignature refuses a signature of other content.
func (c *Certificate) checkSignature() error {
	if c.Signature == nil {
		return nil
	}
	message, err := c.unsigned()
	if err != nil {
		return err
	}
	if c.Signature.Check(message) != nil {
		return &diag.Error{Kind: diag.Model, Found: "the certificate was changed after it was signed",
			Expected: "the content that was signed", Hint: "sign it again, or remove the signature"}
	}
	return nil
}
