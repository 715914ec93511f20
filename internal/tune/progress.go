package tune

import (
	"sync"
	"time"
)

// Progress is where a Train stands.
type Progress struct {
	Stage    string // "encode", "fit", "evaluate"
	Done, Of int    // points
	Share    float64
	Elapsed  time.Duration // of the stage
	Left     time.Duration // estimate for the stage; negative while there is none
	Usable   bool          // a context that ends from now on leaves a result
}

const (
	reportEvery = 100 * time.Millisecond
	estimateAt  = 0.01 // the share of the work from which the time left is estimated
)

// meter turns the shares of the single points into one Progress. It is safe for concurrent use.
type meter struct {
	mu     sync.Mutex
	report func(Progress)
	shares []float64               // of each point
	weigh  func(point int) float64 // how much work a point is; nil: all alike
	total  float64                 // of all points
	work   float64                 // that is done
	now    Progress
	start  time.Time
	last   time.Time
}

func newMeter(report func(Progress), points int) *meter {
	return &meter{report: report, shares: make([]float64, points), total: float64(points), now: Progress{Of: points, Left: -1}}
}

// stage begins a stage.
func (m *meter) stage(name string) {
	if m.report == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.start = time.Now()
	m.last = m.start
	m.now.Stage, m.now.Elapsed, m.now.Left = name, 0, -1
	m.report(m.now)
}

// setUsable notes that what is finished makes a result.
func (m *meter) setUsable() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.report != nil && !m.now.Usable {
		m.now.Usable = true
		m.report(m.now)
	}
}

// advance notes that a point is done to the given share. Finished points are always reported, others now and then.
func (m *meter) advance(point int, share float64) {
	if m.report == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if share <= m.shares[point] {
		return
	}
	weight := 1.0
	if m.weigh != nil {
		weight = m.weigh(point)
	}
	m.work += float64(weight * (share - m.shares[point]))
	m.now.Share = min(m.work/m.total, 1)
	m.shares[point] = share
	if share >= 1 {
		m.now.Done++
	}
	now := time.Now()
	if share < 1 && now.Sub(m.last) < reportEvery {
		return
	}
	m.last = now
	m.now.Elapsed = now.Sub(m.start)
	if m.now.Share >= estimateAt {
		m.now.Left = time.Duration(float64(m.now.Elapsed) * max(0, 1-m.now.Share) / m.now.Share)
	}
	m.report(m.now)
}
