package main

import (
	"os"
	"time"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/printed"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
	"toptau/internal/data/table"
	"toptau/result"
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
	Memory      int64             `placeholder:"BYTES" help:"The memory that the rows of a file that compresses unusually well may take, such as 300MB."`
	Numeric     []string          `sep:"none" placeholder:"COLS" help:"Columns whose values are numbers."`
}

func (c *packCommand) Run(s *cli.Session) error {
	f := schema.Format{Format: c.FileFormat, Delimiter: c.Delimiter, Header: c.Header, Missing: c.Missing, Drop: c.Drop,
		Categorical: c.Categorical, Numeric: c.Numeric, Memory: c.Memory}
	s.Progress.Start()
	start := time.Now()
	files, err := table.OpenFiles(c.Data...)
	if err != nil {
		return err
	}
	info, err := table.Pack(files, c.Output, table.Options{Format: f, Context: s}, func(rows int, done float64) {
		s.Progress.Show(done, "%s rows", text.Count(rows))
	})
	if err != nil {
		return err
	}
	written, err := os.Stat(c.Output)
	if err != nil {
		return &diag.Error{Kind: diag.IO, File: c.Output, Err: err}
	}
	r := &printed.Packed{Rows: info.Rows, Columns: len(info.Names), Source: "sha256:" + info.Digest, Bytes: written.Size(),
		Seconds: time.Since(start).Seconds(), Document: result.Document{Warnings: append([]diag.Warning{}, info.Warnings...)}}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(r)
	}
	s.Printf("%s rows of %s in %s: %s\n", text.Count(r.Rows), text.Plural(r.Columns, "column"), c.Output, memory.Size(r.Bytes))
	return nil
}
