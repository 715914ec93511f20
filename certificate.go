package toptau

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"strings"

	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/memory"
	"toptau/internal/objective"
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
	h := p
	if storage == "" {
		storage = "float32"
	}
	c := &Certificate{Format: certificateFormat, Data: d.digest(), Storage: storage, Method: string(p.Definition().Name),
		Surrogate: string(h.Surrogate), Lambda: h.Lambda, Tau: h.Tau, Beta: h.Beta, K: h.K,
		Objective: res.Objective, LowerBound: res.LowerBound}
	if h.Lambda == 0 {
		c.BallRadius = &res.BallRadius
	}
	sources := rowsOf(f)
	positives := f.Matrix().Positives.Rows()
	first := 0
	if p.Definition().Population == method.Negatives {
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
	content, err := c.encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, content)
}

// WriteTo writes the bytes of the certificate's file.
func (c *Certificate) WriteTo(w io.Writer) (int64, error) {
	content, err := c.encode()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(content)
	return int64(n), err
}

// encode returns the content of a certificate's file.
func (c *Certificate) encode() ([]byte, error) {
	if err := c.checkSignature(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(c)
	return b.Bytes(), err
}

// readCertificate reads a file of at most 1 GiB that fits into memory.
func readCertificate(path string) ([]byte, error) {
	const most, decodedTimes = 1 << 30, 8
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	first := make([]byte, 1)
	if n, err := f.Read(first); err != nil && err != io.EOF {
		return nil, err
	} else if n > 0 && first[0] != '{' {
		return first, nil // no certificate, and maybe a device without an end
	}
	return memory.ReadAll(io.MultiReader(bytes.NewReader(first), f), "a certificate", most, decodedTimes)
}

// LoadCertificate reads what Save wrote. Its claims are not believed: see Verify.
func LoadCertificate(path string) (*Certificate, error) {
	content, err := readCertificate(path)
	if err != nil {
		if e := diag.Of(err); e != nil {
			e.File = path
			return nil, e
		}
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "the certificate cannot be read", Err: err}
	}
	c, err := decodeCertificate(content)
	if err != nil {
		return nil, &diag.Error{Kind: diag.Model, File: path, Found: err.Error(), Expected: "a file that fit --certificate wrote"}
	}
	if c.checkSignature() != nil {
		return nil, &diag.Error{Kind: diag.Model, File: path, Found: "edited or damaged: the signature does not match the content",
			Expected: "a file that fit --certificate wrote"}
	}
	return c, nil
}

// decodeCertificate reads the content of a certificate's file. Every field must be there once, spelled as it is written.
func decodeCertificate(content []byte) (*Certificate, error) {
	var head struct {
		Format int `json:"toptau_certificate"`
	}
	switch err := json.Unmarshal(content, &head); {
	case err != nil || head.Format < 1:
		return nil, errors.New("not a toptau certificate")
	case head.Format > certificateFormat:
		return nil, fmt.Errorf("format %d, this toptau reads up to %d", head.Format, certificateFormat)
	}
	fields, err := objectFields(content, reflect.TypeFor[Certificate]())
	for _, name := range []string{"p", "a"} {
		if err == nil {
			_, err = objectFields(fields[name], reflect.TypeFor[DualWeights]())
		}
	}
	c := new(Certificate)
	if err == nil {
		err = json.Unmarshal(content, c)
	}
	if err != nil {
		return nil, fmt.Errorf("edited or damaged: %w", err)
	}
	return c, nil
}

