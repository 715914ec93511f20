package toptau

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"toptau/internal/fault"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/outfile"
	"toptau/internal/scoring"
	"toptau/internal/solver/certified"
	"toptau/method"
	"toptau/model"
	"toptau/threshold"
)

// certificateFormat is the version of certificate files that this package writes, and the newest that it reads.
const certificateFormat = 1

// Certificate is a feasible dual point (p, a) of a fit: whoever has the data can compute a lower bound on the objective from
// it, whatever produced it. Rows are numbered from 1 in the order of the data.
type Certificate struct {
	Format     int            `json:"toptau_certificate"`
	Data       string         `json:"data"`    // digest of the data
	Storage    string         `json:"storage"` // of the packed matrix, to which both bounds refer
	Method     string         `json:"method"`
	Surrogate  string         `json:"surrogate"`
	Lambda     float64        `json:"lambda"`
	Tau        threshold.Rate `json:"tau"`
	Beta       float64        `json:"beta"`
	K          int            `json:"k"`
	BallRadius *float64       `json:"ball_radius"` // lambda = 0: the bound holds for |w| up to this
	Objective  float64        `json:"objective"`   // claimed F(w)
	LowerBound float64        `json:"lower_bound"` // claimed D(p, a)
	P          DualWeights    `json:"p"`           // on the positives
	A          DualWeights    `json:"a"`           // on the population

	Signature *model.Signature `json:"signature,omitempty"` // set by Sign; nil: not signed
}

// DualWeights are the non-zero entries of p or a.
type DualWeights struct {
	Rows   []int     `json:"rows"` // 1-based
	Values []float64 `json:"values"`
}

// newCertificate turns a solver's dual point, numbered within the matrix, into one numbered within the data.
func newCertificate(d *Data, f *objective.Objective, storage string, res *certified.Result) *Certificate {
	p := f.Problem()
	h := p.Hyperparameters
	if storage == "" {
		storage = "float32"
	}
	c := &Certificate{Format: certificateFormat, Data: d.digest(), Storage: storage, Method: p.Method.Name,
		Surrogate: h.Surrogate.Name(), Lambda: h.Lambda, Tau: h.Tau, Beta: h.Beta, K: h.K,
		Objective: res.Objective, LowerBound: res.LowerBound}
	if h.Lambda == 0 {
		c.BallRadius = &res.BallRadius
	}
	sources := rowsOf(f)
	positives := f.Matrix().Positives.Rows()
	first := 0
	if p.Method.Population == method.Negatives {
		first = positives
	}
	c.P, c.A = dualWeights(res.P, sources), dualWeights(res.A, sources[first:])
	return c
}

// rowsOf lists the data's row numbers, 1-based, of the matrix's rows, positives first.
func rowsOf(f *objective.Objective) []int {
	rows := make([]int, 0, f.Rows())
	for _, part := range []*matrix.Part{f.Matrix().Positives, f.Matrix().Negatives} {
		for i := range part.Rows() {
			rows = append(rows, part.Source(i)+1)
		}
	}
	return rows
}

func dualWeights(s certified.Sparse, rows []int) DualWeights {
	w := DualWeights{Rows: make([]int, len(s.Rows)), Values: s.Values}
	for k, i := range s.Rows {
		w.Rows[k] = rows[i]
	}
	if w.Values == nil {
		w.Values = []float64{}
	}
	return w
}

// Save writes the certificate as JSON, completely or not at all.
func (c *Certificate) Save(path string) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	return outfile.Write(path, b.Bytes())
}

// WriteTo writes the bytes of the certificate's file.
func (c *Certificate) WriteTo(w io.Writer) (int64, error) {
	if err := c.checkSignature(); err != nil {
		return 0, err
	}
	content, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(content, '\n'))
	return int64(n), err
}

// LoadCertificate reads what Save wrote. Its claims are not believed: see Verify.
func LoadCertificate(path string) (*Certificate, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, &fault.Error{Kind: fault.IO, File: path, Found: "the certificate cannot be read", Err: err}
	}
	var head struct {
		Format int `json:"toptau_certificate"`
	}
	refuse := func(found string) error {
		return &fault.Error{Kind: fault.Model, File: path, Found: found, Expected: "a file that fit --certificate wrote"}
	}
	switch err := json.Unmarshal(content, &head); {
	case err != nil || head.Format < 1:
		return nil, refuse("not a toptau certificate")
	case head.Format > certificateFormat:
		return nil, refuse(fmt.Sprintf("format %d, this toptau reads up to %d", head.Format, certificateFormat))
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	c := new(Certificate)
	if err := decoder.Decode(c); err != nil {
		return nil, refuse("edited or damaged: " + err.Error())
	}
	if c.checkSignature() != nil {
		return nil, refuse("edited or damaged: the signature does not match the content")
	}
	return c, nil
}

