package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"toptau/internal/core/simulate"
	"toptau/internal/tests/provenance"
	"toptau/schema"
	"toptau/threshold"
)

// probeRows are the sizes of the simulated sets of a probe: with few positives, and with enough for all rules of train.
var probeRows = []int{600, 2400}

// probe returns a digest of what an entry gives on small simulated sets, or of its stored scores. Results that were kept with another
// probe may have changed.
func (h *harness) probe(ctx context.Context, e *entry) (string, error) {
	if known := h.probes[e.name]; known != "" {
		return known, nil
	}
	var p provenance.Probe
	if e.stored {
		files, err := boosterFiles.ReadDir(e.name)
		if err != nil {
			return "", err
		}
		for _, f := range files {
			content, err := boosterFiles.ReadFile(e.name + "/" + f.Name())
			if err != nil {
				return "", err
			}
			p.Add(f.Name(), sha256.Sum256(content))
		}
	} else {
		for _, rows := range probeRows {
			s, err := h.simulatedSet(ctx, rows)
			if err != nil {
				return "", err
			}
			parts, err := h.read(s, 1)
			if err != nil {
				return "", err
			}
			r, err := e.score(ctx, h, job{s, 1, *e, percent}, parts)
			if err != nil {
				return "", err
			}
			p.Add(r.note)
			for _, z := range r.scores[:20] {
				p.Add(z)
			}
		}
	}
	return h.keepProbe(e.name, &p), nil
}

// probedSet is that of the probes of cells of thresholds.
var probedSet = thresholdSet{name: "probe", simulated: simulate.Options{Kind: "detectors", Rows: 2400, Columns: 20, Positives: threshold.MustRate("10%")}}

// cellProbe is probe for a cell of thresholds.
func (h *harness) cellProbe(ctx context.Context, c *cell) (string, error) {
	if known := h.probes[c.name]; known != "" {
		return known, nil
	}
	data, err := h.load(&probedSet, 1)
	if err != nil {
		return "", err
	}
	list, failed, err := thresholdJob{&probedSet, c, 1}.measured(ctx, data)
	if err != nil {
		return "", err
	}
	var p provenance.Probe
	p.Add(failed)
	for i := range list {
		b := &list[i]
		p.Add(b.Members, b.Scheme, b.Calibration, b.Expected, b.Low, b.High, b.FalseAlarms, b.TPR, b.ExactTPR)
	}
	return h.keepProbe(c.name, &p), nil
}

// keepProbe returns the digest of a probe, and keeps it by the name of its entry or cell.
func (h *harness) keepProbe(name string, p *provenance.Probe) string {
	if h.probes == nil {
		h.probes = map[string]string{}
	}
	h.probes[name] = p.Digest()
	return p.Digest()
}

// simulatedSet writes the parts of a set of detectors, a tenth of the rows positive, and returns it.
func (h *harness) simulatedSet(ctx context.Context, rows int) (*set, error) {
	s := &set{name: fmt.Sprintf("probe-%d", rows), format: schema.Format{Label: "label", Positive: []string{"1"}}}
	for i, part := range []string{"train", "test"} {
		data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: rows, Columns: 20, Seed: uint64(i + 1), Positives: threshold.MustRate("10%")})
		if err != nil {
			return nil, err
		}
		var text strings.Builder
		if err := data.WriteCSV(ctx, &text, nil); err != nil {
			return nil, err
		}
		if err := writeLines(h.partPath(s, 1, part), strings.Split(strings.TrimSpace(text.String()), "\n")); err != nil {
			return nil, err
		}
	}
	return s, nil
}
