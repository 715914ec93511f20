package serve

import (
	"net/http"

	"toptau/internal/data/jsontext"
)

// scoring answers requests for scores in the native forms.
type scoring struct{ *pipeline }

// handle answers POST /v1/score and /v1/models/NAME/score.
func (p scoring) handle(c *call) {
	c.model = c.model.forRequest(c.id)
	in, out, err := c.media()
	o := rowOptions{asCSV: out == mediaCSV}
	if err == nil {
		err = o.setQuery(c.r)
	}
	switch {
	case err != nil:
	case p.admission.full(&c.account, c.r.ContentLength): // before anything is read
		err = p.admission.refuse(shedQueue)
	case in == mediaLines:
		p.answerStream(c, o, out)
		return
	case in == mediaCSV:
		err = p.score(c, o, decodeCSV, formatOf(out))
	default:
		err = p.score(c, o, decodeJSON, formatOf(out))
	}
	if err != nil {
		c.fail(err)
	}
}

// format appends the results of a request to an answer. It returns the type of the answer, too.
type format func(b []byte, r *rows, point int) ([]byte, []string)

func formatOf(m media) format {
	add := (*rows).appendJSON
	switch m {
	case mediaLines:
		add = (*rows).appendLines
	case mediaCSV:
		add = (*rows).appendCSV
	}
	return func(b []byte, r *rows, point int) ([]byte, []string) { return add(r, b, point), contentTypes[m] }
}

// score reads a body, scores its rows and answers.
func (p *pipeline) score(c *call, o rowOptions, decode decode, format format) error {
	b := c.model.current()
	if err := c.readBody(); err != nil {
		return err
	}
	r, err := p.scoreRows(c, b, o, decode)
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
	p.decide(c, r, point)
	var contentType []string
	c.out, contentType = format(c.out, r, point)
	p.scored.write(c, r, point)
	c.rows = r.n
	r.count(0)
	c.answer(http.StatusOK, contentType, c.out)
	p.after.hand(c, r, point, 0, decode)
	return nil
}

// scoreRows decodes and scores a body, with a slot.
func (p *pipeline) scoreRows(c *call, b *bundle, o rowOptions, decode decode) (*rows, error) {
	if err := c.takeSlot(); err != nil {
		return nil, err
	}
	letRead(len(c.body))
	if err := c.unzip(); err != nil {
		return nil, err
	}
	r := b.newRows(o, p.options.MaxRows)
	r.terse, r.reserve = p.options.TerseErrors, c.reserve
	if len(c.body) >= jsontext.PauseBytes {
		r.s.Pause = c.pause
	}
	r.between = func(k *chunk, last bool) error {
		if err := c.reserve(int64(b.plan.width * k.capacity)); err != nil {
			return err
		}
		if last {
			return c.inTime()
		}
		return c.pause()
	}
	if err := decode(r.s, r, c.body); err != nil {
		r.done()
		return nil, err
	}
	return r, nil
}
