package paper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"toptau/diag"
	"toptau/internal/core/optim"
	"toptau/internal/core/ranking"
	"toptau/internal/data/atomicfile"
)

// Solvers of a cell.
const (
	solverAdam      = "adam"
	solverCertified = "certified"
)

// variant distinguishes the cells of one entry on one set.
type variant struct {
	Seed   uint64 // of the split, of the minibatches and of a random start
	Start  optim.Start
	Solver string  // certified means ADAM for the Grill methods, which have no certificate
	Scaled bool    // columns divided by their standard deviation, unlike in the paper
	Step   float64 `json:",omitempty"` // of ADAM (default 0.01)
	Change change  `json:",omitempty"` // of what no result should depend on
}

// String returns the variant as part of a file name.
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
	if v.Change != "" {
		text += "-" + string(v.Change)
	}
	return text
}

// Cell is one entry on one split of one set: six points, of which the validation part selects one.
type Cell struct {
	Key         string   `json:"key"` // digest of everything that determines the cell
	Set         string   `json:"set"`
	Variant     string   `json:"variant"`
	Entry       string   `json:"entry"`
	Points      []Point  `json:"points"`
	Chosen      [2]int   `json:"chosen"` // by the paper's count and by the strict count; -1 for none
	Test        [2]Test  `json:"test"`   // of the chosen points
	Rows        int      `json:"rows"`   // number of training rows used
	SecondsFit  float64  `json:"seconds_fit"`
	Drawn       *Curves  `json:"curves,omitempty"` // of the point chosen by the paper's count
	Limitations []string `json:"limitations,omitempty"`
}

// Point is one setting of the hyperparameters with its result.
type Point struct {
	Lambda, Beta float64
	K            int
	Failed       string   `json:",omitempty"` // why there is no result
	F, AtZero    float64  // objective at the end and at w = 0
	Lower        *float64 `json:",omitempty"` // proven lower bound on the objective
	Radius       float64  `json:",omitempty"` // the bound holds for |w| up to Radius; 0 means everywhere
	Converged    bool     `json:",omitempty"` // the gap was reached
	Zero         bool     `json:",omitempty"` // w = 0 was proven optimal before fitting
	Length       float64  `json:",omitempty"` // |w| of a certified optimum with lambda = 0, where many points may be optimal
	LengthBound  float64  `json:",omitempty"` // no point that is as good is shorter; 0 proves nothing
	Passes       int
	Own          [2]*float64 // the entry's criterion on the validation part, by both counts
}

// Beats reports whether the point is better than w = 0.
func (p *Point) Beats() bool { return p.Failed == "" && p.F < p.AtZero }

// Test contains the five criteria on the test part, by both counts.
type Test struct {
	Values [2][criterionCount]*float64
}

// value returns a criterion of the point chosen by a count, measured by that count. It is nil if undefined.
func (c *Cell) value(rule count, criterion int) *float64 { return c.Test[rule].Values[rule][criterion] }

// Curves are curves on the test part, thinned for drawing.
type Curves struct{ PTau, PR ranking.Curve }

// store contains the finished parts of a run, one JSON file each.
type store struct{ dir string }

// keyed is the first field of every stored part.
type keyed struct {
	Key string `json:"key"`
}

// load reads a part. It returns false if there is none or its key differs.
func (s *store) load(name, key string, to any) (bool, error) {
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

// save writes a part, which must have the field "key".
func (s *store) save(name string, part any) error {
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
