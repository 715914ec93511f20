package optima_test

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/provenance"
	"toptau/method"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// TestZero compares the answers of Diagnose, Fit and Train to the question whether w = 0 is optimal, on the sets below
// $TOPTAU_DATA: every convex method, beta from 1e-4 to 10, lambda from 0 to 10. By default it takes 300 rows of five sets. With
//
//	go test -C bench ./optima -run TestZero -zero all -timeout 3h
//
// it takes up to 600 rows of every set and writes docs/results/zero.csv after each set. Names of sets, separated by commas, measure only
// these and keep the other rows of the table.
var zeroPage = flag.String("zero", "", "TestZero: sets to measure for docs/results/zero.csv, or all")

// zeroSets are the sets of the table. Small files are read whole, others thinned to every k-th row.
var zeroSets = []struct {
	realSet
	quick bool // measured by default
	wide  bool // many columns: fewer rows
}{
	{ionosphere, true, false},
	{realSet{name: "spambase", file: "spambase/spambase.data", format: schema.Format{Label: "last"}}, true, false},
	{realSet{name: "nsl_kdd", file: "nsl_kdd/KDDTrain+_20Percent.txt.gz",
		format: schema.Format{Label: "42", Positive: []string{"!normal"}, Drop: []string{"43"}}}, false, false},
	{realSet{name: "kddcup99", file: "kddcup99/kddcup.data_10_percent.gz",
		format: schema.Format{Label: "42", Positive: []string{"!normal."}}}, false, false},
	{realSet{name: "cicids2017_web", file: "cicids2017_web/web_attacks_balanced.csv.gz",
		format: schema.Format{Label: "Label", Positive: []string{"!BENIGN"}, Drop: []string{"1-7"}}}, false, false},
	{realSet{name: "w8a", file: "w8a/w8a.gz"}, false, false},
	{realSet{name: "a9a", file: "a9a/a9a.gz"}, false, false},
	{realSet{name: "basehock", file: "basehock/basehock.svm"}, false, true},
	{realSet{name: "covtype_2vs4", file: "covtype_2vs4/covtype_2vs4.csv.gz", format: schema.Format{Label: "last"}}, false, false},
	{mammography, true, false},
	{realSet{name: "oil_spill", file: "oil_spill/oil-spill.csv", format: schema.Format{Label: "last"}}, false, false},
	{realSet{name: "coil2000", file: "coil2000/ticdata2000.txt.gz", format: schema.Format{Label: "last"}}, false, false},
	{realSet{name: "magic04", file: "magic04/magic04.data.gz", format: schema.Format{Label: "last", Positive: []string{"g"}}}, false, false},
	{realSet{name: "higgs_7k", file: "higgs_7k/binary.train.gz", format: schema.Format{Label: "first"}}, true, false},
	{realSet{name: "mnist_t10k", file: "mnist_t10k/t10k-images-idx3-ubyte.gz",
		format: schema.Format{Label: "first", Positive: []string{"8"}, Header: "no"}}, false, true},
	{realSet{name: "usps", file: "usps/zip.train.gz", format: schema.Format{Label: "first", Positive: []string{"8.0000"}}}, false, false},
	{realSet{name: "madelon", file: "madelon/madelon_train.data.gz", format: schema.Format{LabelsFile: "madelon/madelon_train.labels"}}, false, true},
	{pima, true, false},
	{german, false, false},
}

