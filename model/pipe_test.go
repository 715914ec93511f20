//go:build unix

package model

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toptau/diag"
)

// A pipe without a writer and a device without an end are refused at once, as a model and as a certificate.
func TestPipesAndDevices(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "m.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "a pipe", "/dev/zero": "a device"} {
		_, err := Load(path)
		_, err2 := LoadCertificate(path)
		for _, err := range []error{err, err2} {
			if diag.Of(err) == nil || !strings.Contains(err.Error(), want+", expected a file") {
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		}
	}
}
