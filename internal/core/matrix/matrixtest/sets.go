// Package matrixtest reads the public sets of the tests under TOPTAU_DATA as rows of numbers, without the readers of files.
package matrixtest

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// setSpec is how to read one of the public sets under TOPTAU_DATA.
type setSpec struct {
	file        string
	libsvm      int // number of features; 0: CSV
	label       int // column of the label, from the end: 1 is the last
	positive    func(string) bool
	header      bool
	categorical []int
	drop        []int
}

func is(text string) func(string) bool { return func(s string) bool { return s == text } }

var userToRoot = " guess_passwd ftp_write imap phf multihop warezmaster warezclient spy buffer_overflow loadmodule rootkit perl "

var sets = map[string]setSpec{
	"ionosphere":   {file: "ionosphere/ionosphere.data", label: 1, positive: is("b")},
	"german":       {file: "german/german.numer_scale", libsvm: 24, positive: is("+1")},
	"pima":         {file: "pima/pima-indians-diabetes.data", label: 1, positive: is("1")},
	"mammography":  {file: "mammography/mammography.csv", label: 1, positive: is("'1'")},
	"spambase":     {file: "spambase/spambase.data", label: 1, positive: is("1")},
	"magic04":      {file: "magic04/magic04.data.gz", label: 1, positive: is("g")},
	"a9a":          {file: "a9a/a9a.gz", libsvm: 123, positive: is("+1")},
	"w8a":          {file: "w8a/w8a.gz", libsvm: 300, positive: is("+1")},
	"basehock":     {file: "basehock/basehock.svm", libsvm: 4862, positive: is("+1")},
	"covtype_2vs4": {file: "covtype_2vs4/covtype_2vs4.csv.gz", label: 1, positive: is("1"), header: true},
	"nsl_kdd": {file: "nsl_kdd/KDDTrain+_20Percent.txt.gz", label: 2, categorical: []int{1, 2, 3}, drop: []int{42},
		positive: func(s string) bool { return s != "normal" }},
	"kddcup99": {file: "kddcup99/kddcup.data_10_percent.gz", label: 1, categorical: []int{1, 2, 3},
		positive: func(s string) bool { return strings.Contains(userToRoot, " "+strings.TrimSuffix(s, ".")+" ") }},
}

// Read reads one of the public sets under TOPTAU_DATA, and skips the test if it is not there.
func Read(t testing.TB, name string) (x [][]float64, y []bool) {
	t.Helper()
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		t.Skip("TOPTAU_DATA is not set: no data to test on")
	}
	spec := sets[name]
	file, err := os.Open(filepath.Join(root, spec.file))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(spec.file, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 1<<20)
	var lines []string
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	if spec.header {
		lines = lines[1:]
	}
	if spec.libsvm > 0 {
		return readSparse(lines, spec)
	}
	return readTable(lines, spec)
}

func readSparse(lines []string, spec setSpec) (x [][]float64, y []bool) {
	for _, line := range lines {
		fields := strings.Fields(line)
		row := make([]float64, spec.libsvm)
		for _, f := range fields[1:] {
			k, v, _ := strings.Cut(f, ":")
			j, _ := strconv.Atoi(k)
			row[j-1], _ = strconv.ParseFloat(v, 64)
		}
		x, y = append(x, row), append(y, spec.positive(fields[0]))
	}
	return x, y
}

func readTable(lines []string, spec setSpec) (x [][]float64, y []bool) {
	codes := map[int][]string{}
	var cells [][]string
	for _, line := range lines {
		fields := strings.Split(line, ",")
		cells = append(cells, fields)
	}
	for _, j := range spec.categorical {
		seen := map[string]bool{}
		for _, f := range cells {
			seen[f[j]] = true
		}
		for v := range seen {
			codes[j] = append(codes[j], v)
		}
		sort.Strings(codes[j])
	}
	for _, f := range cells {
		label := len(f) - spec.label
		var row []float64
		for j, v := range f {
			switch {
			case j == label || slices.Contains(spec.drop, j):
			case codes[j] != nil:
				for _, c := range codes[j] {
					if c == v {
						row = append(row, 1)
					} else {
						row = append(row, 0)
					}
				}
			default:
				number, _ := strconv.ParseFloat(v, 64)
				row = append(row, number)
			}
		}
		x, y = append(x, row), append(y, spec.positive(f[label]))
	}
	return x, y
}

// Standardise subtracts the mean of each column and divides by its population standard deviation. It drops constant columns.
func Standardise(rows [][]float64) (out [][]float64) {
	n := float64(len(rows))
	keep, mean, scale := []int{}, []float64{}, []float64{}
	for j := range rows[0] {
		var m, v float64
		for _, x := range rows {
			m += x[j]
		}
		m /= n
		for _, x := range rows {
			v += float64((x[j] - m) * (x[j] - m))
		}
		if sd := math.Sqrt(v / n); sd > 1e-12*(math.Abs(m)+1e-300) && sd > 0 {
			keep, mean, scale = append(keep, j), append(mean, m), append(scale, sd)
		}
	}
	for _, x := range rows {
		row := make([]float64, len(keep))
		for k, j := range keep {
			row[k] = (x[j] - mean[k]) / scale[k]
		}
		out = append(out, row)
	}
	return out
}
