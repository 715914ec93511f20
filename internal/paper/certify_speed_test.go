package paper

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"toptau/internal/solver/certified"
	"toptau/method"
)

func TestScratchCertify(t *testing.T) {
	dir := os.Getenv("TOPTAU_DATA")
	c := catalogue{dir: dir, quick: os.Getenv("QUICK") != ""}
	for _, s := range c.sets() {
		if s.Key != os.Getenv("SET") {
			continue
		}
		p, err := s.load(division{seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		all := time.Now()
		for _, e := range entries() {
			if e.Method.FalsePositives {
				continue
			}
			b := time.Now()
			zeros := time.Duration(0)
			f, err := certify(context.Background(), p.Training, e, func(q method.Problem) (*ZeroAnswer, error) {
				if e.Method.UsesBeta {
					return &ZeroAnswer{Verdict: certified.ZeroIsNotOptimal.String()}, nil
				}
				z := time.Now()
				a, err := isZeroOptimal(context.Background(), p.Training, q)
				zeros += time.Since(z)
				return a, err
			}, func(float64) {})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%s %s %.2fs zero %.2fs", s.Key, e.Key(), time.Since(b).Seconds(), zeros.Seconds())
			for _, q := range f.points {
				fmt.Printf(" %d", q.Passes)
				if q.Zero {
					fmt.Print("z")
				}
				if !q.Converged {
					fmt.Print("!")
				}
				if q.Failed != "" {
					fmt.Print(q.Failed)
				}
			}
			fmt.Println(f.limits)
		}
		fmt.Println("all", time.Since(all))
	}
}
