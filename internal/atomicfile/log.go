package atomicfile

import (
	"io"
	"os"

	"toptau/diag"
)

// OpenLog creates a file, or empties it, for lines that are to be seen as they are written. Unlike other
// files it does not wait for its end, because the command that writes it may run for weeks. "-" is refused.
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
