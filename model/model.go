package model

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// FileVersion is the version of the files that this package writes and reads.
const FileVersion = 1

// Model is one linear model on encoded features.
type Model struct {
	parts     Parts
	probes    []probe
	signature *Signature // nil: not signed
	program   string     // of a model from a file: the digest there

	missing missingValues
	readers []*table.FieldReader // by column
	used    []bool               // by column: it has a weight
	scorers sync.Pool            // of *Scorer

	division func() *feature.Contributions // the first call computes it
}

// Parts are the content of a new model.
type Parts struct {
	Schema       schema.Schema // without dictionaries: the features hold the categories that have weights
	Features     Features
	Weights      []float64 // one for each feature, finite
	Offset       float64   // added to every score
	Points       []Point   // operating points with different names; the first is the default
	History      []Change  // changes of the operating points since the model was made, oldest first
	Members      []Member  // the fits that the weights are the average of; may be empty
	Training     Training
	Fingerprints *Fingerprints          // of the training rows; nil: not kept
	Averages     *Averages              // of the training rows, for explanations; nil: not kept
	Probability  *calibrate.Probability // of scores; nil: not known
	Profile      *Profile               // of the columns of training rows; nil: not kept
	Reference    *calibrate.Reference   // scores of rows that did not train the model; nil: not known
}

// New makes a model. It computes the probe rows and checks that the parts fit together.
func New(p Parts) (*Model, error) {
	m := newModel(p.clone())
	if err := m.parts.check(); err != nil {
		return nil, err
	}
	m.probes = m.newProbes()
	return m, m.checkProbes()
}

// newModel prepares a model. The parts must be checked before it scores, and not be changed afterwards.
func newModel(p Parts) *Model {
	m := &Model{parts: p, missing: missingValuesOf(p.Schema.Missing)}
	m.used = make([]bool, len(p.Schema.Columns))
	if f := p.encoding(); f != nil { // checked later
		for _, in := range f.Inputs {
			if in.Column < len(m.used) {
				m.used[in.Column] = true
			}
		}
	}
	for _, c := range p.Schema.Columns { // derived already, where ScoreFields reads them
		c.Part, c.Salt = schema.Whole, ""
		m.readers = append(m.readers, table.NewFieldReader(&c, p.Schema.Missing, ""))
	}
	m.scorers.New = func() any { return m.NewScorer() }
	m.division = sync.OnceValue(func() *feature.Contributions {
		d, _ := feature.NewContributions(p.encoding(), p.Weights) // checked: a weight for each feature
		return d
	})
	return m
}

// Parts returns a copy of what the model was made from.
func (m *Model) Parts() Parts { return m.parts.clone() }

// Features are the features of a model, one for each weight. Only packages of this module can make them.
type Features interface {
	Cols() int       // the number of features
	Names() []string // their names
}

// Features returns the encoding.
func (m *Model) Features() Features { return m.parts.Features }

// Vector returns the weights in the order of the features. It must not be changed.
func (m *Model) Vector() []float64 { return m.parts.Weights }

// encoding returns the features, nil if there are none.
func (p *Parts) encoding() *feature.Map { return feature.MapOf(p.Features) }

func (p Parts) clone() Parts {
	p.Schema = cloneSchema(p.Schema)
	p.Weights, p.Points, p.Members = slices.Clone(p.Weights), slices.Clone(p.Points), slices.Clone(p.Members)
	return p
}

func cloneSchema(s schema.Schema) schema.Schema {
	s.Columns, s.Others = slices.Clone(s.Columns), slices.Clone(s.Others)
	s.Positive, s.Missing, s.ID, s.Labels = slices.Clone(s.Positive), slices.Clone(s.Missing), slices.Clone(s.ID), slices.Clone(s.Labels)
	for j := range s.Columns {
		s.Columns[j].Dictionary, s.Columns[j].Unused = nil, false
	}
	return s
}

// Schema describes the training file, so that other files are read in the same way. Its dictionaries are the
// categories that have weights.
func (m *Model) Schema() schema.Schema {
	s := cloneSchema(m.parts.Schema)
	for j := range s.Columns {
		s.Columns[j].Unused = true
	}
	for _, in := range m.parts.encoding().Inputs {
		if in.Column < len(s.Columns) {
			s.Columns[in.Column].Dictionary, s.Columns[in.Column].Unused = in.Categories, false
		}
	}
	return s
}

