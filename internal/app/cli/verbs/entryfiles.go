package verbs

import (
	"path/filepath"
	"slices"
	"strings"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/data/atomicfile"
	"toptau/internal/data/table"
	"toptau/measure"
	"toptau/model"
	"toptau/schema"
)

// EntryFiles name model files, the scores of other programs and the labelled rows. It is an EntrySource.
type EntryFiles struct {
	Files  []string `file:"in" arg:"" name:"model ... data" help:"Model files, and then the labelled data: files, directories or patterns, read as one table; - is standard input. With --scores no model is needed."`
	Scores []string `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"Another program's scores of the same rows (CSV with a column score), joined by --id; repeatable."`
	schema.Format
}

// Named describes the files.
func (f EntryFiles) Named() Named {
	return Named{Given: true, Date: FileDate(f.Files[len(f.Files)-1]), Segment: f.Segment}
}

// Open reads the data, which are the files after the models.
func (f EntryFiles) Open(s *cli.Session, use Use) (Rows, error) {
	models, err := f.models()
	if err != nil {
		return nil, err
	}
	return readFiles(s, f.Files[models:], f.Format, use)
}

// Entries loads the models and the scores. A model file in o.Against is another entry. The columns of segments and times are among
// those by whose values decisions are counted.
func (f EntryFiles) Entries(s *cli.Session, signed VerifyFlags, o *measure.Options) ([]dataset.Entry, error) {
	for _, column := range nonEmpty(f.Segment, f.Time) {
		if !slices.Contains(o.By, column) {
			o.By = append(o.By, column)
		}
	}
	if len(f.Files) == 1 && len(f.Scores) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "one file, " + diag.Quote(f.Files[0]), Expected: "a model and the data",
			Hint: "or the data with --scores NAME=FILE: with a column score, the file of the data may be that file, too"}
	}
	models, err := f.models()
	if err != nil {
		return nil, err
	}
	paths := slices.Clone(f.Files[:models])
	if against := o.Against; against != "" && !slices.Contains(entryNames(paths), against) && atomicfile.Exists(against) {
		paths = append(paths, against)
		o.Against = entryNames(paths)[len(paths)-1]
	}
	var entries []dataset.Entry
	for i, name := range entryNames(paths) {
		m, err := signed.Load(paths[i])
		if err != nil {
			return nil, err
		}
		entries = append(entries, dataset.Entry{Name: name, Model: m})
	}
	scores, err := ReadScores(f.Scores)
	return append(entries, scores...), err
}

// models returns the number of model files. They come first; the others are data. The first file is a model unless there are scores.
func (f EntryFiles) models() (n int, err error) {
	last := len(f.Files) - 1
	for n < last && (model.IsFile(f.Files[n]) || n == 0 && len(f.Scores) == 0) {
		n++
	}
	for _, path := range f.Files[n:] {
		if model.IsFile(path) {
			return 0, &diag.Error{Kind: diag.Usage, Found: diag.Quote(path) + ", a model among the data",
				Expected: "the models first, then the data"}
		}
	}
	return n, nil
}

// entryNames returns the base names of files without ".json", or their paths where these are not all different.
func entryNames(paths []string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = strings.TrimSuffix(filepath.Base(path), ".json")
		if slices.Contains(names[:i], names[i]) {
			return paths
		}
	}
	return names
}

// ReadScores reads the entries of --scores NAME=FILE.
func ReadScores(list []string) ([]dataset.Entry, error) {
	var entries []dataset.Entry
	for _, arg := range list {
		name, path, found := strings.Cut(arg, "=")
		if !found || name == "" || path == "" {
			return nil, &diag.Error{Kind: diag.Usage, Param: "scores", Found: diag.Quote(arg), Expected: "NAME=FILE",
				Hint: "for example gbdt=gbdt.csv"}
		}
		if _, err := table.ColumnNames(path, schema.Format{}); err != nil { // before anything long starts
			return nil, err
		}
		entries = append(entries, dataset.Entry{Name: name, File: path})
	}
	return entries, nil
}
