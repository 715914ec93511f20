package atomicfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMain is also the main function of the processes that tests kill, see child.
func TestMain(m *testing.M) {
	if what := os.Getenv("OUTFILE_CHILD"); what != "" {
		child(what, os.Getenv("OUTFILE_DIR"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child writes files and stops at the place where a test kills it.
func child(what, dir string) {
	stop := func() {
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1)) // until the end
	}
	names := []string{filepath.Join(dir, "c.json"), filepath.Join(dir, "m.json")}
	switch what {
	case "lock": // a state that is read and will be replaced
		if _, err := LockReplaced(names[1]); err != nil {
			panic(err)
		}
		stop()
	case "half": // a file half written
		f, err := Create(names[1])
		if err != nil {
			panic(err)
		}
		f.Write([]byte("half"))
		stop()
	case "abandoned":
		f, err := Create(names[1])
		if err != nil {
			panic(err)
		}
		f.Write([]byte("new"))
		tempDir, err := MkdirTemp("atomicfile")
		if err != nil {
			panic(err)
		}
		Abandon()
		_, late := Create(names[0])
		_, err = os.Stat(tempDir)
		fmt.Println(f.Commit() != nil, late != nil, os.IsNotExist(err), len(Written()))
	}
}

// start runs a child process until it stops.
func start(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no locks here")
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "OUTFILE_CHILD="+what, "OUTFILE_DIR="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(c) })
	line := make([]byte, 6)
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	return c
}

func kill(c *exec.Cmd) {
	c.Process.Kill()
	c.Wait()
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLeftOverFilesOfDeadProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "half", dir)
	if sweep(dir); len(names(t, dir)) != 1 {
		t.Fatalf("a live process's file is gone: %v", names(t, dir))
	}
	kill(c)
	left := names(t, dir)
	foreign := strings.Replace(left[0], "toptau-"+host(), "toptau-00000000", 1)
	own := []string{foreign, ".m.json.1-1.tmp", "m.json.tmp", ".git"}
	for _, name := range own {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if sweep(dir); len(names(t, dir)) != len(own) {
		t.Errorf("left after the sweep: %v; wanted what is not this host's: %v", names(t, dir), own)
	}
}

// After Abandon no file is published and no temporary file is left.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "m.json"), []byte("old"), 0o600)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "OUTFILE_CHILD=abandoned", "OUTFILE_DIR="+dir)
	if out, err := c.CombinedOutput(); err != nil || string(out) != "true true true 0\n" {
		t.Errorf("%v, %s", err, out)
	}
	if got := names(t, dir); len(got) != 1 || content(t, filepath.Join(dir, "m.json")) != "old" {
		t.Errorf("left %v", got)
	}
}

func TestCommitOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	var files []*File
	for _, name := range []string{"a", "b"} {
		f, err := Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, name)
		files = append(files, f)
	}
	if err := Commit(files...); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 2 || content(t, filepath.Join(dir, "a")) != "a" {
		t.Errorf("directory %v", got)
	}
}

func TestSame(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	os.WriteFile(at("file"), nil, 0o600)
	os.Mkdir(at("d"), 0o700)
	os.Link(at("file"), at("hard"))
	os.Symlink("file", at("soft"))
	os.Symlink("later", at("dangling"))
	os.Symlink("d", at("e"))
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"file", "file", true}, {"file", "d/../file", true}, {"file", "hard", true}, {"soft", "hard", true},
		{"later", "dangling", true}, {"d/new", "e/new", true}, {"d/new", "e/newer", false}, {"file", "later", false},
		{"none/x", "none/x", false}, {"d", "e", false},
	} {
		if got := Same(at(c.a), at(c.b)); got != c.want {
			t.Errorf("Same(%s, %s) = %v", c.a, c.b, got)
		}
	}
	if Same(os.DevNull, os.DevNull) {
		t.Error("a device can be written twice")
	}
}

func TestDanglingLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "to"), 0o700)
	os.Mkdir(filepath.Join(dir, "from"), 0o700)
	link := filepath.Join(dir, "from", "link")
	if err := os.Symlink("../to/file", link); err != nil {
		t.Skip("no symlinks here")
	}
	if err := Write(link, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(dir, "to", "file")); got != "x" {
		t.Errorf("the target holds %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	loop := filepath.Join(dir, "loop")
	os.Symlink("loop", loop)
	if err := Write(loop, nil); err == nil {
		t.Error("a link to itself was written")
	}
}