// Points returns the operating points, the default first. Their segments and guarantees must not be changed.
func (m *Model) Points() []Point { return slices.Clone(m.parts.Points) }

// Point returns the operating point of a name. The empty name is the default point.
func (m *Model) Point(name string) (p Point, found bool) {
	if i := m.pointAt(name); i >= 0 {
		return m.parts.Points[i], true
	}
	return Point{}, false
}

// pointAt returns the position of a point, or -1.
func (m *Model) pointAt(name string) int {
	if name == "" {
		return min(0, len(m.parts.Points)-1)
	}
	return slices.IndexFunc(m.parts.Points, func(p Point) bool { return p.Name == name })
}

// WithPoint returns the model with a further operating point, not signed.
//
// Errors: diag.Usage if there is a point of that name; another error if the point contradicts itself.
func (m *Model) WithPoint(p Point) (*Model, error) {
	if p.Name != "" && m.pointAt(p.Name) >= 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "operating point " + diag.Quote(p.Name) + " in the model", Expected: "a new name"}
	}
	return m.withPoints(append(m.Points(), p), Change{Action: PointAdded, Name: p.Name, Threshold: &p.Threshold})
}

// WithReplaced returns the model with p instead of its operating point of the same name, not signed.
func (m *Model) WithReplaced(p Point) (*Model, error) {
	i, err := m.existing(p.Name)
	if err != nil {
		return nil, err
	}
	points := m.Points()
	former := points[i]
	points[i] = p
	return m.withPoints(points, Change{Action: PointReplaced, Name: p.Name, Threshold: &p.Threshold, Former: &former.Threshold,
		FormerSource: former.Source})
}

// WithoutPoint returns the model without an operating point, not signed.
func (m *Model) WithoutPoint(name string) (*Model, error) {
	i, err := m.existing(name)
	if err != nil {
		return nil, err
	}
	former := m.parts.Points[i]
	return m.withPoints(slices.Delete(m.Points(), i, i+1), Change{Action: PointRemoved, Name: former.Name, Former: &former.Threshold,
		FormerSource: former.Source})
}

// WithDefault returns the model with the named operating point first, not signed.
func (m *Model) WithDefault(name string) (*Model, error) {
	i, err := m.existing(name)
	if err != nil {
		return nil, err
	}
	p := m.parts.Points[i]
	return m.withPoints(slices.Insert(slices.Delete(m.Points(), i, i+1), 0, p), Change{Action: PointFirst, Name: p.Name})
}

// WithNote returns the model with a note on the last change of its history, such as a date, not signed.
func (m *Model) WithNote(note string) (*Model, error) {
	if len(m.parts.History) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "a model without a history", Expected: "a change to describe"}
	}
	p := m.parts
	p.History = slices.Clone(p.History)
	p.History[len(p.History)-1].Note = note
	return m.derived(p)
}

// existing returns the position of a point that must be there.
func (m *Model) existing(name string) (int, error) {
	if i := m.pointAt(name); i >= 0 {
		return i, nil
	}
	names := make([]string, len(m.parts.Points))
	for i, p := range m.parts.Points {
		names[i] = p.Name
	}
	e := diag.OneOf("", name, names)
	e.Found = "operating point " + e.Found
	return 0, e
}

// withPoints returns the model with other points, and adds the change to the history.
func (m *Model) withPoints(points []Point, c Change) (*Model, error) {
	p := m.parts
	p.Points, p.History = points, append(slices.Clip(p.History), c)
	return m.derived(p)
}

// derived returns a model with the same features and weights.
func (m *Model) derived(p Parts) (*Model, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	derived := newModel(p)
	derived.probes = m.probes
	return derived, nil
}

// History returns the changes of the operating points since the model was made, oldest first.
func (m *Model) History() []Change { return slices.Clone(m.parts.History) }

