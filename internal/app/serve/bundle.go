package serve

import (
	"slices"
	"sync"
	"time"

	"toptau/diag"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/scoredrow"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/schema"
)

// bundle is a model with all that depends on it. It does not change, apart from its pools.
type bundle struct {
	name        string // under which it is served
	model       *model.Model
	digest      string // "sha256:..."
	version     string // the first 12 digits of the digest
	plan        *plan
	points      []model.Point
	quoted      [][]byte          // by point: its name as JSON
	head        []byte            // the start of an answer as JSON, up to the name of the point
	inList      *scoredrow.Format // of results
	inLines     *scoredrow.Format
	impute      schema.Impute // what becomes of missing values
	categorical bool          // some feature is a category
	loaded      time.Time

	division func() *feature.Contributions // of scores among columns; the first call computes it

	counters *modelCounters

	chunks    sync.Pool // of *chunk
	scratches sync.Pool // of *scratch
}

// newBundle prepares a model. id is Options.ID.
func newBundle(name string, m *model.Model, id string) (*bundle, error) {
	b := &bundle{name: name, model: m, points: m.Points(), loaded: time.Now(),
		impute: feature.MapOf(m.Features()).Impute}
	if len(b.points) == 0 {
		return nil, &diag.Error{Kind: diag.Model, Found: "the model " + diag.Quote(name) + " without an operating point",
			Expected: "at least one"}
	}
	b.division = sync.OnceValue(func() *feature.Contributions {
		d, _ := feature.NewContributions(feature.MapOf(m.Features()), m.Vector()) // a model has a weight for each feature
		return d
	})
	var err error
	if b.digest, err = m.Digest(); err != nil {
		return nil, err
	}
	b.version = b.digest[len("sha256:"):][:12]
	if b.plan, err = newPlan(m, id); err != nil {
		return nil, err
	}
	var names []string
	for i := range b.points {
		names = append(names, b.points[i].Name)
		b.quoted = append(b.quoted, jsontext.AppendText(nil, b.points[i].Name))
	}
	b.inList, b.inLines = scoredrow.NewFormat(false, nil, nil, names), scoredrow.NewFormat(true, nil, nil, names)
	b.head = append([]byte(`{"schema_version":2,"model":`), jsontext.AppendText(nil, name)...)
	b.head = append(append(b.head, `,"digest":"`...), b.digest...)
	b.head = append(b.head, `","at":`...)
	for _, c := range b.plan.columns {
		b.categorical = b.categorical || c.Dictionary != nil
	}
	return b, nil
}

// pointOf returns the position of an operating point; "" is the default.
func (b *bundle) pointOf(name string) (int, bool) {
	if name == "" {
		return 0, true
	}
	for i := range b.points {
		if b.points[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// alertAt reports whether a score is above an operating point's threshold.
func (b *bundle) alertAt(point int, score float64, segment []byte) bool {
	p := &b.points[point]
	if p.Segment == "" {
		return score > p.Threshold
	}
	return p.Decide(score, string(segment))
}

// referenceLimits returns the scores whose gaps are counted: those that the default point's guarantee keeps,
// and all thresholds.
func (b *bundle) referenceLimits() []float64 {
	var limits []float64
	if g := b.points[0].Guarantee; g != nil && g.Calibration != nil {
		limits = slices.Clone(g.Calibration.Scores)
	}
	for i := range b.points {
		limits = append(limits, b.points[i].Threshold)
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}
