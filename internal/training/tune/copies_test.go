package tune

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/internal/data/table"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// drawn returns rows of independent draws; values returns those of a row and its probability of a positive.
func drawn(rows int, seed uint64, values func(r *rand.Rand) ([]float64, float64)) *table.Table {
	r := rand.New(rand.NewPCG(seed, 41))
	t := &table.Table{}
	for row := range rows {
		x, p := values(r)
		for j := range x {
			if row == 0 {
				t.Columns = append(t.Columns, table.Column{Name: string(rune('a' + j)), Number: j + 1, Kind: schema.Numeric})
			}
			t.Columns[j].Values = append(t.Columns[j].Values, x[j])
		}
		class := table.Negative
		if r.Float64() < p {
			class = table.Positive
		}
		t.Label, t.Line = append(t.Label, class), append(t.Line, row+2)
	}
	return t
}

// rounded returns a number with some decimals.
func rounded(x float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	return math.Round(x*scale) / scale
}

// independent are kinds of rows that are equal by chance, or not at all.
var independent = map[string]func(r *rand.Rand) ([]float64, float64){
	"numbers":   func(r *rand.Rand) ([]float64, float64) { return []float64{r.NormFloat64(), r.NormFloat64()}, 0.2 },
	"one flag":  func(r *rand.Rand) ([]float64, float64) { return []float64{float64(r.IntN(2))}, 0.2 },
	"six flags": func(r *rand.Rand) ([]float64, float64) { return flags(r, 6, 0.5), 0.2 },
	"flags":     func(r *rand.Rand) ([]float64, float64) { return flags(r, 20, 0.2), 0.2 },
	"scores of 2 decimals": func(r *rand.Rand) ([]float64, float64) {
		return []float64{rounded(r.NormFloat64(), 2)}, 0.1
	},
	"scores of 3 decimals": func(r *rand.Rand) ([]float64, float64) {
		return []float64{rounded(r.NormFloat64(), 3)}, 0.1
	},
	"two scores of 3 decimals": func(r *rand.Rand) ([]float64, float64) {
		x := rounded(r.NormFloat64(), 3)
		return []float64{x, 1 / (1 + math.Exp(-x))}, 0.1
	},
	"scores of flags": func(r *rand.Rand) ([]float64, float64) {
		x := 0.0
		for j, v := range flags(r, 20, 0.2) {
			x += v * math.Sqrt(float64(j+2))
		}
		return []float64{x, math.Sin(x)}, 0.2
	},
	"visits of products": func(r *rand.Rand) ([]float64, float64) {
		product := float64(1 + r.IntN(2000))
		return []float64{math.Sqrt(product), math.Log(product)}, 0.2
	},
	"one empty row and numbers": func(r *rand.Rand) ([]float64, float64) {
		if r.IntN(2) == 0 {
			return []float64{0, 0}, 0.2
		}
		return []float64{r.NormFloat64(), r.NormFloat64()}, 0.2
	},
}

func flags(r *rand.Rand, n int, p float64) []float64 {
	x := make([]float64, n)
	for j := range x {
		if r.Float64() < p {
			x[j] = 1
		}
	}
	return x
}

// Independent rows are no copies, however often they are equal.
func TestIndependentRowsAreNoCopies(t *testing.T) {
	draws := uint64(20)
	if testing.Short() {
		draws = 2
	}
	for name, values := range independent {
		for _, rows := range []int{200, 1500, 6000} {
			for seed := range draws {
				if found := copiesOf(t, drawn(rows, seed, values)); found.Found() {
					t.Errorf("%s, %d rows, seed %d: copies in %v", name, rows, seed, found)
				}
			}
		}
	}
}