// objectFields splits a JSON object. It wants the fields of a type, each once and none but a pointer null: encoding/json by
// itself takes "LAMBDA" for "lambda", the last of two, and 0 for a field that is null or missing.
func objectFields(content []byte, kind reflect.Type) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	known, required := map[string]reflect.Type{}, []string{}
	for i := range kind.NumField() {
		name, option, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		known[name] = kind.Field(i).Type
		if option == "" {
			required = append(required, name)
		}
	}
	fields := map[string]json.RawMessage{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		_, twice := fields[name]
		switch field, found := known[name]; {
		case !found:
			return nil, fmt.Errorf("unknown field %s", diag.Quote(name))
		case twice:
			return nil, fmt.Errorf("field %q twice", name)
		case string(value) == "null" && field.Kind() != reflect.Pointer:
			return nil, fmt.Errorf("field %q is null", name)
		}
		fields[name] = value
	}
	for _, name := range required {
		if fields[name] == nil {
			return nil, fmt.Errorf("no field %q", name)
		}
	}
	return fields, nil
}

// Verification is what the data alone say about a certificate: the object that verify --json prints.
type Verification struct {
	SchemaVersion     int             `json:"schema_version"`
	Holds             bool            `json:"holds"` // both claims are what the data say, and prove what they say
	Problem           VerifiedProblem `json:"problem"`
	Objective         float64         `json:"objective"`
	LowerBound        float64         `json:"lower_bound"`
	ObjectiveError    float64         `json:"objective_error"`   // the exact F(w) is no farther from Objective
	LowerBoundError   float64         `json:"lower_bound_error"` // and the exact D(p, a) no farther from LowerBound
	Slack             float64         `json:"slack"`             // a claim that is no farther off agrees
	ClaimedObjective  float64         `json:"claimed_objective"`
	ClaimedLowerBound float64         `json:"claimed_lower_bound"`
	RelativeGap       float64         `json:"relative_gap"`
	GapOfDecrease     *float64        `json:"gap_of_decrease"`
	ObjectiveAtZero   float64         `json:"objective_at_zero"`
	NormW             float64         `json:"norm_w"`      // |w|
	BallRadius        *float64        `json:"ball_radius"` // lambda = 0: proven for |w| up to this
	Reasons           []string        `json:"reasons"`     // why it does not hold
}

// VerifiedProblem is the problem for which both bounds of a certificate were computed.
type VerifiedProblem struct {
	Method    string   `json:"method"`
	Surrogate string   `json:"surrogate"`
	Lambda    float64  `json:"lambda"`
	Tau       *string  `json:"tau"` // exact, as text; nil, like the next two: the method has none
	Beta      *float64 `json:"beta"`
	K         *int     `json:"k"`
	Storage   string   `json:"storage"` // of the packed matrix
	N         int      `json:"n"`
	NPos      int      `json:"n_pos"`
	Mass      *float64 `json:"mass"` // sum of the row weights; nil: there are none
}

// VerifyOptions are the settings of Verify.
type VerifyOptions struct {
	// Problem names the problem that the certificate must be about: method, surrogate, lambda, tau, beta and k. nil: the
	// problem of the model's only member, whose recorded objective and lower bound are compared, too.
	Problem *FitOptions
}

const (
	// claimSlack is how far a claim may lie off its recomputation, relative to max(F(0), F(w)): a solver sums in another order.
	// It is a hundredth of the gap that fit asks for.
	claimSlack = 1e-8
	// mostRounding is the largest rounding error of a bound at which it still proves anything, on the same scale: the gap that
	// fit asks for. A huge radius or huge multipliers could otherwise hide any claim in it.
	mostRounding = 1e-6
)

