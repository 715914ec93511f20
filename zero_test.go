package toptau_test

import (
	"bufio"
	"compress/gzip"
	"context"
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
)

// TestZero compares what diagnose, fit and train say about w = 0 on the sets below $TOPTAU_DATA: every convex method, beta
// from 1e-4 to 10, lambda from 0 to 10. By default it takes 300 rows of five sets. With
//
//	go test -run TestZero -zero all -timeout 3h ./
//
// it takes up to 600 rows of every set and writes docs/zero.md, after each set; names of sets, separated by commas, measure
// these alone and keep the other rows of the page.
var zeroPage = flag.String("zero", "", "TestZero: sets to measure for docs/zero.md, or all")

// zeroSets are the sets of the page. The files of fewer rows are read whole, the others thinned to every k-th row.
var zeroSets = []struct {
	realSet
	quick bool // measured by default
	wide  bool // many columns: fewer rows
}{
	{ionosphere, true, false},
	{realSet{name: "spambase", file: "spambase/spambase.data", format: toptau.Format{Label: "last"}}, true, false},
	{realSet{name: "nsl_kdd", file: "nsl_kdd/KDDTrain+_20Percent.txt.gz",
		format: toptau.Format{Label: "42", Positive: []string{"!normal"}, Drop: []string{"43"}}}, false, false},
	{realSet{name: "kddcup99", file: "kddcup99/kddcup.data_10_percent.gz",
		format: toptau.Format{Label: "42", Positive: []string{"!normal."}}}, false, false},
	{realSet{name: "cicids2017_web", file: "cicids2017_web/web_attacks_balanced.csv.gz",
		format: toptau.Format{Label: "Label", Positive: []string{"!BENIGN"}, Drop: []string{"1-7"}}}, false, false},
	{realSet{name: "w8a", file: "w8a/w8a.gz"}, false, false},
	{realSet{name: "a9a", file: "a9a/a9a.gz"}, false, false},
	{realSet{name: "basehock", file: "basehock/basehock.svm"}, false, true},
	{realSet{name: "covtype_2vs4", file: "covtype_2vs4/covtype_2vs4.csv.gz", format: toptau.Format{Label: "last"}}, false, false},
	{mammography, true, false},
	{realSet{name: "oil_spill", file: "oil_spill/oil-spill.csv", format: toptau.Format{Label: "last"}}, false, false},
	{realSet{name: "coil2000", file: "coil2000/ticdata2000.txt.gz", format: toptau.Format{Label: "last"}}, false, false},
	{realSet{name: "magic04", file: "magic04/magic04.data.gz", format: toptau.Format{Label: "last", Positive: []string{"g"}}}, false, false},
	{realSet{name: "higgs_7k", file: "higgs_7k/binary.train.gz", format: toptau.Format{Label: "first"}}, true, false},
	{realSet{name: "mnist_t10k", file: "mnist_t10k/t10k-images-idx3-ubyte.gz",
		format: toptau.Format{Label: "first", Positive: []string{"8"}, Header: "no"}}, false, true},
	{realSet{name: "usps", file: "usps/zip.train.gz", format: toptau.Format{Label: "first", Positive: []string{"8.0000"}}}, false, false},
	{realSet{name: "madelon", file: "madelon/madelon_train.data.gz", format: toptau.Format{LabelsFile: "madelon/madelon_train.labels"}}, false, true},
	{pima, true, false},
	{german, false, false},
}

