package paper

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/data/atomicfile"
	"toptau/internal/data/memory"
)

// Source is the address of the files of the UCI repository.
const Source = "https://archive.ics.uci.edu/ml/machine-learning-databases"

// remote is a file of the repository with its path in the data directory.
type remote struct {
	set      string
	from, to string
	sha256   string // "" if it is not known for certain: Fetch records it at the first download
}

// remotes lists the paper's public sets as UCI distributes them.
var remotes = []remote{
	{"ionosphere", "ionosphere/ionosphere.data", "ionosphere/ionosphere.data",
		"46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd"},
	{"spambase", "spambase/spambase.data", "spambase/spambase.data",
		"b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12"},
	{"gisette", "gisette/GISETTE/gisette_train.data", "gisette/gisette_train.data", ""},
	{"gisette", "gisette/GISETTE/gisette_train.labels", "gisette/gisette_train.labels", ""},
	{"gisette", "gisette/GISETTE/gisette_valid.data", "gisette/gisette_valid.data", ""},
	{"gisette", "gisette/gisette_valid.labels", "gisette/gisette_valid.labels", ""},
	{"hepmass", "00347/all_train.csv.gz", "hepmass/all_train.csv.gz", ""},
	{"hepmass", "00347/all_test.csv.gz", "hepmass/all_test.csv.gz", ""},
}

// smallSets are the sets that Fetch downloads by default: less than a megabyte.
var smallSets = []string{"ionosphere", "spambase"}

// FetchSets returns the names of the sets that Fetch can download.
func FetchSets() []string {
	var names []string
	for _, r := range remotes {
		if !slices.Contains(names, r.set) {
			names = append(names, r.set)
		}
	}
	return names
}

// Checksum is how the checksum of a file was compared.
type Checksum string

const (
	Known    Checksum = "known"    // equal to the one in this program
	Recorded Checksum = "recorded" // not known for certain, so it was recorded; later calls compare with the record
	Repeated Checksum = "repeated" // equal to the recorded one
)

// Fetched is a file that Fetch has downloaded or found.
type Fetched struct {
	Path     string
	Bytes    int64
	SHA256   string
	Checksum Checksum
	Written  bool // downloaded now
}

// FetchOptions are the options of Fetch.
type FetchOptions struct {
	Dir      string
	Source   string                                // address of the repository
	Sets     []string                              // names of FetchSets, or "all"; nil: the two small sets
	Progress func(fraction float64, status string) // fraction of the current file, negative if unknown; nil: not

	patience time.Duration // without a byte, after which a connection is given up; 0: a minute
	pause    time.Duration // before the first repetition, doubled each time; 0: two seconds
}

// Fetch downloads the files that are missing in o.Dir or have another checksum. A download that was
// interrupted continues where it stopped, now or in a later call: its bytes are kept in a file with the
// ending .part. A file appears under its own name when it is complete. If its checksum is known, it must be
// equal. If not, the checksum is recorded in a file with the ending .sha256, and a later download must have
// the same.
//
// Errors are of kind IO if there is no connection or no such file, and of kind Data if the bytes differ from
// those expected.
func Fetch(ctx context.Context, o FetchOptions) ([]Fetched, error) {
	if u, err := url.Parse(o.Source); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &diag.Error{Kind: diag.Usage, Param: "from", Found: diag.Quote(o.Source),
			Expected: "an address that begins with https:// or http://"}
	}
	if len(o.Sets) == 0 {
		o.Sets = smallSets
	}
	for _, name := range o.Sets {
		if name != "all" && !slices.Contains(FetchSets(), name) {
			return nil, &diag.Error{Kind: diag.Usage, Found: diag.Quote(name),
				Expected: "all, or some of " + strings.Join(FetchSets(), ", "),
				Hint:     "CTA and NetFlow were never published; the tables use stand-ins"}
		}
	}
	if o.Progress == nil {
		o.Progress = func(float64, string) {}
	}
	o.patience, o.pause = cmp.Or(o.patience, time.Minute), cmp.Or(o.pause, 2*time.Second)
	var list []Fetched
	for _, r := range remotes {
		if !slices.Contains(o.Sets, "all") && !slices.Contains(o.Sets, r.set) {
			continue
		}
		f, err := r.fetch(ctx, &o)
		if err != nil {
			return list, err
		}
		list = append(list, f)
	}
	return list, nil
}

