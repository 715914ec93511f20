package serve

import (
	"net/http"
	"time"

	"toptau/model"
	"toptau/schema"
)

// documents answers with what describes the models.
type documents struct {
	env    *env
	models *registry
	auth   *auth
}

// description describes a served model.
type description struct {
	Name    string        `json:"name"`
	Digest  string        `json:"digest"`
	Version string        `json:"version"` // the first digits of the digest
	Loaded  time.Time     `json:"loaded"`
	Failure string        `json:"failed_reload,omitempty"` // why the last reload kept the model
	ID      string        `json:"id"`                      // the column that identifies rows
	Segment string        `json:"segment,omitempty"`       // the column of segments, which rows must have
	Columns []column      `json:"columns"`                 // the columns that rows must have
	Points  []model.Point `json:"points"`                  // with their guarantees; the first is the default
	Shadow  *description  `json:"shadow,omitempty"`
}

// column describes a column of requests.
type column struct {
	Name    string      `json:"name"`
	Kind    schema.Kind `json:"kind"`    // of the values in requests; parts of times and addresses: categorical
	Missing string      `json:"missing"` // error, median, zero or indicator: what becomes of a missing value
	Used    bool        `json:"used"`    // some weight depends on it
}

func (m *served) describe() *description {
	b := m.current()
	d := &description{Name: m.name, Digest: b.digest, Version: b.version,
		Loaded: b.loaded.UTC().Truncate(time.Millisecond),
		ID:     b.plan.fields[b.plan.id].name, Points: b.points, Columns: b.columns()}
	if failure := m.failure.Load(); failure != nil {
		d.Failure = *failure
	}
	if b.plan.segment >= 0 {
		d.Segment = b.plan.fields[b.plan.segment].name
	}
	if m.shadow != nil {
		d.Shadow = m.shadow.describe()
	}
	return d
}

// columns describes the columns that rows need.
func (b *bundle) columns() []column {
	p, list := b.plan, []column{}
	used := map[int]bool{}
	for _, in := range p.inputs {
		used[in.Column] = true
	}
	for _, i := range p.order {
		f := &p.fields[i]
		c := column{Name: f.name, Kind: schema.Categorical, Missing: string(b.impute)}
		if f.plain >= 0 && p.schema.Columns[f.plain].Part == schema.Whole {
			c.Kind = schema.Numeric
		}
		for _, t := range f.features {
			c.Used = c.Used || used[t.column]
		}
		list = append(list, c)
	}
	return list
}

func (d documents) handleModels(c *call) {
	var list []*description
	for _, m := range d.models.list {
		list = append(list, m.describe())
	}
	c.answerDocument(http.StatusOK, struct {
		SchemaVersion int            `json:"schema_version"`
		Models        []*description `json:"models"`
	}{2, list})
}

func (d documents) handleModel(c *call) {
	c.answerDocument(http.StatusOK, struct {
		SchemaVersion int `json:"schema_version"`
		*description
	}{2, c.model.describe()})
}