// thinned reads every k-th row of a set, at most that number of rows.
func (s *realSet) thinned(t *testing.T, most int) *toptau.Data {
	t.Helper()
	root, f := os.Getenv("TOPTAU_DATA"), s.format
	if f.LabelsFile != "" {
		f.LabelsFile = thin(t, filepath.Join(root, f.LabelsFile), most)
	}
	d, err := toptau.Read(thin(t, filepath.Join(root, s.file), most), f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// thin writes some lines of a file, those of a header included, or the images of an IDX file as lines.
func thin(t *testing.T, path string, most int) string {
	t.Helper()
	var lines []string
	if strings.Contains(path, "idx3") {
		lines = imageLines(t, path)
	} else {
		in := bufio.NewScanner(opened(t, path))
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

// opened opens a file, unpacked.
func opened(t *testing.T, path string) io.Reader {
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

// imageLines are the digit and the pixels of each image.
func imageLines(t *testing.T, path string) []string {
	t.Helper()
	images, err := io.ReadAll(opened(t, path))
	if err != nil {
		t.Fatal(err)
	}
	labels, err := io.ReadAll(opened(t, strings.Replace(path, "images-idx3", "labels-idx1", 1)))
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

const zeroIntroduction = `"go test -run TestZero -zero all -timeout 3h ./" writes this page (TOPTAU_DATA must be set); it is the
	same on every machine. Whether w = 0 is a global minimum is asked three times of the same rows. diagnose decides it from the
	data alone. fit solves the problem and reports zero_is_optimal. train reports it for its candidates; it gets its own rows as
	the validation part, so that it fits all of them. The problems are the six convex methods with tau 1 %% and 5 %%, k 5, lambda
	0, 1e-5, 0.001, 0.1 and 10, beta 0.0001 to 10, the hinge, and at lambda 0.001 the squared hinge too; raw columns; every k-th row
	of a set, at most 600, or 200 where there are 500 columns and more. "also in train" counts the problems that are in train's
	grid. The smallest decrease is the least (F(0) - F)/F(0) that fit reached where the answer is no: a test relative to F(0) would
	call it nothing.`

// zeroCase is a problem, with what each command says about w = 0.
type zeroCase struct {
	toptau.FitOptions
	diagnose, fit *bool
	train         string // yes, no, or - where train does not try it
	decrease      float64
	relative      float64 // of the decrease that the fit reached, to F(0)
}

// zeroGrid are the problems: train tries those of lambda 0.001 for Pat&Mat and TopPushK, and up to 0.1 for the others.
func zeroGrid(quick bool) []zeroCase {
	var list []zeroCase
	lambdas, taus := []float64{0, 1e-5, 1e-3, 0.1, 10}, []string{"1%", "5%"}
	if quick {
		lambdas, taus = []float64{1e-3, 10}, taus[1:]
	}
	add := func(o toptau.FitOptions) {
		o.Solver = "certified"
		list = append(list, zeroCase{FitOptions: o})
	}
	for _, lambda := range lambdas {
		add(toptau.FitOptions{Method: "toppush", Lambda: lambda})
		add(toptau.FitOptions{Method: "toppushk", Lambda: lambda, K: 5})
		for _, tau := range taus {
			for _, name := range []string{"topmean", "topmean-np"} {
				add(toptau.FitOptions{Method: name, Lambda: lambda, Tau: tau})
			}
			for _, name := range []string{"patmat", "patmat-np"} {
				for _, beta := range []float64{1e-4, 1e-3, 0.01, 0.1, 1, 10} {
					add(toptau.FitOptions{Method: name, Lambda: lambda, Tau: tau, Beta: beta})
				}
			}
		}
	}
	for i, n := 0, len(list); i < n; i++ {
		if o := list[i].FitOptions; o.Lambda == 1e-3 && (o.Beta == 0 || o.Beta == 1e-4) {
			o.Surrogate = "squared-hinge"
			add(o)
		}
	}
	return list
}

// name describes a problem.
func (c *zeroCase) name() string {
	s := fmt.Sprintf("%s, lambda %g", c.Method, c.Lambda)
	if c.Tau != "" {
		s += ", tau " + c.Tau
	}
	if c.Beta > 0 {
		s += fmt.Sprintf(", beta %g", c.Beta)
	}
	if c.Surrogate != "" {
		s += ", " + c.Surrogate
	}
	return s
}

// answer writes a verdict.
func answer(b *bool) string {
	switch {
	case b == nil:
		return "undecided"
	case *b:
		return "yes"
	}
	return "no"
}

// agrees reports whether all three give one answer. Train says yes, or does not.
func (c *zeroCase) agrees() bool {
	said := answer(c.diagnose)
	return answer(c.fit) == said && (c.train == "-" || (c.train == "yes") == (said == "yes"))
}

// compareOnZero asks all three about one set.
func compareOnZero(t *testing.T, d *toptau.Data, quick bool) []zeroCase {
	t.Helper()
	ctx := context.Background()
	list := zeroGrid(quick)
	diagnosed := map[string]*bool{} // by method and tau
	trained := map[string]string{}  // by method, tau, lambda and beta
	for _, tau := range []string{"1%", "5%"} {
		said, err := toptau.Diagnose(ctx, d, toptau.DiagnoseOptions{Goal: toptau.MaxFPR(tau)})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range said.Methods {
			key := v.Method
			if v.Tau != nil {
				key += tau
			}
			diagnosed[key] = v.ZeroIsOptimal
		}
		// With its own rows for validation too, train fits all rows, as the others do.
		r, err := toptau.Train(ctx, d, toptau.MaxFPR(tau), toptau.TrainOptions{Validation: d, Features: []string{"raw"}, Seed: 1,
			Methods: []string{"logistic", "toppush", "toppushk", "topmean", "topmean-np", "patmat", "patmat-np"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Report.Candidates {
			if c.Status != "fitted" || c.K != nil && *c.K != 5 {
				continue
			}
			o := toptau.FitOptions{Method: c.Method, Lambda: c.Lambda}
			if c.Tau != nil {
				o.Tau = tau
			}
			if c.Beta != nil {
				o.Beta = *c.Beta
			}
			trained[(&zeroCase{FitOptions: o}).name()] = answer(&c.ZeroIsOptimal)
		}
	}
	for i := range list {
		c := &list[i]
		fitted, err := toptau.Fit(ctx, d, c.FitOptions)
		if err != nil {
			t.Fatalf("%s: %v", c.name(), err)
		}
		r := &fitted.Report
		key := c.Method + c.Tau
		c.fit, c.diagnose, c.train = r.ZeroIsOptimal, diagnosed[key], "-"
		c.decrease = r.ObjectiveAtZero - r.Objective
		c.relative = c.decrease / r.ObjectiveAtZero
		if said, ok := trained[c.name()]; ok {
			c.train = said
		}
		if !c.agrees() {
			t.Errorf("%s: diagnose says %s, fit %s, train %s; F %.10g, F(0) %.10g", c.name(), answer(c.diagnose), answer(c.fit),
				c.train, r.Objective, r.ObjectiveAtZero)
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
				if err := os.WriteFile(zeroFile, []byte(zeroText(rows)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// zeroFile is the page.
const zeroFile = "docs/zero.md"

// zeroRow is a set's row on the page.
type zeroRow struct {
	set                                                   string
	n, nPos, problems, yes, no, undecided, inTrain, wrong int
	least                                                 string // the smallest decrease, relative to F(0)
}

func zeroRowOf(set string, d *toptau.Data, list []zeroCase) zeroRow {
	r := zeroRow{set: set, n: d.Rows(), nPos: d.Positives(), problems: len(list)}
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

// readZeroRows reads the rows that the page has.
func readZeroRows() map[string]zeroRow {
	rows := map[string]zeroRow{}
	text, _ := os.ReadFile(zeroFile) // none yet: no rows
	for _, line := range strings.Split(string(text), "\n") {
		var r zeroRow
		n, _ := fmt.Sscanf(strings.ReplaceAll(line, "|", " "), "%s %d %d %d %d %d %d %d %d %s", &r.set, &r.n, &r.nPos, &r.problems,
			&r.yes, &r.no, &r.undecided, &r.inTrain, &r.wrong, &r.least)
		if n == 10 {
			rows[r.set] = r
		}
	}
	return rows
}

// zeroText is the page.
func zeroText(rows map[string]zeroRow) string {
	p := new(page)
	p.line("# Is w = 0 optimal: three commands, one answer")
	p.line("")
	p.tell(zeroIntroduction)
	p.line("")
	p.row("set", "rows", "positive", "problems", "yes", "no", "undecided", "also in train", "disagreements", "smallest decrease")
	p.row("---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:")
	var missing []string
	problems, wrong := 0, 0
	for i := range zeroSets {
		r, ok := rows[zeroSets[i].name]
		if !ok {
			missing = append(missing, zeroSets[i].name)
			continue
		}
		problems, wrong = problems+r.problems, wrong+r.wrong
		p.row(r.set, r.n, r.nPos, r.problems, r.yes, r.no, r.undecided, r.inTrain, r.wrong, r.least)
	}
	p.line("")
	p.tell("In all: %d problems, %d disagreements.", problems, wrong)
	if len(missing) > 0 {
		p.line("")
		p.tell("Not measured: %s.", strings.Join(missing, ", "))
	}
	return p.String()
}