// fetch makes one file complete and compares its checksum.
func (r remote) fetch(ctx context.Context, o *FetchOptions) (Fetched, error) {
	path := filepath.Join(o.Dir, filepath.FromSlash(r.to))
	f := Fetched{Path: path, Checksum: Known}
	expected := r.sha256
	if expected == "" {
		f.Checksum = Repeated
		var err error
		if expected, err = readChecksum(path); err != nil {
			return f, err
		}
	}
	found, err := r.sum(ctx, path, &f, o)
	if err != nil {
		return f, err
	}
	switch {
	case found && f.SHA256 == expected:
		return f, nil
	case found && expected == "": // a file that the user has put there
		f.Checksum = Recorded
		return f, writeChecksum(path, f.SHA256)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return f, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	d := download{remote: r, o: o, address: strings.TrimSuffix(o.Source, "/") + "/" + r.from, part: path + ".part"}
	if err := d.run(ctx); err != nil {
		_ = os.Remove(filepath.Dir(path)) // fails unless it is empty: nothing has come
		return f, err
	}
	if _, err := r.sum(ctx, d.part, &f, o); err != nil {
		return f, err
	}
	if expected != "" && f.SHA256 != expected {
		d.drop()
		problem := &diag.Error{Kind: diag.Data, File: d.address,
			Found:    fmt.Sprintf("%d bytes with sha256 %s", f.Bytes, f.SHA256),
			Expected: "sha256 " + expected, Hint: "nothing was written"}
		if r.sha256 == "" {
			problem.Hint = "nothing was written; to accept the new file, delete " + checksumFile(path)
		}
		return f, problem
	}
	if expected == "" {
		f.Checksum = Recorded
		if err := writeChecksum(path, f.SHA256); err != nil {
			return f, err
		}
	}
	f.Written = true
	if err := os.Rename(d.part, path); err != nil {
		return f, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	_ = os.Remove(d.validatorFile())
	return f, nil
}

// sum sets the size and the digest of a file in f. It returns false if there is no file.
func (r remote) sum(ctx context.Context, path string, f *Fetched, o *FetchOptions) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, &diag.Error{Kind: diag.IO, File: path, Found: "not a regular file", Expected: "a file", Err: err}
	}
	h := sha256.New()
	block := make([]byte, 1<<20)
	for f.Bytes = 0; ; {
		n, err := file.Read(block)
		h.Write(block[:n])
		f.Bytes += int64(n)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, context.Canceled) {
			return false, context.Canceled
		}
		if err != nil {
			return false, &diag.Error{Kind: diag.IO, File: path, Err: err}
		}
		o.Progress(float64(f.Bytes)/float64(max(info.Size(), 1)), "checksum of "+r.to)
	}
	f.SHA256 = hex.EncodeToString(h.Sum(nil))
	return true, nil
}

// checksumFile returns the name of the file with the recorded checksum of a file, in the form of sha256sum.
func checksumFile(path string) string { return path + ".sha256" }

// readChecksum returns the recorded checksum, and "" if there is none.
func readChecksum(path string) (string, error) {
	content, err := os.ReadFile(checksumFile(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", &diag.Error{Kind: diag.IO, File: checksumFile(path), Err: err}
	}
	sum, _, _ := strings.Cut(string(content), " ")
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
		return "", &diag.Error{Kind: diag.Data, File: checksumFile(path), Found: diag.Quote(string(content)),
			Expected: "a checksum and the name of its file", Hint: "delete it to record the checksum again"}
	}
	return sum, nil
}

func writeChecksum(path, sum string) error {
	return atomicfile.Write(checksumFile(path), []byte(sum+"  "+filepath.Base(path)+"\n"))
}

// download is a file that is being downloaded into its part.
type download struct {
	remote
	o             *FetchOptions
	address, part string
}

// attempts is the number of times that a connection may fail without a new byte. With the pauses it takes
// half a minute to give up.
const attempts = 5

// errIncomplete is the error of an attempt that may be repeated.
type errIncomplete struct{ err error }

func (e *errIncomplete) Error() string { return e.err.Error() }

