package model

import (
	"cmp"
	"encoding/json"
	"slices"

	"toptau/calibrate"
	"toptau/internal/feature"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

// Format is the version of the files that this package writes, and the newest that it reads.
const Format = 2

// Model is one linear model on encoded features. Fill the fields, then Seal it; a model from Load is sealed. It may be
// used by several goroutines as long as nobody changes it.
type Model struct {
	Schema   Schema    // how to read a record
	Features Features  // how to encode it
	Weights  []float64 // one for each feature, finite
	Offset   float64   // added to every score
	Points   []Point   // operating points; names are unique
	Members  []Member  // what the weights are the average of; may be empty
	Training Training
	Probes   []Probe // set by Seal

	Fingerprints *Fingerprints // of the rows that trained it; nil: not kept
	Signature    *Signature    // set by Sign; nil: not signed
}

// Schema describes the training file, so that records and files are read in the same way.
type Schema = schema.Schema

// Features is the encoding of a record, opaque here; its JSON is documented in docs/model.md. The zero value encodes nothing.
type Features struct{ m *feature.Map }

// MarshalJSON writes the encoding as in a model file.
func (f Features) MarshalJSON() ([]byte, error) {
	if f.m == nil {
		return []byte("null"), nil
	}
	return f.m.MarshalJSON()
}

// UnmarshalJSON reads what MarshalJSON wrote, and refuses unknown fields and kinds of blocks.
func (f *Features) UnmarshalJSON(data []byte) error {
	m := new(feature.Map)
	if err := json.Unmarshal(data, m); err != nil {
		return err
	}
	f.m = m
	return nil
}

// Len is the number of features, which is the number of weights.
func (f Features) Len() int {
	if f.m == nil {
		return 0
	}
	return f.m.Cols()
}

// Names returns one name for each feature: "src_bytes", "service=http", "load missing", "column 5=tcp", "index 17".
func (f Features) Names() []string {
	if f.m == nil {
		return nil
	}
	return f.m.Names()
}

// Point is an operating point: the decision is score > Threshold.
type Point struct {
	Name      string      `json:"name"`
	Threshold float64     `json:"threshold"`           // finite
	Goal      metric.Goal `json:"goal"`                // what the threshold is for; the zero Goal: that of a training problem
	Source    string      `json:"source"`              // how the threshold was computed and on which rows, in words
	Guarantee *Guarantee  `json:"guarantee,omitempty"` // nil: none was asked for or none can be given
	Segment   string      `json:"segment,omitempty"`   // the column whose values have thresholds of their own
	Segments  []Segment   `json:"segments,omitempty"`  // in ascending order of Value; other values use Threshold
}

// Segment is the threshold of one value of a point's segment column.
type Segment struct {
	Value     string     `json:"value"`
	Threshold float64    `json:"threshold"`
	Guarantee *Guarantee `json:"guarantee,omitempty"`
}

// Guarantee is the evidence behind a threshold: with probability at least 1 - Delta over the draw of the calibration
// rows, the rate named by Kind is at most Rate. It holds when calibration and use draw from the same distribution.
type Guarantee struct {
	Certified bool           `json:"certified"`     // the calibration rows were used for nothing else
	Kind      string         `json:"kind"`          // "max-fpr", "top", "absolute-top"
	Rate      threshold.Rate `json:"rate,omitzero"` // absent where the goal is not a rate
	Delta     threshold.Rate `json:"delta"`
	Negatives int            `json:"n_negatives"` // calibration rows
	Order     int            `json:"order"`       // the threshold is this order statistic, 1-based from the smallest score
	Bound     float64        `json:"bound"`       // the exact tail, at most Delta when the guarantee holds

	// Calibration keeps some of the calibration scores, so that rows that come later can be compared with them; nil: not kept.
	Calibration *calibrate.Sample `json:"calibration,omitempty"`
}

// Member is one fitted model in the average.
type Member struct {
	Method      string         `json:"method"`
	Surrogate   string         `json:"surrogate,omitempty"`
	Lambda      float64        `json:"lambda"`
	Tau         threshold.Rate `json:"tau,omitzero"`
	Beta        float64        `json:"beta,omitempty"`
	K           int            `json:"k,omitempty"`
	Anchor      float64        `json:"anchor,omitempty"` // ramp: the lambda of the logistic regression that it starts from
	Blocks      []int          `json:"blocks"`           // positions of the feature blocks it uses
	Folds       int            `json:"folds,omitempty"`  // the number of folds whose fits the member is the mean of; 0: one fit to all rows
	Share       float64        `json:"share"`            // its weight in the average; shares sum to 1
	Solver      Solver         `json:"solver"`
	Certificate *Certificate   `json:"certificate,omitempty"` // nil: no objective was evaluated
}

// Solver says how a member was computed. Fields that the solver does not use are zero.
type Solver struct {
	Name        string  `json:"name"`
	Iterations  int     `json:"iterations,omitempty"`
	Step        float64 `json:"step,omitempty"`
	Start       string  `json:"start,omitempty"`
	Minibatches int     `json:"minibatches,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	Gap         float64 `json:"gap,omitempty"` // the gap asked for
}

// Certificate is what is known about a member's objective F on its training rows. Unknown values are nil.
type Certificate struct {
	Objective       float64  `json:"objective"`
	ObjectiveAtZero float64  `json:"objective_at_zero"`
	LowerBound      *float64 `json:"lower_bound"`
	RelativeGap     *float64 `json:"relative_gap"`    // (F - D) / max(F, 0.01)
	GapOfDecrease   *float64 `json:"gap_of_decrease"` // (F - D) / (F(0) - D)
	Threshold       float64  `json:"threshold"`       // t(w) on the training rows
	ZeroIsOptimal   *bool    `json:"zero_is_optimal"`
}

// Training is what is worth knowing about the training data.
type Training struct {
	Rows         int     `json:"rows"`
	Positives    int     `json:"positives"`
	Mass         float64 `json:"mass,omitempty"`          // sum of the row weights, where there are any
	PositiveMass float64 `json:"positive_mass,omitempty"` // of the positives
	Digest       string  `json:"digest"`                  // "sha256:" and the digest of the uncompressed file; "" when unknown
	Seed         uint64  `json:"seed"`
}

// Probe is a synthetic record with its score, in the order of Schema.Columns; libsvm: "index:value" each.
type Probe struct {
	Fields []string `json:"fields"`
	Score  float64  `json:"score"`
}

// Decide reports whether a score is above the point's threshold; segment is the value of the point's segment column, if
// it has one.
func (p *Point) Decide(score float64, segment string) bool {
	t := p.Threshold
	i, found := slices.BinarySearchFunc(p.Segments, segment, func(s Segment, value string) int {
		return cmp.Compare(s.Value, value)
	})
	if found {
		t = p.Segments[i].Threshold
	}
	return score > t
}

// Point returns the operating point of that name, or nil; the empty name is the first point.
func (m *Model) Point(name string) *Point {
	for i := range m.Points {
		if name == "" || m.Points[i].Name == name {
			return &m.Points[i]
		}
	}
	return nil
}
