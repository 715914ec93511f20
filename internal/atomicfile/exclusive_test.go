//go:build unix && !solaris && !aix

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnExclusiveFileOpensOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	f, err := OpenExclusive(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenExclusive(path); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("the second one: %v", err)
	}
	if !SameFile(f, path) {
		t.Error("another file has the name")
	}
	os.Remove(path)
	if SameFile(f, path) {
		t.Error("a removed file has its name")
	}
	f.Close()
	again, err := OpenExclusive(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if _, err := OpenExclusive(t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
}
