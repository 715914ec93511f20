package paper

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"

	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/data/atomicfile"
)

// A Markdown page shows its first table, if that has at most longTable rows, and others of at most shortTable rows. It names the CSV
// files of the rest.
const (
	longTable  = 27
	shortTable = 9
)

// writeResults writes every piece and the page, and returns the names of the files.
func writeResults(dir string, st *study, res *Result) ([]string, error) {
	var files []string
	writeFile := func(name string, content []byte) error {
		files = append(files, name)
		return atomicfile.Write(filepath.Join(dir, name), content)
	}
	page := report.Page{Title: "General Framework for Binary Classification on Top Samples, reproduced",
		Lead: "Every table and figure of the paper with this implementation, next to the numbers that the paper " +
			"prints. “Findings” is what they show, and “Errata” lists the errors in the paper.",
		Sections: []report.Section{setsSection(st)}}
	for _, p := range res.Pieces {
		var text bytes.Buffer
		fmt.Fprintf(&text, "# %s\n", p.Title)
		for _, line := range p.Text {
			fmt.Fprintf(&text, "\n%s\n", line)
		}
		section := report.Section{Title: p.Title, Paragraphs: p.Text, Notes: p.Notes}
		for i, t := range p.Tables {
			text.WriteByte('\n')
			if n := len(t.Table.Rows); n > longTable || i > 0 && n > shortTable {
				fmt.Fprintf(&text, "%s [%s.csv](%s.csv) has the %d rows, as does index.html.\n", t.Table.Caption, t.Name, t.Name, n)
			} else {
				text.Write(markdown(t.Table))
			}
			section.Tables = append(section.Tables, t.Table)
			if err := writeFile(t.Name+".csv", commaSeparated(t.Table)); err != nil {
				return nil, err
			}
			if err := writeFile(t.Name+".tex", latex(t.Name, t.Table)); err != nil {
				return nil, err
			}
		}
		for _, line := range p.Notes {
			fmt.Fprintf(&text, "\n%s\n", line)
		}
		for i, f := range p.Figures {
			if i == 0 {
				text.WriteByte('\n')
			}
			fmt.Fprintf(&text, "![%s](%s.svg)\n", f.Figure.Caption().Title, f.Name)
			section.Figures = append(section.Figures, f.Figure)
			if err := writeFile(f.Name+".svg", plot.SVG(f.Figure)); err != nil {
				return nil, err
			}
		}
		if err := writeFile(p.Name+".md", text.Bytes()); err != nil {
			return nil, err
		}
		page.Sections = append(page.Sections, section)
	}
	var html bytes.Buffer
	if _, err := page.WriteTo(&html); err != nil {
		return nil, err
	}
	if err := writeFile("index.html", html.Bytes()); err != nil {
		return nil, err
	}
	return files, nil
}

// setsSection lists the sets and their sources.
func setsSection(st *study) report.Section {
	t := report.Table{Header: []string{"set", "kind", "in the paper", "made from"}}
	for i := range st.sets {
		s := &st.sets[i]
		made := s.Recipe
		if path := st.absent[s.Key]; path != "" {
			made = "absent: " + filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path) + " is not in the data directory"
		}
		inPaper := cmp.Or(s.PaperSet, "-")
		t.Rows = append(t.Rows, []string{s.Name, string(s.Kind), inPaper, made})
	}
	return report.Section{Title: "Sets", Tables: []report.Table{t}}
}