// Weights yields the name and the weight of every feature, in the order in which products are added. Names
// are like "src_bytes", "service=http", "load missing", "column 5=tcp" and "index 17".
func (m *Model) Weights() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, name := range m.parts.Features.Names() {
			if !yield(name, m.parts.Weights[i]) {
				return
			}
		}
	}
}

// Len returns the number of weights.
func (m *Model) Len() int { return len(m.parts.Weights) }

// Offset returns the number that is added to every score.
func (m *Model) Offset() float64 { return m.parts.Offset }

// Members returns the fits that the weights are the average of.
func (m *Model) Members() []Member { return slices.Clone(m.parts.Members) }

// Training describes the training data.
func (m *Model) Training() Training { return m.parts.Training }

// Fingerprints returns hashes of the training rows, which must not be changed, or nil if the model has none.
func (m *Model) Fingerprints() *Fingerprints { return m.parts.Fingerprints }

// Averages returns the average of the training rows, which must not be changed, or nil if the model has none.
func (m *Model) Averages() *Averages { return m.parts.Averages }

// Probability returns the probabilities of scores, which must not be changed, or nil if they are not known.
func (m *Model) Probability() *calibrate.Probability { return m.parts.Probability }

// Profile returns what later rows are compared with, which must not be changed, or nil if the model has none.
func (m *Model) Profile() *Profile { return m.parts.Profile }

// Reference returns scores that later scores are compared with, which must not be changed, or nil if the model
// has none.
func (m *Model) Reference() *calibrate.Reference { return m.parts.Reference }

// WithBaseline returns the model with another profile and reference, not signed. Either may be nil.
func (m *Model) WithBaseline(profile *Profile, reference *calibrate.Reference) (*Model, error) {
	p := m.parts
	p.Profile, p.Reference = profile, reference
	return m.derived(p)
}

// Signature returns the signature, or nil if the model is not signed. It must not be changed.
func (m *Model) Signature() *Signature { return m.signature }

// Verify returns an error unless the model was signed with the private key of key.
func (m *Model) Verify(key ed25519.PublicKey) error { return m.signature.By(key, "") }

// Point is an operating point. The decision is score > Threshold.
type Point struct {
	Name      string               `json:"name"`
	Threshold float64              `json:"threshold"`           // finite
	Goal      metric.Goal          `json:"goal"`                // what it is for; the zero Goal: the threshold of a training problem
	Source    string               `json:"source"`              // how the threshold was computed and on which rows, in words
	Guarantee *calibrate.Guarantee `json:"guarantee,omitempty"` // nil: no guarantee
	// UpTo is the upper end of the 95 % interval of the rate that a budget counts on new rows, for thresholds without a guarantee; 0: not
	// known. With segments it is the largest of their ends.
	UpTo float64 `json:"up_to,omitempty"`
	// The best scores of the negatives of these rows, for statements about lists; nil: not known, or not of rows that were used
	// for nothing else.
	Negatives *calibrate.Negatives `json:"negatives,omitempty"`

	Segment  string    `json:"segment,omitempty"`  // the column whose values have separate thresholds
	Segments []Segment `json:"segments,omitempty"` // in ascending order of Value; other values use Threshold
	// SegmentsDelta is the probability with which the guarantee of any segment may fail. Unset: each has its own.
	SegmentsDelta threshold.Rate `json:"segments_delta,omitzero"`
	// The budget counts entities, each with the largest score of its rows: the values of this column.
	Entity string `json:"entity,omitempty"`
	Day    string `json:"day,omitempty"` // column of times: an entity counts once on each of its days
}

// Segment is the threshold of one value of a point's segment column.
type Segment struct {
	Value     string               `json:"value"`
	Threshold float64              `json:"threshold"`
	Guarantee *calibrate.Guarantee `json:"guarantee,omitempty"`
}

// ThresholdOf returns the threshold of a row. segment is the row's value in the point's segment column, if it
// has one.
func (p *Point) ThresholdOf(segment string) float64 {
	segment = strings.Trim(segment, blanks)
	i, found := slices.BinarySearchFunc(p.Segments, segment, func(s Segment, value string) int { return cmp.Compare(s.Value, value) })
	if found {
		return p.Segments[i].Threshold
	}
	return p.Threshold
}

