package leakage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

// leakTable returns a table of one numeric or categorical column with a label that is positive with the given
// probability.
func leakTable(rows int, share float64, value func(i int, positive bool, r *rand.Rand) any) *table.Table {
	r := rand.New(rand.NewPCG(1, 2))
	t := &table.Table{Columns: []table.Column{{Name: "x", Number: 1}}, Label: make([]table.Class, rows), Line: make([]int, rows)}
	c := &t.Columns[0]
	codes := map[string]int32{}
	for i := range rows {
		if r.Float64() < share {
			t.Label[i] = table.Positive
		}
		switch v := value(i, t.Label[i] == table.Positive, r).(type) {
		case float64:
			c.Values = append(c.Values, v)
		case string:
			c.Kind = schema.Categorical
			if _, known := codes[v]; !known {
				codes[v] = int32(len(codes))
				c.Dictionary = append(c.Dictionary, v)
			}
			c.Codes = append(c.Codes, codes[v])
		}
	}
	return t
}

func number01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func TestLeaks(t *testing.T) {
	shuffled := rand.New(rand.NewPCG(3, 4)).Perm(2000)
	for _, c := range []struct {
		name  string
		rows  int
		share float64
		value func(i int, positive bool, r *rand.Rand) any
		want  string
	}{
		{"the label", 400, .5, func(_ int, p bool, _ *rand.Rand) any { return number01(p) }, Copy},
		{"the label the other way round", 400, .5, func(_ int, p bool, _ *rand.Rand) any { return 7 - number01(p) }, Copy},
		{"the label in names", 400, .5, func(_ int, p bool, _ *rand.Rand) any { return fmt.Sprint(p) }, Copy},
		{"the cause in names", 2000, .3, func(_ int, p bool, r *rand.Rand) any {
			if !p {
				return "normal"
			}
			return fmt.Sprint("attack ", r.IntN(8))
		}, Copy},
		{"the cause in numbers", 2000, .3, func(_ int, p bool, r *rand.Rand) any {
			if !p {
				return 4.
			}
			return []float64{1, 2, 3, 5, 6}[r.IntN(5)]
		}, Copy},
		{"filled in for positives", 2000, .3, func(_ int, p bool, r *rand.Rand) any {
			if !p {
				return math.NaN()
			}
			return r.NormFloat64()
		}, Separates},
		{"between the negatives", 2000, .3, func(_ int, p bool, r *rand.Rand) any {
			if p {
				return r.Float64()
			}
			return r.Float64() + 2 - 4*float64(r.IntN(2))
		}, Separates},
		{"rare positives far out", 40000, .01, func(_ int, p bool, r *rand.Rand) any { return r.Float64() + 2*number01(p) }, Separates},
		{"the label, one in 1,000 wrong", 20000, .5, func(_ int, p bool, r *rand.Rand) any {
			return number01(p != (r.IntN(1000) == 0))
		}, Separates},
		{"the label, one in 50 wrong", 20000, .5, func(_ int, p bool, r *rand.Rand) any {
			return number01(p != (r.IntN(50) == 0))
		}, ""},
		{"the label in 20 rows", 20, .5, func(_ int, p bool, _ *rand.Rand) any { return number01(p) }, ""},
		{"a row number", 2000, .1, func(i int, _ bool, _ *rand.Rand) any { return float64(i + 1) }, Numbers},
		{"falling", 2000, .1, func(i int, _ bool, _ *rand.Rand) any { return float64(-3 * i) }, Numbers},
		{"a shuffled row number", 2000, .1, func(i int, _ bool, _ *rand.Rand) any { return float64(shuffled[i]) }, Numbers},
		{"one number missing and one twice", 2000, .1, func(i int, _ bool, _ *rand.Rand) any { return float64(max(1, shuffled[i])) }, ""},
		{"a measurement", 2000, .1, func(_ int, _ bool, r *rand.Rand) any { return r.NormFloat64() }, ""},
		{"a sorted measurement", 2000, .1, func(i int, _ bool, r *rand.Rand) any { return float64(i) + r.Float64() }, ""},
		{"identifiers in no order", 2000, .1, func(_ int, _ bool, r *rand.Rand) any { return float64(r.IntN(1 << 40)) }, Numbers},
		{"identifiers in no order and one missing", 2000, .1, func(i int, _ bool, r *rand.Rand) any {
			return []float64{math.NaN(), float64(r.IntN(1 << 40))}[min(i, 1)]
		}, ""},
		{"few whole numbers that do not recur", 100, .1, func(_ int, _ bool, r *rand.Rand) any { return float64(r.IntN(1 << 40)) }, ""},
		{"amounts that do not recur", 2000, .1, func(_ int, _ bool, r *rand.Rand) any { return math.Round(1e12 * math.Exp(r.NormFloat64())) }, ""},
		{"sizes that do not recur", 2000, .1, func(_ int, _ bool, r *rand.Rand) any { return math.Round(1e12 + 1e11*r.NormFloat64()) }, ""},
		{"200 sizes that do not recur", 200, .1, func(_ int, _ bool, r *rand.Rand) any { return math.Round(1e12 + 1e11*r.NormFloat64()) }, ""},
		{"decimals that do not recur", 2000, .1, func(_ int, _ bool, r *rand.Rand) any { return r.Float64() }, ""},
		{"a count", 2000, .1, func(_ int, _ bool, r *rand.Rand) any { return float64(r.IntN(50)) }, ""},
		{"few rows in order", 10, .5, func(i int, _ bool, _ *rand.Rand) any { return float64(i) }, ""},
		{"a name a row", 2000, .5, func(i int, _ bool, _ *rand.Rand) any { return fmt.Sprint("user ", i) }, Names},
		{"a name in three rows", 6000, .5, func(i int, _ bool, _ *rand.Rand) any { return fmt.Sprint("user ", i/3) }, ""},
		{"a strong column", 4000, .5, func(_ int, p bool, r *rand.Rand) any { return r.NormFloat64() + 2.5*number01(p) }, ""},
		{"constant", 400, .5, func(int, bool, *rand.Rand) any { return 1. }, ""},
		{"nothing", 400, .5, func(int, bool, *rand.Rand) any { return math.NaN() }, ""},
		{"infinite", 400, .5, func(_ int, p bool, _ *rand.Rand) any { return math.Inf(1 - 2*int(number01(p))) }, Copy},
		{"no rows", 0, .5, nil, ""},
		{"one class", 400, 0, func(_ int, p bool, _ *rand.Rand) any { return number01(p) }, ""},
	} {
		d := leakTable(c.rows, c.share, c.value)
		got := ""
		for _, l := range Find(d) {
			got += l.Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %+v", c.name, got, c.want, Find(d))
		}
	}
}

