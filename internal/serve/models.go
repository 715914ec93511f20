package serve

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toptau/diag"
	"toptau/internal/text"
	"toptau/schema"
)

// served is a model under a name. Its bundle is replaced by reloads.
type served struct {
	name   string
	path   string
	now    atomic.Pointer[bundle]
	counts *modelCounts
	shadow *served // nil: none

	failure atomic.Pointer[string] // of the last reload; nil: it worked

	mu      sync.Mutex // held during a reload
	stamp   stamp      // of the file that was loaded last, or tried
	changed stamp      // what the last look at the file found, if it differs
}

func (m *served) current() *bundle { return m.now.Load() }

// reloadResult is how a reload ended.
type reloadResult uint8

const (
	reloaded  reloadResult = iota
	unchanged              // the file has the digest that is served
	failed                 // the file is no model that can replace the present one
	reloadResults
)

var reloadNames = [reloadResults]string{"ok", "unchanged", "failed"}

// stamp is what shows that a file has changed.
type stamp struct {
	size  int64
	time  time.Time
	inode uint64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Size(), info.ModTime(), inodeOf(info)}, nil
}

// newServed loads a model.
func (s *Server) newServed(f ModelFile) (*served, error) {
	m := &served{name: f.Name, path: f.Path, counts: &modelCounts{}}
	m.stamp, _ = stampOf(f.Path)
	b, err := s.load(m)
	if err != nil {
		return nil, err
	}
	m.now.Store(b)
	return m, nil
}

// load reads the file of a model.
func (s *Server) load(m *served) (*bundle, error) {
	read, err := s.options.Load(m.path)
	if err != nil {
		return nil, err
	}
	b, err := newBundle(m.name, read, s.options.ID)
	if err != nil {
		return nil, diag.At(err, diag.Error{File: m.path})
	}
	b.counters = m.counts.newCounters(b)
	return b, nil
}

// reload reads the file of a model again. The present model stays if the new one is refused.
func (s *Server) reload(m *served) (reloadResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.reloadLocked(m)
}

func (s *Server) reloadLocked(m *served) (reloadResult, error) {
	m.stamp, _ = stampOf(m.path)
	old := m.current()
	b, err := s.load(m)
	if err == nil && b.digest == old.digest {
		m.failure.Store(nil)
		m.counts.reloads[unchanged].Add(1)
		return unchanged, nil
	}
	if err == nil && !s.options.AllowSchemaChange {
		err = checkReplaces(old, b, m.path)
	}
	if err != nil {
		text := err.Error()
		m.failure.Store(&text)
		m.counts.reloads[failed].Add(1)
		s.log.Error("the model was not replaced", "model", m.name, "digest", old.digest, "error", text)
		return failed, err
	}
	m.failure.Store(nil)
	m.now.Store(b)
	m.counts.reloads[reloaded].Add(1)
	s.log.Info("the model was replaced", "model", m.name, "digest", b.digest, "former", old.digest)
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
func (s *Server) all() []*served {
	list := slices.Clone(s.models)
	for _, m := range s.models {
		if m.shadow != nil {
			list = append(list, m.shadow)
		}
	}
	return list
}

// Reload reads all model files and the token again. It returns the first error; models that cannot be
// replaced stay.
func (s *Server) Reload() error {
	first := s.auth.read()
	if first != nil {
		s.log.Error("the token was not read", "error", first.Error())
	}
	for _, m := range s.all() {
		if _, err := s.reload(m); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Look reloads the models whose files have changed: a file must look the same twice before it is read, so
// that one that is being written is left alone.
func (s *Server) Look() {
	s.auth.look()
	for _, m := range s.all() {
		m.mu.Lock()
		now, err := stampOf(m.path)
		switch {
		case err != nil || now == m.stamp:
			m.changed = stamp{}
		case now != m.changed:
			m.changed = now
		default:
			m.changed = stamp{}
			s.reloadLocked(m)
		}
		m.mu.Unlock()
	}
}
