package serve

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"time"

	"toptau/diag"
	"toptau/internal/data/jsontext"
)

// streamBuffer is the number of bytes that a stream reads at a time.
const streamBuffer = 64 << 10

// answerStream answers lines of JSON: a line in, a line out. Answers are sent when no complete line is left,
// so that a client may wait for an answer before it sends the next line. The error of a line is its result,
// and the stream goes on.
func (p *pipeline) answerStream(c *call, o rowOptions, out media) {
	b := c.model.current()
	r := &rows{rowOptions: o, b: b, most: int(^uint(0) >> 1), terse: p.options.TerseErrors} // a scratch is large: it has one while it computes
	defer r.done()
	point, err := r.point()
	if err != nil {
		c.fail(err)
		return
	}
	if out != mediaLines {
		c.fail(refused(http.StatusNotAcceptable, diag.Usage, "another type than that of the lines",
			"application/x-ndjson, or no Accept"))
		return
	}
	if r.rowOptions.bad == refuseRows {
		r.rowOptions.bad = emptyRows
	}
	if err := c.reserve(streamBuffer); err != nil {
		c.fail(err)
		return
	}
	st := &stream{c: c, in: c.r.Body, control: http.NewResponseController(c.w),
		buffer: append(c.body[:0], make([]byte, streamBuffer)...), counted: streamBuffer}
	st.control.EnableFullDuplex()
	if err := st.unzip(); err != nil {
		c.fail(err)
		return
	}
	header := c.w.Header()
	header["Content-Type"] = contentTypes[mediaLines]
	header["X-Toptau-Model"], header["X-Toptau-Digest"] = []string{b.name}, []string{b.digest}
	for {
		lines, err := st.next()
		if len(lines) > 0 {
			if failed := p.scoreLines(c, r, point, lines); failed != nil {
				st.end(failed)
				return
			}
			if failed := st.send(); failed != nil {
				c.status = 499
				return
			}
		}
		if errors.Is(err, io.EOF) {
			if c.status == 0 {
				c.status = http.StatusOK
			}
			return
		}
		if err != nil {
			st.end(err)
			return
		}
	}
}

// scoreLines scores complete lines and appends their results to c.out.
func (p *pipeline) scoreLines(c *call, r *rows, point int, lines []byte) error {
	for len(lines) > 0 {
		if c.slot = p.admission.wait(&c.account, short, c.r.Context().Done()); !c.slot {
			return readProblem(io.ErrUnexpectedEOF)
		}
		c.began = time.Now()
		r.takeScratch()
		if len(lines) >= jsontext.PauseBytes {
			r.s.Pause = c.yield
		}
		before := r.n
		part := firstLines(lines, chunkRows)
		lines = lines[len(part):]
		if err := decodeLines(r.s, r, part); err != nil {
			return err
		}
		p.decide(c, r, point)
		c.out = r.appendLines(c.out, point)
		p.scored.write(c, r, point)
		r.count(before)
		c.rows += r.n - before
		r.giveScratch()
		c.freeSlot()
		p.after.handLines(c, r, point, before, part)
		r.release()
		r.bad = r.bad[:0]
	}
	return nil
}

// firstLines returns the first n lines.
func firstLines(lines []byte, n int) []byte {
	end := 0
	for range n {
		i := bytes.IndexByte(lines[end:], '\n')
		if i < 0 {
			return lines
		}
		end += i + 1
	}
	return lines[:end]
}

// stream reads and writes lines.
type stream struct {
	c       *call
	in      io.Reader // of the lines
	control *http.ResponseController
	buffer  []byte
	length  int // bytes in the buffer
	used    int // bytes that were returned as lines
	counted int64
	ended   bool
}

// unzipBytes is the memory of a decompressor.
const unzipBytes = 64 << 10

// unzip lets the stream read lines that are compressed. It waits for the first of them.
func (t *stream) unzip() error {
	c := t.c
	if err := c.readEncoding(); err != nil || !c.zipped {
		return err
	}
	if err := c.reserve(unzipBytes); err != nil {
		return err
	}
	var z *gzip.Reader
	var err error
	if ended := c.waitFor(false, func() { z, err = gzip.NewReader(c.r.Body) }); ended != nil {
		return ended
	}
	if err != nil {
		return readProblem(err)
	}
	t.in = z
	return nil
}

// next returns complete lines, and the last line even if it lacks its end. They are valid until the next
// call.
func (t *stream) next() ([]byte, error) {
	c := t.c
	copy(t.buffer, t.buffer[t.used:t.length])
	t.length, t.used = t.length-t.used, 0
	if t.ended {
		return nil, io.EOF
	}
	for renewed := 0; ; {
		if t.length == len(t.buffer) {
			limit := c.env.options.MaxBody
			if int64(t.length) >= limit {
				return nil, tooLong(limit)
			}
			grown := min(2*int64(len(t.buffer)), limit+1)
			if err := c.reserve(grown - t.counted); err != nil {
				return nil, err
			}
			t.counted = grown
			t.buffer = append(t.buffer, make([]byte, grown-int64(len(t.buffer)))...)
		}
		if t.length >= renewed {
			t.control.SetReadDeadline(time.Now().Add(streamTimeout))
			renewed = t.length + streamBuffer
		}
		var n int
		var err error
		if ended := c.waitFor(false, func() { n, err = t.in.Read(t.buffer[t.length:]) }); ended != nil {
			return nil, ended
		}
		c.received += int64(n)
		searched := t.length
		t.length += n
		if errors.Is(err, io.EOF) {
			t.ended, t.used = true, t.length
			return t.buffer[:t.length], nil
		}
		if err != nil {
			return nil, readProblem(err)
		}
		if end := bytes.LastIndexByte(t.buffer[searched:t.length], '\n'); end >= 0 {
			t.used = searched + end + 1
			return t.buffer[:t.used], nil
		}
	}
}

// send sends the results so far.
func (t *stream) send() error {
	c := t.c
	t.control.SetWriteDeadline(time.Now().Add(streamTimeout))
	if c.status == 0 {
		c.status = http.StatusOK
		c.w.WriteHeader(http.StatusOK)
	}
	err := c.write(c.out)
	c.out = c.out[:0]
	if err == nil {
		if ended := c.waitFor(true, func() { err = t.control.Flush() }); ended != nil {
			err = ended
		}
	}
	return err
}

// end ends a stream with an error: as the answer if there is none yet, otherwise as the last line.
func (t *stream) end(err error) {
	c := t.c
	c.freeSlot()
	if c.status == 0 && len(c.out) == 0 {
		c.fail(err)
		return
	}
	p := problemOf(err)
	c.out = append(c.out, p.document(c.env.options.TerseErrors)...)
	t.send()
	c.status = p.status
}
