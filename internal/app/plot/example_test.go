package plot_test

import (
	"fmt"

	"toptau/internal/app/plot"
)

// A figure alone is a file.
func ExampleSVG() {
	chart := &plot.Plot{
		Text: plot.Caption{Title: "Precision in the top tau", Description: "Falls from 90 % to 40 %."},
		X:    plot.Axis{Label: "tau", Unit: plot.Percent, Max: 0.01},
		Y:    plot.Axis{Label: "precision", Unit: plot.Percent, Max: 1},
		Series: []plot.Series{
			{Name: "TopPushK", X: []float64{0.001, 0.005, 0.01}, Y: []float64{0.9, 0.6, 0.4}},
			{Name: "Pat&Mat-NP", X: []float64{0.001, 0.005, 0.01}, Y: []float64{0.8, 0.7, 0.5}},
		},
	}
	svg := plot.SVG(chart)
	fmt.Println(string(svg[:4]))
	// Output: <svg
}
