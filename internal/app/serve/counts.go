package serve

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toptau/internal/models/feature"
	"toptau/model"
)

// endpoint is a group of addresses in the metrics.
type endpoint uint8

const (
	atScore endpoint = iota
	atInfer
	atModels
	atLabels
	atMonitor
	atReload
	atHealth
	atMetrics
	atOpenAPI
	atOther
	endpoints
)

var endpointNames = [endpoints]string{"score", "infer", "models", "labels", "monitor", "reload",
	"health", "metrics",
	"openapi", "other"}

// codes are the statuses of answers.
var codes = [...]int{200, 400, 401, 403, 404, 405, 406, 408, 413, 415, 422, 429, 499, 500, 503}

// buckets are the upper limits of the histogram of times, in seconds: from 50 us to 2.5 s.
var buckets = [...]float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3,
	250e-3, 500e-3, 1, 2.5}

// maxColumns is the number of columns with counts of their own; the others share one.
const maxColumns = 50

// metrics are the counts of a server.
type metrics struct {
	times    [endpoints]histogram
	other    requestCounts // of requests without a model
	dropped  atomic.Uint64 // rows that nobody observed
	inflight atomic.Int64
}

// requestCounts are requests by endpoint and status.
type requestCounts [endpoints][len(codes)]atomic.Uint64

func (c *requestCounts) add(at endpoint, status int) {
	for i, code := range codes {
		if code == status {
			c[at][i].Add(1)
			return
		}
	}
}

// histogram counts times.
type histogram struct {
	counts [len(buckets) + 1]atomic.Uint64
	nanos  atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	i, seconds := 0, d.Seconds()
	for i < len(buckets) && seconds > buckets[i] {
		i++
	}
	h.counts[i].Add(1)
	h.nanos.Add(int64(d))
}

// modelCounts are the counts of a served model, which outlive its bundles.
type modelCounts struct {
	requests requestCounts
	rows     atomic.Uint64
	rejected atomic.Uint64
	reloads  [reloadResults]atomic.Uint64
	shadow   shadowCounts
	infer    inferCounts

	mu     sync.Mutex
	named  map[string]*atomic.Uint64 // by family and label
	scores *scoreCounts
}

// counter returns the counter of a family with a label.
func (m *modelCounts) counter(family, label string) *atomic.Uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.named == nil {
		m.named = map[string]*atomic.Uint64{}
	}
	key := family + "\x00" + label
	c := m.named[key]
	if c == nil {
		c = new(atomic.Uint64)
		m.named[key] = c
	}
	return c
}

// modelCounters are the counters of a bundle's points and columns.
type modelCounters struct {
	*modelCounts
	alerts           []*atomic.Uint64 // by point
	missing, unknown []*atomic.Uint64 // by input
	scores           *scoreCounts
}

// scoreCounts count scores in the gaps of the reference.
type scoreCounts struct {
	limits []float64 // ascending
	counts []atomic.Uint64
}

// newCounters returns the counters of a bundle.
func (m *modelCounts) newCounters(points []model.Point, inputs []feature.Input, limits []float64) *modelCounters {
	c := &modelCounters{modelCounts: m}
	for i := range points {
		c.alerts = append(c.alerts, m.counter("alerts", points[i].Name))
	}
	for i := range inputs {
		name := inputs[i].Name
		if i >= maxColumns {
			name = "other"
		}
		c.missing = append(c.missing, m.counter("missing", name))
		c.unknown = append(c.unknown, m.counter("unknown", name))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scores == nil || !slices.Equal(m.scores.limits, limits) {
		m.scores = &scoreCounts{limits, make([]atomic.Uint64, len(limits)+1)}
	}
	c.scores = m.scores
	return c
}

// shadowCounts are the counts of a shadow model.
type shadowCounts struct {
	rows    atomic.Uint64
	failed  atomic.Uint64 // rows that the model scored and the shadow did not
	raised  atomic.Uint64 // alerts of the shadow alone
	cleared atomic.Uint64 // alerts of the model alone

	mu          sync.Mutex
	differences [shadowWindow]float64 // of the last rows: the shadow's score less the model's
	next        int
	sum         float64
}

// shadowWindow is the number of rows whose differences give the quantiles.
const shadowWindow = 1024

func (s *shadowCounts) add(difference float64, was, is bool) {
	s.rows.Add(1)
	switch {
	case is && !was:
		s.raised.Add(1)
	case was && !is:
		s.cleared.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.differences[s.next%shadowWindow] = difference
	s.next++
	s.sum += difference
}

// quantiles returns quantiles of the last differences, the sum of all, and their number.
func (s *shadowCounts) quantiles(levels ...float64) (list []float64, sum float64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := slices.Clone(s.differences[:min(s.next, shadowWindow)])
	if len(kept) == 0 {
		return nil, 0, 0
	}
	slices.Sort(kept)
	for _, level := range levels {
		list = append(list, kept[int(float64(level*float64(len(kept)-1))+0.5)])
	}
	return list, s.sum, s.next
}

// inferCounts are the statistics of a model's inference requests, which outlive its reloads.
type inferCounts struct {
	rows             atomic.Int64 // with a score
	last             atomic.Int64 // when the last request was answered, in milliseconds since 1970
	succeeded, other [2]atomic.Int64
	queued, computed atomic.Int64 // nanoseconds of requests that succeeded
}

// reloadResult is how a reload ended.
type reloadResult uint8

const (
	reloaded  reloadResult = iota
	unchanged              // the file has the digest that is served
	failed                 // the file is no model that can replace the present one
	reloadResults
)

var reloadNames = [reloadResults]string{"ok", "unchanged", "failed"}
