package tune

import (
	"sync"
	"time"

	"toptau/result"
)

// reportEvery limits how often unfinished tasks report: ten times a second is enough for people.
const reportEvery = 100 * time.Millisecond

// meter adds up the progress of the tasks. It is safe for concurrent use.
type meter struct {
	mu     sync.Mutex
	report func(result.Progress) // nil: none
	shares []float64             // of each task that is done
	work   []float64             // of each task, in any unit
	total  float64               // sum of work
	done   float64               // sum of shares times work
	now    result.Progress
	last   time.Time // of the last report
}

func newMeter(report func(result.Progress), work []float64) *meter {
	m := &meter{report: report, shares: make([]float64, len(work)), work: work, now: result.Progress{Of: len(work)}}
	for _, w := range work {
		m.total += w
	}
	return m
}

// startStage reports the name of a stage.
func (m *meter) startStage(name string) {
	if m.report == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = time.Now()
	m.now.Stage = name
	m.report(m.now)
}

// setUsable records that what is finished is enough for a result.
func (m *meter) setUsable() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.report != nil && !m.now.Usable {
		m.now.Usable = true
		m.report(m.now)
	}
}

// advance records the share of a task that is done. It reports every finished task, and others at most every
// reportEvery.
func (m *meter) advance(task int, share float64) {
	if m.report == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if share <= m.shares[task] {
		return
	}
	m.done += float64(m.work[task] * (share - m.shares[task]))
	m.now.Fraction = min(m.done/m.total, 1)
	m.shares[task] = share
	if share >= 1 {
		m.now.Done++
	}
	now := time.Now()
	if share < 1 && now.Sub(m.last) < reportEvery {
		return
	}
	m.last = now
	m.report(m.now)
}

// shares adds up the progress of the equal parts of a task. It is safe for concurrent use.
type shares struct {
	mu     sync.Mutex
	of     []float64
	report func(share float64)
}

func newShares(n int, report func(share float64)) *shares {
	return &shares{of: make([]float64, n), report: report}
}

// set sets the share of a part that is done, and reports the mean.
func (s *shares) set(part int, share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[part] = max(s.of[part], share)
	var sum float64
	for _, v := range s.of {
		sum += v
	}
	s.report(sum / float64(len(s.of)))
}