// Verification is both bounds of a certificate, recomputed from the data alone: the object that verify --json prints.
type Verification struct {
	SchemaVersion     int      `json:"schema_version"`
	Holds             bool     `json:"holds"` // the claims are no better than what the data say
	Objective         float64  `json:"objective"`
	LowerBound        float64  `json:"lower_bound"`
	ClaimedObjective  float64  `json:"claimed_objective"`
	ClaimedLowerBound float64  `json:"claimed_lower_bound"`
	RelativeGap       float64  `json:"relative_gap"`
	GapOfDecrease     *float64 `json:"gap_of_decrease"`
	ObjectiveAtZero   float64  `json:"objective_at_zero"`
	BallRadius        *float64 `json:"ball_radius"`
	Reasons           []string `json:"reasons"` // why it does not hold
}

// claimSlack is the relative difference between a claim and its recomputation that counts as rounding.
const claimSlack = 1e-12

// Verify recomputes F(w) of a model and D(p, a) of a certificate from the data, in float64, and compares both with what the
// certificate claims. It trusts neither the solver nor the file: an infeasible (p, a) is an error that names the constraint.
func Verify(m *model.Model, d *Data, c *Certificate) (*Verification, error) {
	if c.Data != d.digest() {
		return nil, &fault.Error{Kind: fault.Data, File: d.table.File, Found: "data with the digest " + d.digest(),
			Expected: "the certificate's data, " + c.Data}
	}
	f, err := c.objective(m, d)
	if err != nil {
		return nil, d.inFile(err)
	}
	p, err := c.P.within(rowsOf(f)[:f.Matrix().Positives.Rows()], "p")
	if err != nil {
		return nil, err
	}
	population := rowsOf(f)
	if f.Problem().Method.Population == method.Negatives {
		population = population[f.Matrix().Positives.Rows():]
	}
	a, err := c.A.within(population, "a")
	if err != nil {
		return nil, err
	}
	radius := 0.0
	if c.BallRadius != nil {
		radius = *c.BallRadius
	}
	bounds, err := certified.Verify(f, m.Weights, p, a, radius)
	if err != nil {
		return nil, err
	}
	return c.compare(bounds), nil
}

// objective rebuilds the training problem.
func (c *Certificate) objective(m *model.Model, d *Data) (*objective.Objective, error) {
	o := FitOptions{Method: c.Method, Surrogate: c.Surrogate, Lambda: c.Lambda, Tau: c.Tau.String(), Beta: c.Beta, K: c.K}
	problem, err := o.problem()
	if err != nil {
		return nil, err
	}
	storage, err := storageOf(c.Storage)
	if err != nil {
		return nil, err
	}
	features, err := scoring.Map(m)
	if err != nil {
		return nil, err
	}
	if err := features.Check(d.table); err != nil {
		return nil, err
	}
	x, err := features.Matrix(d.table, nil, storage)
	if err != nil {
		return nil, err
	}
	return objective.New(problem, x)
}

// within finds the rows of the data among those of the matrix.
func (w DualWeights) within(rows []int, name string) (certified.Sparse, error) {
	if len(w.Rows) != len(w.Values) {
		return certified.Sparse{}, &fault.Error{Kind: fault.Data, Found: fmt.Sprintf("%s with %d rows and %d values", name,
			len(w.Rows), len(w.Values)), Expected: "as many values as rows"}
	}
	at := make(map[int]int32, len(rows))
	for i, row := range rows {
		at[row] = int32(i)
	}
	s := certified.Sparse{Values: w.Values}
	for _, row := range w.Rows {
		i, found := at[row]
		if !found {
			return s, &fault.Error{Kind: fault.Data, Found: fmt.Sprintf("%s of row %d", name, row),
				Expected: "rows of the data that " + name + " may weigh"}
		}
		s.Rows = append(s.Rows, i)
	}
	return s, nil
}

// compare holds the claims against the bounds.
func (c *Certificate) compare(b certified.Bounds) *Verification {
	v := &Verification{SchemaVersion: SchemaVersion, Objective: b.Upper, LowerBound: b.Lower, ClaimedObjective: c.Objective,
		ClaimedLowerBound: c.LowerBound, RelativeGap: max(0, b.Upper-b.Lower) / max(b.Upper, 0.01), ObjectiveAtZero: b.AtZero,
		BallRadius: c.BallRadius, Reasons: []string{}}
	if b.AtZero > b.Lower {
		share := max(0, b.Upper-b.Lower) / (b.AtZero - b.Lower)
		v.GapOfDecrease = &share
	}
	if c.LowerBound > b.Lower+float64(claimSlack*max(1, b.Lower)) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("the lower bound is %.17g, not %.17g", b.Lower, c.LowerBound))
	}
	if c.Objective < b.Upper-float64(claimSlack*max(1, b.Upper)) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("the model's objective is %.17g, not %.17g", b.Upper, c.Objective))
	}
	v.Holds = len(v.Reasons) == 0
	return v
}
