package paper

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
)

// traffic returns n rows of three columns. Every fourth is an attack of one of four types, with 40 %, 30 %,
// 20 % and 10 % of the attacks.
func traffic(n int) *rows {
	r := &rows{columns: 3, class: make([]table.Class, n), attack: make([]string, n)}
	for i := 0; i < n; i += 4 {
		r.class[i] = table.Positive
		r.attack[i] = []string{"a", "a", "a", "a", "b", "b", "b", "c", "c", "d"}[i/4%10]
	}
	r.fill = func(row int, dst []float64) { dst[0], dst[1], dst[2] = float64(row), float64(row%7), 5 }
	return r
}

// sources returns the rows of a part with their class.
func sources(x *matrix.Matrix) map[int]bool {
	all := make(map[int]bool)
	for i := range x.Positives.Rows() {
		all[x.Positives.Source(i)] = true
	}
	for i := range x.Negatives.Rows() {
		all[x.Negatives.Source(i)] = false
	}
	return all
}

func TestDivideKeepsPartsApart(t *testing.T) {
	r := traffic(400)
	p, err := r.divide(division{shares: halfQuarterQuarter, seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[int]int)
	for k, x := range p.inOrder() {
		if n, positive := countRows(x); n != []int{200, 100, 100}[k] || positive != 0.25 {
			t.Errorf("part %d: %d rows, %v positive", k, n, positive)
		}
		for row := range sources(x) {
			seen[row]++
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d of 400 rows in the parts", len(seen))
	}
	if p, err = r.divide(division{shares: halfQuarterQuarter, seed: 3, keep: 0.5}); err != nil || p.Training.Rows() != 100 {
		t.Errorf("half of the rows: %d in training, %v", p.Training.Rows(), err)
	}
}

func TestMLTNoiseStaysOutOfTheTestPart(t *testing.T) {
	r := traffic(4000)
	p, err := r.divide(division{shares: quarterQuarterHalf, seed: 1, mlt: true})
	if err != nil {
		t.Fatal(err)
	}
	for k, x := range p.inOrder() {
		positive, negative := map[string]int{}, map[string]int{}
		for row, label := range sources(x) {
			switch {
			case label:
				positive[r.attack[row]]++
			case r.attack[row] != "":
				negative[r.attack[row]]++
			}
		}
		if k == 2 {
			if len(negative) > 0 || len(positive) != 4 {
				t.Errorf("test part: positive %v, mislabelled %v", positive, negative)
			}
			continue
		}
		// b and d, second and fourth by frequency, are removed. About half of a and c are labelled negative.
		if positive["b"]+negative["b"]+positive["d"]+negative["d"] > 0 {
			t.Errorf("part %d still has removed types: %v %v", k, positive, negative)
		}
		if got := float64(negative["a"]) / float64(positive["a"]+negative["a"]); got < 0.3 || got > 0.7 {
			t.Errorf("part %d: %v of type a mislabelled", k, got)
		}
	}
}

func TestScalingUsesTrainingRowsAlone(t *testing.T) {
	r := traffic(400)
	p, err := r.divide(division{shares: halfQuarterQuarter, seed: 1, scaled: true})
	if err != nil {
		t.Fatal(err)
	}
	for j := range r.columns {
		var sum, square, n float64
		row := make([]float64, r.columns)
		for _, part := range []*matrix.ClassRows{p.Training.Positives, p.Training.Negatives} {
			for i := range part.Rows() {
				part.Row(i, row)
				sum, square, n = sum+row[j], square+row[j]*row[j], n+1
			}
		}
		deviation := math.Sqrt(square/n - sum/n*sum/n)
		if want := 1.0; j < 2 && math.Abs(deviation-want) > 1e-5 {
			t.Errorf("column %d has deviation %v", j, deviation)
		}
		if j == 2 && sum/n != 5 {
			t.Errorf("a constant column became %v", sum/n)
		}
	}
}

func TestThinnedHepmassKeepsATenth(t *testing.T) {
	p, err := simulateHepmass(true, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n, positive := countRows(p.Training); math.Abs(positive-0.1) > 0.02 || n < 2700 || n > 3200 {
		t.Errorf("%d rows, %v positive", n, positive)
	}
}

// TestOriginalHepmass reads files as UCI distributes them.
func TestOriginalHepmass(t *testing.T) {
	dir := t.TempDir()
	text := "# label,f0,f1\n"
	for i := range 60 {
		text += []string{"1.000000e+00,0.5,", "0.000000e+00,-0.5,"}[i%2] + "2.5e-01\n"
	}
	files := []string{filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")}
	for _, path := range files {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := readHepmass(files, [3]int{60, 30, 30}, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for k, x := range p.inOrder() {
		if want := []int{60, 30, 30}[k]; x.Rows() != want || x.Cols() != 2 {
			t.Errorf("part %d: %d rows of %d columns, want %d of 2", k, x.Rows(), x.Cols(), want)
		}
		seen += len(sources(x))
	}
	if seen != 120 {
		t.Errorf("%d different rows", seen)
	}
}

func TestOriginalsAreTakenWhenTheyAreThere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"train", "validation", "test"} {
		path := filepath.Join(dir, "cta", name+".csv")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("1,2,1\n2,1,0\n0,0,0\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range (catalogue{dir: dir}).sets() {
		if s.PaperSet != "CTA" {
			continue
		}
		p, err := s.load(division{seed: 1})
		if err != nil || s.Kind != Original || s.Name != "CTA" || p.Test.Rows() != 3 {
			t.Errorf("CTA is %s %q, %v", s.Kind, s.Name, err)
		}
		return
	}
	t.Error("no set for CTA")
}
