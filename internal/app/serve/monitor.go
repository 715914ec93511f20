package serve

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/table"
	"toptau/schema"
)

// labelled passes labels to Options.Monitor and shows its evidence.
type labelled struct {
	models  *registry
	monitor Monitor
}

// handleLabels reads labels that became known later: lines of {"id": ..., "label": ...}, with "model" for
// another model than the default. A label is written as in the training file, or as 1, 0, true or false.
func (m labelled) handleLabels(c *call) {
	in, err := mediaOf(c.r.Header["Content-Type"])
	if err == nil && in == mediaCSV {
		err = refused(http.StatusUnsupportedMediaType, diag.Usage, "CSV", "application/x-ndjson")
	}
	if err == nil {
		err = c.readBody()
	}
	if err == nil {
		err = c.unzip()
	}
	var read, used, skipped int
	if err == nil {
		read, used, skipped, err = m.readLabels(c.body)
	}
	if err != nil {
		c.fail(err)
		return
	}
	c.answerDocument(http.StatusOK, struct {
		SchemaVersion int `json:"schema_version"`
		Labels        int `json:"labels"`  // that were read
		Used          int `json:"used"`    // of rows that the monitor waits for
		Unknown       int `json:"unknown"` // labels that the model does not have
	}{2, read, used, skipped})
}

// readLabels checks all lines and then passes them on, so that an error leaves nothing half done.
func (m labelled) readLabels(body []byte) (read, used, unknown int, err error) {
	var list []label
	check := map[string]*table.LabelReader{} // by model
	for number, line := range bytes.Split(body, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		l, err := m.readLabel(line, check)
		if err != nil {
			return 0, 0, 0, atRow(err, number+1)
		}
		list = append(list, l)
	}
	for _, name := range slices.Sorted(maps.Keys(check)) {
		if _, err := check[name].Check(diag.Error{Kind: diag.Data}); err != nil {
			return 0, 0, 0, err
		}
	}
	for _, l := range list {
		switch {
		case l.class == table.Unknown:
			unknown++
		case m.monitor != nil && m.monitor.Label(l.model, l.id, l.class == table.Positive):
			used++
		}
	}
	return len(list), used, unknown, nil
}

type label struct {
	model, id string
	class     table.Class
}

// readLabel reads a line. check collects the labels that are to be checked, by model.
func (m labelled) readLabel(line []byte, check map[string]*table.LabelReader) (l label, err error) {
	sc := jsontext.Scanner{Bytes: line}
	if err := checkText(line); err != nil {
		return l, err
	}
	if !sc.Take('{') {
		return l, sc.Wrong("an object: {")
	}
	var fields [3]*string // id, label, model
	err = sc.Members(func(key []byte) error {
		at := -1
		for i, name := range []string{"id", "label", "model"} {
			if string(key) == name {
				at = i
			}
		}
		if at < 0 || fields[at] != nil {
			return wrongRequest("the key "+diag.Quote(string(key)), "id, label and model, each once")
		}
		k, value, err := sc.Value()
		if err != nil {
			return err
		}
		if k == jsontext.Object || k == jsontext.List || k == jsontext.Null {
			return sc.Wrong("a text, a number, true or false")
		}
		text := string(value)
		fields[at] = &text
		return nil
	})
	if err != nil {
		return l, err
	}
	if err := sc.End(); err != nil {
		return l, err
	}
	if fields[0] == nil || fields[1] == nil {
		return l, wrongRequest("a line without id or label", `{"id": ID, "label": LABEL}`)
	}
	of := m.models.list[0]
	if fields[2] != nil {
		if of = m.models.byName[*fields[2]]; of == nil {
			return l, refused(http.StatusUnprocessableEntity, diag.Usage, "the model "+diag.Quote(*fields[2]),
				"one of /v1/models")
		}
	}
	class, err := classOf(of.name, &of.current().plan.schema, *fields[1], check)
	return label{of.name, *fields[0], class}, err
}

// classOf returns the class of a label: 1, 0, true and false mean the same for every model, unless its own
// labels are numbers.
func classOf(model string, s *schema.Schema, text string, check map[string]*table.LabelReader) (table.Class, error) {
	numbers := slices.ContainsFunc(s.Positive, func(p string) bool {
		_, isNumber := table.ParseNumber([]byte(strings.TrimPrefix(p, "!")))
		return isNumber
	})
	if class := table.ClassOf(nil, text); class != table.Unknown && !numbers {
		return class, nil
	}
	if check[model] == nil {
		r, err := table.NewLabelReader(s, nil)
		if err != nil {
			return table.Unknown, err
		}
		check[model] = r
	}
	return check[model].ClassOf(text), nil
}

// The page has its style in itself and no script.
var (
	pageType   = []string{"text/html; charset=utf-8"}
	pagePolicy = []string{"default-src 'none'; style-src 'unsafe-inline'; img-src data:"}
)

func (m labelled) handleDocument(c *call) {
	m.show(c, contentTypes[mediaJSON], func(b *bytes.Buffer) error { return m.monitor.WriteJSON(b) })
}

func (m labelled) handlePage(c *call) {
	c.w.Header()["Content-Security-Policy"] = pagePolicy
	m.show(c, pageType, func(b *bytes.Buffer) error { return m.monitor.WritePage(b) })
}

// show answers with what the monitor writes.
func (m labelled) show(c *call, contentType []string, write func(b *bytes.Buffer) error) {
	if m.monitor == nil {
		c.fail(refused(http.StatusNotFound, diag.Usage, "a server without a monitor", "one that was started with it"))
		return
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		c.fail(err)
		return
	}
	c.answer(http.StatusOK, contentType, b.Bytes())
}