// run completes the part.
func (d *download) run(ctx context.Context) error {
	pause := d.o.pause
	for failures := 0; ; {
		before := d.size()
		err := d.attempt(ctx)
		var incomplete *errIncomplete
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Canceled
		case !errors.As(err, &incomplete):
			return err
		}
		if d.size() > before {
			failures, pause = 0, d.o.pause
		}
		if failures++; failures == attempts || before == 0 && d.size() == 0 { // no connection at all is no interruption
			return d.offline(incomplete.err)
		}
		d.o.Progress(-1, fmt.Sprintf("%s: connection lost after %s, trying again", d.to, memory.Size(d.size())))
		select {
		case <-ctx.Done():
			return context.Canceled
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// size returns the number of bytes of the part.
func (d *download) size() int64 {
	info, err := os.Stat(d.part)
	if err != nil {
		return 0
	}
	return info.Size()
}

// drop removes the part.
func (d *download) drop() {
	_ = os.Remove(d.part)
	_ = os.Remove(d.validatorFile())
}

// validatorFile has the server's name for the version of the file that the part is from: the ETag, or the
// time of the last change. The server continues a part only of the same version; otherwise it starts again.
func (d *download) validatorFile() string { return d.part + ".version" }

// attempt requests the missing bytes once and appends what comes.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(d.o.patience, cancel)
	defer silence.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.address, nil)
	if err != nil {
		return &diag.Error{Kind: diag.Usage, Param: "from", Found: diag.Quote(d.address), Err: err}
	}
	request.Header.Set("Accept-Encoding", "identity") // the bytes of the file, for ranges and checksums
	have := d.size()
	if version, err := os.ReadFile(d.validatorFile()); have > 0 && err == nil && len(version) > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		request.Header.Set("If-Range", string(version))
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return &errIncomplete{err}
	}
	defer answer.Body.Close()
	total := int64(-1)
	switch answer.StatusCode {
	case http.StatusOK: // the whole file: there was no part, or it is of another version
		have, total = 0, answer.ContentLength
		if err := d.start(answer.Header); err != nil {
			return err
		}
	case http.StatusPartialContent:
		first, all, ok := parseRange(answer.Header.Get("Content-Range"))
		if !ok || first != have {
			d.drop()
			return &errIncomplete{fmt.Errorf("the server sent the range %q, expected one from %d",
				answer.Header.Get("Content-Range"), have)}
		}
		total = all
	case http.StatusRequestedRangeNotSatisfiable:
		if _, all, ok := parseRange(answer.Header.Get("Content-Range")); ok && all == have {
			return nil // the part was complete
		}
		d.drop()
		return &errIncomplete{errors.New("the part was longer than the file")}
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &errIncomplete{errors.New(answer.Status)}
	default:
		return &diag.Error{Kind: diag.IO, File: d.address, Found: answer.Status, Expected: "200 OK", Hint: d.byHand()}
	}
	return d.appendBytes(ctx, answer.Body, have, total, func() { silence.Reset(d.o.patience) })
}

// start empties the part and records the version of the file.
func (d *download) start(h http.Header) error {
	version := h.Get("ETag")
	if version == "" || strings.HasPrefix(version, "W/") { // a weak one does not promise equal bytes
		version = h.Get("Last-Modified")
	}
	d.drop()
	if err := os.WriteFile(d.validatorFile(), []byte(version), 0o666); err != nil {
		return &diag.Error{Kind: diag.IO, File: d.validatorFile(), Err: err}
	}
	return nil
}

// parseRange reads "bytes 5-9/10" and "bytes */10".
func parseRange(text string) (first, total int64, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	span, all, cut := strings.Cut(text, "/")
	from, _, _ := strings.Cut(span, "-")
	total, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		total = -1
	}
	if from != "*" {
		if first, err = strconv.ParseInt(from, 10, 64); err != nil {
			return 0, 0, false
		}
	}
	return first, total, ok && cut
}

// appendBytes appends an answer to the part. total is the size of the file, -1 if it is unknown.
func (d *download) appendBytes(ctx context.Context, body io.Reader, have, total int64, alive func()) error {
	file, err := atomicfile.OpenExclusive(d.part)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(have, io.SeekStart); err != nil {
		return &diag.Error{Kind: diag.IO, File: d.part, Err: err}
	}
	block := make([]byte, 1<<18)
	for {
		n, err := body.Read(block)
		alive()
		if n > 0 {
			if _, failed := file.Write(block[:n]); failed != nil {
				return &diag.Error{Kind: diag.IO, File: d.part, Err: failed}
			}
			have += int64(n)
			d.showProgress(have, total)
		}
		switch {
		case err == io.EOF && (total < 0 || have == total):
			if err := file.Sync(); err != nil {
				return &diag.Error{Kind: diag.IO, File: d.part, Err: err}
			}
			return nil
		case err == io.EOF:
			return &errIncomplete{fmt.Errorf("the connection ended after %d of %d bytes", have, total)}
		case err != nil:
			return &errIncomplete{err}
		case ctx.Err() != nil:
			return &errIncomplete{ctx.Err()}
		}
	}
}

func (d *download) showProgress(have, total int64) {
	if total <= 0 {
		d.o.Progress(-1, fmt.Sprintf("%s: %s", d.to, memory.Size(have)))
		return
	}
	d.o.Progress(float64(have)/float64(total), fmt.Sprintf("%s: %s of %s", d.to, memory.Size(have), memory.Size(total)))
}

// offline returns the error for a failed connection.
func (d *download) offline(err error) error {
	e := &diag.Error{Kind: diag.IO, File: d.address, Found: "no connection", Hint: d.byHand(), Err: err}
	if have := d.size(); have > 0 {
		e.Found = "connection lost"
		e.Hint = fmt.Sprintf("%s are kept; the same command continues from there", memory.Size(have))
	}
	return e
}

// byHand returns the advice to download the file by other means.
func (r remote) byHand() string {
	return "this computer may be offline: put the file into the data directory by hand as " + r.to
}