func copiesOf(t *testing.T, data *table.Table) Copies {
	t.Helper()
	c, err := FindCopies(data.Frame())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// repeatedRows returns a table that has each row a number of times, in the order of the rows.
func repeatedRows(data *table.Table, times func(row int) int) *table.Table {
	var rows []int
	for row := range data.Rows() {
		rows = append(rows, slices.Repeat([]int{row}, times(row))...)
	}
	return data.Select(rows)
}

// waysToCopy returns how often rows are repeated, by the kind of copies.
func waysToCopy(data *table.Table) map[string]func(row int) int {
	r := rand.New(rand.NewPCG(5, 6))
	return map[string]func(row int) int{
		"twice":  func(int) int { return 2 },
		"half":   func(int) int { return 1 + r.IntN(2) },
		"five":   func(int) int { return 5 },
		"five +": func(row int) int { return 1 + 4*int(max(0, data.Label[row])) },
	}
}

// Copies are found in both classes, or in the one that has them.
func TestCopiesAreFound(t *testing.T) {
	for _, name := range []string{"numbers", "flags", "scores of 3 decimals", "one empty row and numbers"} {
		data := drawn(3000, 1, independent[name])
		ways := waysToCopy(data)
		if r := rand.New(rand.NewPCG(7, 8)); name == "numbers" {
			ways["join"] = func(int) int { return 1 + r.IntN(4) }
		}
		for way, times := range ways {
			if got, want := copiesOf(t, repeatedRows(data, times)), (Copies{way != "five +", true}); got != want {
				t.Errorf("%s, %s: copies in %v, want %v", name, way, got, want)
			}
		}
	}
}

// Rows of different numbers that are drawn again with replacement are copies. Where rows are also equal by chance, nothing shows it.
func TestBootstrapIsFoundInNumbersOnly(t *testing.T) {
	for name, want := range map[string]bool{"numbers": true, "flags": false, "scores of 3 decimals": false} {
		data := drawn(3000, 1, independent[name])
		r := rand.New(rand.NewPCG(3, 4))
		rows := make([]int, data.Rows())
		for i := range rows {
			rows[i] = r.IntN(len(rows))
		}
		if got := copiesOf(t, data.Select(rows)); got != (Copies{want, want}) {
			t.Errorf("%s: copies in %v, want %v", name, got, want)
		}
	}
}

// A few twins are no copies, and equal rows at different times are not the same row.
func TestFewTwinsAndTimesAreNoCopies(t *testing.T) {
	data := drawn(5000, 2, independent["numbers"])
	if got := copiesOf(t, repeatedRows(data, func(row int) int { return 1 + max(0, 1-row%200) })); got.Found() {
		t.Errorf("25 twins: copies in %v", got)
	}
	twice := repeatedRows(data, func(int) int { return 2 })
	twice.Time = &table.Text{Name: "t"}
	for row := range twice.Rows() {
		twice.Time.Values = append(twice.Time.Values, string(rune('a'+row%2)))
	}
	if got := copiesOf(t, twice); got.Found() {
		t.Errorf("two times: copies in %v", got)
	}
}

// Public sets have equal rows but no copies. Their rows are found if they are repeated.
func TestCopiesOnPublicSets(t *testing.T) {
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	for _, c := range []struct{ file, label, positive string }{
		{"a9a/a9a.gz", "", ""}, {"a9a/a9a.t.gz", "", ""}, {"w8a/w8a.gz", "", ""}, {"spambase/spambase.data", "last", ""},
		{"coil2000/ticdata2000.txt.gz", "last", ""}, {"mammography/mammography.csv", "last", "'1'"}, {"magic04/magic04.data.gz", "last", "g"},
		{"german/german.numer_scale", "", ""}, {"pima/pima-indians-diabetes.data", "last", ""}, {"ionosphere/ionosphere.data", "last", "b"},
		{"higgs_7k/binary.train.gz", "first", ""}, {"covtype_2vs4/covtype_2vs4.csv.gz", "last", ""}, {"usps/zip.train.gz", "first", "8.0000"},
		{"oil_spill/oil-spill.csv", "last", ""}, {"basehock/basehock.svm", "", ""}, {"cicids2017_web/web_attacks_balanced.csv.gz", "last", "!BENIGN"},
		{"nsl_kdd/KDDTrain+_20Percent.txt.gz", "42", "!normal"}, {"nsl_kdd/KDDTest+.txt.gz", "42", "!normal"},
		{"kddcup99/kddcup.data_10_percent.gz", "42", "!normal."}, {"kddcup99/corrected.gz", "42", "!normal."},
	} {
		path := filepath.Join(root, c.file)
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
			continue
		}
		large := info.Size() > 800_000
		if info.Size() > 300_000 && testing.Short() {
			continue
		}
		f := schema.Format{Label: c.label}
		if c.positive != "" {
			f.Positive = []string{c.positive}
		}
		data, _, err := table.Read(path, table.Options{Format: f, Packed: true})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := copiesOf(t, data); got.Found() {
			t.Errorf("%s: copies in %v", c.file, got)
		}
		if large {
			continue
		}
		for way, times := range waysToCopy(data) {
			twins := strings.HasPrefix(c.file, "magic04") // 115 among its negatives
			if got, want := copiesOf(t, repeatedRows(data, times)), (Copies{way != "five +" || twins, true}); got != want {
				t.Errorf("%s, %s: copies in %v, want %v", c.file, way, got, want)
			}
		}
	}
}

