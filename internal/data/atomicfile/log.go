package atomicfile

import (
	"io"
	"os"

	"toptau/diag"
)

// OpenLog creates or empties a file and returns a writer whose lines can be read at once. Other files appear
// only when they are complete, but the command that writes this one may run for weeks. It refuses "-".
func OpenLog(path string) (io.WriteCloser, error) {
	if path == "-" {
		return nil, &diag.Error{Kind: diag.Usage, File: path, Found: "standard output, which has the rows", Expected: "a file"}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, writeError(path, err)
	}
	return f, nil
}
