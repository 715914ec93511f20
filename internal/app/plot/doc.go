// Package plot draws figures as SVG.
//
// Plot draws lines, steps, scattered points, trajectories, confidence bands and layers on linear or
// logarithmic axes. Histogram draws the scores of each class, and DotPlot values with their intervals. A
// figure is plain data. SVG returns it as a file, Inline as an element of a page. Series differ in colour,
// dash pattern and marker, so they stay distinct in grey print and for colour-blind readers. Their names are
// in a legend above the plotting area, where nothing can overlap them. Values that are not finite are left
// out, and a figure without data contains the words "no data".
//
// The same figure gives the same bytes. Positions have one decimal, logarithms come from package detmath, and
// nothing depends on time, host or the order of a map.
package plot
