package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"toptau/internal/app/plot"
	"toptau/internal/core/text"
)

// Page is one self-contained HTML page.
type Page struct {
	Title    string
	Lead     string      // a sentence below the title; "" for none
	About    []string    // short facts below the title: model, file, date
	Tiles    []Tile      // the answer: a few numbers; with tiles all sections but notes are folded
	Claim    string      // what is guaranteed, in a sentence; "" for none
	Summary  []string    // about ten lines; may be empty
	Chart    plot.Figure // below the tiles, on the first screen; nil for none
	Explorer *Explorer   // next to the chart; nil for none
	Sections []Section
	Footer   string // "" for none
}

// Tile is a number on top of a page.
type Tile struct {
	Name, Value, Detail string
	Verdict             string // kept or missed: against the goal; "": the goal does not limit it
}

// Section is a part of a page with a heading. Every field is optional, and a section with only a title is
// left out. The contents appear in the order of the fields: figures, slider and tables in two columns on a wide screen.
type Section struct {
	Title      string
	Paragraphs []string
	Warnings   []string // a list
	Unfolded   bool     // shown at once on a page with tiles
	Facts      []Fact
	Figures    []plot.Figure
	Small      bool // figures are small multiples, several in a row
	Tables     []Table
	Notes      []string  // paragraphs after the tables
	Explorer   *Explorer // a slider over budgets, for browsers that run the page's script
}

// Explorer shows what a number of alerts finds, chosen with a slider. All texts are made here, and the script of the
// page only shows them.
type Explorer struct {
	Rows  []BudgetRow // by position of the slider
	Start int         // the first position shown
}

// Fact is a named value. An empty value is left out.
type Fact struct {
	Name, Value string
	Code        bool // in a monospaced font, for a digest
	Missed      bool // in colour: a limit that is not kept
}

// Table is a table of texts. On a narrow screen it scrolls on its own, and its first column stays.
type Table struct {
	Caption string
	Header  []string
	Rows    [][]string
	Numbers []int // indices of columns with numbers, which are aligned to the right
	Strong  []int // indices of rows in bold
	Tall    bool  // many rows: it scrolls on its own in both directions, except in print
}

// empty reports whether the section has no content.
func (s *Section) empty() bool {
	return s.Explorer == nil && len(s.Paragraphs)+len(s.Warnings)+len(s.facts())+len(s.Figures)+len(s.Tables)+len(s.Notes) == 0
}

