package paper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/atomicfile"
)

// Source is the address of the files of the UCI repository.
const Source = "https://archive.ics.uci.edu/ml/machine-learning-databases"

// remote is a file of the repository with its path in the data directory.
type remote struct {
	from, to string
	bytes    int64
	sha256   string
}

// remotes lists the paper's two small sets as UCI distributes them.
var remotes = []remote{
	{"ionosphere/ionosphere.data", "ionosphere/ionosphere.data", 76_467,
		"46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd"},
	{"spambase/spambase.data", "spambase/spambase.data", 702_942,
		"b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12"},
}

// Fetch downloads the files that are missing in dir, or have another checksum, and returns the paths that it
// wrote. A file is written only if its checksum is the expected one. Errors are of kind IO if there is no
// connection or no such file, and of kind Data if the bytes differ from those expected.
func Fetch(ctx context.Context, dir, source string) ([]string, error) {
	if u, err := url.Parse(source); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &diag.Error{Kind: diag.Usage, Param: "from", Found: diag.Quote(source),
			Expected: "an address that begins with https:// or http://"}
	}
	var written []string
	for _, r := range remotes {
		path := filepath.Join(dir, filepath.FromSlash(r.to))
		if content, err := os.ReadFile(path); err == nil && digestOf(content) == r.sha256 {
			continue
		}
		content, err := r.download(ctx, strings.TrimSuffix(source, "/")+"/"+r.from)
		if err != nil {
			return written, err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return written, &diag.Error{Kind: diag.IO, File: path, Err: err}
		}
		if err := atomicfile.Write(path, content); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// patience is the time limit for one file.
const patience = 2 * time.Minute

// download returns the content of the file.
func (r remote) download(ctx context.Context, address string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &diag.Error{Kind: diag.Usage, Param: "from", Found: diag.Quote(address), Err: err}
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, r.offline(address, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, &diag.Error{Kind: diag.IO, File: address, Found: answer.Status, Expected: "200 OK", Hint: r.byHand()}
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, r.bytes+1))
	if err != nil {
		return nil, r.offline(address, err)
	}
	if got := digestOf(content); got != r.sha256 {
		return nil, &diag.Error{Kind: diag.Data, File: address, Found: fmt.Sprintf("%d bytes with sha256 %s",
			len(content), got),
			Expected: fmt.Sprintf("%d bytes with sha256 %s", r.bytes, r.sha256), Hint: "nothing was written"}
	}
	return content, nil
}

// offline returns the error for a failed connection.
func (r remote) offline(address string, err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return &diag.Error{Kind: diag.IO, File: address, Found: "no connection", Hint: r.byHand(), Err: err}
}

// byHand returns the advice to download the file by other means.
func (r remote) byHand() string {
	return "this computer may be offline: put the file into the data directory by hand as " + r.to
}
