package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toptau/diag"
	"toptau/internal/app/monitor"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/internal/data/jsontext"
	"toptau/model"
	"toptau/result"
)

// saveEvery is how much of the evidence a crash may cost. A state takes a few milliseconds to write.
const saveEvery = time.Minute

// Watches is a Monitor that watches each model as `toptau monitor` does. Its states are files NAME.monitor of a
// directory, locked until Close, and the audited rows lines of NAME.audited.jsonl.
type Watches struct {
	dir     string
	options monitor.Options
	failed  func(name string, err error) // is called with what went wrong; rows go on

	mu     sync.Mutex
	models map[string]*watchedModel
	locked map[string]func() // by name: releases the state
}

type watchedModel struct {
	name    string
	digest  string
	model   *model.Model
	point   model.Point
	watch   *monitor.Watch
	changed bool // since it was saved
	saved   time.Time
}

// NewWatches returns a monitor with the states of a directory, which it makes if it is not there.
func NewWatches(dir string, o monitor.Options, failed func(name string, err error)) (*Watches, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: dir, Found: "the directory cannot be made", Err: err}
	}
	return &Watches{dir: dir, options: o, failed: failed, models: map[string]*watchedModel{}, locked: map[string]func(){}}, nil
}

// Add starts to watch a model, or goes on with its state. Observe does it for models that were not added. An error is
// about the options, or a model that has nothing to compare rows with.
func (w *Watches) Add(name string, m *model.Model, digest string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.of(name, m, digest)
	return err
}

// of returns the watch of a model. The state of the model before it is kept as NAME.monitor.former, which replaces the one
// before that: a server that reloads daily must not fill the directory.
func (w *Watches) of(name string, m *model.Model, digest string) (*watchedModel, error) {
	x := w.models[name]
	if x != nil && x.digest == digest {
		return x, nil
	}
	if x != nil {
		w.save(x)
	}
	x = &watchedModel{name: name, digest: digest, model: m, saved: time.Now()}
	x.point, _ = m.Point(w.options.At)
	path := w.path(name, ".monitor")
	if w.locked[name] == nil {
		release, err := atomicfile.LockReplaced(path)
		if err != nil {
			return nil, err
		}
		w.locked[name] = release
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.watch, err = monitor.New(m, w.options)
	case err == nil:
		if x.watch, err = monitor.Restore(m, w.options, bytes.NewReader(data)); err != nil {
			aside := path + ".former"
			w.failed(name, diag.At(err, diag.Error{File: path}))
			if err = os.Rename(path, aside); err == nil {
				x.watch, err = monitor.New(m, w.options)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	w.models[name] = x
	return x, nil
}

func (w *Watches) path(name, ending string) string { return filepath.Join(w.dir, name+ending) }

// Observe implements Monitor.
func (w *Watches) Observe(r Request, rows Observed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x, err := w.of(r.Name, r.Model, r.Digest)
	if err != nil {
		w.failed(r.Name, err)
		return
	}
	when := r.Time.UTC().Format(time.RFC3339)
	b := &monitor.Batch{Scores: rows.Scores, Alerts: make([]bool, len(rows.Scores)), Table: rows.Table,
		ID: func(i int) string { return rows.IDs[i] }, Time: func(int) string { return when }}
	for i := range b.Alerts {
		if r.Point == x.point.Name {
			b.Alerts[i] = rows.Verdicts[i].Alert && rows.Verdicts[i].HeldBack == ""
			continue
		}
		segment := ""
		if s := rows.Table.Segment; s != nil {
			segment = s.Values[i]
		}
		b.Alerts[i] = x.point.Decide(rows.Scores[i], segment)
	}
	var audited bytes.Buffer
	x.watch.Add(b, func(i int) {
		line, err := json.Marshal(struct {
			Time     string  `json:"time"`
			Model    string  `json:"model"`
			Digest   string  `json:"digest"`
			ID       string  `json:"id"`
			Score    float64 `json:"score"`
			Decision bool    `json:"decision"`
		}{when, x.name, x.digest, rows.IDs[i], rows.Scores[i], b.Alerts[i]})
		if err == nil {
			audited.Write(append(jsontext.Printable(line), '\n'))
		}
	})
	if audited.Len() > 0 {
		w.failed(x.name, appendTo(w.path(x.name, ".audited.jsonl"), audited.Bytes()))
	}
	x.changed = true
	if time.Since(x.saved) > saveEvery {
		w.save(x)
	}
}

func appendTo(path string, lines []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

// save writes the state of a model if it changed.
func (w *Watches) save(x *watchedModel) {
	if !x.changed {
		return
	}
	var b bytes.Buffer
	_, err := x.watch.WriteTo(&b)
	if err == nil {
		err = atomicfile.Write(w.path(x.name, ".monitor"), b.Bytes())
	}
	x.changed, x.saved = err != nil, time.Now()
	w.failed(x.name, err)
}

// Close writes the states.
func (w *Watches) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.sorted() {
		w.save(x)
	}
	for _, release := range w.locked {
		release()
	}
	clear(w.locked)
	return nil
}

// sorted returns the models by name.
func (w *Watches) sorted() []*watchedModel {
	var list []*watchedModel
	for _, x := range w.models {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *watchedModel) int { return cmp.Compare(a.name, b.name) })
	return list
}

// Label implements Monitor.
func (w *Watches) Label(name, id string, positive bool) (used bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.models[name]
	if x == nil || !x.watch.AddLabel(id, positive) {
		return false
	}
	x.changed = true
	return true
}

// results returns the evidence on all models.
func (w *Watches) results() (names []string, list []*result.Monitoring) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.sorted() {
		names, list = append(names, x.name), append(list, x.watch.Result())
	}
	return names, list
}

// WriteJSON implements Monitor: an object with the result of each model by name.
func (w *Watches) WriteJSON(to io.Writer) error {
	names, list := w.results()
	models := map[string]*result.Monitoring{}
	for i, name := range names {
		models[name] = list[i]
	}
	text, err := json.Marshal(struct {
		result.Document
		Models map[string]*result.Monitoring `json:"models"`
	}{Models: models})
	if err == nil {
		_, err = to.Write(append(jsontext.Printable(text), '\n'))
	}
	return err
}

// WritePage implements Monitor: the page of the model, or one with the sections of several.
func (w *Watches) WritePage(to io.Writer) error {
	names, list := w.results()
	page := report.Page{Title: "No rows so far", Lead: "The monitor waits for the first row."}
	for i, r := range list {
		p := report.Monitoring(r, names[i], r.Digest)
		if len(list) == 1 {
			page = p
			break
		}
		if i == 0 {
			page = report.Page{Title: text.Plural(len(list), "model")}
		}
		page.Summary = append(page.Summary, names[i]+": "+p.Title)
		for _, s := range p.Sections {
			s.Title = names[i] + ": " + strings.ToLower(s.Title[:1]) + s.Title[1:]
			page.Sections = append(page.Sections, s)
		}
	}
	_, err := page.WriteTo(to)
	return err
}

// Evidence implements Monitor.
func (w *Watches) Evidence() []StreamEvidence {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []StreamEvidence
	for _, x := range w.sorted() {
		for _, e := range x.watch.Evidence() {
			all = append(all, StreamEvidence{x.name, e.Stream, e.Log10, e.Alarm})
		}
	}
	return all
}

var _ Monitor = (*Watches)(nil)