// TestLeaksOfIndices puts the label into a LIBSVM table.
func TestLeaksOfIndices(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := &table.Sparse{Cols: 1 << 20, Start: []int64{0}}
	d := &table.Table{Sparse: s}
	for i := range 3000 {
		positive := r.IntN(5) == 0
		d.Label = append(d.Label, table.Class(number01(positive)))
		for j := range 20 {
			if r.IntN(4) == 0 {
				s.Index, s.Value = append(s.Index, uint32(50*j)), append(s.Value, r.Float64())
			}
		}
		if positive {
			s.Index, s.Value = append(s.Index, 4999), append(s.Value, 3)
		}
		s.Index, s.Value = append(s.Index, 5000), append(s.Value, r.Float64()+number01(positive))
		s.Start = append(s.Start, int64(len(s.Index)))
		d.Line = append(d.Line, i+1)
	}
	var names []string
	for _, l := range Find(d) {
		names = append(names, l.Code+" "+l.Column)
	}
	slices.Sort(names)
	if want := []string{Separates + " 5000", Separates + " 5001"}; !reflect.DeepEqual(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func TestLeaksDoNotDependOnThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	d := leakTable(3000, .2, func(_ int, p bool, r *rand.Rand) any { return r.Float64() + number01(p) })
	for j := range 60 {
		c := table.Column{Name: fmt.Sprint("y", j), Number: j + 2}
		for i := range d.Label {
			c.Values = append(c.Values, r.Float64()+float64(float64(j%4)/2*float64(d.Label[i])))
		}
		d.Columns = append(d.Columns, c)
	}
	want := Find(d)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := Find(d); !reflect.DeepEqual(got, want) || len(got) < 20 {
		t.Errorf("%d on one thread, %d on several", len(got), len(want))
	}
	warnings := Warnings(want)
	if len(warnings) != leakLines+1 || !strings.Contains(warnings[leakLines].Text, "more columns") {
		t.Errorf("%v", warnings)
	}
}

// remote are the attacks of the groups r2l and u2r in the training files of KDD Cup 99.
var remote = []string{"guess_passwd", "ftp_write", "imap", "phf", "multihop", "warezmaster", "warezclient", "spy", "buffer_overflow",
	"loadmodule", "rootkit"}

// TestLeaksOnPublicSets has every warning on the benchmark sets. The threshold of the AUC was chosen on the
// first seven; the others judge it. Of the two warnings on these, one is right: the address names the
// attacker. The other is true, but no leak: cover type 4 grows low.
func TestLeaksOnPublicSets(t *testing.T) {
	dotted := make([]string, len(remote))
	for i, name := range remote {
		dotted[i] = name + "."
	}
	dotted = append(dotted, "perl.")
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	for _, c := range []struct {
		file string
		o    table.Options
		want []string
	}{
		{"ionosphere/ionosphere.data", table.Options{Format: schema.Format{Label: "last", Positive: []string{"b"}}}, nil},
		{"spambase/spambase.data", table.Options{Format: schema.Format{Label: "last"}}, nil},
		{"nsl_kdd/KDDTrain+_20Percent.txt.gz", table.Options{Format: schema.Format{Label: "42", Positive: []string{"!normal"}}}, nil},
		{"nsl_kdd/KDDTrain+_20Percent.txt.gz", table.Options{Format: schema.Format{Label: "42", Positive: remote}}, nil},
		{"kddcup99/kddcup.data_10_percent.gz", table.Options{Format: schema.Format{Label: "42", Positive: []string{"!normal."}}}, nil},
		{"kddcup99/kddcup.data_10_percent.gz", table.Options{Format: schema.Format{Label: "42", Positive: dotted}}, nil},
		{"w8a/w8a.gz", table.Options{}, nil},
		{"mammography/mammography.csv", table.Options{Format: schema.Format{Label: "last", Positive: []string{"'1'"}}}, nil},
		{"usps/zip.train.gz", table.Options{Format: schema.Format{Label: "first", Positive: []string{"8.0000"}}}, nil},
		{"usps/zip.train.gz", table.Options{Format: schema.Format{Label: "first", Positive: []string{"1.0000"}}}, nil},
		{"german/german.numer_scale", table.Options{}, nil},

		{"cicids2017_web/web_attacks_balanced.csv.gz", table.Options{Format: schema.Format{Label: "Label", Positive: []string{"!BENIGN"}}},
			[]string{Separates + " Source IP"}},
		{"covtype_2vs4/covtype_2vs4.csv.gz", table.Options{Format: schema.Format{Label: "last"}}, []string{Separates + " Elevation"}},
		{"a9a/a9a.gz", table.Options{}, nil},
		{"basehock/basehock.svm", table.Options{}, nil},
		{"oil_spill/oil-spill.csv", table.Options{Format: schema.Format{Label: "last"}}, nil},
		{"coil2000/ticdata2000.txt.gz", table.Options{Format: schema.Format{Label: "last"}}, nil},
		{"magic04/magic04.data.gz", table.Options{Format: schema.Format{Label: "last", Positive: []string{"g"}}}, nil},
		{"higgs_7k/binary.train.gz", table.Options{Format: schema.Format{Label: "first"}}, nil},
		{"madelon/madelon_train.data.gz", table.Options{Format: schema.Format{LabelsFile: "madelon/madelon_train.labels"}}, nil},
		{"pima/pima-indians-diabetes.data", table.Options{Format: schema.Format{Label: "last"}}, nil},
	} {
		path := filepath.Join(root, c.file)
		if info, err := os.Stat(path); testing.Short() && (err != nil || info.Size() > 500_000) {
			continue
		}
		if c.o.LabelsFile != "" {
			c.o.LabelsFile = filepath.Join(root, c.o.LabelsFile)
		}
		c.o.Packed = true
		d, _, err := table.Read(path, c.o)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, l := range Find(d) {
			got = append(got, l.Code+" "+l.Column)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, positive %v: %q, want %q", c.file, c.o.Positive, got, c.want)
		}
	}
}

// A column whose name identifies rows needs fewer rows and no even spread, but a different whole number in each row.
func TestNamedIdentifiers(t *testing.T) {
	for name, want := range map[string]bool{"id": true, "Customer_ID": true, "uuid": true, "idle": false, "paid": false} {
		d := leakTable(60, .3, func(_ int, _ bool, r *rand.Rand) any { return math.Round(1e9 * math.Exp(r.NormFloat64())) })
		d.Columns[0].Name = name
		list := Find(d)
		if got := len(list) == 1 && list[0].Code == Numbers && list[0].Random; got != want || len(list) > 1 {
			t.Errorf("%s: %+v", name, list)
		}
		if !want {
			continue
		}
		w := Warnings(list)[0]
		if w.Text != fmt.Sprintf("column %q has a different whole number in each row: is it an identifier?", name) || w.Fixes[0].Param != "id" {
			t.Error(w)
		}
		d.Columns[0].Values[7] = d.Columns[0].Values[8]
		if list := Find(d); len(list) > 0 {
			t.Errorf("%s with a repeated value: %+v", name, list)
		}
	}
}