// partsOf divides the rows of a table as a search does.
func partsOf(t *testing.T, data *table.Table, o SearchOptions) (*parts, *folds) {
	t.Helper()
	p, err := newPlan(Data{Table: data}, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.divide()
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFolds(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// Copies of a row are in one part: test, calibration, or one fold. A table without copies is divided as before they were looked for.
func TestCopiesStayInOnePart(t *testing.T) {
	o := quick(t, "--max-fpr 5%")
	o.TestFraction, o.CalibrationFraction = threshold.MustRate("20%"), threshold.MustRate("15%")
	for name, times := range waysToCopy(simulated(80, 800, 3)) {
		data := repeatedRows(simulated(80, 800, 3), times)
		s, f := partsOf(t, data, o)
		of := s.counted[data].Of
		place := map[int]string{}
		put := func(part string, rows []int) {
			for _, row := range rows {
				if known := place[of[row]]; known != "" && known != part {
					t.Fatalf("%s: copies in %s and %s", name, known, part)
				}
				place[of[row]] = part
			}
		}
		put("test", s.test)
		put("calibration", s.calibration)
		for k := range f.list {
			put("fold "+string(rune('1'+k)), f.list[k].validation)
		}
		if n := s.calibrationUnits.Negatives; n < 90 || n > 110 { // 15 % of four fifths of 800
			t.Errorf("%s: %d different negatives in the calibration part", name, n)
		}
	}
	data := simulated(80, 800, 3)
	s, _ := partsOf(t, data, o)
	if got := s.calibration[:8]; !slices.Equal(got, []int{9, 11, 24, 25, 31, 33, 39, 48}) || s.cut.Group != nil || !s.counted[data].Rows() {
		t.Errorf("without copies: calibration rows %v", got)
	}
}

// Copies rule out a guarantee about their class beyond 5 % of its rows, and count once up to there.
func TestGuaranteesOfCopies(t *testing.T) {
	data := simulated(200, 4000, 4)
	few := repeatedRows(data, func(row int) int { return 1 + max(0, 1-row%25) })
	u, err := RowUnits(few.Frame())
	if err != nil {
		t.Fatal(err)
	}
	if u.Copies != (Copies{true, true}) || len(u.Label) != data.Rows() || u.AgainstCopies(method.Negatives) != "" {
		t.Errorf("4 %% of copies: %v, %d units of %d rows, %s", u.Copies, len(u.Label), few.Rows(), u.AgainstCopies(method.Negatives))
	}
	positives := repeatedRows(data, func(row int) int { return 1 + 4*int(data.Label[row]) })
	if u, err = RowUnits(positives.Frame()); err != nil {
		t.Fatal(err)
	}
	if why := u.AgainstCopies(method.Negatives); why != "" {
		t.Error("positives five times, negatives:", why)
	}
	if why := u.AgainstCopies(method.Positives); why != "800 of the 1,000 positives are copies of others and are not independent" {
		t.Error("positives five times, positives:", why)
	}
}
