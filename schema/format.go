// Package schema describes tables: the format of a file, the roles of its columns, and the schema that a
// model keeps of its training file, so that later files are read the same way. It is plain data. Package
// table reads the files.
package schema

// Format describes how a file is read. The zero value detects everything except the label, which formats
// without a fixed place for it require. A column is named by its header or its 1-based number in the file; a
// header's name wins over a number.
type Format struct {
	Format      FileFormat `json:"format,omitempty"`
	Delimiter   string     `json:"delimiter,omitempty"` // "" or "auto", one ASCII character, comma, semicolon, tab, pipe or blank
	Header      Header     `json:"header,omitempty"`
	Label       string     `json:"label,omitempty"`       // a column, "first" or "last"
	LabelsFile  string     `json:"labels_file,omitempty"` // a file with one label per row, instead of Label
	Positive    []string   `json:"positive,omitempty"`    // labels of the positive class, or all in the form "!x": every label but these
	Drop        []string   `json:"drop,omitempty"`        // columns that are not features; also lists and ranges: "1-7,43"
	ID          []string   `json:"id,omitempty"`          // columns that identify a row
	Weight      string     `json:"weight,omitempty"`      // a column of importance weights
	Group       string     `json:"group,omitempty"`       // a column whose equal values are never split between parts
	Segment     string     `json:"segment,omitempty"`     // a column whose values may have separate thresholds
	Time        string     `json:"time,omitempty"`        // a column that orders the rows
	Missing     []string   `json:"missing,omitempty"`     // spellings of a missing value, besides the empty field
	Categorical []string   `json:"categorical,omitempty"` // columns whose values are categories even if they look like numbers
	Numeric     []string   `json:"numeric,omitempty"`     // columns whose values are numbers
	Width       int        `json:"width,omitempty"`       // LIBSVM: the number of features; 0: the largest index in the file

	schema *Schema // see Like
}

// Like returns f for reading a file as the file of s was read: its columns, kinds, label and missing values apply where f sets
// nothing else.
func (f Format) Like(s Schema) Format {
	f.schema = &s
	return f
}

// Schema returns the schema of Like, nil without one.
func (f Format) Schema() *Schema { return f.schema }

// FileFormat is how a file stores a table. Package table has the list of all formats.
type FileFormat string

const (
	AutoFormat FileFormat = ""       // detected from the content; also written "auto"
	CSV        FileFormat = "csv"    // delimited text with any delimiter
	LIBSVM     FileFormat = "libsvm" // sparse text: label index:value ...
	IDX        FileFormat = "idx"    // images in the format of MNIST
)

// Header is whether the first row names the columns.
type Header string

const (
	AutoHeader Header = "" // detected from the content; also written "auto"
	HasHeader  Header = "yes"
	NoHeader   Header = "no"
)
