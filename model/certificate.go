package model

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"toptau/diag"
	"toptau/internal/data/atomicfile"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/memory"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// CertificateVersion is the version of the certificate files that this package writes and reads.
const CertificateVersion = 1

// Certificate is a feasible dual point (p, a) of a fit. Anyone who has the data can compute a lower bound on the objective from
// it, no matter which solver found it. Rows are numbered from 1 in the order of the data. Loading one proves nothing: package
// toptau's Verify recomputes both bounds.
type Certificate struct {
	Format     int            `json:"toptau_certificate"`
	Data       string         `json:"data"`    // digest of the data
	Storage    method.Storage `json:"storage"` // of the packed matrix, to which both bounds refer
	Method     method.Name    `json:"method"`
	Surrogate  surrogate.Name `json:"surrogate"`
	Lambda     float64        `json:"lambda"`
	Tau        threshold.Rate `json:"tau"`
	Beta       float64        `json:"beta"`
	K          int            `json:"k"`
	BallRadius *float64       `json:"ball_radius"`    // lambda = 0: the bound holds for |w| up to this
	Objective  float64        `json:"objective"`      // claimed F(w)
	LowerBound float64        `json:"lower_bound"`    // claimed D(p, a)
	P          DualWeights    `json:"p"`              // on the positives
	A          DualWeights    `json:"a"`              // on the population
	Norm       *NormProof     `json:"norm,omitempty"` // lambda = 0: how short the weights are; nil: no proof

	Signature *Signature `json:"signature,omitempty"` // set by Sign; nil: not signed
}

// NormProof is a feasible dual point of the certificate's problem with another lambda. Its dual value D is at most
// F(w) + lambda/2 |w|^2 for every w, so no weights that are as good as the model's are shorter than the root of
// 2 (D - F)/lambda.
type NormProof struct {
	Lambda float64     `json:"lambda"`
	Bound  float64     `json:"bound"` // claimed lower bound on the norm
	P      DualWeights `json:"p"`     // on the positives
	A      DualWeights `json:"a"`     // on the population
}

// DualWeights are the non-zero entries of p or a: those of single rows, and those of the members of groups. A row has the first or is a
// member of at most one group.
type DualWeights struct {
	Rows   []int     `json:"rows"` // 1-based
	Values []float64 `json:"values"`
	// Keys are the keys of the rows in a database, instead of Rows.
	Keys []string `json:"keys,omitempty"`

	Groups []DualGroup `json:"groups,omitempty"` // in ascending order, without common scores
	At     []float64   `json:"at,omitempty"`     // weights by whose scores groups are described
	// Held are other rows, 1-based, or in a database their keys, that are no members of groups, whatever their scores.
	Held     []int    `json:"held,omitempty"`
	HeldKeys []string `json:"held_keys,omitempty"`
}

// DualGroup is the rows of a class whose scores z = w'x at a point are at least Low and below High, without the rows that have a
// multiplier of their own and without those held. A member of row weight m has
//
//	max(0, m Value (Rate + Slope (z - Origin))).
//
// Every operation is rounded to float64, and z is the sum of the products of the packed row in the order of its columns.
type DualGroup struct {
	Low    *float64 `json:"low"`   // nil: no bound
	High   *float64 `json:"high"`  // nil: no bound
	Value  float64  `json:"value"` // the sum of the multipliers, about
	Rate   float64  `json:"rate"`
	Slope  float64  `json:"slope"`
	Origin float64  `json:"origin"`
}

// Save writes the certificate as JSON, completely or not at all.
func (c *Certificate) Save(path string) error {
	content, err := c.encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, content)
}

// WriteTo writes the bytes of the certificate's file.
func (c *Certificate) WriteTo(w io.Writer) (int64, error) {
	content, err := c.encode()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(content)
	return int64(n), err
}

// encode returns the content of a certificate's file.
func (c *Certificate) encode() ([]byte, error) {
	if err := c.checkSignature(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(c)
	return jsontext.Printable(b.Bytes()), err
}

// readCertificate reads a file of at most 1 GiB that fits into memory.
func readCertificate(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	first := make([]byte, 1)
	if n, err := f.Read(first); err != nil && err != io.EOF {
		return nil, err
	} else if n > 0 && first[0] != '{' {
		return first, nil // no certificate, and maybe a large file
	}
	return memory.ReadAll(io.MultiReader(bytes.NewReader(first), f), "a certificate", maxBytes, decodedTimes)
}

// LoadCertificate reads a certificate without checking its claims; package toptau's Verify does.
func LoadCertificate(path string) (*Certificate, error) {
	content, err := readCertificate(path)
	if err != nil {
		if diag.Of(err) != nil {
			return nil, diag.At(err, diag.Error{File: path})
		}
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "the certificate cannot be read", Err: err}
	}
	c, err := decodeCertificate(content)
	if err != nil {
		return nil, &diag.Error{Kind: diag.Model, File: path, Found: err.Error(), Expected: "a certificate that toptau wrote"}
	}
	if c.checkSignature() != nil {
		return nil, &diag.Error{Kind: diag.Model, File: path, Found: "edited or damaged: the signature does not match the content",
			Expected: "a certificate that toptau wrote"}
	}
	return c, nil
}

