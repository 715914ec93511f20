// Package drawing adds to package plot what only the paper's figures need: contours as a layer of a plot, and
// diagrams of boxes and arrows.
package drawing
