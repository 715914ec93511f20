package monitor

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"toptau/internal/core/heldout"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// rowsADay and the others describe streams of dependent rows.
const (
	rowsADay   = 100
	repeats    = 10  // of each row
	carriedOn  = 0.9 // the correlation of neighbouring rows
	weekend    = 0.5 // by which rows of weekends are higher
	streamDate = 1_767_225_600
)

// dependent draws scores of streams that do not change, one row after the other. Their mean is 0 and their variance about 1.
var dependent = map[string]func(*rand.Rand) func(row int) float64{
	"independent": func(r *rand.Rand) func(int) float64 { return func(int) float64 { return r.NormFloat64() } },
	"weekly": func(r *rand.Rand) func(int) float64 {
		return func(row int) float64 {
			z := r.NormFloat64() + 0.5*math.Sin(2*math.Pi*float64(row)/rowsADay)
			if row/rowsADay%7 >= 5 {
				return z + weekend*5/7
			}
			return z - weekend*2/7
		}
	},
	"repeated": func(r *rand.Rand) func(int) float64 {
		z := 0.0
		return func(row int) float64 {
			if row%repeats == 0 {
				z = r.NormFloat64()
			}
			return z
		}
	},
	"AR(1)": func(r *rand.Rand) func(int) float64 {
		z := r.NormFloat64()
		return func(int) float64 {
			now := z
			z = carriedOn*z + math.Sqrt(1-carriedOn*carriedOn)*r.NormFloat64()
			return now
		}
	},
}

// onDependent returns a stream that moves by a shift after some rows. With shift 0 alarms need no size. block is "", "7d" or rows.
func onDependent(kind, block string, rows, change int, shift float64) func(testing.TB, *model.Model, int) int {
	return func(t testing.TB, m *model.Model, s int) int {
		random := rand.New(rand.NewPCG(uint64(s), 17))
		reference := make([]float64, 2990)
		for i := range reference { // rows that are far from each other
			reference[i] = dependent[kind](random)(repeats * random.IntN(7*rowsADay/repeats))
		}
		o := Options{FalseAlarm: threshold.MustRate("1%"), Seed: uint64(s + 1)}
		switch block {
		case "":
			o.FalseAlarm = threshold.MustRate("3%") // a third belongs to the scores
		case "7d":
			o.BlockSpan = 7 * 24 * time.Hour
		default:
			o.BlockRows, _ = strconv.Atoi(block)
		}
		m = with(t, m, nil, heldout.NewReference(reference, uint64(s+1), "test"), metric.RateGoal(metric.GoalMaxFPR, "1%"))
		w, err := New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		w.noSize = shift == 0
		draw := dependent[kind](random)
		row := alarmRow(w, Scores, rows, func(first int) *Batch {
			b := scoreBlock(first, func(row int) float64 {
				if row >= change {
					return draw(row) + shift
				}
				return draw(row)
			})
			b.Time = func(i int) string { return fmt.Sprint(streamDate + (first+i)*86_400/rowsADay) }
			return b
		})
		return max(0, row-change)
	}
}

// assumed ends the names of streams whose rows are taken for independent.
const assumed = ", without --block"

var blocksOf = []struct{ kind, block string }{{"independent", "500"}, {"weekly", "7d"}, {"repeated", "500"}, {"AR(1)", "500"}}

// quietBlocks are streams of dependent rows, with and without blocks.
func quietBlocks(rows int) (list []scenario) {
	for _, c := range blocksOf {
		if c.kind != "independent" {
			list = append(list, scenario{c.kind + assumed, onDependent(c.kind, "", rows, 0, 0)})
		}
		list = append(list, scenario{c.kind + ", --block " + c.block, onDependent(c.kind, c.block, rows, 0, 0)})
	}
	return list
}

// lateBlocks are streams that move after 20,000 rows.
func lateBlocks() (list []scenario) {
	for _, c := range append(blocksOf, struct{ kind, block string }{"independent", "100"}) {
		list = append(list, scenario{c.kind + ", 0.2 sd higher after 20,000 rows, --block " + c.block, onDependent(c.kind, c.block, 60_000, 20_000, 0.2)})
	}
	return list
}

// TestQuietBlocks is the small part of the campaign.
func TestQuietBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: hundreds of streams")
	}
	m := setCampaign(t)
	const streams = 100
	for _, c := range quietBlocks(20_000) {
		n := countAlarms(runScenario(t, m, c, 0, streams))
		t.Logf("%s: %d", c.name, n)
		if strings.HasSuffix(c.name, assumed) == (n <= allowed(streams)) {
			t.Errorf("%s: %d of %d quiet streams alarmed", c.name, n, streams)
		}
	}
	if d := median(runScenario(t, m, lateBlocks()[0], 0, 11)); d == 0 || d > 4000 {
		t.Errorf("a shift of 0.2 sd is found after %d rows in the median, want at most 4,000", d)
	}
}