// Verify computes F(w) of a model and D(p, a) of a certificate from the data, with bounds on all rounding errors, and
// compares both with the certificate's claims. It trusts neither the solver nor the files. The certificate must be about the
// model's problem or the one in o, and about d's rows with the weights that the model was fitted with: everything else is an
// error, and so is an infeasible (p, a). At lambda = 0 the radius must be at least 2|w|.
func Verify(m *model.Model, d *Data, c *Certificate, o VerifyOptions) (*Verification, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := sameRows(m, d, c); err != nil {
		return nil, err
	}
	problem, err := c.problem()
	if err != nil {
		return nil, err
	}
	member, err := c.isAbout(problem, m, o)
	if err != nil {
		return nil, err
	}
	f, err := c.objective(problem, m, d)
	if err != nil {
		return nil, d.inFile(err)
	}
	rows := rowsOf(f)
	p, err := c.P.within(rows[:f.Matrix().Positives.Rows()], "p")
	if err != nil {
		return nil, err
	}
	if problem.Definition().Population == method.Negatives {
		rows = rows[f.Matrix().Positives.Rows():]
	}
	a, err := c.A.within(rows, "a")
	if err != nil {
		return nil, err
	}
	radius := 0.0
	if c.BallRadius != nil {
		radius = *c.BallRadius
	}
	bounds, err := certified.Verify(f, m.Parts(feature.Key{}).Weights, p, a, radius)
	if err != nil {
		return nil, err
	}
	v := c.compare(&bounds)
	v.Problem = verifiedProblem(problem, c.Storage, d)
	if member != nil {
		v.compareModel(member.Certificate)
	}
	v.Holds = len(v.Reasons) == 0
	return v, nil
}

// refused is the error for a certificate that contradicts itself.
func refused(found, expected string) error {
	return &diag.Error{Kind: diag.Model, Found: "the certificate has " + found, Expected: expected}
}

// check refuses numbers that are not finite, and a radius with lambda > 0 or none with lambda = 0.
func (c *Certificate) check() error {
	type number struct {
		name  string
		value float64
	}
	numbers := []number{{"lambda", c.Lambda}, {"beta", c.Beta}, {"objective", c.Objective}, {"lower_bound", c.LowerBound}}
	if c.BallRadius != nil {
		numbers = append(numbers, number{"ball_radius", *c.BallRadius})
	}
	for _, n := range numbers {
		if !(math.Abs(n.value) <= math.MaxFloat64) {
			return refused(fmt.Sprintf("%s %v", n.name, n.value), "a finite number")
		}
	}
	switch {
	case c.Storage != "float32" && c.Storage != "float64":
		return refused("storage "+diag.Quote(c.Storage), "float32 or float64")
	case c.Lambda == 0 && c.BallRadius == nil:
		return refused("no ball_radius", "the radius of the ball in which the lower bound holds, since lambda = 0")
	case c.Lambda != 0 && c.BallRadius != nil:
		return refused(fmt.Sprintf("ball_radius %v with lambda %v", *c.BallRadius, c.Lambda), "no ball_radius unless lambda is 0")
	case c.BallRadius != nil && !(*c.BallRadius >= 0):
		return refused(fmt.Sprintf("ball_radius %v", *c.BallRadius), "at least 0")
	}
	return nil
}

// sameRows refuses data that are not the certificate's, or not read as the model's training data were.
func sameRows(m *model.Model, d *Data, c *Certificate) error {
	found := func(kind diag.Kind, found, expected, hint string) error {
		return &diag.Error{Kind: kind, File: d.table.File, Found: found, Expected: expected, Hint: hint}
	}
	t := m.Training()
	mass, positive := d.masses()
	switch weighted := d.table.Weight != nil; {
	case c.Data != d.digest():
		return found(diag.Data, "data with the digest "+d.digest(), "the certificate's data, "+diag.Quote(c.Data), "")
	case t.Digest != "" && t.Digest != d.digest():
		return found(diag.Data, "data with the digest "+d.digest(), "the model's training data, "+t.Digest, "")
	case t.Mass > 0 && !weighted:
		return found(diag.Usage, "rows without weights", fmt.Sprintf("row weights of sum %v, as in the fit", t.Mass),
			"the model was fitted with row weights: repeat its --weight COLUMN")
	case t.Rows > 0 && t.Mass == 0 && weighted:
		return found(diag.Usage, "rows with weights", "rows without weights, as in the fit", "leave out --weight")
	case t.Rows > 0 && (t.Rows != d.Rows() || t.Positives != d.Positives()):
		return found(diag.Data, fmt.Sprintf("%d rows, %d positive", d.Rows(), d.Positives()),
			fmt.Sprintf("%d rows, %d positive, as in the fit", t.Rows, t.Positives), "repeat the fit's flags that say how to read the data")
	case t.Rows > 0 && (mass != t.Mass || positive != t.PositiveMass):
		return found(diag.Usage, fmt.Sprintf("row weights of sum %v, positives %v", mass, positive),
			fmt.Sprintf("%v and %v, as in the fit", t.Mass, t.PositiveMass), "repeat the fit's --weight COLUMN")
	}
	return nil
}

