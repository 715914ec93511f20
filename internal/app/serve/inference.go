package serve

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"toptau/diag"
	words "toptau/internal/core/text"
	"toptau/internal/data/jsontext"
	"toptau/schema"
)

// openInference answers the REST addresses of the Open Inference Protocol, version 2, with the extensions for
// binary tensors, model configuration and statistics.
type openInference struct {
	*pipeline
	models *registry
}

func (p openInference) handleLive(c *call) {
	c.answer(http.StatusOK, contentTypes[mediaJSON], []byte(`{"live":true}`+"\n"))
}

func (p openInference) handleReady(c *call) {
	switch {
	case c.model != nil && p.choose(c) == nil:
	case p.draining.Load():
		c.fail(p.admission.refuse(shedDraining))
	default:
		c.answer(http.StatusOK, contentTypes[mediaJSON], []byte(`{"ready":true}`+"\n"))
	}
}

// choose returns the model of an address: the version that it names, or the one for the request's id. Without such a
// version it fails the call and returns nil.
func (p openInference) choose(c *call) *bundle {
	version := c.r.PathValue("version")
	if version == "" {
		return c.model.current()
	}
	for _, m := range []*served{c.model, c.model.canary} {
		if m != nil && m.current().version == version {
			c.model = m
			return m.current()
		}
	}
	c.fail(refused(http.StatusNotFound, diag.Usage, "the version "+diag.Quote(version),
		"the version "+diag.Quote(c.model.current().version)))
	return nil
}

func (p openInference) handleServer(c *call) {
	c.answerDocument(http.StatusOK, struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{"toptau", p.options.Version, []string{"binary_tensor_data", "model_configuration", "statistics"}})
}

// tensorInfo describes a tensor.
type tensorInfo struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

// inputsOf and outputsOf describe the tensors of a model.
func inputsOf(b *bundle) (list []tensorInfo) {
	for _, column := range b.columns() {
		t := tensorInfo{column.Name, "FP64", []int{-1, 1}}
		if column.Kind == schema.Categorical {
			t.Datatype = "BYTES"
		}
		list = append(list, t)
	}
	return list
}

func outputsOf(b *bundle) []tensorInfo {
	list := []tensorInfo{{"score", "FP64", []int{-1}}, {"decision", "BOOL", []int{-1}}}
	for i := range b.points {
		list = append(list, tensorInfo{"decision_" + b.points[i].Name, "BOOL", []int{-1}})
	}
	return list
}

func (p openInference) handleModel(c *call) {
	if b := p.choose(c); b != nil {
		versions := []string{b.version}
		if c.model.canary != nil {
			versions = append(versions, c.model.canary.current().version)
		}
		c.answerDocument(http.StatusOK, struct {
			Name     string       `json:"name"`
			Versions []string     `json:"versions"`
			Platform string       `json:"platform"`
			Inputs   []tensorInfo `json:"inputs"`
			Outputs  []tensorInfo `json:"outputs"`
		}{b.name, versions, "toptau", inputsOf(b), outputsOf(b)})
	}
}

// handleConfig answers with the model's configuration. Batches are rows of tensors, so there is no batch dimension.
func (p openInference) handleConfig(c *call) {
	b := p.choose(c)
	if b == nil {
		return
	}
	type tensor struct {
		Name string `json:"name"`
		Type string `json:"data_type"`
		Dims []int  `json:"dims"`
	}
	tensors := func(list []tensorInfo) (configs []tensor) {
		for _, t := range list {
			datatype := strings.Replace(t.Datatype, "BYTES", "STRING", 1)
			configs = append(configs, tensor{t.Name, "TYPE_" + datatype, t.Shape})
		}
		return configs
	}
	c.answerDocument(http.StatusOK, map[string]any{"name": b.name, "platform": "toptau", "backend": "toptau",
		"version_policy": map[string]any{"latest": map[string]int{"num_versions": 1}}, "max_batch_size": 0,
		"input": tensors(inputsOf(b)), "output": tensors(outputsOf(b))})
}

