package main

import (
	"crypto/ed25519"

	"toptau"
	"toptau/diag"
	"toptau/model"
)

// A flag with an empty value, as from a variable that is not set, names a file that does not exist: it never switches a check off.

// signFlags sign what a verb writes.
type signFlags struct {
	Sign *string `file:"in" group:"Signatures" placeholder:"KEYFILE" help:"Sign what is written with this ed25519 key (see keygen)."`
}

// key reads the key before the work starts. It returns nil without the flag. One of the outputs must be set.
func (f signFlags) key(outputs ...string) (ed25519.PrivateKey, error) {
	if f.Sign == nil {
		return nil, nil
	}
	for _, path := range outputs {
		if path != "" {
			return model.ReadPrivateKey(*f.Sign)
		}
	}
	return nil, &diag.Error{Kind: diag.Usage, Param: "sign", Found: diag.Quote(*f.Sign), Expected: "a file to write", Fixes: []diag.Fix{{Param: "output", Value: "MODEL"}}}
}

// sign signs a model if there is a key.
func sign(m *model.Model, key ed25519.PrivateKey) (*model.Model, error) {
	if key == nil {
		return m, nil
	}
	return m.Sign(key)
}

// verifyFlags refuse files that were not signed with a key.
type verifyFlags struct {
	VerifyKey *string `file:"in" group:"Signatures" name:"verify-key" placeholder:"KEYFILE" help:"Refuse a model or certificate that was not signed with this public key."`
}

// load reads a model and checks its signature.
func (f verifyFlags) load(path string) (*model.Model, error) {
	if f.VerifyKey == nil {
		return toptau.Load(path)
	}
	key, err := model.ReadPublicKey(*f.VerifyKey)
	if err != nil {
		return nil, err
	}
	return model.LoadVerified(path, key)
}

// loadCertificate reads a certificate and checks its signature.
func (f verifyFlags) loadCertificate(path string) (*model.Certificate, error) {
	if f.VerifyKey == nil {
		return model.LoadCertificate(path)
	}
	key, err := model.ReadPublicKey(*f.VerifyKey)
	if err != nil {
		return nil, err
	}
	return model.LoadVerifiedCertificate(path, key)
}
