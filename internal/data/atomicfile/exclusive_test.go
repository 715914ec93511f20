//go:build unix && !solaris && !aix

package atomicfile

import (
	"fmt"
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

// A file that is replaced has one user at a time, by all of its names. A killed one leaves no lock.
func TestAReplacedFileHasOneUser(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "m.json"), filepath.Join(dir, "link")
	os.Symlink("m.json", link)
	for round := range 3 { // the file is missing, exists, and was replaced
		release, err := LockReplaced(path)
		if err != nil {
			t.Fatal(round, err)
		}
		if err := Write(path, fmt.Append(nil, round)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, link} {
			if _, err := LockReplaced(name); err == nil || !strings.Contains(err.Error(), "in use by another process, expected one process at a time") ||
				!strings.Contains(err.Error(), name) {
				t.Errorf("round %d: the second user of %s: %v", round, name, err)
			}
		}
		other, err := LockReplaced(filepath.Join(dir, "other"))
		if err != nil {
			t.Fatal(err)
		}
		other()
		if release(); Exists(path + ".lock") {
			t.Error("the lock file is left")
		}
	}
	c := start(t, "lock", dir)
	if _, err := LockReplaced(path); err == nil {
		t.Error("locked by two processes")
	}
	kill(c)
	if !Exists(path + ".lock") {
		t.Error("the test shows nothing: a killed process left no file")
	}
	release, err := LockReplaced(path)
	if err != nil {
		t.Fatalf("after the process was killed: %v", err)
	}
	release()
}
