package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"toptau/calibrate"
	"toptau/internal/app/plot"
	"toptau/internal/core/binomial"
	"toptau/threshold"
)

func render(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	n, err := p.WriteTo(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Errorf("WriteTo reports %d of %d bytes", n, b.Len())
	}
	return b.String()
}

func TestPageIsDeterministic(t *testing.T) {
	first := render(t, findings().Page())
	if second := render(t, findings().Page()); first != second {
		t.Error("two renderings differ")
	}
}

// The page must not load anything: no address except the name space of SVG, no style sheet or import, and no script but
// the one that its policy names by hash.
func TestPageIsSelfContained(t *testing.T) {
	html := strings.ReplaceAll(render(t, findings().Page()), `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, bad := range []string{"http://", "https://", "@import", "src=", "<link rel=\"stylesheet", "ZgotmplZ"} {
		if i := strings.Index(html, bad); i >= 0 {
			t.Errorf("%s in %.80q", bad, html[i:])
		}
	}
	for _, address := range regexp.MustCompile(`url\(([^)]*)\)`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(address[1], "#") {
			t.Errorf("url(%s)", address[1])
		}
	}
	if !strings.Contains(html, "Content-Security-Policy") || !strings.Contains(html, "default-src 'none'") {
		t.Error("no policy forbids the network")
	}
	_, rest, _ := strings.Cut(html, "<script>")
	script, _, _ := strings.Cut(rest, "</script>")
	digest := sha256.Sum256([]byte(script))
	policy := strings.ReplaceAll(base64.StdEncoding.EncodeToString(digest[:]), "+", "&#43;")
	if strings.Count(html, "<script") != 1 || !strings.Contains(html, "script-src 'sha256-"+policy+"'") {
		t.Error("the policy does not name the script")
	}
	for _, bad := range []string{"fetch(", "XMLHttpRequest", "import(", "eval(", "innerHTML", "localStorage", "WebSocket"} {
		if strings.Contains(script, bad) {
			t.Errorf("the script has %s", bad)
		}
	}
}

func TestPageIsNestedWell(t *testing.T) {
	decoder := xml.NewDecoder(strings.NewReader(render(t, findings().Page())))
	decoder.Entity = xml.HTMLEntity
	ids := map[string]bool{}
	var references []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range element.Attr {
			switch {
			case a.Name.Local == "id" && ids[a.Value]:
				t.Errorf("id %s twice", a.Value)
			case a.Name.Local == "id":
				ids[a.Value] = true
			case a.Name.Local == "aria-labelledby":
				references = append(references, strings.Fields(a.Value)...)
			case strings.HasPrefix(a.Value, "#"):
				references = append(references, a.Value[1:])
			case strings.HasPrefix(a.Value, "url(#"):
				references = append(references, a.Value[5:len(a.Value)-1])
			}
		}
	}
	for _, id := range references {
		if !ids[id] {
			t.Errorf("%s leads nowhere", id)
		}
	}
}

func TestSectionsWithoutContentAreLeftOut(t *testing.T) {
	empty := Findings{}
	html := render(t, empty.Page())
	for _, tag := range []string{"<section", "<nav", "<h2", "<svg", "<table"} {
		if strings.Contains(html, tag) {
			t.Errorf("an empty page has %s", tag)
		}
	}
	full := render(t, findings().Page())
	if strings.Contains(full, "Without content") || strings.Contains(full, "<dt>unknown</dt>") {
		t.Error("a section or fact without content is shown")
	}
	for _, title := range []string{"Notes", "Operating point", "Quality over all budgets", "Comparison",
		"What the main columns add to the score", "All kinds of figures", "Data", "Model"} {
		if !strings.Contains(full, "<h2>"+title+"</h2>") {
			t.Errorf("section %s is missing", title)
		}
	}
}

func TestPageEscapesText(t *testing.T) {
	const evil = `<img src=x onerror="alert(1)">`
	html := render(t, Page{Title: evil, Lead: evil, Summary: []string{evil}, Footer: evil, Sections: []Section{{Title: evil,
		Paragraphs: []string{evil}, Warnings: []string{evil}, Facts: []Fact{{Name: evil, Value: evil, Code: true}},
		Figures: []plot.Figure{&plot.Plot{Text: plot.Caption{Title: evil, Description: evil, Note: evil}}},
		Tables:  []Table{{Caption: evil, Header: []string{evil}, Rows: [][]string{{evil}}}}}}})
	if strings.Contains(html, "<img") {
		t.Error("text became an element")
	}
	if count := strings.Count(html, "&lt;img"); count < 12 {
		t.Errorf("the text is there %d times", count)
	}
}

func TestAnchorsAreUnique(t *testing.T) {
	taken := map[string]bool{}
	for _, want := range []string{"s-a-b", "s-a-b-2", "s-section"} {
		title := "A – b!"
		if want == "s-section" {
			title = "???"
		}
		if got := anchor(title, taken); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
}

// The guarantee's figure contains the bound at the limit.
func TestGuaranteeFigureMeetsItsBound(t *testing.T) {
	g := &calibrate.Guarantee{Certified: true, Kind: "max-fpr", Rate: threshold.MustRate("1%"), Delta: threshold.MustRate("5%"),
		Negatives: 3000, Order: 2980, Bound: binomial.AtLeast(3000, 2980, 0.99)}
	figures := guaranteeFigure(g, nil)
	if len(figures) != 1 {
		t.Fatalf("%d figures", len(figures))
	}
	s := figures[0].(*plot.Plot).Series[0]
	for i, x := range s.X {
		if i > 0 && s.Y[i] > s.Y[i-1] {
			t.Fatalf("the bound grows at %v", x)
		}
		if math.Abs(x-0.01) < 1e-12 && math.Abs(s.Y[i]-g.Bound) > 1e-9 {
			t.Errorf("at the limit it is %v, the guarantee says %v", s.Y[i], g.Bound)
		}
	}
	if g.Bound > 0.05 || g.Bound < 0.005 {
		t.Errorf("the example's bound is %v", g.Bound)
	}
	g.Certified = false
	if facts := guaranteeFacts(g); !strings.HasPrefix(facts[0].Value, "none") {
		t.Errorf("an uncertified threshold reads %q", facts[0].Value)
	}
	if figures := guaranteeFigure(&calibrate.Guarantee{}, nil); figures != nil {
		t.Error("a guarantee without numbers has a figure")
	}
}

// A narrow column wraps between a value and its interval, not inside one of them.
func TestJoinMarks(t *testing.T) {
	for text, want := range map[string]string{
		"5.3 ○ [1.8, 8.8]":       "5.3\u00a0○ [1.8,\u00a08.8]",
		"[1, 2], then [3, 4], 5": "[1,\u00a02], then [3,\u00a04], 5",
		"63 %, [1, 2":            "63\u00a0%, [1, 2",
		"Pat&Mat τ = 0.01":       "Pat&Mat τ\u00a0=\u00a00.01",
	} {
		if got := joinMarks(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Only a column of sentences has a minimal width, and its header does not count.
func TestWideColumns(t *testing.T) {
	table := Table{Header: []string{"a", "a header that is rather long", "c"}, Numbers: []int{2},
		Rows: [][]string{{"a cell that is a whole sentence", "all", "12 of 1,000,000 and more"}, {"b"}}}
	v := table.view()
	for i, want := range []string{"wide", "", "number"} {
		if v.Header[i].Class != want || v.Rows[0].Cells[i].Class != want {
			t.Errorf("column %d has %q and %q, want %q", i, v.Header[i].Class, v.Rows[0].Cells[i].Class, want)
		}
	}
}

// A fraction that is not the quotient of the counts next to it is explained.
func TestWeightedProbabilities(t *testing.T) {
	counted := calibrate.Reliability{Rows: 143, Positives: 54, Predicted: 0.31, Observed: 54. / 143, Low: 0.3, High: 0.46}
	weighted := counted
	weighted.Observed = 0.301
	for _, c := range []struct {
		r      calibrate.Reliability
		header string
		notes  int
	}{{counted, "observed", 0}, {weighted, "observed, weighted", 1}} {
		s := reliabilitySection([]calibrate.Reliability{c.r})
		if got := s.Tables[0].Header[3]; got != c.header || len(s.Notes) != c.notes {
			t.Errorf("%v: column %q, notes %q", c.r.Observed, got, s.Notes)
		}
	}
}
