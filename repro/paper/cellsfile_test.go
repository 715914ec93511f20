package paper

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/method"
)

// committed is the directory of the committed pages.
const committed = "../pages"

// readCommitted returns the rows of a committed file by their first field.
func readCommitted(t *testing.T, name string) map[string][]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(committed, name))
	if os.IsNotExist(err) {
		t.Skipf("%s/%s does not exist: the committed pages are of an older version; run toptau-paper all and copy its files",
			committed, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, line := range lines[1:] {
		rows[line[0]] = line
	}
	return rows
}

// quickSets are the sets whose cells are computed again. The others have the same kinds of cells, but take
// minutes to load or to fit.
var quickSets = []string{"ionosphere", "spambase", "nsl_kdd", "nsl_kdd-mlt", "cicids2017_web",
	"cicids2017_web-mlt", "higgs_7k"}

// recomputed is a cell that may be computed again.
type recomputed struct {
	name, kind string
	set        *Set
	v          variant
	e          entry
}

// sampleOfCells returns committed cells: of every kind of run on every quick set the first ones by the digest
// of the name. A kind is a set and a variant without its split; of certified runs, Grill's are a kind of
// their own.
func sampleOfCells(st *study, rows map[string][]string, ofKind int) []recomputed {
	kinds := map[string][]recomputed{}
	for i := range st.sets {
		s := &st.sets[i]
		if !slices.Contains(quickSets, s.Key) {
			continue
		}
		for _, seed := range st.seeds(s) {
			for _, v := range st.variants(s, seed) {
				for _, e := range tableEntries() {
					c := recomputed{cellName(s, v, e), "", s, v, e}
					general := v
					general.Seed = 0
					c.kind = fmt.Sprint(s.Key, general, v.Solver == solverCertified && certifiedless(e))
					if rows[c.name] != nil {
						kinds[c.kind] = append(kinds[c.kind], c)
					}
				}
			}
		}
	}
	var sample []recomputed
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list := kinds[kind]
		slices.SortFunc(list, func(a, b recomputed) int {
			return cmp.Compare(digestOf([]byte("sample "+a.name)), digestOf([]byte("sample "+b.name)))
		})
		sample = append(sample, list[:min(ofKind, len(list))]...)
	}
	slices.SortFunc(sample, func(a, b recomputed) int { // one split in memory at a time
		return cmp.Or(cmp.Compare(a.set.Key, b.set.Key), cmp.Compare(a.v.Seed, b.v.Seed),
			cmp.Compare(fmt.Sprint(a.v.Scaled), fmt.Sprint(b.v.Scaled)), cmp.Compare(a.name, b.name))
	})
	return sample
}