// facts returns the facts with a value.
func (s *Section) facts() []Fact {
	var facts []Fact
	for _, f := range s.Facts {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

//go:embed page.css
var pageCSS string

// CSS is the style sheet of pages, without that of figures.
var CSS = pageCSS

// FigureScript defines toptauFigures, which shows values of figures under the pointer and saves numbers as CSV. It
// loads nothing.
//
//go:embed figures.js
var FigureScript string

// scriptText watches the figures of the page, moves the slider and saves tables as CSV.
//
//go:embed page.js
var scriptText string

// pageScript is the content of the element: with marks of character data, so that the page is also XML.
var pageScript = "//<![CDATA[\n" + FigureScript + scriptText + "//]]>"

// scriptHash returns the hash by which the page's policy allows this script and no other.
func scriptHash() string {
	digest := sha256.Sum256([]byte(pageScript))
	return base64.StdEncoding.EncodeToString(digest[:])
}

//go:embed page.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// sectionView is a section in the form that the template needs.
type sectionView struct {
	ID, Title  string
	Paragraphs []string
	Warnings   []string
	Facts      []Fact
	Figures    []figureView
	Small      bool
	Tables     []tableView
	Notes      []string
	Explorer   *explorerView
	Folded     bool
}

// explorerView is an Explorer in the form that the template needs.
type explorerView struct {
	Data        string
	Names       []string
	Last, Start int
}

type figureView struct {
	SVG         template.HTML
	Title, Note string
}

type tableView struct {
	Tall    bool
	Full    bool // too wide for one of two columns
	Caption string
	Header  []cell
	Rows    []rowView
}

type rowView struct {
	Strong bool
	Cells  []cell
}

type cell struct {
	Text  string
	Class string // "number", "wide" for a column with sentences, or ""
}

// WriteTo writes the page as HTML. It implements io.WriterTo.
func (p Page) WriteTo(w io.Writer) (int64, error) {
	view := struct {
		Page
		CSS        template.CSS
		Script     template.JS
		ScriptHash string
		Sections   []sectionView
		Chart      *figureView
		Explorer   *explorerView
		Folded     bool
	}{Page: p, Explorer: p.Explorer.view(), Folded: len(p.Tiles) > 0, CSS: template.CSS(plot.CSS + pageCSS), Script: template.JS(pageScript),
		ScriptHash: scriptHash()}
	ids, figures := map[string]bool{"summary": true}, 0
	viewOf := func(f plot.Figure) figureView {
		figures++
		caption := f.Caption()
		return figureView{template.HTML(plot.Inline(f, fmt.Sprintf("f%d", figures))), caption.Title, caption.Note} // Inline escapes all text
	}
	if p.Chart != nil {
		chart := viewOf(p.Chart)
		view.Chart = &chart
	}
	for _, s := range p.Sections {
		if s.empty() {
			continue
		}
		v := sectionView{ID: anchor(s.Title, ids), Title: s.Title, Paragraphs: s.Paragraphs, Warnings: s.Warnings,
			Facts: s.facts(), Small: s.Small, Notes: s.Notes, Explorer: s.Explorer.view(), Folded: view.Folded && !s.Unfolded}
		for _, f := range s.Figures {
			v.Figures = append(v.Figures, viewOf(f))
		}
		for _, t := range s.Tables {
			v.Tables = append(v.Tables, t.view())
		}
		view.Sections = append(view.Sections, v)
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, view); err != nil {
		return 0, err
	}
	n, err := io.WriteString(w, text.PrintableLines(b.String())) // control characters in names could hide or reorder text
	return int64(n), err
}

// view returns the slider in the form that the template needs, nil for none.
func (e *Explorer) view() *explorerView {
	if e == nil || len(e.Rows) == 0 {
		return nil
	}
	var cells [][]string
	for i := range e.Rows {
		var joined []string
		for _, text := range e.Rows[i].cells() {
			joined = append(joined, joinMarks(text))
		}
		cells = append(cells, joined)
	}
	data, _ := json.Marshal(cells) // strings cannot fail
	return &explorerView{Data: string(data), Names: e.Rows[0].names(), Last: len(cells) - 1, Start: e.Start}
}

// view returns the table in the form that the template needs.
func (t *Table) view() tableView {
	numbers, strong := map[int]bool{}, map[int]bool{}
	for _, i := range t.Numbers {
		numbers[i] = true
	}
	for _, i := range t.Strong {
		strong[i] = true
	}
	classes := make([]string, t.columns())
	for i := range classes {
		switch {
		case numbers[i]:
			classes[i] = "number"
		case t.longest(i) > wideColumn:
			classes[i] = "wide"
		}
	}
	cells := func(texts []string) []cell {
		var out []cell
		for i, text := range texts {
			out = append(out, cell{joinMarks(text), classes[i]})
		}
		return out
	}
	width := 0
	for i := range classes {
		width += max(t.longest(i), utf8.RuneCountInString(joinedHeader(t.Header, i))) + columnGap
	}
	v := tableView{Tall: t.Tall, Full: width > halfTable, Caption: t.Caption, Header: cells(t.Header)}
	for i, row := range t.Rows {
		v.Rows = append(v.Rows, rowView{strong[i], cells(row)})
	}
	return v
}

// wideColumn is the number of characters from which a column gets a minimal width, so that sentences do not become a
// word per line. It was chosen by looking at pages.
const wideColumn = 20

// A table of at most halfTable characters, with columnGap between columns, fits into one of two columns. Both were chosen by
// looking at pages.
const (
	halfTable = 84
	columnGap = 3
)

// joinedHeader returns the header of a column, "" without one.
func joinedHeader(header []string, column int) string {
	if column < len(header) {
		return header[column]
	}
	return ""
}

// columns returns the number of columns.
func (t *Table) columns() int {
	n := len(t.Header)
	for _, row := range t.Rows {
		n = max(n, len(row))
	}
	return n
}

// longest returns the number of characters of the longest cell of a column, without its header.
func (t *Table) longest(column int) int {
	n := 0
	for _, row := range t.Rows {
		if column < len(row) {
			n = max(n, utf8.RuneCountInString(row[column]))
		}
	}
	return n
}

// joinMarks keeps signs with their numbers, both sides of an equation, and the ends of an interval together. A narrow column wraps
// elsewhere.
func joinMarks(text string) string {
	const space = "\u00a0"
	for _, mark := range []string{"%", "●", "○", "✓", "✗"} {
		text = strings.ReplaceAll(text, " "+mark, space+mark)
	}
	for _, sign := range []string{"=", "≤", "≥"} {
		text = strings.ReplaceAll(text, " "+sign+" ", space+sign+space)
	}
	from := 0
	for {
		open := strings.IndexByte(text[from:], '[')
		if open < 0 {
			return text
		}
		open += from
		end := strings.IndexByte(text[open:], ']')
		if end < 0 {
			return text
		}
		inside := strings.ReplaceAll(text[open:open+end], ", ", ","+space)
		text = text[:open] + inside + text[open+end:]
		from = open + len(inside)
	}
}

// anchor makes an id from a title and adds it to taken.
func anchor(title string, taken map[string]bool) string {
	base := strings.Trim(strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, title), "-")
	for strings.Contains(base, "--") {
		base = strings.ReplaceAll(base, "--", "-")
	}
	if base == "" {
		base = "section"
	}
	id := "s-" + base
	for i := 2; taken[id]; i++ {
		id = fmt.Sprintf("s-%s-%d", base, i)
	}
	taken[id] = true
	return id
}