// handleStatistics answers with the statistics of a model, or of all.
func (p openInference) handleStatistics(c *call) {
	list := p.models.list
	if c.model != nil {
		if p.choose(c) == nil {
			return
		}
		list = []*served{c.model}
	}
	type duration struct {
		Count int64 `json:"count"`
		Nanos int64 `json:"ns"`
	}
	type statistics struct {
		Name       string              `json:"name"`
		Version    string              `json:"version"`
		Last       int64               `json:"last_inference"`
		Rows       int64               `json:"inference_count"`
		Executions int64               `json:"execution_count"`
		Times      map[string]duration `json:"inference_stats"`
		Batches    []struct{}          `json:"batch_stats"` // requests are not put together
	}
	stats := []statistics{}
	for _, m := range list {
		n := &m.counts.infer
		done := n.succeeded[0].Load()
		stats = append(stats, statistics{m.name, m.current().version, n.last.Load(), n.rows.Load(), done, map[string]duration{
			"success": {done, n.succeeded[1].Load()}, "fail": {n.other[0].Load(), n.other[1].Load()},
			"queue": {done, n.queued.Load()}, "compute_infer": {done, n.computed.Load()},
			"compute_input": {}, "compute_output": {}, "cache_hit": {}, "cache_miss": {},
		}, []struct{}{}})
	}
	c.answerDocument(http.StatusOK, map[string]any{"model_stats": stats})
}

// handleInfer answers POST /v2/models/NAME/infer.
func (p openInference) handleInfer(c *call) {
	if p.choose(c) == nil {
		return
	}
	if c.r.PathValue("version") == "" {
		c.model = c.model.forRequest(c.id)
	}
	q, err := inferenceOf(c)
	if err == nil && p.admission.full(&c.account, c.r.ContentLength) {
		err = p.admission.refuse(shedQueue)
	}
	if err == nil {
		err = p.score(c, rowOptions{}, q.decode, q.format)
	}
	n := &c.model.counts.infer
	kind, took := &n.succeeded, time.Since(c.start)
	if err != nil {
		kind = &n.other
		c.fail(err)
	} else {
		n.rows.Add(int64(c.rows))
		n.queued.Add(int64(c.queued))
		n.computed.Add(int64(took - c.queued))
	}
	kind[0].Add(1)
	kind[1].Add(int64(took))
	n.last.Store(time.Now().UnixMilli())
}

// headerLength is the length of the JSON of a message with binary tensors, which are after it.
const headerLength = "Inference-Header-Content-Length"

// inferenceOf reads the headers of a request.
func inferenceOf(c *call) (*inference, error) {
	q := &inference{c: c, json: -1}
	if text := c.r.Header[headerLength]; text != nil {
		n, err := strconv.Atoi(strings.Join(text, ","))
		if err != nil || n < 0 {
			return nil, wrongRequest(headerLength+" "+diag.Quote(strings.Join(text, ",")), "the bytes of the JSON")
		}
		q.json = n
		return q, nil
	}
	if found := c.r.Header.Get("Content-Type"); found != "" && found != "application/octet-stream" {
		if in, err := mediaOf(c.r.Header["Content-Type"]); err != nil || in != mediaJSON {
			return nil, refused(http.StatusUnsupportedMediaType, diag.Usage, "Content-Type "+diag.Quote(found), "application/json")
		}
	}
	return q, nil
}

// inference is a request of the protocol.
type inference struct {
	c       *call
	json    int // bytes of the JSON; -1: all
	id      string
	outputs []wantedOutput // none: all
	binary  bool           // outputs are binary unless they are listed
}

type wantedOutput struct {
	name   string
	binary bool
}