// fullStudy returns a study of all experiments without results.
func fullStudy(t *testing.T) *study {
	t.Helper()
	dir := os.Getenv("TOPTAU_DATA")
	if dir == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	o, _, err := Options{Data: dir, Out: t.TempDir()}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	st := newStudy(o)
	if st.sets, err = st.wantedSets(); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestCommittedCellsAreThoseOfTheCode computes a sample of the committed cells again. It fails if the code
// computes something else, for example after a constant of ADAM has changed. Bits of certified optima may
// differ: a better solver ends elsewhere within the gap. Their choices and criteria must be the same.
func TestCommittedCellsAreThoseOfTheCode(t *testing.T) {
	rows := readCommitted(t, cellsFile)
	st := fullStudy(t)
	sample := sampleOfCells(st, rows, 2)
	if len(sample) < 40 {
		t.Fatalf("the sample has %d cells, want at least 40", len(sample))
	}
	var d loader
	differ := 0
	for _, c := range sample {
		if d.set != c.set || d.division.seed != c.v.Seed || d.division.scaled != c.v.Scaled {
			d = loader{set: c.set, division: division{seed: c.v.Seed, scaled: c.v.Scaled}}
		}
		parts, err := d.get()
		if err != nil {
			t.Fatal(err)
		}
		w := workshop{parts: parts, minibatches: c.set.Minibatches,
			zero: func(p method.Problem) (*ZeroAnswer, error) {
				return isZeroOptimal(context.Background(), parts.Training, p)
			}}
		cells, err := w.makeCells(context.Background(), c.v, []entry{c.e})
		if err != nil {
			t.Fatal(err)
		}
		cells[0].Set = c.set.Key
		if c.v.Solver == solverCertified && certifiedless(c.e) { // as in a run, which copies the cell of ADAM
			cells[0].Variant = c.v.String()
		}
		got, want := cellRow(c.name, cells[0]), rows[c.name]
		if c.v.Solver == solverCertified && !certifiedless(c.e) {
			got, want = got[:len(got)-1], want[:len(want)-1]
		}
		if !slices.Equal(got, want) {
			differ++
			t.Errorf("the code computes another cell than the committed one:\n%s\n%s", strings.Join(got, ","),
				strings.Join(want, ","))
		}
	}
	t.Logf("%d of %d sampled cells of %d differ", differ, len(sample), len(rows))
	if differ > 0 {
		t.Log("if the change is intended, run toptau-paper all again and commit all its files")
	}
}

// TestCommittedZerosAreThoseOfTheCode decides again for a sample of rules whether w = 0 is optimal.
func TestCommittedZerosAreThoseOfTheCode(t *testing.T) {
	rows := readCommitted(t, zerosFile)
	st := fullStudy(t)
	tried := 0
	for i := range st.sets {
		s := &st.sets[i]
		if !slices.Contains(quickSets, s.Key) {
			continue
		}
		d := loader{set: s, division: division{seed: first}}
		for _, e := range entriesOf(solverCertified) {
			problems, err := e.problems()
			if err != nil {
				t.Fatal(err)
			}
			p := problems[int(digestOf([]byte(s.Key + e.Key()))[0])%len(problems)]
			row := rows[zeroName(s, p)]
			if row == nil {
				continue
			}
			parts, err := d.get()
			if err != nil {
				t.Fatal(err)
			}
			a, err := isZeroOptimal(context.Background(), parts.Training, p)
			if err != nil {
				t.Fatal(err)
			}
			if tried++; a.Verdict != row[1] {
				t.Errorf("%s: %s, committed %s", row[0], a.Verdict, row[1])
			}
		}
	}
	if tried < 10 {
		t.Errorf("%d rules were tried, want at least 10", tried)
	}
}

// TestCommittedRanksAreThoseOfTheCells makes the tables of ranks from the committed cells and compares them
// with the committed tables: page and cells are of one run.
func TestCommittedRanksAreThoseOfTheCells(t *testing.T) {
	if _, err := os.Stat(filepath.Join(committed, "record.md")); err != nil {
		t.Skipf("%s/record.md does not exist: the committed pages are of an older version", committed)
	}
	rows := readCommitted(t, cellsFile)
	st := fullStudy(t)
	for i := range st.sets {
		s := &st.sets[i]
		st.absent[s.Key] = "no cells"
		for _, seed := range st.seeds(s) {
			for _, v := range st.variants(s, seed) {
				for _, e := range tableEntries() {
					if row := rows[cellName(s, v, e)]; row != nil {
						c, err := parseCell(row, nil)
						if err != nil {
							t.Fatal(err)
						}
						st.cells[cellName(s, v, e)] = c
						delete(st.absent, s.Key)
					}
				}
			}
		}
	}
	if n := len(rows) - len(st.cells); n > 0 {
		t.Skipf("%d committed cells are of sets that TOPTAU_DATA does not have, or not in this form", n)
	}
	p, err := ranksItem(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, named := range p.Tables {
		want, err := os.ReadFile(filepath.Join(committed, named.Name+".csv"))
		if err != nil || !strings.HasPrefix(named.Name, "ranks") {
			continue
		}
		if compared++; !bytes.Equal(commaSeparated(named.Table), want) {
			t.Errorf("%s.csv is not the table of the committed cells", named.Name)
		}
	}
	if compared < 4 {
		t.Errorf("%d tables were compared, want at least 4", compared)
	}
}

func TestCellRowsAreReadAgain(t *testing.T) {
	x, y := 0.25, 1.0/3
	c := &Cell{Chosen: [2]int{2, -1}, Points: []Point{{F: 1, AtZero: 2}, {F: 2, AtZero: 2}, {Failed: "too few rows"}}}
	c.Test[0].Values[0][1], c.Test[1].Values[1][4] = &x, &y
	row := cellRow("a/b", c)
	if len(row) != len(cellsHeader()) {
		t.Fatalf("a row has %d fields, the header %d", len(row), len(cellsHeader()))
	}
	again, err := parseCell(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := cellRow("a/b", again); !slices.Equal(got[:len(got)-1], row[:len(row)-1]) {
		t.Errorf("read %q, written %q", got, row)
	}
	changed := slices.Repeat([]string{""}, len(row))
	changed[0], changed[3] = "a/c", "x01"
	other, err := parseCell(changed, row)
	if err != nil || other.better() != "x01" || other.Chosen != c.Chosen || *other.value(0, 1) != x {
		t.Errorf("a row with empty fields is %+v, %v", other, err)
	}
}
