package verbs

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Files name labelled rows in files.
type Files struct {
	Data []string `file:"in" arg:"" help:"Labelled data: files, directories or patterns, read as one table; - is standard input."`
	schema.Format
}

// Named describes the files.
func (f Files) Named() Named {
	if len(f.Data) == 0 {
		return Named{Segment: f.Segment}
	}
	return Named{Given: true, Date: FileDate(f.Data[0]), Segment: f.Segment}
}

// Open reads the files.
func (f Files) Open(s *cli.Session, use Use) (Rows, error) {
	return readFiles(s, f.Data, f.Format, use)
}

// HeldOutFiles name rows that a threshold is computed from, or none.
type HeldOutFiles struct {
	Data []string `file:"in" arg:"" optional:"" help:"Held-out labelled rows: with scores, or for --model with the model's columns; - is standard input. None with --remove and --default."`
	schema.Format
}

// Named describes the files.
func (f HeldOutFiles) Named() Named { return Files(f).Named() }

// Open reads the files.
func (f HeldOutFiles) Open(s *cli.Session, use Use) (Rows, error) { return Files(f).Open(s, use) }

// CertifiedFiles name labelled rows in files, and then a certificate. It is a CertifiedSource.
type CertifiedFiles struct {
	Files []string `file:"in" arg:"" name:"data ... certificate" help:"The data it was fitted to: files, directories or patterns, read as one table; and then the file that fit --certificate wrote."`
	schema.Format
}

// data returns the names of the files without the certificate.
func (f CertifiedFiles) data() Files { return Files{f.Files[:len(f.Files)-1], f.Format} }

// Named describes the files.
func (f CertifiedFiles) Named() Named { return f.data().Named() }

// Open reads the files.
func (f CertifiedFiles) Open(s *cli.Session, use Use) (Rows, error) { return f.data().Open(s, use) }

// CertificateFile returns the last file.
func (f CertifiedFiles) CertificateFile() (string, error) {
	last := f.Files[len(f.Files)-1]
	if len(f.Files) == 1 {
		return "", &diag.Error{Kind: diag.Usage, Found: "one file, " + diag.Quote(last) + ", after the model",
			Expected: "the data and a certificate"}
	}
	return last, nil
}

// fileRows are rows of files, in memory or packed.
type fileRows struct {
	s      *cli.Session
	format schema.Format // of a further part
	data   *dataset.Data
}

func (r *fileRows) Data() *dataset.Data { return r.data }

func (r *fileRows) Part(s *cli.Session, path string) (*dataset.Data, error) {
	if path == "" {
		return nil, nil
	}
	return dataset.Read(s, path, r.format)
}

func (r *fileRows) Show(now result.Progress) { ShowProgress(r.s, now) }

func (r *fileRows) Finish(s *cli.Session) (*result.Database, error) {
	s.Progress.Clear()
	return nil, nil
}

func (r *fileRows) Print(*cli.Session) {}

func (r *fileRows) Close() { r.data.Close() }

// readFiles reads files for a use.
func readFiles(s *cli.Session, paths []string, f schema.Format, use Use) (Rows, error) {
	named := []string{use.Entity, use.Value}
	if use.Replace != "" {
		point, _ := use.Models[0].Point(use.Replace)
		use.Entity = cmp.Or(use.Entity, point.Entity)
		if !f.NoTime {
			f.Time = cmp.Or(f.Time, point.Day)
		}
	}
	f.Kept = append(slices.Clone(use.By), nonEmpty(use.Entity, use.Value)...)
	if len(use.Models) == 0 {
		f.Drop = append(f.Drop, nonEmpty(use.Entity)...) // it is no feature
	} else {
		var err error
		if f, err = FormatFor(f, use.Models[0], use.Models[1:]...); err != nil {
			return nil, err
		}
	}
	readAs := f
	if !use.InMemory {
		var err error
		if paths, readAs, err = packLarge(s, paths, f); err != nil {
			return nil, err
		}
	}
	data, err := read(s, paths, readAs)
	if err != nil {
		return nil, withFlagOfColumn(err, named[0], named[1])
	}
	s.Progress.Start()
	return &fileRows{s, f.Like(*data.Format().Schema()), data}, nil
}