// decode reads one tensor for each column, of shape [N] or [N, 1], or one of shape [N, C] with all columns in
// order.
func (q *inference) decode(s *scratch, r *rows, body []byte) error {
	json, binary := body, []byte(nil)
	if q.json > len(body) {
		return wrongRequest(headerLength+" "+strconv.Itoa(q.json), "at most the bytes of the body, "+strconv.Itoa(len(body)))
	}
	if q.json >= 0 {
		json, binary = body[:q.json], body[q.json:]
	}
	if err := s.start(json); err != nil {
		return err
	}
	if !s.Take('{') {
		return s.Wrong("an object: {")
	}
	t := tensors{s: s, r: r}
	found := false
	err := s.Members(func(key []byte) (err error) {
		switch string(key) {
		case "id":
			k, value, wrong := s.Value()
			if err = wrong; err == nil && k != jsontext.Text && k != jsontext.Number && k != jsontext.Null {
				err = s.Wrong("a text")
			}
			q.id = string(value)
		case "inputs":
			found = true
			err = t.read()
		case "outputs":
			err = q.readOutputs(s)
		case "parameters":
			err = s.parameters(func(name, value string) error {
				if name == "content_type" {
					return checkContentType(value, "np", "pd", "str")
				}
				q.binary = q.binary || name == "binary_data_output" && value == "true"
				return nil
			})
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.End(); err != nil {
		return err
	}
	if !found {
		return wrongRequest("no inputs", `{"inputs": [...]}`)
	}
	if err := q.checkOutputs(r.b); err != nil {
		return err
	}
	if err := t.place(binary); err != nil {
		return err
	}
	if err := t.rows(); err != nil {
		return err
	}
	return r.finish()
}

// readOutputs reads the wanted outputs.
func (q *inference) readOutputs(s *scratch) error {
	if !s.Take('[') {
		return s.Wrong("a list of outputs: [")
	}
	if s.Take(']') {
		return nil
	}
	for {
		if !s.Take('{') {
			return s.Wrong("an output: {")
		}
		var w wantedOutput
		err := s.Members(func(key []byte) (err error) {
			switch string(key) {
			case "name":
				w.name, err = s.textValue()
			case "parameters":
				err = s.parameters(func(name, value string) error {
					if name == "classification" && value != "0" {
						return wrongRequest("the parameter classification", "outputs as numbers")
					}
					w.binary = w.binary || name == "binary_data" && value == "true"
					return nil
				})
			default:
				err = s.Skip()
			}
			return err
		})
		if err != nil {
			return err
		}
		q.outputs = append(q.outputs, w)
		if more, err := s.More(']'); err != nil || !more {
			return err
		}
	}
}

func (q *inference) checkOutputs(b *bundle) error {
	var names []string
	for _, t := range outputsOf(b) {
		names = append(names, t.Name)
	}
	for _, w := range q.outputs {
		if !slices.Contains(names, w.name) {
			return wrongRequest("the output "+diag.Quote(w.name), "one of "+strings.Join(names, ", "))
		}
	}
	return nil
}

// wanted reports whether an output is part of the answer, and whether it is binary.
func (q *inference) wanted(name string) (wanted, binary bool) {
	for _, w := range q.outputs {
		if w.name == name {
			return true, w.binary
		}
	}
	return len(q.outputs) == 0, q.binary
}

// format appends the outputs: as JSON, or after the JSON as little-endian numbers.
func (q *inference) format(b []byte, r *rows, _ int) ([]byte, []string) {
	b = jsontext.AppendText(append(b, `{"model_name":`...), r.b.name)
	b = append(append(b, `,"model_version":"`...), r.b.version...)
	b = append(b, '"')
	if q.id != "" {
		b = jsontext.AppendText(append(b, `,"id":`...), q.id)
	}
	b = append(r.appendOdd(b), `,"outputs":[`...)
	var tail []byte
	first := true
	for i, t := range outputsOf(r.b) {
		wanted, binary := q.wanted(t.Name)
		if !wanted {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = jsontext.AppendText(append(b, `{"name":`...), t.Name)
		b = append(append(b, `,"datatype":"`...), t.Datatype...)
		b = strconv.AppendInt(append(b, `","shape":[`...), int64(r.n), 10)
		if binary {
			before := len(tail)
			r.each(func(c *chunk, row int, _ *rowProblem) { tail = r.appendOutput(tail, c, row, i, true) })
			b = strconv.AppendInt(append(b, `],"parameters":{"binary_data_size":`...), int64(len(tail)-before), 10)
			b = append(b, "}}"...)
			continue
		}
		b = append(b, `],"data":[`...)
		r.each(func(c *chunk, row int, _ *rowProblem) { b = append(r.appendOutput(b, c, row, i, false), ',') })
		if r.n > 0 {
			b = b[:len(b)-1]
		}
		b = append(b, "]}"...)
	}
	b = append(b, "]}"...)
	if tail == nil {
		return append(b, '\n'), contentTypes[mediaJSON]
	}
	q.c.w.Header()[headerLength] = []string{strconv.Itoa(len(b))}
	return append(b, tail...), binaryType
}

// appendOdd appends parameters that name the columns with unknown and missing values, and the number of rows with them:
// tensors of numbers have no place for what a result in JSON says of its row.
func (r *rows) appendOdd(b []byte) []byte {
	var counts [2]map[string]int
	for _, c := range r.chunks {
		for _, o := range c.odd {
			kind := 0
			if o.unknown {
				kind = 1
			}
			if counts[kind] == nil {
				counts[kind] = map[string]int{}
			}
			counts[kind][r.b.plan.inputName(o.input)]++
		}
	}
	before := `,"parameters":{`
	for kind, name := range []string{"missing", "unknown"} {
		if counts[kind] == nil {
			continue
		}
		var columns []string
		for _, column := range slices.Sorted(maps.Keys(counts[kind])) {
			columns = append(columns, column+": "+words.Plural(counts[kind][column], "row"))
		}
		b = jsontext.AppendText(append(append(b, before...), `"`+name+`":`...), strings.Join(columns, ", "))
		before = ","
	}
	if before == "," {
		b = append(b, '}')
	}
	return b
}

var binaryType = []string{"application/octet-stream"}
