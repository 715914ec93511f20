package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toptau/internal/data/atomicfile"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
)

// files are the paths of the training and test part of a set for one seed. toptau reads both with the set's
// format.
type files struct{ train, test string }

// divide returns the parts of a set. A set with its own test file has the same parts for every seed.
// Otherwise the seed draws three quarters of each class for training. The parts are unchanged lines of the
// set's files.
func (h *harness) divide(s *set, seed int) (files, error) {
	f := files{train: h.partPath(s, seed, "train"), test: h.partPath(s, seed, "test")}
	switch {
	case exists(f.train) && exists(f.test):
		return f, nil
	case s.test != "":
		if err := h.join(s, s.train, s.labels[0], f.train); err != nil {
			return f, err
		}
		return f, h.join(s, s.test, s.labels[1], f.test)
	}
	return f, h.cut(s, seed, f)
}

// partPath is where a part of a set is kept.
func (h *harness) partPath(s *set, seed int, part string) string {
	return filepath.Join(h.cache, fmt.Sprintf("%s-%d-%s", s.name, seed, part))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// join writes a file with the labels of another file as its last column, or with its own labels reduced to 1
// and 0.
func (h *harness) join(s *set, from, labels, to string) error {
	lines, err := readLines(filepath.Join(h.data, from))
	if err != nil {
		return err
	}
	if labels != "" {
		values, err := readLines(filepath.Join(h.data, labels))
		if err != nil {
			return err
		}
		if len(values) != len(lines) {
			return fmt.Errorf("%s has %d lines, %s %d", from, len(lines), labels, len(values))
		}
		separator := " "
		if strings.Contains(lines[0], "\t") {
			separator = "\t"
		}
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ") + separator + values[i]
		}
	}
	if s.relabel != nil {
		for i, line := range lines {
			last := strings.LastIndexByte(line, ',') + 1
			label := "0"
			if slices.Contains(s.relabel, line[last:]) {
				label = "1"
			}
			lines[i] = line[:last] + label
		}
	}
	return writeLines(to, lines)
}

// cut writes the two parts of a set that has no test file.
func (h *harness) cut(s *set, seed int, f files) error {
	path := filepath.Join(h.data, s.train)
	t, info, err := table.Read(path, s.options())
	if err != nil {
		return err
	}
	parts, err := tune.Cut{Shares: []float64{3, 1}, Seed: uint64(seed)}.Divide(t.Label)
	if err != nil {
		return err
	}
	lines, err := readLines(path)
	if err != nil {
		return err
	}
	for i, name := range []string{f.train, f.test} {
		var part []string
		if info.Header {
			part = append(part, lines[0])
		}
		for _, row := range parts[i] {
			part = append(part, lines[t.LineOf(row)-1])
		}
		if err := writeLines(name, part); err != nil {
			return err
		}
	}
	return nil
}

// textRows are rows of a set as lines of a file.
type textRows struct {
	header   []string // none or one line
	lines    []string
	positive []bool // of each line
}

// drawRows returns at most the given number of rows of a set's training file, in the order of the file. It
// always draws the same rows.
func (h *harness) drawRows(s *set, most int) (*textRows, error) {
	path := filepath.Join(h.data, s.train)
	if s.test != "" {
		f, err := h.divide(s, 1)
		if err != nil {
			return nil, err
		}
		path = f.train
	}
	t, info, err := table.Read(path, s.options())
	if err != nil {
		return nil, err
	}
	lines, err := readLines(path)
	if err != nil {
		return nil, err
	}
	r := &textRows{}
	if info.Header {
		r.header = lines[:1]
	}
	rows := rand.New(rand.NewPCG(1, 0)).Perm(t.Rows())
	rows = rows[:min(len(rows), most)]
	slices.Sort(rows)
	for _, row := range rows {
		r.lines = append(r.lines, lines[t.LineOf(row)-1])
		r.positive = append(r.positive, t.Label[row] == table.Positive)
	}
	return r, nil
}

// readLines returns the lines of a text file, which may be gzipped, without line ends.
func readLines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	var content io.Reader = r
	if magic, err := r.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if content, err = gzip.NewReader(r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines, nil
}

func writeLines(path string, lines []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(strings.Join(lines, "\n")+"\n"))
}

// digest returns the start of the SHA-256 of a file.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
