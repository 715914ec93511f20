package model

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toptau/diag"
)

// testKey returns a fixed key.
func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

func TestSignature(t *testing.T) {
	key, other := testKey(1), testKey(2)
	m := trained(t)
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := loadVerified(path, public(key)); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("an unsigned model: %v", err)
	}
	m = signed(t, m, key)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := loadVerified(path, public(key))
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Verify(public(key)); err != nil {
		t.Error(err)
	}
	if _, err := loadVerified(path, public(other)); err == nil || !strings.Contains(err.Error(), "signed by key "+KeyName(public(key))) {
		t.Errorf("another key: %v", err)
	}
	if _, err := Load(path); err != nil {
		t.Errorf("a reader that does not ask for a key: %v", err)
	}

	// The same model and key give the same bytes.
	again := signed(t, trained(t), key)
	if !bytes.Equal(encoded(t, m), encoded(t, again)) {
		t.Error("two signatures differ")
	}

	// A changed model does not have the old signature.
	different, err := loaded.WithDefault("per id")
	if err != nil {
		t.Fatal(err)
	}
	if err := different.Verify(public(key)); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("a changed model: %v", err)
	}
	if err := signed(t, different, other).Save(path); err != nil {
		t.Errorf("signed again: %v", err)
	}
	if _, err := loadVerified(path, public(other)); err != nil {
		t.Error(err)
	}
}

// Every edit of a signed file with a new checksum is refused by every reader. A signature can only be removed
// or replaced by that of another key, and By reports both.
func TestSignedFilesAreRefusedWhenEdited(t *testing.T) {
	m := complete(t)
	key := testKey(1)
	data := encoded(t, m)
	body := data[:len(data)-tailSize]
	accepted := 0
	for i := 0; i < len(body); i += 5 {
		edited := bytes.Clone(body)
		edited[i] ^= 1
		if again, err := Read(bytes.NewReader(append(edited, trailer(edited)...)), "m.json"); err == nil {
			accepted++
			t.Errorf("byte %d: accepted, signed by %v", i, KeyName(again.signature.PublicKey))
		}
	}
	start := bytes.LastIndex(body, []byte("\"signature\": "))
	stripped := append(bytes.Clone(body[:start]), trailer(body[:start])...)
	again, err := Read(bytes.NewReader(stripped), "m.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.signature.By(public(key), "m.json"); err == nil {
		t.Error("a model without its signature passes")
	}
}

func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	made, err := GenerateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ReadPrivateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadPublicKey(path + ".pub")
	if err != nil || !read.Equal(made) || !public(private).Equal(made) {
		t.Errorf("%v: %v, %v", err, read, made)
	}
	if _, err := GenerateKey(path); diag.Of(err) == nil || !strings.Contains(err.Error(), "never replaced") {
		t.Errorf("over a key: %v", err)
	}

	write := func(name, kind string, content []byte) string {
		path := filepath.Join(dir, name)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := x509.MarshalPKCS8PrivateKey(curve)
	open, _ := x509.MarshalPKIXPublicKey(&curve.PublicKey)
	text := filepath.Join(dir, "text")
	os.WriteFile(text, []byte("a,b\n"), 0o600)
	for path, want := range map[string]string{
		filepath.Join(dir, "none"):               "no such file",
		text:                                     "not a PEM file",
		dir:                                      "directory",
		path + ".pub":                            "a public key, expected the private key",
		write("curve", privateBlock, secret):     "*ecdsa.PrivateKey",
		write("torn", privateBlock, secret[:20]): "cannot be read",
		write("certificate", "CERTIFICATE", open): `"CERTIFICATE"`,
	} {
		if _, err := ReadPrivateKey(path); diag.Of(err) == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("private %s: %v, want %q", path, err, want)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"):               "no such file",
		path:                                     "a private key, expected the public key",
		write("curve.pub", publicBlock, open):    "*ecdsa.PublicKey",
		write("torn.pub", publicBlock, open[:9]): "cannot be read",
	} {
		if _, err := ReadPublicKey(path); diag.Of(err) == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("public %s: %v, want %q", path, err, want)
		}
	}
	if runtime.GOOS != "windows" {
		os.Chmod(path, 0o640)
		if _, err := ReadPrivateKey(path); diag.Of(err) == nil || !strings.Contains(err.Error(), "others can use (mode 0640)") {
			t.Errorf("a key for others: %v", err)
		}
	}
}

// Keys of openssl work, and openssl checks a model's signature without toptau: docs/reference/evidence.md has these
// commands.
func TestOpenssl(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("no openssl here")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		command := exec.Command(openssl, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("openssl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("genpkey", "-algorithm", "ed25519", "-out", "key")
	run("pkey", "-in", "key", "-pubout", "-out", "key.pub")
	os.Chmod(filepath.Join(dir, "key"), 0o600)
	private, err := ReadPrivateKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadPublicKey(filepath.Join(dir, "key.pub"))
	if err != nil || !read.Equal(public(private)) {
		t.Fatal(err)
	}
	m := trained(t)
	m = signed(t, m, private)
	data := encoded(t, m)
	start := bytes.LastIndex(data, []byte("\"signature\": "))
	os.WriteFile(filepath.Join(dir, "body"), data[:start], 0o600)
	os.WriteFile(filepath.Join(dir, "value"), m.signature.Value, 0o600)
	if out := run("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key.pub", "-in", "body", "-sigfile", "value"); !strings.Contains(out, "Success") {
		t.Error(out)
	}
}

// loadVerified loads a model that must have been signed with the private key of key.
func loadVerified(path string, key ed25519.PublicKey) (*Model, error) {
	m, err := Load(path)
	if err != nil {
		return nil, err
	}
	return m, m.Signature().By(key, path)
}
