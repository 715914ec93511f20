package table

import (
	"fmt"
	"io"

	"toptau/diag"
	"toptau/internal/core/text"
)

// labelsFile reads the labels of the rows of another file: one label per line.
type labelsFile struct {
	file    string
	in      *input
	records *delimited
	count   int // labels read
}

// openLabels opens a labels file.
func openLabels(path string) (*labelsFile, error) {
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	l := &labelsFile{file: path, in: in}
	if err := l.start(); err != nil {
		in.Close()
		return nil, err
	}
	return l, nil
}

func (l *labelsFile) start() error {
	_, source, err := readPrefix(l.in)
	if err != nil {
		return err
	}
	l.records = &delimited{file: l.file, lines: newLines(source), delimiter: none}
	return nil
}

// read returns the next label, or io.EOF at the end.
func (l *labelsFile) read() ([]byte, error) {
	r, err := l.records.next()
	if err != nil {
		return nil, err
	}
	if len(trimBlanks(r.fields[0])) == 0 {
		return nil, &diag.Error{Kind: diag.Data, File: l.file, Line: r.line, Found: "an empty label",
			Expected: "a label in every line"}
	}
	return r.fields[0], nil
}

// nextFor returns the label of the next row of the data file.
func (l *labelsFile) nextFor(data string) ([]byte, error) {
	label, err := l.read()
	if err == io.EOF {
		return nil, &diag.Error{Kind: diag.Data, File: l.file, Found: text.Plural(l.count, "label"),
			Expected: fmt.Sprintf("one for each row of %s, which has more", data)}
	}
	l.count++
	return label, err
}

// checkEnd refuses labels after the last row of the data file.
func (l *labelsFile) checkEnd(data string) error {
	rows := l.count
	for {
		if _, err := l.read(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		l.count++
	}
	if l.count == rows {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: l.file, Found: text.Plural(l.count, "label"),
		Expected: fmt.Sprintf("one for each row of %s, which has %s", data, text.Plural(rows, "row"))}
}
