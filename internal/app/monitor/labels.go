package monitor

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"toptau/internal/core/evidence"
	"toptau/metric"
	"toptau/model"
)

const (
	budgetStarts = 12
	maxPending   = 900 // rows that wait for a label: 16 characters each in the state
	pendingBytes = 12  // 6 of the hash, 5 of the row, 1 of the marks
)

// labelWatch knows what became of alerts and audited rows.
type labelWatch struct {
	budget   metric.GoalKind // what the budget counts; "": no budget that rows can be compared with
	rate     float64
	bound    float64 // rate that the evidence must exceed
	test     *evidence.BudgetTest
	now      evidence.BudgetEvidence
	alerts   [2]int // with a label: negative, positive
	audited  [2][2]int
	marked   int // audited rows, with a label or not
	labelled int
	pending  []pendingRow // in the order of rows
	dropped  int          // rows that waited too long
}

// pendingRow is a row whose label would count.
type pendingRow struct {
	hash  uint64 // of its id, 48 bits
	row   int
	marks byte
}

const (
	markAlert   = 1
	markAudited = 2
)

// newLabelWatch returns the watch of a point's budget. A threshold without a guarantee keeps its budget on average only: the rate of unchanged rows
// is above it about half of the time. There the evidence must exceed the upper end of the interval that is printed with the threshold.
func newLabelWatch(p *model.Point) *labelWatch {
	w := &labelWatch{}
	switch p.Goal.Kind {
	case metric.GoalMaxFPR, metric.GoalTop, metric.GoalAlerts:
		if tau := p.Goal.Tau(); p.Entity == "" && !tau.IsZero() && tau.Float64() < 1 {
			w.budget, w.rate = p.Goal.Kind, tau.Float64()
			if w.bound = max(w.rate, p.UpTo); w.bound < 1 {
				w.test = evidence.NewBudgetTest(w.bound, budgetStarts)
				w.now = w.test.Evidence()
			}
		}
	}
	return w
}

// countsNegatives reports whether false alarms are watched, among the negatives.
func (w *labelWatch) countsNegatives() bool { return w.test != nil && !w.countsAlerts() }

// countsAlerts reports whether every alert counts against the budget, whatever its label.
func (w *labelWatch) countsAlerts() bool { return w.budget != "" && w.budget != metric.GoalMaxFPR }

// hashID returns the hash of an id under a key.
func hashID(key, id string) [sha256.Size]byte {
	return sha256.Sum256([]byte(key + "\x00" + id))
}

func shortHash(h [sha256.Size]byte) uint64 { return binary.BigEndian.Uint64(h[:]) >> 16 }

// audits reports whether the row of a hash is audited: the last bytes, which shortHash does not use, are below
// the rate.
func audits(h [sha256.Size]byte, rate float64) bool {
	return float64(binary.BigEndian.Uint32(h[28:]))/(1<<32) < rate
}

// wait adds a row whose label would count.
func (w *labelWatch) wait(p pendingRow) {
	if len(w.pending) == maxPending {
		w.pending = slices.Delete(w.pending, 0, 1)
		w.dropped++
	}
	w.pending = append(w.pending, p)
}

// find returns the place of the latest waiting row of a hash, -1 if there is none.
func (w *labelWatch) find(hash uint64) int {
	for i := len(w.pending) - 1; i >= 0; i-- {
		if w.pending[i].hash == hash {
			return i
		}
	}
	return -1
}

// learn counts the label of a row.
func (w *labelWatch) learn(row int, marks byte, positive bool) {
	class := 0
	if positive {
		class = 1
	}
	if marks&markAlert != 0 {
		w.alerts[class]++
		switch {
		case !w.countsNegatives():
		case positive:
			w.test.LeaveOut(row)
		default:
			w.test.AddEvent(row)
		}
	}
	if marks&markAudited != 0 {
		w.audited[class][int(marks&markAlert)]++
		w.labelled++
	}
}

// pendingList is base64 of the waiting rows in a state file.
type pendingList []pendingRow

// MarshalJSON writes base64.
func (l pendingList) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, pendingBytes*len(l))
	for _, p := range l {
		raw = append(raw, byte(p.hash>>40), byte(p.hash>>32), byte(p.hash>>24), byte(p.hash>>16), byte(p.hash>>8), byte(p.hash))
		raw = append(raw, byte(p.row>>32), byte(p.row>>24), byte(p.row>>16), byte(p.row>>8), byte(p.row), p.marks)
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *pendingList) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%pendingBytes != 0 || len(raw) > maxPending*pendingBytes {
		return errors.New("waiting rows that are not base64 of 12 bytes each")
	}
	*l = nil
	for ; len(raw) > 0; raw = raw[pendingBytes:] {
		p := pendingRow{marks: raw[11]}
		for _, b := range raw[:6] {
			p.hash = p.hash<<8 | uint64(b)
		}
		for _, b := range raw[6:11] {
			p.row = p.row<<8 | int(b)
		}
		if p.marks == 0 || p.marks > markAlert|markAudited {
			return errors.New("a waiting row without a reason")
		}
		*l = append(*l, p)
	}
	if !slices.IsSortedFunc(*l, func(a, b pendingRow) int { return cmp.Compare(a.row, b.row) }) {
		return errors.New("waiting rows out of order")
	}
	return nil
}
