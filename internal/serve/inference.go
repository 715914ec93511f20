package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/jsontext"
	"toptau/schema"
)

// routeInference routes the REST addresses of the Open Inference Protocol, version 2.
func (s *Server) routeInference(c *call, path string, to func(endpoint, handler) (handler, bool)) (handler, bool) {
	switch path {
	case "", "/":
		return to(atModels, s.handleServerMetadata)
	case "/health/live":
		return to(atHealth, func(c *call) { s.handleHealth(c, "live", true) })
	case "/health/ready":
		return to(atHealth, func(c *call) { s.handleHealth(c, "ready", !s.draining.Load()) })
	}
	rest, found := strings.CutPrefix(path, "/models/")
	if !found {
		return nil, false
	}
	name, rest, _ := strings.Cut(rest, "/")
	if c.model = s.byName[name]; c.model == nil {
		return to(atInfer, func(c *call) {
			c.fail(refused(http.StatusNotFound, diag.Usage, "the model "+diag.Quote(name), "one of /v1/models"))
		})
	}
	if version, found := strings.CutPrefix(rest, "versions/"); found {
		version, rest, _ = strings.Cut(version, "/")
		if now := c.model.current().version; version != now {
			return to(atInfer, func(c *call) {
				c.fail(refused(http.StatusNotFound, diag.Usage, "the version "+diag.Quote(version),
					"the version "+diag.Quote(now)))
			})
		}
	}
	switch rest {
	case "":
		return to(atModels, s.handleModelMetadata)
	case "ready":
		return to(atHealth, func(c *call) { s.handleHealth(c, "ready", !s.draining.Load()) })
	case "infer":
		return to(atInfer, s.handleInfer)
	}
	return nil, false
}

func (s *Server) handleHealth(c *call, what string, ok bool) {
	switch {
	case !c.method(http.MethodGet):
	case !ok:
		c.fail(s.busy(shedDraining))
	default:
		c.answer(http.StatusOK, contentTypes[mediaJSON], []byte(`{"`+what+`":true}`+"\n"))
	}
}

func (s *Server) handleServerMetadata(c *call) {
	if c.method(http.MethodGet) {
		c.answerDocument(http.StatusOK, struct {
			Name       string   `json:"name"`
			Version    string   `json:"version"`
			Extensions []string `json:"extensions"` // none: binary tensors are not offered
		}{"toptau", s.options.Version, []string{}})
	}
}

// tensorInfo describes a tensor.
type tensorInfo struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

func (s *Server) handleModelMetadata(c *call) {
	if !c.method(http.MethodGet) {
		return
	}
	b := c.model.current()
	inputs := []tensorInfo{}
	for _, column := range b.columns() {
		t := tensorInfo{column.Name, "FP64", []int{-1, 1}}
		if column.Kind == schema.Categorical {
			t.Datatype = "BYTES"
		}
		inputs = append(inputs, t)
	}
	outputs := []tensorInfo{{"score", "FP64", []int{-1}}, {"decision", "BOOL", []int{-1}}}
	for i := range b.points {
		outputs = append(outputs, tensorInfo{"decision_" + b.points[i].Name, "BOOL", []int{-1}})
	}
	c.answerDocument(http.StatusOK, struct {
		Name     string       `json:"name"`
		Versions []string     `json:"versions"`
		Platform string       `json:"platform"`
		Inputs   []tensorInfo `json:"inputs"`
		Outputs  []tensorInfo `json:"outputs"`
	}{b.name, []string{b.version}, "toptau", inputs, outputs})
}

// handleInfer answers POST /v2/models/NAME/infer.
func (s *Server) handleInfer(c *call) {
	if !c.method(http.MethodPost) {
		return
	}
	in, err := mediaOf(c.r.Header["Content-Type"])
	if err == nil && in != mediaJSON {
		err = refused(http.StatusUnsupportedMediaType, diag.Usage, "another type", "application/json")
	}
	if c.r.Header["Inference-Header-Content-Length"] != nil {
		err = refused(http.StatusUnsupportedMediaType, diag.Usage, "binary tensors", "tensors as JSON")
	}
	if err == nil && s.admission.full() {
		err = s.busy(shedQueue)
	}
	if err == nil {
		q := &inference{}
		err = s.scoreAnswer(c, rowOptions{}, q.decode, mediaJSON, q.appendAnswer)
	}
	if err != nil {
		c.fail(err)
	}
}

// inference is a request of the protocol.
type inference struct {
	id      string
	outputs []string // wanted; none: all
}

// tensorTypes are the types of tensors that columns may have.
var tensorTypes = []string{"FP64", "FP32", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16",
	"UINT8", "BOOL", "BYTES"}

// decode reads one tensor for each column, of shape [N] or [N, 1], or one of shape [N, C] with all columns in
// order.
func (q *inference) decode(s *scratch, r *rows, body []byte) error {
	if err := s.start(body); err != nil {
		return err
	}
	if !s.Take('{') {
		return s.Wrong("an object: {")
	}
	var tensors []tensor
	n, found := 0, false
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
			tensors, n, err = s.tensors(r)
		case "outputs":
			err = q.readOutputs(s)
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
	if err := s.tensorRows(r, tensors, n); err != nil {
		return err
	}
	return r.finish()
}