// Decide reports whether a score is above the point's threshold. segment is the row's value in the point's
// segment column, if it has one.
func (p *Point) Decide(score float64, segment string) bool { return score > p.ThresholdOf(segment) }

// Member is one fitted model in the average. Its method is one of package method or a learner: "logistic",
// "svm", "ramp".
type Member struct {
	method.Problem
	Anchor   float64         `json:"anchor,omitempty"`      // ramp: the lambda of the logistic regression that it starts from
	Blocks   []int           `json:"blocks"`                // positions of the feature blocks that it uses
	Folds    int             `json:"folds,omitempty"`       // the member is the mean of the fits of this many folds; 0: one fit to all rows
	Share    float64         `json:"share"`                 // its weight in the average; the weights sum to 1
	Settings method.Settings `json:"solver"`                // how it was solved
	Evidence *Evidence       `json:"certificate,omitempty"` // nil: no objective was evaluated
}

// Text returns the method with its hyperparameters, its solver and, if there are several members, its fraction of the average.
func (m *Member) Text() string {
	line := string(m.Method)
	if m.Surrogate != "" {
		line += " (" + string(m.Surrogate) + ")"
	}
	line += ", " + m.Hyperparameters()
	if m.Anchor != 0 {
		line += fmt.Sprintf(", anchored at logistic regression with lambda %v", m.Anchor)
	}
	line += "; solver " + string(m.Settings.Solver)
	if m.Share < 1 {
		line += "; " + text.Percent(m.Share) + " of the average"
	}
	return line
}

// MembersText returns the texts of members in one line.
func MembersText(members []Member) string {
	list := make([]string, len(members))
	for i := range members {
		list[i] = members[i].Text()
	}
	return strings.Join(list, "; ")
}

// Evidence holds the objective of a member on its training rows, with bounds.
type Evidence struct {
	result.Bounds
	Threshold     float64 `json:"threshold"`       // t(w) on the training rows
	ZeroIsOptimal *bool   `json:"zero_is_optimal"` // w = 0 is a global minimum; nil: not decided
}

// Training describes the training data.
type Training struct {
	Rows         int     `json:"rows"`
	Positives    int     `json:"positives"`
	Mass         float64 `json:"mass,omitempty"`          // sum of the row weights, if there are any
	PositiveMass float64 `json:"positive_mass,omitempty"` // of the positives
	Digest       string  `json:"digest"`                  // "sha256:" and the digest of the uncompressed file or of Source; "" when unknown
	Source       string  `json:"source,omitempty"`        // rows of a database: the table, its condition and a checksum
	Seed         uint64  `json:"seed"`
}

// Change is a change of the operating points after the model was made.
type Change struct {
	Action       ChangeAction `json:"action"`
	Name         string       `json:"name"`                    // of the point
	Threshold    *float64     `json:"threshold,omitempty"`     // the new one: add, replace
	Former       *float64     `json:"former,omitempty"`        // the former threshold: replace, remove
	FormerSource string       `json:"former_source,omitempty"` // how the former threshold was computed
	Note         string       `json:"note,omitempty"`          // a user's words, such as a date
}

// ChangeAction is what a change did to a point.
type ChangeAction string

const (
	PointAdded    ChangeAction = "add"
	PointReplaced ChangeAction = "replace"
	PointRemoved  ChangeAction = "remove"
	PointFirst    ChangeAction = "default" // it became the default
)

// Averages describes the average training row, against which explanations compare a row.
type Averages struct {
	Rows  int       `json:"rows"`  // training rows that were averaged: a sample of many rows
	Score float64   `json:"score"` // their mean score
	Adds  []float64 `json:"adds"`  // by input of the features: the mean of what it adds to the score
}

// Means returns the mean score and what each input adds to it, nil if they are not known.
func (a *Averages) Means() (score *float64, adds []float64) {
	if a == nil {
		return nil, nil
	}
	return &a.Score, a.Adds
}

// probe is a synthetic record with its score. The fields are in the order of Schema.Columns; LIBSVM:
// "index:value" each.
type probe struct {
	Fields []string `json:"fields"`
	Score  float64  `json:"score"`
}
