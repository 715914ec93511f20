package paper

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	dir := os.Getenv("TOPTAU_DATA")
	which := os.Getenv("SET")
	c := catalogue{dir: dir, quick: os.Getenv("QUICK") != ""}
	for _, s := range c.sets() {
		if s.Key != which {
			continue
		}
		b := time.Now()
		p, err := s.load(division{seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(s.Key, "load", time.Since(b), p.Training.Rows(), p.Validation.Rows(), p.Test.Rows(), p.Training.Cols(), p.Training.Positives.Rows())
		if os.Getenv("PROF") != "" {
			f, _ := os.Create(os.Getenv("PROF"))
			pprof.StartCPUProfile(f)
			defer pprof.StopCPUProfile()
		}
		n, _ := strconv.Atoi(os.Getenv("ENTRIES"))
		es := entries()[:n]
		b = time.Now()
		fs, err := adam(context.Background(), p.Training, s.Minibatches, variant{Seed: 1}, es, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("adam", len(es), time.Since(b))
		b = time.Now()
		for i, f := range fs {
			cell := Cell{Points: f.points}
			if err := judge(&cell, es[i], f.w, p, false); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Println("judge", time.Since(b))
	}
}
