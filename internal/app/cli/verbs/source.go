package verbs

import (
	"toptau/dataset"
	"toptau/internal/app/cli"
	"toptau/measure"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Source are the flags and arguments that name the labelled rows of a verb: files, or a table of a database. The same verbs work on
// both. Fields of a verb that a source cannot honour are hidden by the command (cli.App.Hidden).
type Source interface {
	// Named describes the rows before they are opened.
	Named() Named
	// Open opens the rows. The caller closes them.
	Open(s *cli.Session, use Use) (Rows, error)
}

// EntrySource names the rows and what is evaluated on them.
type EntrySource interface {
	Source
	// Entries loads the models and the scores of other programs. It may turn a file named in o into an entry.
	Entries(s *cli.Session, signed VerifyFlags, o *measure.Options) ([]dataset.Entry, error)
}

// CertifiedSource names the rows of a fit and the certificate about them.
type CertifiedSource interface {
	Source
	CertificateFile() (string, error)
}

// Named describes rows that are not yet open.
type Named struct {
	Given   bool   // rows were named; verbs may work without
	Date    string // the day on which they were last written; "": not known
	Segment string // the column of segments that a flag names
}

// Use is what a verb does with rows.
type Use struct {
	Verb   string
	Models []*model.Model // that the rows are for: they are read as the models' training rows were
	Impute schema.Impute  // of a verb that encodes the rows
	// InMemory is set if the verb reads all rows into memory: data that do not fit are not packed.
	InMemory bool

	Entity, Value string   // columns to read besides features, named by --entity and --value
	By            []string // and by --by
	Replace       string   // the operating point of the first model whose columns are read, too
}

// Rows are open rows.
type Rows interface {
	// Data returns the rows for the library.
	Data() *dataset.Data
	// Part reads further rows of the same columns from a file, nil if the path is "".
	Part(s *cli.Session, path string) (*dataset.Data, error)
	// Show shows the progress of the library.
	Show(now result.Progress)
	// Finish ends the display of progress. For rows of a database it checks that they are unchanged, and returns what was asked.
	Finish(s *cli.Session) (*result.Database, error)
	// Print prints what Finish returned.
	Print(s *cli.Session)
	Close()
}