// problem is the certificate's problem, checked.
func (c *Certificate) problem() (method.Problem, error) {
	o := FitOptions{Method: c.Method, Surrogate: c.Surrogate, Lambda: c.Lambda, Tau: c.Tau.String(), Beta: c.Beta, K: c.K}
	p, err := o.problem()
	if err == nil {
		err = certified.Possible(p)
	}
	if err != nil {
		return p, &diag.Error{Kind: diag.Model, Found: "the certificate's problem", Err: err}
	}
	return p, nil
}

// isAbout refuses a certificate about another problem than the one expected: that of the model's only member, which it
// returns, or that in o.
func (c *Certificate) isAbout(got method.Problem, m *model.Model, o VerifyOptions) (*model.Member, error) {
	var member *model.Member
	expected, whose := o.Problem, "as named"
	if expected == nil {
		members := m.Members()
		if len(members) != 1 {
			return nil, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a model with %d members", len(members)),
				Expected: "one member, whose problem the certificate must be about", Hint: "name the problem: --method and its flags, as for fit"}
		}
		member, whose = &members[0], "as in the model"
		expected = &FitOptions{Method: member.Method, Surrogate: member.Surrogate, Lambda: member.Lambda,
			Tau: member.Tau.String(), Beta: member.Beta, K: member.K}
	}
	want, err := expected.problem()
	if err != nil {
		if member != nil {
			err = &diag.Error{Kind: diag.Model, Found: "the model's problem", Err: err}
		}
		return nil, err
	}
	g, w := got, want
	for _, field := range []struct {
		name      string
		got, want any
	}{
		{"method", string(g.Method), string(w.Method)}, {"surrogate", string(g.Surrogate), string(w.Surrogate)},
		{"lambda", g.Lambda, w.Lambda}, {"tau", g.Tau, w.Tau}, {"beta", g.Beta, w.Beta}, {"k", g.K, w.K},
	} {
		if field.got != field.want {
			return nil, refused(fmt.Sprintf("%s %v", field.name, field.got), fmt.Sprintf("%v, %s", field.want, whose))
		}
	}
	return member, nil
}

// objective binds the problem to the packed rows.
func (c *Certificate) objective(problem method.Problem, m *model.Model, d *Data) (*objective.Objective, error) {
	storage, err := storageOf(c.Storage)
	if err != nil {
		return nil, err
	}
	features := m.Features(feature.Key{})
	if err := features.Check(d.table); err != nil {
		return nil, err
	}
	x, err := features.Matrix(d.table, nil, storage)
	if err != nil {
		return nil, err
	}
	return objective.New(problem, x)
}

// within finds the rows of the data among those of the matrix. No row may occur twice, and no value be negative.
func (w DualWeights) within(rows []int, name string) (certified.Sparse, error) {
	if len(w.Rows) != len(w.Values) {
		return certified.Sparse{}, refused(fmt.Sprintf("%s with %d rows and %d values", name, len(w.Rows), len(w.Values)),
			"as many values as rows")
	}
	last := 0
	for _, row := range rows {
		last = max(last, row)
	}
	place := make([]int32, last+1) // of a row of the data among rows, from 1; 0 where it is not, or has been seen
	for i, row := range rows {
		place[row] = int32(i + 1)
	}
	s := certified.Sparse{Values: w.Values}
	for k, row := range w.Rows {
		if row < 0 || row > last || place[row] == 0 {
			return s, refused(fmt.Sprintf("%s of row %d", name, row), "each row that "+name+" may weigh, at most once")
		}
		if x := w.Values[k]; !(x >= 0 && x <= math.MaxFloat64) {
			return s, refused(fmt.Sprintf("%s of row %d: %v", name, row, x), "finite values of at least 0")
		}
		s.Rows = append(s.Rows, place[row]-1)
		place[row] = 0
	}
	return s, nil
}

