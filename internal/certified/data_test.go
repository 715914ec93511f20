package certified

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// dataset is a data set of these tests: numeric or one-hot columns, in float64.
type dataset struct {
	x [][]float64
	y []bool
}

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

func readSet(t testing.TB, name string) dataset {
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

func readSparse(lines []string, spec setSpec) (d dataset) {
	for _, line := range lines {
		fields := strings.Fields(line)
		x := make([]float64, spec.libsvm)
		for _, f := range fields[1:] {
			k, v, _ := strings.Cut(f, ":")
			j, _ := strconv.Atoi(k)
			x[j-1], _ = strconv.ParseFloat(v, 64)
		}
		d.x = append(d.x, x)
		d.y = append(d.y, spec.positive(fields[0]))
	}
	return d
}

func readTable(lines []string, spec setSpec) (d dataset) {
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
		var x []float64
		for j, v := range f {
			switch {
			case j == label || contains(spec.drop, j):
			case codes[j] != nil:
				for _, c := range codes[j] {
					if c == v {
						x = append(x, 1)
					} else {
						x = append(x, 0)
					}
				}
			default:
				number, _ := strconv.ParseFloat(v, 64)
				x = append(x, number)
			}
		}
		d.x = append(d.x, x)
		d.y = append(d.y, spec.positive(f[label]))
	}
	return d
}

func contains(a []int, x int) bool {
	for _, v := range a {
		if v == x {
			return true
		}
	}
	return false
}

// standardise subtracts the mean and divides by the population standard deviation. It drops constant columns.
func (d dataset) standardise() dataset {
	n := float64(len(d.x))
	keep, mean, scale := []int{}, []float64{}, []float64{}
	for j := range d.x[0] {
		var m, v float64
		for _, x := range d.x {
			m += x[j]
		}
		m /= n
		for _, x := range d.x {
			v += (x[j] - m) * (x[j] - m)
		}
		if sd := math.Sqrt(v / n); sd > 1e-12*(math.Abs(m)+1e-300) && sd > 0 {
			keep, mean, scale = append(keep, j), append(mean, m), append(scale, sd)
		}
	}
	out := dataset{y: d.y}
	for _, x := range d.x {
		row := make([]float64, len(keep))
		for k, j := range keep {
			row[k] = (x[j] - mean[k]) / scale[k]
		}
		out.x = append(out.x, row)
	}
	return out
}

func (d dataset) matrix(t testing.TB, s matrix.Storage) *matrix.Matrix {
	t.Helper()
	x, err := matrix.FromDense(d.x, d.y, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// newProblem makes a problem from names and numbers; 0 means unset.
func newProblem(t testing.TB, name string, h method.Problem) method.Problem {
	t.Helper()
	m, err := method.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bind(t testing.TB, p method.Problem, x *matrix.Matrix) *objective.Objective {
	t.Helper()
	o, err := objective.New(p, x)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func hyper(lambda float64, tau string, beta float64, k int, squared bool) method.Problem {
	h := method.Problem{Lambda: lambda, Beta: beta, K: k}
	if tau != "" {
		h.Tau = threshold.MustRate(tau)
	}
	if squared {
		h.Surrogate = surrogate.SquaredHinge.Name()
	}
	return h
}

func describe(r Result) string {
	fraction, some := r.GapOfDecrease()
	text := "w=0"
	if some {
		text = fmt.Sprintf("%.1e", fraction)
	}
	return fmt.Sprintf("F %.10g D %.10g gap %.1e decrease %s passes %d reads %.1f systems %d rounds %d rows %d R %.1e converged %v",
		r.Objective, r.LowerBound, r.RelativeGap(), text, r.Passes, r.RowReads, r.Iterations, r.Rounds, r.WorkingSet, r.BallRadius, r.Converged)
}
