package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/modelcard"
	"toptau/result"
	"toptau/schema"
)

// cardCommand describes a model for people who decide about its use.
type cardCommand struct {
	Model      string   `file:"in" arg:"" help:"A model file."`
	Data       string   `file:"in" arg:"" optional:"" help:"Labelled rows that took no part in training, to measure the model on."`
	Output     string   `file:"out" short:"o" placeholder:"FILE" help:"Write the card here: HTML for a name that ends in .html, Markdown for .md (default: Markdown on standard output)."`
	Statements string   `file:"in" placeholder:"FILE" help:"What people state about the model: a Markdown file with a heading ## for each statement, such as ## Purpose."`
	Purpose    string   `placeholder:"TEXT" help:"State what the model is for."`
	NotFor     string   `placeholder:"TEXT" help:"State what the model must not be used for."`
	Contact    string   `placeholder:"TEXT" help:"State whom to ask."`
	By         []string `placeholder:"COL" sep:"none" help:"Show error rates by the values of this column, feature or not, with intervals that hold together (Bonferroni); repeatable."`
	Confidence float64  `placeholder:"C" default:"0.95" help:"The confidence of the intervals (default 0.95)."`
	ReportDate string   `placeholder:"TEXT" help:"The date on the card (default: that of the data file)."`
	verbs.VerifyFlags
	schema.Format
}

func (c *cardCommand) Run(s *cli.Session) error {
	extension := strings.ToLower(filepath.Ext(c.Output))
	if c.Output != "" && c.Output != "-" && !slices.Contains([]string{".html", ".htm", ".md", ".markdown"},
		extension) {
		return &diag.Error{Kind: diag.Usage, Param: "output", Found: diag.Quote(c.Output),
			Expected: "a name that ends in .html or .md"}
	}
	if err := atomicfile.Check(c.Output); err != nil {
		return err
	}
	given, err := c.statements()
	if err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	var data *toptau.Data
	date := c.ReportDate
	if c.Data != "" {
		c.Kept = append(c.Kept, c.By...)
		format, err := verbs.FormatFor(c.Format, m)
		if err != nil {
			return err
		}
		if data, err = toptau.Read(s, c.Data, format); err != nil {
			return err
		}
		date = cmp.Or(date, verbs.FileDate(c.Data))
	}
	card, err := modelcard.New(s, m, data, modelcard.Options{Name: filepath.Base(c.Model), Statements: given,
		By: c.By, Confidence: c.Confidence, Date: date})
	if err != nil {
		return err
	}
	write := card.WriteMarkdown
	if strings.HasPrefix(extension, ".htm") {
		write = card.WriteHTML
	}
	if c.Output != "" {
		if err := s.WriteFile(c.Output, write); err != nil {
			return err
		}
	}
	switch {
	case s.JSON:
		return s.Emit(card.Card)
	case c.Output == "":
		return write(s.Stdout)
	case !s.StdoutTaken:
		s.Printf("card: %s\n", c.Output)
		if missing := notStated(card.Statements); missing != "" {
			s.Printf("not stated: %s\n", missing)
		}
		verbs.PrintWarnings(s, card.Warnings)
	}
	return nil
}

// notStated lists the statements that nobody made.
func notStated(list []result.Statement) string {
	var names []string
	for _, statement := range list {
		if statement.Text == "" {
			names = append(names, statement.Title)
		}
	}
	return strings.Join(names, ", ")
}

// statements returns the statements of the file and the flags. A flag replaces the statement of the file.
func (c *cardCommand) statements() ([]result.Statement, error) {
	var list []result.Statement
	if c.Statements != "" {
		var err error
		if list, err = readStatements(c.Statements); err != nil {
			return nil, err
		}
	}
	for _, flag := range []result.Statement{{Title: "Purpose", Text: c.Purpose},
		{Title: "Not for", Text: c.NotFor}, {Title: "Contact", Text: c.Contact}} {
		if flag.Text == "" {
			continue
		}
		list = append(slices.DeleteFunc(list, func(s result.Statement) bool { return s.Title == flag.Title }), flag)
	}
	return list, nil
}

// readStatements reads a Markdown file: headings of the second level with the text below them. A heading of the first level
// is the title of the file. Headings that every card has are recognised in any case of letters.
func readStatements(path string) ([]result.Statement, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	defer f.Close()
	bad := func(line int, found, expected string) error {
		return &diag.Error{Kind: diag.Data, File: path, Line: line, Found: found, Expected: expected}
	}
	var list []result.Statement
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if heading, found := strings.CutPrefix(line, "## "); found {
			heading = knownTitle(strings.TrimSpace(heading))
			if slices.ContainsFunc(list, func(s result.Statement) bool { return s.Title == heading }) {
				return nil, bad(number, "a second heading "+diag.Quote(heading), "each statement once")
			}
			list = append(list, result.Statement{Title: heading})
			continue
		}
		switch {
		case len(list) == 0 && (line == "" || strings.HasPrefix(line, "# ")):
		case len(list) == 0:
			return nil, bad(number, diag.Quote(line), "a heading such as ## Purpose before the first text")
		default:
			last := &list[len(list)-1]
			last.Text = strings.TrimSpace(last.Text + "\n" + line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, bad(number+1, "a line of more than a megabyte", "lines of text")
	}
	if len(list) == 0 {
		return nil, bad(0, "no statement", fmt.Sprintf("headings such as ## %s",
			strings.Join(result.StatementTitles(), ", ## ")))
	}
	return list, nil
}

// knownTitle returns the title of a card that differs from a heading only in its case, or the heading.
func knownTitle(heading string) string {
	for _, title := range result.StatementTitles() {
		if strings.EqualFold(title, heading) {
			return title
		}
	}
	return heading
}
