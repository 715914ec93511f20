package paper

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/optim"
	"toptau/metric"
)

// Solvers of a cell.
const (
	solverAdam      = "adam"
	solverCertified = "certified"
)

// variant is what distinguishes the cells of one entry on one set.
type variant struct {
	Seed   uint64 // of the split, of the minibatches and of a random start
	Start  optim.Start
	Solver string  // certified: where there is a certificate, ADAM for the Grill methods
	Scaled bool    // columns divided by their deviation also where the paper does not
	Step   float64 `json:",omitempty"` // of ADAM; 0: the solver's own, 0.01
}

// String is the variant in the name of a file.
func (v variant) String() string {
	start := "zero"
	if v.Start == optim.Random {
		start = "random"
	}
	text := fmt.Sprintf("%d-%s-%s", v.Seed, v.Solver, start)
	if v.Scaled {
		text += "-scaled"
	}
	if v.Step != 0 {
		text += "-step" + number(v.Step)
	}
	return text
}

// Cell is one entry on one split of one set: six points, of which the validation part chooses one.
type Cell struct {
	Key         string   `json:"key"` // digest of everything that decides the cell
	Set         string   `json:"set"`
	Variant     string   `json:"variant"`
	Entry       string   `json:"entry"`
	Points      []Point  `json:"points"`
	Chosen      [2]int   `json:"chosen"` // by the paper's count, by the strict count; -1: none
	Test        [2]Test  `json:"test"`   // of these points
	Rows        int      `json:"rows"`   // of the training rows that were used
	SecondsFit  float64  `json:"seconds_fit"`
	Drawn       *Curves  `json:"curves,omitempty"` // of the point chosen by the paper's count
	Limitations []string `json:"limitations,omitempty"`
}

// Point is one setting.
type Point struct {
	Lambda, Beta float64
	K            int
	Failed       string   `json:",omitempty"` // why there is no result
	F, AtZero    float64  // the objective at the end and at w = 0
	Lower        *float64 `json:",omitempty"` // a proven lower bound on the objective
	Radius       float64  `json:",omitempty"` // which holds for |w| up to this; 0: everywhere
	Converged    bool     `json:",omitempty"` // the bounds met
	Zero         bool     `json:",omitempty"` // w = 0 was proven optimal beforehand
	Passes       int
	Own          [2]*float64 // the entry's own criterion on the validation part, by both counts
}

// Beats reports whether the point is better than w = 0.
func (p *Point) Beats() bool { return p.Failed == "" && p.F < p.AtZero }

// Test is the five criteria on the test part, by both counts.
type Test struct {
	Values [2][criterionCount]*float64
}

// value is a criterion of the point that a count chose, by that count; nil where it is undefined.
func (c *Cell) value(rule count, criterion int) *float64 { return c.Test[rule].Values[rule][criterion] }

// Curves are thinned for drawing.
type Curves struct{ PTau, PR metric.Curve }

// store keeps finished parts of a run, one JSON file each.
type store struct{ dir string }

// key is the digest of all values that decide a part.
func key(parts ...any) (string, error) {
	text, err := json.Marshal(append([]any{"toptau paper 1"}, parts...))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// keyed is what every kept part begins with.
type keyed struct {
	Key string `json:"key"`
}

// get reads a part; false when it is not there or was decided by something else.
func (s store) get(name, key string, to any) (bool, error) {
	path := filepath.Join(s.dir, name+".json")
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	var k keyed
	if json.Unmarshal(content, &k) != nil || k.Key != key {
		return false, nil
	}
	return json.Unmarshal(content, to) == nil, nil
}

// put writes a part, which must have the field "key".
func (s store) put(name string, part any) error {
	content, err := json.MarshalIndent(part, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, name+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	return atomicfile.Write(path, append(content, '\n'))
}