// compare holds the claims against the bounds. Every comparison fails for NaN.
func (c *Certificate) compare(b *certified.Bounds) *Verification {
	v := &Verification{SchemaVersion: SchemaVersion, Objective: b.Upper, LowerBound: b.Lower, ObjectiveError: b.UpperError,
		LowerBoundError: b.LowerError, ClaimedObjective: c.Objective, ClaimedLowerBound: c.LowerBound,
		RelativeGap: max(0, b.Upper-b.Lower) / max(b.Upper, 0.01), ObjectiveAtZero: b.AtZero, NormW: b.Norm,
		BallRadius: c.BallRadius, Reasons: []string{}}
	scale := max(b.AtZero, b.Upper)
	v.Slack = float64(claimSlack * scale)
	if b.AtZero > b.Lower {
		share := max(0, b.Upper-b.Lower) / (b.AtZero - b.Lower)
		v.GapOfDecrease = &share
	}
	refute := func(holds bool, format string, numbers ...any) {
		if !holds {
			v.Reasons = append(v.Reasons, fmt.Sprintf(format, numbers...))
		}
	}
	if c.BallRadius != nil {
		refute(*c.BallRadius >= 2*b.Norm, "the ball has the radius %.17g, less than 2|w| = %.17g", *c.BallRadius, 2*b.Norm)
	}
	refute(math.Abs(b.AtZero) <= math.MaxFloat64, "the objective at w = 0 is %v", b.AtZero)
	rounding, most := max(b.UpperError, b.LowerError), mostRounding*scale
	refute(rounding <= most, "rounding may have changed a bound by %.3g, and more than %.3g proves nothing", rounding, most)
	refute(b.Lower-b.LowerError <= b.Upper+b.UpperError, "the lower bound %.17g is above the objective %.17g", b.Lower, b.Upper)
	refute(agree(c.LowerBound, b.Lower, v.Slack), "the lower bound is %.17g, not %.17g", b.Lower, c.LowerBound)
	refute(agree(c.Objective, b.Upper, v.Slack), "the model's objective is %.17g, not %.17g", b.Upper, c.Objective)
	return v
}

// compareModel holds what the model records about its only member against the bounds; it may record less.
func (v *Verification) compareModel(c *model.Certificate) {
	if c == nil {
		return
	}
	if !agree(c.Objective, v.Objective, v.Slack) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("the objective is %.17g, not %.17g as the model records", v.Objective, c.Objective))
	}
	if c.LowerBound != nil && !(*c.LowerBound <= v.LowerBound+v.Slack) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("the lower bound is %.17g, not %.17g as the model records", v.LowerBound, *c.LowerBound))
	}
}

// agree reports whether a claim is what was computed, up to a slack.
func agree(claim, computed, slack float64) bool { return math.Abs(claim-computed) <= slack }

// verifiedProblem describes the problem on the data.
func verifiedProblem(p method.Problem, storage string, d *Data) VerifiedProblem {
	h := p
	v := VerifiedProblem{Method: string(p.Definition().Name), Surrogate: string(h.Surrogate), Lambda: h.Lambda, Storage: storage,
		N: d.Rows(), NPos: d.Positives()}
	if p.Definition().UsesTau {
		tau := h.Tau.String()
		v.Tau = &tau
	}
	if p.Definition().UsesBeta {
		v.Beta = &h.Beta
	}
	if p.Definition().UsesK {
		v.K = &h.K
	}
	if d.table.Weight != nil {
		mass, _ := d.masses()
		v.Mass = &mass
	}
	return v
}
