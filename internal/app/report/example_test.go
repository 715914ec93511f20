package report_test

import (
	"fmt"
	"os"
	"path/filepath"

	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/core/ranking"
)

func Example() {
	s := ranking.Scores{Positives: []float64{3.1, 2.6, 0.4}, Negatives: []float64{2.8, 0.9, 0.2, -0.3, -1}}
	rank, _ := ranking.Rank(s)
	threshold := 2.5
	decisions, _ := rank.At(threshold, 0.95)

	f := report.Findings{
		Title:   "Alerts for the network",
		Summary: []string{"2 of 3 attacks are found.", "1 of 3 alerts is false."},
		ROC:     []report.Curve{report.CurveOf("this model", rank.ROC().Corners().Downsample(400))},
		Scores:  plot.HistogramOf(s, &threshold, 40),
		Budget:  &report.Budget{Name: "budget 20 %", Rate: 0.2},
		Data:    []report.Fact{{Name: "rows", Value: "8"}, {Name: "digest", Value: "sha256:2b1f", Code: true}},
	}
	point := report.OperatingPoint{Decisions: &decisions}
	point.Name, point.Threshold, point.Source = "goal", threshold, "chosen by hand"
	f.Points = append(f.Points, point)

	path := filepath.Join(os.TempDir(), "toptau-report-example.html")
	out, err := os.Create(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(path)
	defer out.Close()
	_, err = f.Page().WriteTo(out)
	fmt.Println(err)
	// Output: <nil>
}
