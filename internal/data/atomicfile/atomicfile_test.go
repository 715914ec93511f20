package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"toptau/diag"
)

// names returns all names in a directory, including those of temporary files.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

func TestFileAppearsOnlyWhenCommitted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}

	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("half"))
	f.Close()
	if got, _ := os.ReadFile(path); string(got) != "old" || len(names(t, dir)) != 1 {
		t.Fatalf("discarded: content %q, directory %v", got, names(t, dir))
	}

	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(path)
	if got, _ := os.ReadFile(path); string(got) != "new" || len(names(t, dir)) != 1 || info.Mode().Perm() != 0o600 {
		t.Fatalf("committed: content %q, directory %v, mode %v", got, names(t, dir), info.Mode())
	}
}

func TestLinkStaysLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	os.WriteFile(target, nil, 0o644)
	if err := os.Symlink("target", link); err != nil {
		t.Skip("no symlinks here")
	}
	if err := Write(link, []byte("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if got, _ := os.ReadFile(target); err != nil || info.Mode()&os.ModeSymlink == 0 || string(got) != "x" {
		t.Fatalf("link replaced: %v %v %q", info, err, got)
	}
}

func TestErrorsNameThePathAndLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(dir); diag.Of(err) == nil || diag.Of(err).File != dir {
		t.Errorf("a directory: %v", err)
	}
	missing := filepath.Join(dir, "no", "m.json")
	if _, err := Create(missing); diag.Of(err) == nil || diag.Of(err).File != missing {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if err := Write("/dev/full", []byte("x")); diag.Of(err) == nil || diag.Of(err).Kind != diag.IO {
			t.Errorf("a full disk: %v", err)
		}
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}
