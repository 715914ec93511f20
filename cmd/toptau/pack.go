package main

import (
	"toptau"
	"toptau/internal/cli"
	"toptau/internal/memory"
	"toptau/internal/text"
	"toptau/schema"
)

// packCommand writes a packed file.
type packCommand struct {
	Data        []string          `file:"in" arg:"" help:"Data: files, directories or patterns, read as one table."`
	Output      string            `file:"rows" short:"o" placeholder:"FILE" required:"" help:"Write the packed file here."`
	FileFormat  schema.FileFormat `name:"format" placeholder:"FORMAT" help:"The file's format (default: detected)."`
	Delimiter   string            `placeholder:"D" help:"The character between fields, or tab or blank (default: detected)."`
	Header      schema.Header     `placeholder:"yes|no" help:"Whether the first row names the columns (default: detected)."`
	Missing     []string          `sep:"none" placeholder:"VALUE" help:"A spelling of a missing value among numbers, besides the empty field; repeatable."`
	Drop        []string          `sep:"none" placeholder:"COLS" help:"Columns to leave out: a name, or numbers like 1-7,43; repeatable."`
	Categorical []string          `sep:"none" placeholder:"COLS" help:"Columns to keep as text even if they look like numbers, such as identifiers with leading zeros."`
	Numeric     []string          `sep:"none" placeholder:"COLS" help:"Columns whose values are numbers."`
}

func (c *packCommand) Run(s *cli.Session) error {
	f := toptau.Format{Format: c.FileFormat, Delimiter: c.Delimiter, Header: c.Header, Missing: c.Missing, Drop: c.Drop,
		Categorical: c.Categorical, Numeric: c.Numeric}
	s.Progress.Start()
	r, err := toptau.Pack(s, c.Data, c.Output, f, func(rows int, done float64) {
		s.Progress.Show(done, "%s rows", text.Count(rows))
	})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(r)
	}
	s.Printf("%s rows of %s in %s: %s\n", text.Count(r.Rows), text.Plural(r.Columns, "column"), c.Output, memory.Size(r.Bytes))
	return nil
}
