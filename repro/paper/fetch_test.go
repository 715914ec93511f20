package paper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toptau/diag"
)

// repository is a local server of files that can break connections.
type repository struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string]string
	version  string   // the ETag
	cut      int      // break the connection after this number of bytes of an answer; 0: never
	cuts     int      // number of connections to break; negative: all
	ranges   []string // the Range headers of all requests
	noRanges bool     // answer every request with the whole file
}

// serve starts a repository of files by path.
func serve(t *testing.T, files map[string]string) *repository {
	t.Helper()
	s := &repository{files: files, version: `"1"`}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *repository) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, ok := s.files[r.URL.Path]
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	broken := s.cut > 0 && s.cuts != 0
	if broken {
		s.cuts--
	}
	w.Header().Set("ETag", s.version)
	noRanges, cut := s.noRanges, s.cut
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	if noRanges {
		r.Header.Del("Range")
	}
	if broken {
		w = &cutWriter{ResponseWriter: w, left: cut}
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
}

// cutWriter breaks the connection after some bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(b []byte) (int, error) {
	n := min(len(b), w.left)
	_, _ = w.ResponseWriter.Write(b[:n])
	if w.left -= n; w.left == 0 {
		w.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// withRemotes replaces the known files for a test.
func withRemotes(t *testing.T, list []remote) {
	t.Helper()
	before := remotes
	remotes = list
	t.Cleanup(func() { remotes = before })
}

// fetchFrom calls Fetch without long pauses.
func fetchFrom(s *repository, dir string, sets ...string) ([]Fetched, error) {
	return Fetch(context.Background(), FetchOptions{Dir: dir, Source: s.URL, Sets: sets, pause: time.Millisecond})
}

// writtenFiles returns the number of files that were downloaded.
func writtenFiles(list []Fetched) (n int) {
	for _, f := range list {
		if f.Written {
			n++
		}
	}
	return n
}

func TestFetchWritesOnlyWhatHasTheKnownChecksum(t *testing.T) {
	const a, b = "1,2,b\n", "3,4,1\n"
	withRemotes(t, []remote{{"ionosphere", "x/a.data", "a/a.data", digestOf([]byte(a))},
		{"spambase", "x/b.data", "b/b.data", digestOf([]byte(b))}, {"gisette", "x/c.data", "c/c.data", ""}})
	dir := t.TempDir()
	good := serve(t, map[string]string{"/x/a.data": a, "/x/b.data": b})
	files, err := fetchFrom(good, dir)
	if err != nil || len(files) != 2 || writtenFiles(files) != 2 || files[0].Checksum != Known {
		t.Fatalf("Fetch = %v, %v; want the two small sets", files, err)
	}
	if content, _ := os.ReadFile(filepath.Join(dir, "b", "b.data")); string(content) != b {
		t.Errorf("b.data contains %q", content)
	}
	if files, err = fetchFrom(good, dir); err != nil || writtenFiles(files) != 0 {
		t.Errorf("a second Fetch wrote %v, %v; want nothing", files, err)
	}

	if err := os.WriteFile(filepath.Join(dir, "a", "a.data"), []byte("edited"), 0o666); err != nil {
		t.Fatal(err)
	}
	bad := serve(t, map[string]string{"/x/a.data": "1,2,g\n", "/x/b.data": b})
	_, err = fetchFrom(bad, dir)
	if f := diag.Of(err); f == nil || f.Kind != diag.Data || !strings.Contains(err.Error(), digestOf([]byte(a))) {
		t.Errorf("other bytes gave %v; want an error of kind data with the checksum", err)
	}
	if content, _ := os.ReadFile(filepath.Join(dir, "a", "a.data")); string(content) != "edited" {
		t.Errorf("a failed download replaced the file with %q", content)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a", "*.part*")); len(left) > 0 {
		t.Errorf("a failed download left %v", left)
	}
}

// large returns a file of some megabytes.
func large() string {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < 3_000_000 {
		fmt.Fprintf(&b, "%d\n", random.Uint64())
	}
	return b.String()
}

func TestFetchContinuesAfterLostConnections(t *testing.T) {
	content := large()
	withRemotes(t, []remote{{"hepmass", "x/all.gz", "h/all.gz", ""}})
	s := serve(t, map[string]string{"/x/all.gz": content})
	s.cut, s.cuts = 700_000, 3
	dir := t.TempDir()
	files, err := fetchFrom(s, dir, "hepmass")
	if err != nil || len(files) != 1 || files[0].Checksum != Recorded || files[0].SHA256 != digestOf([]byte(content)) {
		t.Fatalf("Fetch = %+v, %v", files, err)
	}
	if got, _ := os.ReadFile(files[0].Path); string(got) != content {
		t.Errorf("the file has %d bytes, want %d", len(got), len(content))
	}
	if len(s.ranges) != 4 || s.ranges[0] != "" {
		t.Fatalf("requests had the ranges %q; want one without and three with", s.ranges)
	}
	for _, r := range s.ranges[1:] {
		if r == "" || r == "bytes=0-" {
			t.Errorf("a later request had the range %q", r)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "h", "*.part*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestFetchContinuesInALaterCall breaks all connections, then cancels, then lets the server answer.
func TestFetchContinuesInALaterCall(t *testing.T) {
	content := large()
	withRemotes(t, []remote{{"hepmass", "x/all.gz", "h/all.gz", ""}})
	s := serve(t, map[string]string{"/x/all.gz": content})
	s.cut, s.cuts = 400_000, 1
	dir := t.TempDir()
	part := filepath.Join(dir, "h", "all.gz.part")

	ctx, stop := context.WithCancel(context.Background())
	_, err := Fetch(ctx, FetchOptions{Dir: dir, Source: s.URL, Sets: []string{"all"}, pause: time.Hour,
		Progress: func(f float64, status string) {
			if f < 0 && strings.Contains(status, "connection lost") {
				stop()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled Fetch returned %v", err)
	}
	kept, _ := os.Stat(part)
	if kept == nil || kept.Size() == 0 {
		t.Fatal("a cancelled Fetch kept no part")
	}
	s.mu.Lock()
	s.files = nil
	s.mu.Unlock()
	if _, err := fetchFrom(s, dir, "hepmass"); diag.Of(err) == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a file that is gone: %v", err)
	}
	if again, _ := os.Stat(part); again == nil || again.Size() != kept.Size() {
		t.Error("an error on the server removed the part")
	}
	s.mu.Lock()
	s.files, s.ranges = map[string]string{"/x/all.gz": content}, nil
	s.mu.Unlock()
	files, err := fetchFrom(s, dir, "hepmass")
	if err != nil || files[0].SHA256 != digestOf([]byte(content)) {
		t.Fatalf("Fetch = %+v, %v", files, err)
	}
	if want := fmt.Sprintf("bytes=%d-", kept.Size()); len(s.ranges) != 1 || s.ranges[0] != want {
		t.Errorf("the later call requested %q, want %q", s.ranges, want)
	}
}

func TestFetchStartsAgainIfTheFileChanged(t *testing.T) {
	content := large()
	for _, noRanges := range []bool{false, true} {
		withRemotes(t, []remote{{"hepmass", "x/all.gz", "h/all.gz", ""}})
		s := serve(t, map[string]string{"/x/all.gz": strings.Repeat("old ", 500_000)})
		s.cut, s.cuts = 400_000, -1
		dir := t.TempDir()
		ctx, stop := context.WithCancel(context.Background())
		_, err := Fetch(ctx, FetchOptions{Dir: dir, Source: s.URL, Sets: []string{"all"}, pause: time.Hour,
			Progress: func(f float64, status string) {
				if f < 0 {
					stop()
				}
			}})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		s.mu.Lock()
		s.files, s.version, s.cut, s.noRanges = map[string]string{"/x/all.gz": content}, `"2"`, 0, noRanges
		s.mu.Unlock()
		files, err := fetchFrom(s, dir, "hepmass")
		if err != nil || files[0].SHA256 != digestOf([]byte(content)) {
			t.Errorf("no ranges %v: Fetch = %+v, %v; want the new file", noRanges, files, err)
		}
	}
}

// TestFetchRecordsAChecksum checks what happens to files whose checksum this program does not know.
func TestFetchRecordsAChecksum(t *testing.T) {
	withRemotes(t, []remote{{"gisette", "x/g.data", "g/g.data", ""}})
	s := serve(t, map[string]string{"/x/g.data": "1 2\n"})
	dir := t.TempDir()
	path := filepath.Join(dir, "g", "g.data")
	for i, want := range []Checksum{Recorded, Repeated} {
		files, err := fetchFrom(s, dir, "gisette")
		if err != nil || files[0].Checksum != want || files[0].Written != (i == 0) {
			t.Fatalf("call %d: %+v, %v; want %s", i+1, files, err, want)
		}
	}
	if sum, _ := os.ReadFile(path + ".sha256"); string(sum) != digestOf([]byte("1 2\n"))+"  g.data\n" {
		t.Errorf("recorded %q", sum)
	}
	// A damaged file is downloaded again. Another file of the server is refused.
	if err := os.WriteFile(path, []byte("1"), 0o666); err != nil {
		t.Fatal(err)
	}
	if files, err := fetchFrom(s, dir, "gisette"); err != nil || !files[0].Written || files[0].Checksum != Repeated {
		t.Errorf("a damaged file: %+v, %v", files, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.files["/x/g.data"] = "1 3\n"
	_, err := fetchFrom(s, dir, "gisette")
	if f := diag.Of(err); f == nil || f.Kind != diag.Data || !strings.Contains(err.Error(), "g.data.sha256") {
		t.Errorf("another file gave %v; want an error of kind data that names the record", err)
	}
	if err := os.WriteFile(path+".sha256", []byte("?"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err = fetchFrom(s, dir, "gisette"); diag.Of(err) == nil || diag.Of(err).Kind != diag.Data {
		t.Errorf("a damaged record gave %v", err)
	}
	// A file that the user has put there is kept, and its checksum recorded.
	if err := os.Remove(path + ".sha256"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("own"), 0o666); err != nil {
		t.Fatal(err)
	}
	if files, err := fetchFrom(s, dir, "gisette"); err != nil || files[0].Written || files[0].Checksum != Recorded {
		t.Errorf("a user's file: %+v, %v", files, err)
	}
}

func TestFetchGivesUpOnASilentServer(t *testing.T) {
	withRemotes(t, []remote{{"hepmass", "x/all.gz", "h/all.gz", ""}})
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = w.Write([]byte("12"))
		w.(http.Flusher).Flush()
		<-release
	}))
	defer s.Close()
	defer close(release)
	_, err := Fetch(context.Background(), FetchOptions{Dir: t.TempDir(), Source: s.URL, Sets: []string{"hepmass"},
		patience: 50 * time.Millisecond, pause: time.Millisecond})
	if f := diag.Of(err); f == nil || f.Kind != diag.IO || !strings.Contains(err.Error(), "connection lost") ||
		!strings.Contains(err.Error(), "continues") {
		t.Errorf("a silent server gave %v", err)
	}
}

func TestFetchSaysWhyItCannot(t *testing.T) {
	empty := serve(t, nil)
	gone := serve(t, nil)
	gone.Close()
	for _, c := range []struct {
		name, from string
		sets       []string
		kind       diag.Kind
		words      string
	}{
		{"not there", empty.URL, nil, diag.IO, "404"},
		{"offline", gone.URL, nil, diag.IO, "by hand as ionosphere/ionosphere.data"},
		{"no address", "ftp://host", nil, diag.Usage, "from"},
		{"no such set", empty.URL, []string{"cta"}, diag.Usage, "never published"},
	} {
		dir := t.TempDir()
		files, err := Fetch(context.Background(), FetchOptions{Dir: dir, Source: c.from, Sets: c.sets,
			pause: time.Millisecond})
		if f := diag.Of(err); f == nil || f.Kind != c.kind || !strings.Contains(err.Error(), c.words) || len(files) > 0 {
			t.Errorf("%s: %v, %v; want kind %s and %q", c.name, files, err, c.kind, c.words)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left %v", c.name, left)
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
		if r.sha256 == "" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.to)))
		if err != nil {
			t.Fatal(err)
		}
		if got := digestOf(content); got != r.sha256 {
			t.Errorf("%s: sha256 %s", r.to, got)
		}
	}
}