// read reads files as one labelled table.
func read(s *cli.Session, paths []string, f schema.Format) (*dataset.Data, error) {
	if len(paths) == 1 {
		return dataset.Read(s, paths[0], f)
	}
	files, err := dataset.OpenFiles(paths...)
	if err != nil {
		return nil, err
	}
	return dataset.ReadFrom(s, files, f)
}

// nonEmpty returns the names that are not empty.
func nonEmpty(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// withFlagOfColumn names the flag in an error about a column that the reader was to keep.
func withFlagOfColumn(err error, entity, value string) error {
	e := diag.Of(err)
	if e == nil || e.Param != "" {
		return err
	}
	named := *e
	switch e.Found {
	case diag.Quote(entity):
		named.Param = "entity"
	case diag.Quote(value):
		named.Param = "value"
	}
	return &named
}

// FormatFor returns a format for reading rows that models score.
func FormatFor(f schema.Format, m *model.Model, others ...*model.Model) (schema.Format, error) {
	own := m.Format(others...)
	switch {
	case own.Segment == "" || f.Segment == own.Segment:
	case f.Segment == "":
		f.Segment = own.Segment
	default:
		return f, rowset.WrongSegment(f.Segment, own.Segment)
	}
	if point, _ := m.Point(""); point.Entity != "" {
		f.Kept = append(f.Kept, point.Entity)
		if !f.NoTime {
			f.Time = cmp.Or(f.Time, point.Day)
		}
	}
	return f.Like(*own.Schema()), nil
}

// ScoredFormat returns a format for reading labelled rows with scores in a numeric column of delimited text. Of the other
// columns it keeps only those that the format gives a role, so that ids and features of another program take no memory. Of standard
// input all columns are read.
func ScoredFormat(f schema.Format, path, column string) (schema.Format, error) {
	if path == "-" || f.Format != "" && f.Format != schema.CSV {
		return f, nil
	}
	names, err := table.ColumnNames(path, f)
	if err != nil {
		return f, err
	}
	roles := slices.Concat([]string{column, f.Label, f.Weight, f.Group, f.Segment, f.Time}, f.ID, f.Kept)
	if !slices.Contains(names, column) {
		return f, &diag.Error{Kind: diag.Usage, File: path, Param: "score", Found: diag.Quote(column),
			Expected: fmt.Sprintf("one of the columns %q", names)}
	}
	f.Numeric = append(slices.Clip(f.Numeric), column)
	for i, name := range names {
		if number := strconv.Itoa(i + 1); !slices.Contains(roles, name) && !slices.Contains(roles, number) {
			f.Drop = append(slices.Clip(f.Drop), number) // a name could be read as a list or a range
		}
	}
	return f, nil
}

// FileDate returns the day on which a file was last written, "" if that is not known.
func FileDate(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return info.ModTime().UTC().Format(time.DateOnly)
}

// packLarge returns the path of a temporary packed file and the format for it if the data does not fit into the memory of the format,
// otherwise what it was given. It prints on standard error what it packed. The file is removed at the end.
func packLarge(s *cli.Session, paths []string, f schema.Format) ([]string, schema.Format, error) {
	files, err := table.OpenFiles(paths...)
	if err != nil || f.FileColumn != "" {
		return paths, f, err
	}
	fits, err := files.FitMemory(f, f.Memory)
	if err != nil || fits {
		return paths, f, err
	}
	s.Progress.Start()
	path, readAs, remove, err := table.PackTemporary(files, table.Options{Format: f, Context: s}, func(rows int, done float64) {
		s.Progress.Show(done, "packing: %s rows", text.Count(rows))
	})
	s.Progress.Clear()
	if err != nil {
		return paths, f, err
	}
	s.AtEnd(remove)
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	s.PrintError(strings.Join(paths, ", ") + " does not fit into memory: packed it into " + path + " (" + memory.Size(size) + ") for this run")
	return []string{path}, readAs, nil
}