// thinned reads every k-th row of a set, at most the given number.
func (s *realSet) thinned(t *testing.T, most int) *dataset.Data {
	t.Helper()
	root, f := os.Getenv("TOPTAU_DATA"), s.format
	if f.LabelsFile != "" {
		f.LabelsFile = thinFile(t, filepath.Join(root, f.LabelsFile), most)
	}
	d, err := dataset.Read(t.Context(), thinFile(t, filepath.Join(root, s.file), most), f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// thinFile writes every k-th line of a file, or the images of an IDX file as lines.
func thinFile(t *testing.T, path string, most int) string {
	t.Helper()
	var lines []string
	if strings.Contains(path, "idx3") {
		lines = imageLines(t, path)
	} else {
		in := bufio.NewScanner(openFile(t, path))
		in.Buffer(nil, 1<<24)
		for in.Scan() {
			if line := strings.TrimSpace(in.Text()); line != "" {
				lines = append(lines, in.Text())
			}
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	step := (len(lines) + most - 1) / most
	for i := 0; i < len(lines); i += step {
		text.WriteString(lines[i] + "\n")
	}
	out := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(out, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// openFile opens a file and unpacks it if it is compressed.
func openFile(t *testing.T, path string) io.Reader {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if !strings.HasSuffix(path, ".gz") {
		return file
	}
	in, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// imageLines returns the digit and the pixels of each image.
func imageLines(t *testing.T, path string) []string {
	t.Helper()
	images, err := io.ReadAll(openFile(t, path))
	if err != nil {
		t.Fatal(err)
	}
	labels, err := io.ReadAll(openFile(t, strings.Replace(path, "images-idx3", "labels-idx1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	n := int(binary.BigEndian.Uint32(images[4:]))
	pixels := (len(images) - 16) / n
	lines := make([]string, n)
	for i := range lines {
		var line strings.Builder
		fmt.Fprint(&line, labels[8+i])
		for _, p := range images[16+i*pixels:][:pixels] {
			fmt.Fprintf(&line, ",%d", p)
		}
		lines[i] = line.String()
	}
	return lines
}

// zeroNotes are the notes of the table.
const zeroNotes = `Whether w = 0 is a global minimum is decided three times for the same rows: diagnose decides from the data alone, fit solves the problem
and reports zero_is_optimal, and train reports it for its candidates, fitted on all of the rows. The problems are the six convex methods with
tau 1 % and 5 %, k 5, lambda 0, 1e-5, 0.001, 0.1 and 10, and beta 0.0001 to 10, with the hinge, at lambda 0.001 the squared hinge too, raw
columns, and every k-th row of a set, at most 600, or 200 where there are 500 columns or more. "also in train" counts those in train's grid. The
smallest decrease is the smallest (F(0) - F)/F(0) of fit where w = 0 is not optimal: a test relative to F(0) would miss it.`

// zeroCase is a problem with the answer of each command.
type zeroCase struct {
	method.Problem
	diagnose, fit *bool
	train         string  // yes, no, or - if train does not try it
	relative      float64 // the decrease that the fit reached, over F(0)
}

// zeroRates are the values of tau.
var zeroRates = []threshold.Rate{threshold.MustRate("1%"), threshold.MustRate("5%")}

// zeroGrid returns the problems. Train tries those with lambda 0.001 for Pat&Mat and TopPushK, and up to 0.1 for the others.
func zeroGrid(quick bool) []zeroCase {
	var list []zeroCase
	lambdas, taus := []float64{0, 1e-5, 1e-3, 0.1, 10}, zeroRates
	if quick {
		lambdas, taus = []float64{1e-3, 10}, taus[1:]
	}
	add := func(p method.Problem) { list = append(list, zeroCase{Problem: p}) }
	for _, lambda := range lambdas {
		add(method.Problem{Method: method.TopPush, Lambda: lambda})
		add(method.Problem{Method: method.TopPushK, Lambda: lambda, K: 5})
		for _, tau := range taus {
			for _, name := range []method.Name{method.TopMean, method.TopMeanNP} {
				add(method.Problem{Method: name, Lambda: lambda, Tau: tau})
			}
			for _, name := range []method.Name{method.PatMat, method.PatMatNP} {
				for _, beta := range []float64{1e-4, 1e-3, 0.01, 0.1, 1, 10} {
					add(method.Problem{Method: name, Lambda: lambda, Tau: tau, Beta: beta})
				}
			}
		}
	}
	for i, n := 0, len(list); i < n; i++ {
		if p := list[i].Problem; p.Lambda == 1e-3 && (p.Beta == 0 || p.Beta == 1e-4) {
			p.Surrogate = surrogate.SquaredHinge.Name()
			add(p)
		}
	}
	return list
}

// name describes a problem.
func (c *zeroCase) name() string {
	s := fmt.Sprintf("%s, lambda %g", c.Method, c.Lambda)
	if !c.Tau.IsZero() {
		s += ", tau " + c.Tau.String()
	}
	if c.Beta > 0 {
		s += fmt.Sprintf(", beta %g", c.Beta)
	}
	if c.Surrogate != "" && c.Surrogate != surrogate.Hinge.Name() {
		s += ", " + string(c.Surrogate)
	}
	return s
}

// answer returns a verdict in words.
func answer(b *bool) string {
	switch {
	case b == nil:
		return "undecided"
	case *b:
		return "yes"
	}
	return "no"
}

// agrees reports whether all three give the same answer. Train cannot distinguish no from undecided.
func (c *zeroCase) agrees() bool {
	diagnosed := answer(c.diagnose)
	return answer(c.fit) == diagnosed && (c.train == "-" || (c.train == "yes") == (diagnosed == "yes"))
}

// compareOnZero compares all three on one set.
func compareOnZero(t *testing.T, d *dataset.Data, quick bool) []zeroCase {
	t.Helper()
	ctx := t.Context()
	list := zeroGrid(quick)
	diagnosed := map[method.Problem]*bool{} // by method and tau
	trained := map[string]string{}          // by name
	for _, tau := range zeroRates {
		diagnosis, err := certify.Diagnose(ctx, d, certify.DiagnoseOptions{Goal: toptau.MaxFPR(tau.String())})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range diagnosis.Methods {
			diagnosed[method.Problem{Method: v.Method, Tau: v.Tau}] = v.ZeroIsOptimal
		}
		// With its rows for validation too, Train fits all rows, as the others do.
		r, err := toptau.Train(ctx, d, toptau.MaxFPR(tau.String()), toptau.TrainOptions{Validation: d, Encoding: []schema.Encoding{schema.Raw},
			Seed: 1, Method: []method.Name{method.Logistic, method.TopPush, method.TopPushK, method.TopMean, method.TopMeanNP, method.PatMat, method.PatMatNP}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Result.Candidates {
			if c.Status == "fitted" && (c.K == 0 || c.K == 5) {
				trained[(&zeroCase{Problem: c.Problem}).name()] = answer(&c.ZeroIsOptimal)
			}
		}
	}
	for i := range list {
		c := &list[i]
		fitted, err := certify.Fit(ctx, d, c.Problem, certify.FitOptions{Settings: method.Settings{Solver: method.CertifiedSolver}})
		if err != nil {
			t.Fatalf("%s: %v", c.name(), err)
		}
		r := &fitted.Result
		c.fit, c.diagnose, c.train = r.ZeroIsOptimal, diagnosed[method.Problem{Method: c.Method, Tau: c.Tau}], "-"
		c.relative = (r.AtZero - r.Objective) / r.AtZero
		if known, ok := trained[c.name()]; ok {
			c.train = known
		}
		if !c.agrees() {
			t.Errorf("%s: diagnose answers %s, fit %s, train %s; F %.10g, F(0) %.10g", c.name(), answer(c.diagnose), answer(c.fit),
				c.train, r.Objective, r.AtZero)
		}
	}
	return list
}

func TestZero(t *testing.T) {
	if os.Getenv("TOPTAU_DATA") == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	if testing.Short() {
		t.Skip("-short")
	}
	written := *zeroPage != ""
	rows := map[string]zeroRow{}
	if written {
		rows = readZeroRows()
	}
	for i := range zeroSets {
		set := &zeroSets[i]
		if written && *zeroPage != "all" && !slices.Contains(strings.Split(*zeroPage, ","), set.name) || !written && !set.quick {
			continue
		}
		t.Run(set.name, func(t *testing.T) {
			most := 600
			switch {
			case set.wide:
				most = 200
			case !written:
				most = 300
			}
			d := set.thinned(t, most)
			rows[set.name] = zeroRowOf(set.name, d, compareOnZero(t, d, !written))
			t.Logf("%+v", rows[set.name])
			if written {
				if err := provenance.WriteRun(zeroFile, "go test -C bench ./optima -run TestZero -zero all", zeroNotes, zeroTable(rows)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// zeroFile is the path of the table.
const zeroFile = "../../docs/results/zero.csv"

// zeroRow is the row of a set in the table.
type zeroRow struct {
	set                                                   string
	n, nPos, problems, yes, no, undecided, inTrain, wrong int
	least                                                 string // the smallest decrease, relative to F(0)
}

func zeroRowOf(set string, d *dataset.Data, list []zeroCase) zeroRow {
	r := zeroRow{set: set, n: d.Len(), nPos: d.Positives(), problems: len(list)}
	least := math.Inf(1)
	for k := range list {
		c := &list[k]
		switch answer(c.diagnose) {
		case "yes":
			r.yes++
		case "no":
			r.no++
			least = min(least, c.relative)
		default:
			r.undecided++
		}
		if c.train != "-" {
			r.inTrain++
		}
		if !c.agrees() {
			r.wrong++
		}
	}
	r.least = fmt.Sprintf("%.1e", least)
	return r
}

// zeroHead names the columns of the table.
var zeroHead = []string{"set", "rows", "positive", "problems", "yes", "no", "undecided", "also in train", "disagreements", "smallest decrease"}

// readZeroRows reads the rows of the present table.
func readZeroRows() map[string]zeroRow {
	rows := map[string]zeroRow{}
	text, _ := os.ReadFile(zeroFile) // none yet: no rows
	for _, line := range strings.Split(string(text), "\n") {
		var r zeroRow
		n, _ := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%s %d %d %d %d %d %d %d %d %s", &r.set, &r.n, &r.nPos, &r.problems,
			&r.yes, &r.no, &r.undecided, &r.inTrain, &r.wrong, &r.least)
		if n == len(zeroHead) {
			rows[r.set] = r
		}
	}
	return rows
}

// zeroTable returns the table, with the sets that were measured.
func zeroTable(rows map[string]zeroRow) [][]string {
	table := [][]string{zeroHead}
	for i := range zeroSets {
		if r, ok := rows[zeroSets[i].name]; ok {
			table = append(table, strings.Fields(fmt.Sprint(r.set, " ", r.n, r.nPos, r.problems, r.yes, r.no, r.undecided, r.inTrain, r.wrong, " ", r.least)))
		}
	}
	return table
}
