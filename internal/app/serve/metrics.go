package serve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// metricsWriter writes the text format of metrics.
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

// metricsText returns all metrics in a fixed order, in the text format of Prometheus, version 0.0.4.
func metricsText(e *env, models *registry, l *connections) string {
	w := &metricsWriter{}
	w.requests(e, models)
	w.models(e, models)
	w.load(e, l)
	writeProcess(&w.b)
	return w.b.String()
}

// requests writes the counts and times of requests.
func (w *metricsWriter) requests(e *env, models *registry) {
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
	write("", &e.metrics.other)
	for _, m := range models.list {
		write(m.name, &m.counts.requests)
	}
	w.family("request_seconds", "histogram", "Time from the headers of a request to its answer.")
	for at := range endpoints {
		h, sum := &e.metrics.times[at], uint64(0)
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
}

// load writes what is in flight, and what was refused.
func (w *metricsWriter) load(e *env, l *connections) {
	w.family("queue", "gauge", "Requests that wait for a slot.")
	w.sample("queue", strconv.Itoa(e.admission.waiting()))
	w.family("inflight", "gauge", "Requests that are being handled.")
	w.sample("inflight", strconv.FormatInt(e.metrics.inflight.Load(), 10))
	w.family("inflight_bytes", "gauge", "Bytes of bodies, decoded rows and answers.")
	w.sample("inflight_bytes", strconv.FormatInt(e.admission.inFlight(), 10))
	w.family("shed_total", "counter", "Requests that were refused under load, by reason.")
	for i := range e.admission.shed {
		w.sample("shed_total", count(e.admission.shed[i].Load()), "reason", shedNames[i])
	}
	w.family("unobserved_total", "counter",
		"Rows that shadow models and the monitor did not see, because they could not keep up.")
	w.sample("unobserved_total", count(e.metrics.dropped.Load()))
	if l != nil {
		open, idle, evicted, refused := l.counts()
		w.family("connections", "gauge", "Open connections, idle or with a request.")
		w.sample("connections", strconv.Itoa(open-idle), "state", "active")
		w.sample("connections", strconv.Itoa(idle), "state", "idle")
		w.family("connections_shed_total", "counter", "Connections that were refused, and idle ones that were closed for new ones.")
		w.sample("connections_shed_total", count(evicted), "how", "closed")
		w.sample("connections_shed_total", count(refused), "how", "refused")
	}
}

// models writes the metrics of the served models.
func (w *metricsWriter) models(e *env, models *registry) {
	named := func(family, name, label, help string) { w.named(models, family, name, label, help) }
	w.family("rows_total", "counter", "Rows with a score.")
	for _, m := range models.list {
		w.sample("rows_total", count(m.counts.rows.Load()), "model", m.name)
	}
	w.family("rejected_rows_total", "counter", "Rows without a score in answers.")
	for _, m := range models.list {
		w.sample("rejected_rows_total", count(m.counts.rejected.Load()), "model", m.name)
	}
	named("alerts", "alerts_total", "point", "Rows whose decision was true, by the operating point of the decision.")
	if e.options.Limit != nil {
		named("held_back", "held_back_total", "reason",
			"Rows above the operating point that the alert limit held back.")
		status := e.options.Limit.Status()
		w.family("budget_remaining", "gauge", "Alerts that are left in this hour, day or week.")
		w.sample("budget_remaining", strconv.Itoa(status.Remaining))
		w.family("clock_steps_total", "counter", "Readings of the clock that the alert limit did not follow.")
		w.sample("clock_steps_total", strconv.Itoa(status.ClockSteps))
	}
	w.scores(models)
	w.evidence(e)
	named("missing", "missing_total", "column", "Missing values.")
	named("unknown", "unknown_total", "column", "Values that the training data did not have.")
	w.shadows(models)
	w.family("model_info", "gauge", "The model that is served.")
	for _, m := range models.list {
		w.sample("model_info", "1", "model", m.name, "digest", m.current().digest)
	}
	w.family("reloads_total", "counter", "Reloads of model files by result.")
	for _, m := range models.list {
		for i := range m.counts.reloads {
			w.sample("reloads_total", count(m.counts.reloads[i].Load()), "model", m.name, "result", reloadNames[i])
		}
	}
}

// named writes a family of counters by a label: an operating point, a reason or a column.
func (w *metricsWriter) named(models *registry, family, name, label, help string) {
	w.family(name, "counter", help)
	for _, m := range models.list {
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

// scores writes the histograms of the scores.
func (w *metricsWriter) scores(models *registry) {
	w.family("score", "histogram",
		"Scores, in the gaps of the scores that the model's guarantee keeps and its thresholds.")
	for _, m := range models.list {
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
}

// evidence writes the evidence of the monitor, if there is one.
func (w *metricsWriter) evidence(e *env) {
	if e.options.Monitor == nil {
		return
	}
	evidence := e.options.Monitor.Evidence()
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

// shadows compares shadow models with the served ones.
func (w *metricsWriter) shadows(models *registry) {
	var shadowed []*served
	for _, m := range models.list {
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
