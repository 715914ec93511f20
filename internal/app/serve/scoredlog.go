package serve

import (
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
	"toptau/internal/data/jsontext"
)

// scoredLog writes a line for each scored row. Each Write has whole lines, so that a killed process leaves no
// torn one.
type scoredLog struct {
	mu     sync.Mutex
	w      io.Writer // nil: none
	log    *slog.Logger
	buffer []byte
	timer  *time.Timer // writes the buffer; nil: not set
	failed error       // of the last write
}

const (
	scoredBuffer = 64 << 10
	scoredDelay  = time.Second // a line is written at most this much later
)

func newScoredLog(w io.Writer, log *slog.Logger) *scoredLog { return &scoredLog{w: w, log: log} }

// write logs the rows of a request.
func (l *scoredLog) write(c *call, r *rows, point int) {
	if l.w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buffer
	r.each(func(k *chunk, row int, bad *rowProblem) {
		if bad != nil {
			return
		}
		b = append(b, `{"time":"`...)
		b = c.start.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
		b = append(b, `","request_id":`...)
		b = jsontext.AppendText(b, c.id)
		b = append(b, `,"row":`...)
		b = strconv.AppendInt(b, int64(k.number[row]), 10)
		if id := k.id[row]; id.form == textID {
			b = jsontext.AppendText(append(b, `,"id":`...), string(k.textOf(id)))
		} else if id.form == rawID {
			b = append(append(b, `,"id":`...), k.textOf(id)...)
		}
		b = append(b, `,"model":`...)
		b = jsontext.AppendText(b, r.b.name)
		b = append(b, `,"digest":"`...)
		b = append(append(b, r.b.digest...), `","at":`...)
		b = append(b, r.b.quoted[point]...)
		v := &k.verdicts[row]
		b = jsontext.AppendNumber(append(b, `,"score":`...), v.Score)
		b = strconv.AppendBool(append(b, `,"decision":`...), v.Alert)
		if v.HeldBack != "" {
			b = jsontext.AppendText(append(b, `,"held_back":`...), v.HeldBack)
		}
		b = append(b, "}\n"...)
	})
	l.buffer = b
	if len(b) >= scoredBuffer {
		l.flush()
	} else if l.timer == nil && len(b) > 0 {
		l.timer = time.AfterFunc(scoredDelay, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flush()
		})
	}
}

// flush writes the buffer. The caller holds the mutex.
func (l *scoredLog) flush() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.buffer) > 0 {
		_, err := l.w.Write(l.buffer)
		if err != nil && l.failed == nil {
			l.log.Error("the scored log cannot be written: rows are missing in it", "error", err.Error())
		}
		l.failed = err
		l.buffer = l.buffer[:0]
	}
}

func (l *scoredLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	return l.failed
}
