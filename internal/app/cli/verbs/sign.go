package verbs

import (
	"crypto/ed25519"
	"fmt"

	"toptau/certify"
	"toptau/diag"
	"toptau/model"
)

// A flag with an empty value, as from a variable that is not set, names a file that does not exist: it never switches a check off.

// SignFlags sign what a verb writes.
type SignFlags struct {
	Sign *string `file:"in" group:"Signatures" placeholder:"KEYFILE" help:"Sign what is written with this ed25519 key (see keygen)."`
}

// Key reads the key before the work starts. It returns nil without the flag. One of the outputs must be set.
func (f SignFlags) Key(outputs ...string) (ed25519.PrivateKey, error) {
	if f.Sign == nil {
		return nil, nil
	}
	for _, path := range outputs {
		if path != "" {
			return model.ReadPrivateKey(*f.Sign)
		}
	}
	return nil, &diag.Error{Kind: diag.Usage, Param: "sign", Found: diag.Quote(*f.Sign), Expected: "a file to write",
		Fixes: []diag.Fix{{Param: "output", Value: "MODEL"}}}
}

// Sign signs a model if there is a key.
func Sign(m *model.Model, key ed25519.PrivateKey) (*model.Model, error) {
	if key == nil {
		return m, nil
	}
	return m.Sign(key)
}

// SignFitted signs a fitted model and its certificate if there is a key.
func SignFitted(fitted *certify.Fitted, key ed25519.PrivateKey) error {
	var err error
	if fitted.Model, err = Sign(fitted.Model, key); err != nil || fitted.Certificate == nil || key == nil {
		return err
	}
	return fitted.Certificate.Sign(key)
}

// Unsigned warns if a changed model loses the signature of the model that it was made from.
func Unsigned(from *model.Model, key ed25519.PrivateKey, path, output string) []diag.Warning {
	if from.Signature() == nil || key != nil {
		return nil
	}
	return []diag.Warning{{Code: "unsigned", Text: fmt.Sprintf("%s is not signed, because the signature of %s does not cover the changed "+
		"operating points", output, path), Fixes: []diag.Fix{{Param: "sign", Value: "KEYFILE"}}}}
}

// VerifyFlags refuse files that were not signed with a key.
type VerifyFlags struct {
	VerifyKey *string `file:"in" group:"Signatures" name:"verify-key" placeholder:"KEYFILE" help:"Refuse a model or certificate that was not signed with this public key."`
}

// Load reads a model and checks its signature.
func (f VerifyFlags) Load(path string) (*model.Model, error) {
	if f.VerifyKey == nil {
		return model.Load(path)
	}
	key, err := model.ReadPublicKey(*f.VerifyKey)
	if err != nil {
		return nil, err
	}
	m, err := model.Load(path)
	if err != nil {
		return nil, err
	}
	return m, m.Signature().By(key, path)
}

// LoadCertificate reads a certificate and checks its signature.
func (f VerifyFlags) LoadCertificate(path string) (*model.Certificate, error) {
	if f.VerifyKey == nil {
		return model.LoadCertificate(path)
	}
	key, err := model.ReadPublicKey(*f.VerifyKey)
	if err != nil {
		return nil, err
	}
	c, err := model.LoadCertificate(path)
	if err != nil {
		return nil, err
	}
	return c, c.Signature.By(key, path)
}

// LoadBoth reads a model and its certificate, and checks their signatures.
func (f VerifyFlags) LoadBoth(path, certificate string) (*model.Model, *model.Certificate, error) {
	m, err := f.Load(path)
	if err != nil {
		return nil, nil, err
	}
	c, err := f.LoadCertificate(certificate)
	return m, c, err
}
