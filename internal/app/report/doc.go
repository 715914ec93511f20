// Package report writes figures, text and tables as one HTML page. The page needs no network, script or font,
// so it can be mailed, printed and opened years later.
//
// A Page has a title, a summary and sections. A section without content is left out. Findings are the results
// about one model; their method Page returns the page with figures and tables. The same input gives the same
// bytes.
package report
