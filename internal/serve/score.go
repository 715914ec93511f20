package serve

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toptau/diag"
)

// handleScore answers POST /v1/score and /v1/models/NAME/score.
func (s *Server) handleScore(c *call) {
	if !c.method(http.MethodPost) {
		return
	}
	in, out, err := c.media()
	o := rowOptions{}
	if err == nil {
		err = o.setQuery(c.r)
	}
	if err == nil && s.admission.full() {
		err = s.busy(shedQueue) // before the body is read
	}
	switch {
	case err != nil:
	case in == mediaLines:
		s.scoreStream(c, o, out)
		return
	case in == mediaCSV:
		err = s.scoreBody(c, o, decodeCSV, out)
	default:
		err = s.scoreBody(c, o, decodeJSON, out)
	}
	if err != nil {
		c.fail(err)
	}
}

// scoreBody reads a body, scores its rows and answers in a native form.
func (s *Server) scoreBody(c *call, o rowOptions, decode decode, out media) error {
	return s.scoreAnswer(c, o, decode, out, func(b []byte, r *rows, point int) []byte {
		switch out {
		case mediaJSON:
			return s.appendJSON(b, r, point)
		case mediaLines:
			return s.appendLines(b, r, point)
		}
		return s.appendCSV(b, r, point)
	})
}

// scoreAnswer reads a body, scores its rows and answers with what format appends.
func (s *Server) scoreAnswer(c *call, o rowOptions, decode decode, out media,
	format func(b []byte, r *rows, point int) []byte) error {
	b := c.model.current()
	if err := c.readBody(); err != nil {
		return err
	}
	r, err := s.scoreRows(c, b, o, decode)
	if err != nil {
		return err
	}
	defer r.done()
	point, err := r.point()
	if err != nil {
		return err
	}
	if err := c.reserve(int64(r.n * r.resultWidth())); err != nil { // before decisions are taken
		return err
	}
	s.decide(c, r, point)
	c.out = format(c.out, r, point)
	s.scored.write(c, r, point)
	c.rows = r.n
	b.counters.count(r)
	c.answer(http.StatusOK, contentTypes[out], c.out)
	s.after.hand(c, r, point, 0, decode)
	return nil
}

// resultWidth returns about the bytes of a result.
func (r *rows) resultWidth() int {
	const fixed, point, column = 200, 30, 100
	return fixed + point*len(r.b.points) + column*min(r.explain, len(r.b.plan.columns))
}

// scoreRows decodes and scores a body, with a slot.
func (s *Server) scoreRows(c *call, b *bundle, o rowOptions, decode decode) (*rows, error) {
	if err := c.takeSlot(); err != nil {
		return nil, err
	}
	r := b.newRows(o, s.options.MaxRows)
	r.reserve = c.reserve
	r.between = func(k *chunk, last bool) error {
		if err := c.reserve(int64(b.plan.width * k.capacity)); err != nil {
			return err
		}
		if !last {
			s.admission.yield()
		}
		if time.Since(c.start) > s.options.Timeout {
			return s.busy(shedTime)
		}
		return nil
	}
	if err := decode(r.s, r, c.body); err != nil {
		r.done()
		return nil, err
	}
	return r, nil
}

// newRows returns rows without content.
func (b *bundle) newRows(o rowOptions, most int) *rows {
	s := b.scratches.Get().(*scratch)
	s.extra = 0
	return &rows{rowOptions: o, b: b, s: s, most: most}
}

// done returns what the rows use.
func (r *rows) done() {
	r.release()
	if r.s != nil {
		r.s.Bytes = nil
		r.b.scratches.Put(r.s)
		r.s = nil
	}
}

// point returns the operating point of the request.
func (r *rows) point() (int, error) {
	i, found := r.b.pointOf(r.at)
	if found {
		return i, nil
	}
	var names []string
	for k := range r.b.points {
		names = append(names, diag.Quote(r.b.points[k].Name))
	}
	return 0, wrongRequest("the operating point "+diag.Quote(r.at), "one of "+strings.Join(names, ", "))
}

// setQuery sets options from the query of the address.
func (o *rowOptions) setQuery(r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	for key, values := range r.URL.Query() {
		if !isOption([]byte(key)) {
			return wrongRequest("the parameter "+diag.Quote(key), "at, explain, bad_rows or strict")
		}
		if err := o.set(key, values[0]); err != nil {
			return err
		}
	}
	return nil
}

// media returns the forms of the body and of the answer.
func (c *call) media() (in, out media, err error) {
	if in, err = mediaOf(c.r.Header["Content-Type"]); err != nil {
		return 0, 0, err
	}
	accept := c.r.Header["Accept"]
	if len(accept) == 0 || len(accept) == 1 && accept[0] == "*/*" {
		return in, in, nil
	}
	out, err = acceptedMedia(strings.Join(accept, ","), in)
	return in, out, err
}

// mediaNames are the types of bodies and answers.
var mediaNames = map[string]media{
	"application/json":     mediaJSON,
	"application/x-ndjson": mediaLines,
	"application/ndjson":   mediaLines,
	"application/jsonl":    mediaLines,
	"text/csv":             mediaCSV,
}

const mediaList = "application/json, application/x-ndjson or text/csv"

func mediaOf(contentType []string) (media, error) {
	if len(contentType) == 1 && contentType[0] == "application/json" {
		return mediaJSON, nil
	}
	found := strings.Join(contentType, ", ")
	name, parameters, err := mime.ParseMediaType(found)
	m, known := mediaNames[name]
	if charset := strings.ToLower(parameters["charset"]); err != nil || !known || charset != "" &&
		charset != "utf-8" && charset != "us-ascii" {
		if found == "" {
			found = "none"
		}
		return 0, refused(http.StatusUnsupportedMediaType, diag.Usage, "Content-Type "+diag.Quote(found),
			mediaList+", in UTF-8")
	}
	return m, nil
}

// acceptedMedia returns the form of the answer that a client likes best; of equal ones that of the body.
func acceptedMedia(accept string, body media) (media, error) {
	best, quality := media(0), 0.0
	for _, part := range strings.Split(accept, ",") {
		name, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if text, found := parameters["q"]; found {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		m, known := mediaNames[name]
		switch {
		case name == "*/*", name == "application/*" && body != mediaCSV, name == "text/*" && body == mediaCSV:
			m = body
		case !known:
			continue
		}
		if q > quality || q == quality && q > 0 && m == body {
			best, quality = m, q
		}
	}
	if quality == 0 {
		return 0, refused(http.StatusNotAcceptable, diag.Usage, "Accept "+diag.Quote(accept), mediaList)
	}
	return best, nil
}
