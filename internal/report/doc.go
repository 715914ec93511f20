// Package report draws figures as SVG and puts them, with text and tables, on one HTML page that needs no network, no
// script and no font: it can be mailed, printed and opened years later.
//
// Figures. Plot draws lines, steps, scattered points, trajectories, confidence bands and contours on linear or
// logarithmic axes; Histogram the scores by class; DotPlot values with their intervals; Diagram boxes and arrows. A
// figure is plain data. SVG makes a file of its own of it; a Page takes it inline. Series are told apart by colour, dash
// pattern and marker at once, so that they survive grey print and colour-blind eyes; names stand in a legend above the
// plotting area, where nothing can overlap them. Values that are not finite are left out; a figure without data says so.
//
// Pages. Page is a title, a summary and sections; a section without content is left out. Findings is what is known about
// one model: its Page method makes the figures and sections of it.
//
// The same input gives the same bytes: positions are written with one decimal, logarithms are those of package
// elementary, nothing depends on time, host or the order of a map.
package report
