package paper

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/diag"
)

// serve answers with the given files by path.
func serve(t *testing.T, files map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(s.Close)
	return s
}

// withRemotes replaces the known files for a test.
func withRemotes(t *testing.T, list []remote) {
	t.Helper()
	before := remotes
	remotes = list
	t.Cleanup(func() { remotes = before })
}

func TestFetchWritesOnlyWhatHasTheKnownChecksum(t *testing.T) {
	const a, b = "1,2,b\n", "3,4,1\n"
	withRemotes(t, []remote{{"x/a.data", "a/a.data", int64(len(a)), digestOf([]byte(a))}, {"x/b.data", "b/b.data", int64(len(b)), digestOf([]byte(b))}})
	dir := t.TempDir()
	good := serve(t, map[string]string{"/x/a.data": a, "/x/b.data": b})
	files, err := Fetch(context.Background(), dir, good.URL+"/")
	if err != nil || len(files) != 2 {
		t.Fatalf("Fetch = %v, %v; want two files", files, err)
	}
	if content, _ := os.ReadFile(filepath.Join(dir, "b", "b.data")); string(content) != b {
		t.Errorf("b.data contains %q", content)
	}
	if files, err = Fetch(context.Background(), dir, good.URL); err != nil || len(files) != 0 {
		t.Errorf("a second Fetch wrote %v, %v; want nothing", files, err)
	}

	if err := os.WriteFile(filepath.Join(dir, "a", "a.data"), []byte("edited"), 0o666); err != nil {
		t.Fatal(err)
	}
	bad := serve(t, map[string]string{"/x/a.data": "1,2,g\n", "/x/b.data": b})
	_, err = Fetch(context.Background(), dir, bad.URL)
	if f := diag.Of(err); f == nil || f.Kind != diag.Data || !strings.Contains(err.Error(), digestOf([]byte(a))) {
		t.Errorf("other bytes gave %v; want an error of kind data with the checksum", err)
	}
	if content, _ := os.ReadFile(filepath.Join(dir, "a", "a.data")); string(content) != "edited" {
		t.Errorf("a failed download replaced the file with %q", content)
	}
}

func TestFetchSaysWhyItCannot(t *testing.T) {
	empty := serve(t, nil)
	gone := serve(t, nil)
	gone.Close()
	for _, c := range []struct {
		name, from string
		kind       diag.Kind
		words      string
	}{
		{"not there", empty.URL, diag.IO, "404"},
		{"offline", gone.URL, diag.IO, "by hand as ionosphere/ionosphere.data"},
		{"no address", "ftp://host", diag.Usage, "from"},
	} {
		dir := t.TempDir()
		files, err := Fetch(context.Background(), dir, c.from)
		if f := diag.Of(err); f == nil || f.Kind != c.kind || !strings.Contains(err.Error(), c.words) || len(files) > 0 {
			t.Errorf("%s: %v, %v; want kind %s and %q", c.name, files, err, c.kind, c.words)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left %v behind", c.name, left)
		}
	}
}

// TestKnownChecksumsAreThoseOfTheData compares the checksums with the files.
func TestKnownChecksumsAreThoseOfTheData(t *testing.T) {
	dir := os.Getenv("TOPTAU_DATA")
	if dir == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	for _, r := range remotes {
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.to)))
		if err != nil {
			t.Fatal(err)
		}
		if got := digestOf(content); got != r.sha256 || int64(len(content)) != r.bytes {
			t.Errorf("%s: %d bytes, sha256 %s", r.to, len(content), got)
		}
	}
}