// decodeCertificate reads the content of a certificate's file. Every field must be there once, spelled as it is written: encoding/json by
// itself takes "LAMBDA" for "lambda", the last of two, and 0 for a field that is null or missing.
func decodeCertificate(content []byte) (*Certificate, error) {
	var head struct {
		Format int `json:"toptau_certificate"`
	}
	switch err := json.Unmarshal(content, &head); {
	case err != nil || head.Format < 1:
		return nil, errors.New("not a toptau certificate")
	case head.Format != CertificateVersion:
		return nil, fmt.Errorf("format %d, this toptau reads format %d", head.Format, CertificateVersion)
	}
	c := new(Certificate)
	if err := decode(content, c); err != nil {
		return nil, fmt.Errorf("edited or damaged: %w", err)
	}
	return c, nil
}

// refused is the error for a certificate that contradicts itself.
func refused(found, expected string) error {
	return &diag.Error{Kind: diag.Model, Found: "the certificate has " + found, Expected: expected}
}

// Check refuses numbers that are not finite, a radius or a norm with lambda > 0, and no radius with lambda = 0.
func (c *Certificate) Check() error {
	type number struct {
		name  string
		value float64
	}
	numbers := []number{{"lambda", c.Lambda}, {"beta", c.Beta}, {"objective", c.Objective}, {"lower_bound", c.LowerBound}}
	if c.BallRadius != nil {
		numbers = append(numbers, number{"ball_radius", *c.BallRadius})
	}
	if c.Norm != nil {
		numbers = append(numbers, number{"norm.lambda", c.Norm.Lambda}, number{"norm.bound", c.Norm.Bound})
	}
	for _, n := range numbers {
		if !(math.Abs(n.value) <= math.MaxFloat64) {
			return refused(fmt.Sprintf("%s %v", n.name, n.value), "a finite number")
		}
	}
	switch {
	case c.Storage != method.Float32 && c.Storage != method.Float64:
		return refused("storage "+diag.Quote(string(c.Storage)), "float32 or float64")
	case c.Lambda == 0 && c.BallRadius == nil:
		return refused("no ball_radius", "the radius of the ball in which the lower bound holds, since lambda = 0")
	case c.Lambda != 0 && c.BallRadius != nil:
		return refused(fmt.Sprintf("ball_radius %v with lambda %v", *c.BallRadius, c.Lambda), "no ball_radius unless lambda is 0")
	case c.BallRadius != nil && !(*c.BallRadius >= 0):
		return refused(fmt.Sprintf("ball_radius %v", *c.BallRadius), "at least 0")
	case c.Norm != nil && c.Lambda != 0:
		return refused(fmt.Sprintf("a norm with lambda %v", c.Lambda), "no norm unless lambda is 0")
	case c.Norm != nil && !(c.Norm.Lambda > 0):
		return refused(fmt.Sprintf("norm.lambda %v", c.Norm.Lambda), "above 0")
	case c.Norm != nil && !(c.Norm.Bound >= 0):
		return refused(fmt.Sprintf("norm.bound %v", c.Norm.Bound), "at least 0")
	}
	return nil
}

// Sign signs the certificate. One that is changed afterwards must be signed again, or its Signature set to nil: Save refuses it.
func (c *Certificate) Sign(key ed25519.PrivateKey) error {
	message, err := c.unsigned()
	if err != nil {
		return err
	}
	c.Signature, err = newSignature(key, message)
	return err
}

// VerifySignature reports whether the certificate as it is now was signed with the private key of key.
func (c *Certificate) VerifySignature(key ed25519.PublicKey) error {
	if err := c.Signature.By(key, ""); err != nil {
		return err
	}
	return c.checkSignature()
}

// unsigned returns the bytes that a signature covers: those of the file without it.
func (c *Certificate) unsigned() ([]byte, error) {
	plain := *c
	plain.Signature = nil
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(&plain)
	return jsontext.Printable(b.Bytes()), err
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

// Problem returns the problem that the certificate is about. It is not checked.
func (c *Certificate) Problem() method.Problem {
	return method.Problem{Method: c.Method, Surrogate: c.Surrogate, Lambda: c.Lambda, Tau: c.Tau, Beta: c.Beta, K: c.K}
}
