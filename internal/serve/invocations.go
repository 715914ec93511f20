package serve

import (
	"net/http"
	"strconv"

	"toptau/diag"
)

// handleInvocations answers POST /invocations as the servers of MLflow and SageMaker do, with the default
// model.
func (s *Server) handleInvocations(c *call) {
	if !c.method(http.MethodPost) {
		return
	}
	c.model = s.models[0]
	in, err := mediaOf(c.r.Header["Content-Type"])
	o, decisions := rowOptions{}, false
	if err == nil {
		query := c.r.URL.Query()
		for key, values := range query {
			if key != "decisions" && key != "at" {
				err = wrongRequest("the parameter "+diag.Quote(key), "decisions or at")
			} else if key == "at" {
				o.at = values[0]
			} else if decisions, err = strconv.ParseBool(values[0]); err != nil {
				err = wrongRequest("decisions "+diag.Quote(values[0]), "1 or 0")
			}
			if err != nil {
				break
			}
		}
	}
	decode := decodeInvocations
	switch {
	case err != nil:
	case in == mediaCSV:
		decode = decodeCSV
	case in == mediaLines:
		err = refused(http.StatusUnsupportedMediaType, diag.Usage, "lines of JSON",
			"application/json or text/csv, or the address /v1/score")
	}
	if err == nil && s.admission.full() {
		err = s.busy(shedQueue)
	}
	if err == nil {
		err = s.scoreAnswer(c, o, decode, mediaJSON, func(b []byte, r *rows, _ int) []byte {
			return appendPredictions(b, r, decisions)
		})
	}
	if err != nil {
		c.fail(err)
	}
}

// appendPredictions appends the scores, or the decisions as 0 and 1.
func appendPredictions(b []byte, r *rows, decisions bool) []byte {
	b = append(b, `{"predictions":[`...)
	first := true
	r.each(func(c *chunk, row int, _ *rowProblem) {
		if !first {
			b = append(b, ',')
		}
		first = false
		switch v := &c.verdicts[row]; {
		case !decisions:
			b = appendNumber(b, v.Score)
		case v.Alert:
			b = append(b, '1')
		default:
			b = append(b, '0')
		}
	})
	return append(b, "]}\n"...)
}

// decodeInvocations reads {"dataframe_split": {...}}, {"dataframe_records": [...]}, {"instances": [...]} and
// {"inputs": ...}.
func decodeInvocations(s *scratch, r *rows, body []byte) error {
	if err := s.start(body); err != nil {
		return err
	}
	if !s.Take('{') {
		return s.Wrong("an object: {")
	}
	lists := 0
	err := s.Members(func(key []byte) (err error) {
		switch k := string(key); k {
		case "dataframe_split", "dataframe_records", "instances", "inputs":
			if lists++; lists > 1 {
				return wrongRequest("the key "+diag.Quote(k)+" after other rows", "one list of rows")
			}
			err = s.frame(r, k)
		case "params", "parameters", "signature_name":
			err = s.Skip()
		default:
			err = wrongRequest("the key "+diag.Quote(k), "dataframe_split, dataframe_records, instances or inputs")
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.End(); err != nil {
		return err
	}
	if lists == 0 {
		return wrongRequest("no rows", "dataframe_split, dataframe_records, instances or inputs")
	}
	return r.finish()
}

// frame reads rows in one of the forms.
func (s *scratch) frame(r *rows, key string) error {
	switch c := s.Peek(); {
	case key == "dataframe_split" && c == '{':
		return s.split(r)
	case key == "inputs" && c == '{':
		return s.columnObject(r)
	case c != '[':
		return s.Wrong("rows")
	case key == "dataframe_records":
		return s.objects(r)
	}
	first := s.At
	s.At++
	c := s.Peek()
	if s.At = first; c == '[' {
		return s.lists(r, r.b.plan.order)
	}
	return s.objects(r)
}

// split reads {"columns": [...], "data": [[...]]}, in any order, and skips the index.
func (s *scratch) split(r *rows) error {
	columns := r.b.plan.order
	data := -1
	s.At++
	err := s.Members(func(key []byte) (err error) {
		switch string(key) {
		case "columns":
			columns, err = s.columnList()
		case "data":
			data = s.At
			err = s.Skip()
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	if data < 0 {
		return wrongRequest("dataframe_split without data", `{"columns": [...], "data": [[...]]}`)
	}
	after := s.At
	s.At = data
	err = s.lists(r, columns)
	s.At = after
	return err
}