// TestBlocksOfTime has blocks that begin with the first row, a block without rows, late rows, rows without times, and a wrong clock.
func TestBlocksOfTime(t *testing.T) {
	w, err := New(bareScores(t), Options{BlockSpan: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		time   string
		blocks int // that have ended then
		rows   int // of the open one
	}{
		{"", 0, 1}, {"2026-11-01 06:00:00", 0, 2}, {"2026-11-02 05:59:59", 0, 3}, {"2026-11-02 06:00:00", 1, 1}, {"2026-11-02 01:00:00", 1, 2}, {"never", 1, 3},
		{"2026-11-05 07:00:00", 2, 1}, {"2026-11-06 05:00:00", 2, 2}, {"2099-01-01 00:00:00", 3, 1}, {"2026-11-06 06:30:00", 3, 1}, {"2026-11-07 06:30:00", 4, 1},
	} {
		w.Add(&Batch{Scores: []float64{1}, Alerts: []bool{false}, Time: func(int) string { return c.time }}, nil)
		if b := w.scores.blocks; b.Blocks != c.blocks || b.Rows != c.rows {
			t.Errorf("after %q: %d blocks and %d rows, want %d and %d", c.time, b.Blocks, b.Rows, c.blocks, c.rows)
		}
	}
	if b := w.scores.blocks; b.NoTime != 2 {
		t.Errorf("%d rows without a time, want 2", b.NoTime)
	}
	w, _ = New(bareScores(t), Options{BlockSpan: 24 * time.Hour})
	w.Add(&Batch{Scores: make([]float64, 250), Alerts: make([]bool, 250)}, nil)
	if b := w.scores.blocks; b.Rows != 250 || b.NoTime != 250 {
		t.Errorf("%d rows, %d without a time, want 250", b.Rows, b.NoTime)
	}
}

// bareScores returns a model with scores as its reference.
func bareScores(t testing.TB) *model.Model {
	return with(t, bare(t), nil, heldout.NewReference([]float64{0, 1, 2, 3}, 1, "test"), metric.RateGoal(metric.GoalMaxFPR, "1%"))
}

func TestBlocksNeedAReference(t *testing.T) {
	if _, err := New(bare(t), Options{BlockRows: 500}); err == nil || !strings.Contains(err.Error(), "reference") {
		t.Errorf("error %v, want one that names the reference", err)
	}
}

// TestBlockStateIsChecked damages the state of blocks in each part, and asks for other blocks.
func TestBlockStateIsChecked(t *testing.T) {
	m, o := bareScores(t), Options{BlockRows: 10}
	w, _ := New(m, o)
	w.Add(&Batch{Scores: make([]float64, 155), Alerts: make([]bool, 155)}, nil)
	whole := stateOf(t, w)
	for name, damage := range map[string]func(*blockState){
		"blocks": func(s *blockState) { s.Blocks++ },
		"rows":   func(s *blockState) { s.Rows = 10 },
		"sum":    func(s *blockState) { s.Sum = math.MaxFloat64; s.Rows = -1 },
		"first":  func(s *blockState) { s.First = s.First[1:] },
		"gaps":   func(s *blockState) { s.Gaps[0] = -1 },
		"before": func(s *blockState) { s.Before[0] = nil },
		"fewer":  func(s *blockState) { s.Before[0] = []int{1000, 0, 0, 0, 0} },
		"mean":   func(s *blockState) { s.Mean.Blocks++ },
		"long":   func(s *blockState) { s.Blocks += 1e9; s.Gaps[0] += 1e9; s.Mean.Blocks += 1e9 }, // would take long
	} {
		damaged, err := Restore(m, o, bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		state := damaged.scores.blocks.state()
		damage(state)
		damaged.scores.blocks.blockState = *state
		if _, err := Restore(m, o, bytes.NewReader(stateOf(t, damaged))); err == nil {
			t.Errorf("%s: a damaged state is taken", name)
		}
	}
	for _, other := range []Options{{}, {BlockRows: 11}, {BlockSpan: time.Hour}} {
		if _, err := Restore(m, other, bytes.NewReader(whole)); err == nil || !strings.Contains(err.Error(), "block") {
			t.Errorf("%+v: error %v, want one about blocks", other, err)
		}
	}
}
