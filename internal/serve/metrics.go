package serve

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// endpoint is a group of addresses in the metrics.
type endpoint uint8

const (
	atScore endpoint = iota
	atInvocations
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

var endpointNames = [endpoints]string{"score", "invocations", "infer", "models", "labels", "monitor", "reload",
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
	shed     [shedReasons]atomic.Uint64
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

// shedReason is why a request was refused under load.
type shedReason uint8

const (
	shedQueue shedReason = iota // too many requests wait
	shedWait                    // it waited too long
	shedBytes                   // too many bytes are in flight
	shedTime                    // it took longer than Options.Timeout
	shedDraining
	shedReasons
)

var shedNames = [shedReasons]string{"queue", "wait", "bytes", "timeout", "draining"}

// modelCounts are the counts of a served model, which outlive its bundles.
type modelCounts struct {
	requests requestCounts
	rows     atomic.Uint64
	rejected atomic.Uint64
	reloads  [reloadResults]atomic.Uint64
	shadow   shadowCounts

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
func (m *modelCounts) newCounters(b *bundle) *modelCounters {
	c := &modelCounters{modelCounts: m}
	for i := range b.points {
		c.alerts = append(c.alerts, m.counter("alerts", b.points[i].Name))
	}
	for i := range b.plan.inputs {
		name := b.plan.inputs[i].Name
		if i >= maxColumns {
			name = "other"
		}
		c.missing = append(c.missing, m.counter("missing", name))
		c.unknown = append(c.unknown, m.counter("unknown", name))
	}
	limits := referenceLimits(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scores == nil || !slices.Equal(m.scores.limits, limits) {
		m.scores = &scoreCounts{limits, make([]atomic.Uint64, len(limits)+1)}
	}
	c.scores = m.scores
	return c
}

// referenceLimits returns the scores whose gaps are counted: those that the default point's guarantee keeps,
// and all thresholds.
func referenceLimits(b *bundle) []float64 {
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

// count counts the rows of a request.
func (c *modelCounters) count(r *rows) {
	c.rows.Add(uint64(r.n - len(r.bad)))
	if n := len(r.bad); n > 0 {
		c.rejected.Add(uint64(n))
	}
	unknownIndices := uint64(0)
	for _, k := range r.chunks {
		for _, z := range k.score[:k.rows] {
			if z == z {
				i, _ := slices.BinarySearch(c.scores.limits, z) // le: at most the limit
				c.scores.counts[i].Add(1)
			}
		}
		for _, o := range k.odd {
			switch {
			case o.input == indexInput:
				unknownIndices++
			case o.unknown:
				c.unknown[o.input].Add(1)
			default:
				c.missing[o.input].Add(1)
			}
		}
	}
	if unknownIndices > 0 {
		c.counter("unknown", "index").Add(unknownIndices)
	}
}

// writer writes the text format of metrics, version 0.0.4.
type metricsWriter struct {
	b strings.Builder
}

func (w *metricsWriter) family(name, kind, help string) {
	fmt.Fprintf(&w.b, "# HELP toptau_%s %s\n# TYPE toptau_%s %s\n", name, help, name, kind)
}

// sample writes a sample. labels are names and values in turn.
func (w *metricsWriter) sample(name string, value string, labels ...string) {
	w.b.WriteString("toptau_" + name)
	for i := 0; i < len(labels); i += 2 {
		if i == 0 {
			w.b.WriteByte('{')
		} else {
			w.b.WriteByte(',')
		}
		w.b.WriteString(labels[i] + `="` + labelEscapes.Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		w.b.WriteByte('}')
	}
	w.b.WriteString(" " + value + "\n")
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func count(n uint64) string { return strconv.FormatUint(n, 10) }

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// writeMetrics writes all metrics, in a fixed order.
func (s *Server) writeMetrics(to io.Writer) error {
	w := &metricsWriter{}
	w.family("requests_total", "counter", "Requests by model, endpoint and status code.")
	write := func(model string, c *requestCounts) {
		for at := range endpoints {
			for i, code := range codes {
				if n := c[at][i].Load(); n > 0 {
					w.sample("requests_total", count(n), "model", model, "endpoint", endpointNames[at], "code",
						strconv.Itoa(code))
				}
			}
		}
	}
	write("", &s.metrics.other)
	for _, m := range s.models {
		write(m.name, &m.counts.requests)
	}
	w.family("request_seconds", "histogram", "Time from the headers of a request to its answer.")
	for at := range endpoints {
		h, sum := &s.metrics.times[at], uint64(0)
		for i := range h.counts {
			sum += h.counts[i].Load()
		}
		if sum == 0 {
			continue
		}
		sum = 0
		for i := range h.counts {
			le := "+Inf"
			if i < len(buckets) {
				le = decimal(buckets[i])
			}
			sum += h.counts[i].Load()
			w.sample("request_seconds_bucket", count(sum), "endpoint", endpointNames[at], "le", le)
		}
		w.sample("request_seconds_sum", decimal(time.Duration(h.nanos.Load()).Seconds()), "endpoint",
			endpointNames[at])
		w.sample("request_seconds_count", count(sum), "endpoint", endpointNames[at])
	}
	s.writeModelMetrics(w)
	w.family("queue", "gauge", "Requests that wait for a slot.")
	w.sample("queue", strconv.FormatInt(s.admission.waiting.Load(), 10))
	w.family("inflight", "gauge", "Requests that are being handled.")
	w.sample("inflight", strconv.FormatInt(s.metrics.inflight.Load(), 10))
	w.family("inflight_bytes", "gauge", "Bytes of bodies, decoded rows and answers.")
	w.sample("inflight_bytes", strconv.FormatInt(s.admission.bytes.Load(), 10))
	w.family("shed_total", "counter", "Requests that were refused under load, by reason.")
	for i := range s.metrics.shed {
		w.sample("shed_total", count(s.metrics.shed[i].Load()), "reason", shedNames[i])
	}
	w.family("unobserved_total", "counter",
		"Rows that shadow models and the monitor did not see, because they could not keep up.")
	w.sample("unobserved_total", count(s.metrics.dropped.Load()))
	_, err := io.WriteString(to, w.b.String())
	return err
}

// writeModelMetrics writes the metrics of the served models.
func (s *Server) writeModelMetrics(w *metricsWriter) {
	named := func(family, name, label, help string) {
		w.family(name, "counter", help)
		for _, m := range s.models {
			m.counts.mu.Lock()
			var labels []string
			for key := range m.counts.named {
				if f, l, _ := strings.Cut(key, "\x00"); f == family {
					labels = append(labels, l)
				}
			}
			m.counts.mu.Unlock()
			slices.Sort(labels)
			for _, l := range labels {
				n := m.counts.counter(family, l).Load()
				if n > 0 || family == "alerts" {
					w.sample(name, count(n), "model", m.name, label, l)
				}
			}
		}
	}
	w.family("rows_total", "counter", "Rows with a score.")
	for _, m := range s.models {
		w.sample("rows_total", count(m.counts.rows.Load()), "model", m.name)
	}
	w.family("rejected_rows_total", "counter", "Rows without a score in answers.")
	for _, m := range s.models {
		w.sample("rejected_rows_total", count(m.counts.rejected.Load()), "model", m.name)
	}
	named("alerts", "alerts_total", "point", "Rows whose decision was true, by the operating point of the decision.")
	if s.options.Limit != nil {
		named("held_back", "held_back_total", "reason",
			"Rows above the operating point that the alert limit held back.")
		w.family("budget_remaining", "gauge", "Alerts that are left in this hour, day or week.")
		w.sample("budget_remaining", strconv.Itoa(s.options.Limit.Remaining()))
	}
	w.family("score", "histogram",
		"Scores, in the gaps of the scores that the model's guarantee keeps and its thresholds.")
	for _, m := range s.models {
		c, sum := m.current().counters.scores, uint64(0)
		for i := range c.counts {
			le := "+Inf"
			if i < len(c.limits) {
				le = decimal(c.limits[i])
			}
			sum += c.counts[i].Load()
			w.sample("score_bucket", count(sum), "model", m.name, "le", le)
		}
		w.sample("score_count", count(sum), "model", m.name)
	}
	if s.options.Monitor != nil {
		evidence := s.options.Monitor.Evidence()
		w.family("evidence_log10", "gauge", "Evidence that something changed, as a power of ten. An unchanged stream ever reaches x with a probability of at most 10^-x.")
		for _, e := range evidence {
			w.sample("evidence_log10", decimal(e.Log10), "model", e.Model, "stream", e.Stream)
		}
		w.family("alarm", "gauge", "Whether the monitor raised an alarm.")
		for _, e := range evidence {
			alarm := "0"
			if e.Alarm {
				alarm = "1"
			}
			w.sample("alarm", alarm, "model", e.Model, "stream", e.Stream)
		}
	}
	named("missing", "missing_total", "column", "Missing values.")
	named("unknown", "unknown_total", "column", "Values that the training data did not have.")
	s.writeShadowMetrics(w)
	w.family("model_info", "gauge", "The model that is served.")
	for _, m := range s.models {
		w.sample("model_info", "1", "model", m.name, "digest", m.current().digest)
	}
	w.family("reloads_total", "counter", "Reloads of model files by result.")
	for _, m := range s.models {
		for i := range m.counts.reloads {
			w.sample("reloads_total", count(m.counts.reloads[i].Load()), "model", m.name, "result", reloadNames[i])
		}
	}
}

// writeShadowMetrics compares shadow models with the served ones.
func (s *Server) writeShadowMetrics(w *metricsWriter) {
	var shadowed []*served
	for _, m := range s.models {
		if m.shadow != nil {
			shadowed = append(shadowed, m)
		}
	}
	if len(shadowed) == 0 {
		return
	}
	w.family("shadow_rows_total", "counter", "Rows that the shadow model scored too.")
	for _, m := range shadowed {
		w.sample("shadow_rows_total", count(m.counts.shadow.rows.Load()), "model", m.name)
	}
	w.family("shadow_failed_total", "counter", "Rows that the shadow model could not score.")
	for _, m := range shadowed {
		w.sample("shadow_failed_total", count(m.counts.shadow.failed.Load()), "model", m.name)
	}
	w.family("shadow_decisions_total", "counter",
		"Rows whose decision differs: raised is an alert of the shadow alone, cleared one of the model alone.")
	for _, m := range shadowed {
		w.sample("shadow_decisions_total", count(m.counts.shadow.cleared.Load()), "model", m.name, "change",
			"cleared")
		w.sample("shadow_decisions_total", count(m.counts.shadow.raised.Load()), "model", m.name, "change", "raised")
	}
	w.family("shadow_difference", "summary",
		"Score of the shadow model less that of the model; quantiles of the last 1024 rows.")
	for _, m := range shadowed {
		levels := []float64{0.01, 0.25, 0.5, 0.75, 0.99}
		list, sum, n := m.counts.shadow.quantiles(levels...)
		for i, q := range list {
			w.sample("shadow_difference", decimal(q), "model", m.name, "quantile", decimal(levels[i]))
		}
		w.sample("shadow_difference_sum", decimal(sum), "model", m.name)
		w.sample("shadow_difference_count", count(uint64(n)), "model", m.name)
	}
	w.family("shadow_info", "gauge", "The shadow model.")
	for _, m := range shadowed {
		w.sample("shadow_info", "1", "model", m.name, "digest", m.shadow.current().digest)
	}
}
