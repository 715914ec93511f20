package campaigns_test

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/internal/core/detmath"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

var profitSplits = flag.Int("profit", 0, "compare the profit of goals on TOPTAU_DATA with this number of splits")

// TestProfitAgainstBudgets prints the profit on test parts of models that were trained for a cost of alerts and for fixed budgets. Run
//
//	TOPTAU_DATA=DIR go test . -run TestProfitAgainstBudgets -profit 12 -v
//
// and see docs/results/money-profit.csv. It fails if the goal brings clearly less than the best budget, which is known only afterwards.
func TestProfitAgainstBudgets(t *testing.T) {
	dir := os.Getenv("TOPTAU_DATA")
	if *profitSplits == 0 || dir == "" {
		t.Skip("no -profit, or TOPTAU_DATA is not set")
	}
	for _, set := range []struct {
		name  string
		text  string
		costs []float64
	}{
		{"german", germanText(t, dir), []float64{500, 1000, 2000}},
		{"coil2000", coilText(t, dir), []float64{5, 10, 20}},
	} {
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(set.text), schema.Format{Label: "label"})
		if err != nil {
			t.Fatal(err)
		}
		budgets := []string{"1%", "2%", "5%", "10%", "20%", "30%", "50%"}
		for _, cost := range set.costs {
			own := make([]float64, *profitSplits)
			profits := make([][]float64, len(budgets))
			for seed := range own {
				own[seed] = profitOnTest(t, d, metric.Goal{Kind: metric.GoalCostAlert, Cost: cost}, cost, uint64(seed+1))
				for i, b := range budgets {
					profits[i] = append(profits[i], profitOnTest(t, d, toptau.Top(b), cost, uint64(seed+1)))
				}
			}
			best, bestMean := 0, 0.0
			line := ""
			for i, b := range budgets {
				mean, _ := detmath.MeanAndError(profits[i])
				line += fmt.Sprintf(", %s %.0f", b, mean)
				if i == 0 || mean > bestMean {
					best, bestMean = i, mean
				}
			}
			differences := make([]float64, len(own))
			for i := range own {
				differences[i] = own[i] - profits[best][i]
			}
			mean, _ := detmath.MeanAndError(own)
			difference, standardError := detmath.MeanAndError(differences)
			t.Logf("%s, cost %v: goal %.0f%s; goal less %s: %.0f ± %.0f", set.name, cost, mean, line, budgets[best], difference, standardError)
			if difference < -3*standardError {
				t.Errorf("%s, cost %v: the goal brings clearly less than the best budget", set.name, cost)
			}
		}
	}
}

// profitOnTest returns the profit on the test part of a split.
func profitOnTest(t *testing.T, d *dataset.Data, g metric.Goal, cost float64, seed uint64) float64 {
	t.Helper()
	trained, err := toptau.Train(t.Context(), d, g, toptau.TrainOptions{Value: "amount", Seed: seed, TestFraction: threshold.MustRate("0.4"),
		Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}, NoProfile: true, NoFingerprints: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &trained.Result
	c := r.TestDecisions
	return r.TestValue.Numerator - float64(cost*(c.TruePositives+c.FalsePositives))
}

// germanText returns german with the bad credits as positives and the credits in marks as amounts, which are also a feature.
func germanText(t *testing.T, dir string) string {
	file, err := os.Open(filepath.Join(dir, "german", "german.numer_scale"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b strings.Builder
	for j := range 24 {
		if j != 3 {
			fmt.Fprintf(&b, "x%d,", j+1)
		}
	}
	b.WriteString("amount,label\n")
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		var x [24]float64
		for _, f := range fields[1:] {
			index, value, _ := strings.Cut(f, ":")
			j, err := strconv.Atoi(index)
			if err == nil {
				x[j-1], err = strconv.ParseFloat(value, 64)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for j, v := range x {
			if j != 3 {
				fmt.Fprintf(&b, "%v,", v)
			}
		}
		label := 0
		if fields[0] == "+1" {
			label = 1
		}
		fmt.Fprintf(&b, "%.0f,%d\n", 100*(2+(x[3]+1)/2*(184-2)), label) // in hundreds of marks from 2 to 184, scaled to [-1, 1]
	}
	return b.String()
}

// coilText returns coil2000 with an amount of 100 for each buyer.
func coilText(t *testing.T, dir string) string {
	file, err := os.Open(filepath.Join(dir, "coil2000", "ticdata2000.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for j := range 85 {
		fmt.Fprintf(&b, "x%d,", j+1)
	}
	b.WriteString("label,amount\n")
	for line := range strings.Lines(string(text)) {
		b.WriteString(strings.Join(strings.Fields(line), ",") + ",100\n")
	}
	return b.String()
}
