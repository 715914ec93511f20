package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/app/report"
	"toptau/result"
)

// evaluateCommand is the verb evaluate, whose report may have what people state about the model.
type evaluateCommand struct {
	verbs.Evaluate[verbs.EntryFiles]
	StatementsFile string `name:"statements" file:"in" group:"Report" placeholder:"FILE" help:"What people state about the model, for the report: a Markdown file with a heading ## for each statement, such as ## Purpose."`
	Purpose        string `group:"Report" placeholder:"TEXT" help:"State in the report what the model is for."`
	NotFor         string `group:"Report" placeholder:"TEXT" help:"State in the report what the model must not be used for."`
	Contact        string `group:"Report" placeholder:"TEXT" help:"State in the report whom to ask."`
}

func (c *evaluateCommand) Run(s *cli.Session) error {
	var err error
	if c.Statements, err = c.statements(); err != nil {
		return err
	}
	if c.Statements != nil && c.Report == "" {
		return &diag.Error{Kind: diag.Usage, Param: "report", Expected: "a page for the statements",
			Fixes: []diag.Fix{{Param: "report", Value: "page.html"}}}
	}
	return c.Evaluate.Run(s)
}

// statements returns the statements of the file and the flags. A flag replaces the statement of the file.
func (c *evaluateCommand) statements() ([]result.Statement, error) {
	var list []result.Statement
	if c.StatementsFile != "" {
		var err error
		if list, err = readStatements(c.StatementsFile); err != nil {
			return nil, err
		}
	}
	for _, flag := range []result.Statement{{Title: "Purpose", Text: c.Purpose}, {Title: "Not for", Text: c.NotFor},
		{Title: "Contact", Text: c.Contact}} {
		if flag.Text != "" {
			list = append(slices.DeleteFunc(list, func(s result.Statement) bool { return s.Title == flag.Title }), flag)
		}
	}
	return list, nil
}

// readStatements reads a Markdown file: headings of the second level with the text below them. A heading of the first level
// is the title of the file. Headings that every report has are recognised in any case of letters.
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
			strings.Join(report.StatementTitles(), ", ## ")))
	}
	return list, nil
}

// knownTitle returns the title of a report that differs from a heading only in its case, or the heading.
func knownTitle(heading string) string {
	for _, title := range report.StatementTitles() {
		if strings.EqualFold(title, heading) {
			return title
		}
	}
	return heading
}
