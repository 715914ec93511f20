package serve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

// served is a model under a name. Its bundle is replaced by reloads.
type served struct {
	name     string
	path     string
	now      atomic.Pointer[bundle]
	counts   *modelCounts
	shadow   *served // nil: none
	canary   *served // nil: none
	isShadow bool
	weight   float64 // the fraction of requests for the canary

	failure atomic.Pointer[string] // of the last reload; nil: it worked

	mu      sync.Mutex // held during a reload
	stamp   stamp      // of the file that was loaded last, or tried
	changed stamp      // what the last look at the file found, if it differs
}

func (m *served) current() *bundle { return m.now.Load() }

// registry has the served models.
type registry struct {
	options *Options
	log     *slog.Logger
	list    []*served // the first is the default
	byName  map[string]*served
}

// newRegistry loads the models and the shadows.
func newRegistry(o *Options, log *slog.Logger) (*registry, error) {
	g := &registry{options: o, log: log, byName: map[string]*served{}}
	for _, f := range o.Models {
		if g.byName[f.Name] != nil {
			return nil, &diag.Error{Kind: diag.Usage, Found: "two models with the name " + diag.Quote(f.Name),
				Expected: "different names",
				Fixes:    []diag.Fix{{Param: "name", Value: "NAME=MODEL"}}}
		}
		m, err := g.newServed(f)
		if err != nil {
			return nil, err
		}
		g.list, g.byName[f.Name] = append(g.list, m), m
	}
	if len(g.list) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "no model", Expected: "at least one model file"}
	}
	for _, f := range o.Shadows {
		m := g.byName[f.Name]
		if m == nil || m.shadow != nil {
			return nil, &diag.Error{Kind: diag.Usage, Param: "shadow", Found: diag.Quote(f.Name),
				Expected: "the name of a served model, once"}
		}
		var err error
		if m.shadow, err = g.newServed(f); err != nil {
			return nil, err
		}
		m.shadow.isShadow = true
	}
	for _, f := range o.Canaries {
		if err := g.addCanary(f); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// addCanary serves a further model under the name NAME@canary, and lets it answer a part of the requests of NAME.
func (g *registry) addCanary(f ModelFile) error {
	m := g.byName[f.Name]
	if m == nil || m.canary != nil {
		return &diag.Error{Kind: diag.Usage, Param: "canary", Found: diag.Quote(f.Name),
			Expected: "the name of a served model, once"}
	}
	c, err := g.newServed(ModelFile{f.Name + "@canary", f.Path})
	if err != nil {
		return err
	}
	if !g.options.AllowSchemaChange {
		if err := checkReplaces(m.current(), c.current(), f.Path); err != nil {
			return err
		}
	}
	m.canary, m.weight = c, g.options.CanaryWeight
	g.list, g.byName[c.name] = append(g.list, c), c
	return nil
}

// forRequest returns the model that answers a request: the canary for a part of the ids, the same ones on every
// server, so that a request that is sent again gets the same model.
func (m *served) forRequest(id string) *served {
	if m.canary == nil {
		return m
	}
	sum := sha256.Sum256([]byte(id))
	if float64(binary.LittleEndian.Uint64(sum[:])>>11)/(1<<53) < m.weight {
		return m.canary
	}
	return m
}

// newServed loads a model.
func (g *registry) newServed(f ModelFile) (*served, error) {
	m := &served{name: f.Name, path: f.Path, counts: &modelCounts{}}
	m.stamp, _ = stampOf(f.Path)
	b, err := g.load(m)
	if err != nil {
		return nil, err
	}
	m.now.Store(b)
	return m, nil
}

// load reads the file of a model.
func (g *registry) load(m *served) (*bundle, error) {
	read, err := g.options.Load(m.path)
	if err != nil {
		return nil, err
	}
	b, err := newBundle(m.name, read, g.options.ID)
	if err != nil {
		return nil, diag.At(err, diag.Error{File: m.path})
	}
	b.counters = m.counts.newCounters(b.points, b.plan.inputs, b.referenceLimits())
	return b, nil
}

// reload reads the file of a model again. The present model stays if the new one is refused.
func (g *registry) reload(m *served) (reloadResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return g.reloadLocked(m)
}

func (g *registry) reloadLocked(m *served) (reloadResult, error) {
	m.stamp, _ = stampOf(m.path)
	old := m.current()
	b, err := g.load(m)
	if err == nil && b.digest == old.digest {
		m.failure.Store(nil)
		m.counts.reloads[unchanged].Add(1)
		return unchanged, nil
	}
	if err == nil && !g.options.AllowSchemaChange {
		err = checkReplaces(old, b, m.path)
	}
	if err != nil {
		text := err.Error()
		m.failure.Store(&text)
		m.counts.reloads[failed].Add(1)
		g.log.Error("the model was not replaced", "model", m.name, "digest", old.digest, "error", text)
		return failed, err
	}
	m.failure.Store(nil)
	m.now.Store(b)
	m.counts.reloads[reloaded].Add(1)
	g.log.Info("the model was replaced", "model", m.name, "digest", b.digest, "former", old.digest)
	return reloaded, nil
}

// checkReplaces returns an error if requests that the old model answers could fail with the new one.
func checkReplaces(old, b *bundle, path string) error {
	refusal := func(found, expected string) error {
		return &diag.Error{Kind: diag.Model, File: path, Found: found, Expected: expected,
			Fixes: []diag.Fix{{Param: "allow-schema-change", When: "if all clients know"}}}
	}
	var further []string
	for _, i := range b.plan.order {
		name := b.plan.fields[i].name
		if !b.plan.fields[i].required {
			continue
		}
		if j, found := old.plan.index[name]; !found || !old.plan.fields[j].required {
			further = append(further, diag.Quote(name))
		}
	}
	if len(further) > 0 {
		shown := further[:min(len(further), 5)]
		return refusal(fmt.Sprintf("a model that needs %s more: %s", text.Plural(len(further), "column"),
			text.List(shown, "and")),
			"the columns of the present model")
	}
	for i := range old.points {
		if _, found := b.pointOf(old.points[i].Name); !found {
			return refusal("a model without the operating point "+diag.Quote(old.points[i].Name),
				"all points of the present model")
		}
	}
	for j := range b.plan.columns {
		c := &b.plan.columns[j]
		at := slices.IndexFunc(old.plan.schema.Columns, func(o schema.Column) bool { return o.Name == c.Name })
		if at >= 0 && old.plan.schema.Columns[at].Kind != c.Kind {
			return refusal("a model in which column "+diag.Quote(c.Name)+" is "+string(c.Kind),
				string(old.plan.schema.Columns[at].Kind))
		}
	}
	return nil
}

// all returns the served models and their shadows.
func (g *registry) all() []*served {
	list := slices.Clone(g.list)
	for _, m := range g.list {
		if m.shadow != nil {
			list = append(list, m.shadow)
		}
	}
	return list
}

// look reloads the models whose files have changed: a file must look the same twice before it is read, so
// that one that is being written is left alone.
func (g *registry) look() {
	for _, m := range g.all() {
		m.mu.Lock()
		now, err := stampOf(m.path)
		switch {
		case err != nil || now == m.stamp:
			m.changed = stamp{}
		case now != m.changed:
			m.changed = now
		default:
			m.changed = stamp{}
			g.reloadLocked(m)
		}
		m.mu.Unlock()
	}
}
