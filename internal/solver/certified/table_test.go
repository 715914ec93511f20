package certified

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"toptau/internal/matrix"
	"toptau/method"
)

// instance is one row of the table in docs/certificate.md.
type instance struct {
	label  string
	method string
	h      method.Hyperparameters
}

func instances(lambda float64) (list []instance) {
	add := func(label, name, tau string, beta float64, k int) {
		list = append(list, instance{fmt.Sprintf("%s lambda %g", label, lambda), name, hyper(lambda, tau, beta, k, false)})
	}
	add("TopPush", "toppush", "", 0, 0)
	add("TopPushK 5", "toppushk", "", 0, 5)
	for _, tau := range []string{"0.001", "0.01", "0.05"} {
		add("TopMean-NP "+tau, "topmean-np", tau, 0, 0)
	}
	for _, beta := range []float64{1e-4, .01, 1, 10} {
		add(fmt.Sprintf("Pat&Mat-NP 0.01 beta %g", beta), "patmat-np", "0.01", beta, 0)
	}
	return list
}

// TestTable solves every instance of the table for the sets named in CERTIFIED_TABLE (space-separated name[:raw], or
// "all") and prints what it took. CERTIFIED_ONLY keeps the instances whose label contains it.
func TestTable(t *testing.T) {
	wanted := os.Getenv("CERTIFIED_TABLE")
	if wanted == "" {
		t.Skip("CERTIFIED_TABLE is not set")
	}
	if wanted == "all" {
		wanted = "ionosphere spambase mammography magic04 a9a w8a covtype_2vs4 nsl_kdd kddcup99"
	}
	lambdas := []float64{.1, 1e-3, 1e-5}
	if os.Getenv("CERTIFIED_ZERO") != "" {
		lambdas = append(lambdas, 0)
	}
	for _, name := range strings.Fields(wanted) {
		name, raw := strings.CutSuffix(name, ":raw")
		d := readSet(t, name)
		if !raw {
			d = d.standardise()
		}
		x := d.matrix(t, matrix.Float32)
		d = dataset{}
		for _, lambda := range lambdas {
			for _, in := range instances(lambda) {
				if !strings.Contains(in.label, os.Getenv("CERTIFIED_ONLY")) {
					continue
				}
				o := bind(t, problem(t, in.method, in.h), x)
				begin := time.Now()
				opt := Options{}
				if os.Getenv("CERTIFIED_TRACE") != "" {
					opt.Progress = func(p Progress) { fmt.Printf("    %.2fs %+v\n", time.Since(begin).Seconds(), p) }
				}
				ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
				r, err := Solve(ctx, o, opt)
				cancel()
				if err != nil {
					t.Errorf("%s %s: %v", name, in.label, err)
					continue
				}
				fmt.Printf("%-12s %-36s %6.2fs %s\n", name, in.label, time.Since(begin).Seconds(), describe(r))
			}
		}
	}
}

// TestMillions solves problems with CERTIFIED_ROWS rows of 28 features, of which the share CERTIFIED_SHARE is positive.
func TestMillions(t *testing.T) {
	rows, _ := strconv.Atoi(os.Getenv("CERTIFIED_ROWS"))
	if rows == 0 {
		t.Skip("CERTIFIED_ROWS is not set")
	}
	share, err := strconv.ParseFloat(os.Getenv("CERTIFIED_SHARE"), 64)
	if err != nil {
		share = .5
	}
	const d = 28
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: d}}, matrix.Float32)
	random := rand.New(rand.NewPCG(1, 2))
	uniform := func() float64 { return float64(random.Uint64()>>11) / (1 << 53) }
	row := make([]float64, d)
	for i := range rows {
		positive := uniform() < share
		for j := range row {
			v := uniform() + uniform() + uniform() - 1.5
			if j%3 == 0 {
				v *= v * v // heavy tails
			}
			if positive && j < 14 {
				v = v*.9 + .2 + .02*float64(j)
			}
			row[j] = v * 2
		}
		b.Add(positive, row, nil, nil, 1, i)
	}
	x, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	gap := 1e-4
	if v, err := strconv.ParseFloat(os.Getenv("CERTIFIED_GAP"), 64); err == nil {
		gap = v
	}
	for _, n := range []named{{"toppushk", hyper(1e-3, "", 0, 5, false)}, {"topmean-np", hyper(1e-3, "0.01", 0, 0, false)},
		{"patmat-np", hyper(1e-3, "0.01", 1, 0, false)}, {"patmat-np", hyper(1e-3, "0.01", .01, 0, false)},
		{"topmean-np", hyper(1e-5, "0.05", 0, 0, true)}} {
		if !strings.Contains(label(n), os.Getenv("CERTIFIED_ONLY")) {
			continue
		}
		o := bind(t, problem(t, n.name, n.h), x)
		begin := time.Now()
		opt := Options{Gap: gap}
		if os.Getenv("CERTIFIED_TRACE") != "" {
			opt.Progress = func(p Progress) { fmt.Printf("    %.2fs %+v\n", time.Since(begin).Seconds(), p) }
		}
		r, err := Solve(context.Background(), o, opt)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin)
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		fmt.Printf("%s: %.2fs, %.2f x the matrix allocated, %s\n", label(n), took.Seconds(),
			float64(after.Sys-before.Sys)/float64(x.Bytes()), describe(r))
	}
}