// tensors reads the list of inputs.
func (s *scratch) tensors(r *rows) (list []tensor, n int, err error) {
	if !s.Take('[') {
		return nil, 0, s.Wrong("a list of tensors: [")
	}
	if s.Take(']') {
		return nil, 0, nil
	}
	for {
		t, rows, err := s.readTensor(r)
		if err != nil {
			return nil, 0, err
		}
		if len(list) > 0 && rows != n {
			return nil, 0, wrongRequest(fmt.Sprintf("a tensor of %d rows", rows),
				fmt.Sprintf("%d, as in the tensors before it", n))
		}
		n, list = rows, append(list, t)
		if more, err := s.More(']'); err != nil || !more {
			return list, n, err
		}
	}
}

// readTensor reads a tensor's description. Its data are read later.
func (s *scratch) readTensor(r *rows) (t tensor, n int, err error) {
	if !s.Take('{') {
		return t, 0, s.Wrong("a tensor: {")
	}
	name, datatype, data, values := "", "", -1, 0
	var shape []int
	err = s.Members(func(key []byte) (err error) {
		switch string(key) {
		case "name":
			name, err = s.textValue()
		case "datatype":
			datatype, err = s.textValue()
		case "shape":
			shape, err = s.shape()
		case "data":
			s.Peek()
			data = s.At
			values, err = s.countValues(1)
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return t, 0, err
	}
	p := r.b.plan
	f, column := p.index[name]
	switch {
	case data < 0:
		return t, 0, wrongRequest("the tensor "+diag.Quote(name)+" without data", "its data as JSON")
	case !slices.Contains(tensorTypes, datatype):
		return t, 0, wrongRequest("the datatype "+diag.Quote(datatype), strings.Join(tensorTypes, ", "))
	case !column:
		f = -1
	}
	t = tensor{columns: []int{f}, at: data}
	if len(shape) == 2 && shape[1] != 1 || !column && name == "X" {
		t.columns = p.order
		for _, f := range p.order {
			if p.fields[f].plain < 0 {
				return t, 0, wrongRequest("one tensor for all columns",
					"a tensor for each column, because "+diag.Quote(p.fields[f].name)+" is no number")
			}
		}
	}
	width := len(t.columns)
	if len(shape) < 1 || len(shape) > 2 || len(shape) == 2 && shape[1] != width || len(shape) == 1 && width != 1 {
		return t, 0, wrongRequest(fmt.Sprintf("the shape %v of tensor %s", shape, diag.Quote(name)),
			fmt.Sprintf("[N, %d]", width))
	}
	if values != shape[0]*width {
		return t, 0, wrongRequest(fmt.Sprintf("%d values in tensor %s", values, diag.Quote(name)),
			fmt.Sprintf("%d, as its shape", shape[0]*width))
	}
	return t, shape[0], nil
}

func (s *scratch) textValue() (string, error) {
	if s.Peek() != '"' {
		return "", s.Wrong("a text")
	}
	t, err := s.ReadText()
	return string(t), err
}

// shape reads the lengths of a tensor. No tensor of a body is longer than 2^30.
func (s *scratch) shape() ([]int, error) {
	if !s.Take('[') {
		return nil, s.Wrong("a list of lengths: [")
	}
	var shape []int
	for {
		k, value, err := s.Value()
		if err != nil {
			return nil, err
		}
		n, bad := strconv.Atoi(string(value))
		if k != jsontext.Number || bad != nil || n < 0 || n > 1<<30 || len(shape) == 8 {
			return nil, wrongRequest("a shape with "+diag.Quote(string(value)), "one or two lengths")
		}
		shape = append(shape, n)
		if more, err := s.More(']'); err != nil || !more {
			return shape, err
		}
	}
}

// readOutputs reads the names of the wanted outputs.
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
		err := s.Members(func(key []byte) error {
			if string(key) != "name" {
				return s.Skip()
			}
			name, err := s.textValue()
			q.outputs = append(q.outputs, name)
			return err
		})
		if err != nil {
			return err
		}
		if more, err := s.More(']'); err != nil || !more {
			return err
		}
	}
}

// appendAnswer appends the outputs.
func (q *inference) appendAnswer(b []byte, r *rows, _ int) []byte {
	b = appendText(append(b, `{"model_name":`...), r.b.name)
	b = append(append(b, `,"model_version":"`...), r.b.version...)
	b = append(b, '"')
	if q.id != "" {
		b = appendText(append(b, `,"id":`...), q.id)
	}
	b = append(b, `,"outputs":[`...)
	first := true
	output := func(name, datatype string, value func(b []byte, c *chunk, row int) []byte) {
		if len(q.outputs) > 0 && !slices.Contains(q.outputs, name) {
			return
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendText(append(b, `{"name":`...), name)
		b = append(append(b, `,"datatype":"`...), datatype...)
		b = strconv.AppendInt(append(b, `","shape":[`...), int64(r.n), 10)
		b = append(b, `],"data":[`...)
		comma := false
		r.each(func(c *chunk, row int, _ *rowProblem) {
			if comma {
				b = append(b, ',')
			}
			comma = true
			b = value(b, c, row)
		})
		b = append(b, "]}"...)
	}
	output("score", "FP64", func(b []byte, c *chunk, row int) []byte {
		return appendNumber(b, c.verdicts[row].Score)
	})
	output("decision", "BOOL", func(b []byte, c *chunk, row int) []byte {
		return strconv.AppendBool(b, c.verdicts[row].Alert)
	})
	for k := range r.b.points {
		output("decision_"+r.b.points[k].Name, "BOOL", func(b []byte, c *chunk, row int) []byte {
			v := &c.verdicts[row]
			return strconv.AppendBool(b, v.HeldBack == "" && r.b.alertAt(k, v.Score, c.textOf(c.segment[row])))
		})
	}
	return append(b, "]}\n"...)
}
