package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

func TestExperiment(t *testing.T) {
	if os.Getenv("EXP") == "" {
		t.Skip()
	}
	streams, _ := strconv.Atoi(os.Getenv("EXP"))
	shares := []float64{.5, .2, .1, .05, .02, .01, .003}
	for _, n := range []int{2990, 30000} {
		for _, kind := range []string{"quiet", "0.2", "0.1", "2%"} {
			var delays []int
			alarms := 0
			for s := range streams {
				random := rand.New(rand.NewPCG(uint64(s), 77))
				ref := make([]float64, n)
				for i := range ref {
					ref[i] = random.NormFloat64()
				}
				slices.Sort(ref)
				var keys []float64
				var events []Event
				for i := range shares {
					e := int(shares[i] * float64(n))
					keys = append(keys, ref[n-1-e])
					events = append(events, Event{First: i + 1, End: len(shares) + 1, Mass: e + 1})
				}
				u := NewUrn(n, events, 20)
				gaps := make([]int, len(keys)+1)
				limit := 20000 + 20000
				alarm := -1
				for m := 1; m <= limit; m++ {
					x := random.NormFloat64()
					if m > 20000 {
						switch kind {
						case "0.2":
							x += .2
						case "0.1":
							x += .1
						case "2%":
							if random.IntN(50) == 0 {
								x = 3 + x/4
							}
						}
					}
					gaps[Gap(keys, make([]uint32, len(keys)), x, 0)]++
					if m%1000 == 0 {
						if u.EndBlock(gaps).Log > math.Log(100) {
							alarm = m
							break
						}
					}
				}
				if alarm >= 0 {
					alarms++
				}
				if alarm > 20000 {
					delays = append(delays, alarm-20000)
				} else if alarm < 0 {
					delays = append(delays, 1<<30)
				}
			}
			slices.Sort(delays)
			fmt.Println(n, kind, "alarms", alarms, "of", streams, "median", delays[len(delays)/2], "90%", delays[len(delays)*9/10])
		}
	}
}
