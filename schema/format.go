// Package schema describes tables: the format of a file, the roles of its columns, and the schema of a
// training file. A model keeps that schema, so that later files are read the same way. The package holds
// plain data. Package table reads the files.
package schema

// Format describes how to read a file. The zero value detects everything except the label. Delimited text
// requires Label or LabelsFile. A column is given by its header or by its 1-based number in the file. If a
// header looks like a number, the header wins.
//
// Delimiter is an ASCII character or comma, semicolon, tab, pipe or blank. "" and "auto" detect it. Rows with
// equal values in the column Group are never split between parts of the data. Columns in Categorical may look
// like numbers.
type Format struct {
	Format      FileFormat `json:"format,omitempty"`      // how the file stores a table
	Delimiter   string     `json:"delimiter,omitempty"`   // separates fields
	Header      Header     `json:"header,omitempty"`      // whether the first row names the columns
	Label       string     `json:"label,omitempty"`       // the label's column, "first" or "last"
	LabelsFile  string     `json:"labels_file,omitempty"` // instead of Label: a file with one label per row
	Positive    []string   `json:"positive,omitempty"`    // positive labels; "!x": all except x
	Drop        []string   `json:"drop,omitempty"`        // columns to leave out; also ranges: "1-7,43"
	ID          []string   `json:"id,omitempty"`          // columns that identify a row
	Weight      string     `json:"weight,omitempty"`      // a column of importance weights
	Group       string     `json:"group,omitempty"`       // rows with equal values stay together
	Segment     string     `json:"segment,omitempty"`     // a column whose values may have separate thresholds
	Time        string     `json:"time,omitempty"`        // a column that orders the rows
	NoTime      bool       `json:"no_time,omitempty"`     // the rows have no time, although those of Like do
	Kept        []string   `json:"kept,omitempty"`        // columns to keep as text for breakdowns; features remain features
	Timezone    string     `json:"timezone,omitempty"`    // the zone of days, such as Europe/Prague; "": UTC
	FileColumn  string     `json:"file_column,omitempty"` // names the column of file names, for ID, Group, Segment and Time
	Decimal     string     `json:"decimal,omitempty"`     // the decimal mark of numbers in text, "." or ","; the other one may separate groups of three digits. "": a point, and no groups
	Missing     []string   `json:"missing,omitempty"`     // spellings of a missing value besides ""
	Categorical []string   `json:"categorical,omitempty"` // columns of categories
	Date        []string   `json:"date,omitempty"`        // columns of times: hour, weekday, day and seconds become features
	Address     []string   `json:"address,omitempty"`     // columns of IP addresses: their prefixes become features
	Numeric     []string   `json:"numeric,omitempty"`     // columns of numbers
	Width       int        `json:"width,omitempty"`       // LIBSVM: features; 0: the largest index
	Memory      int64      `json:"-"`                     // bytes that rows may take in memory, also those of a file that compresses unusually well; 0: half of the free memory

	schema *Schema // set by Like
}

// Like returns f for reading a file as the file of s was read. Columns, kinds, labels and missing values are
// those of s unless f sets them.
func (f Format) Like(s Schema) Format {
	f.schema = &s
	return f
}

// Schema returns the schema given to Like, or nil.
func (f Format) Schema() *Schema { return f.schema }

// FileFormat is the way in which a file stores a table.
type FileFormat string

const (
	AutoFormat FileFormat = ""       // detected from the content; also written "auto"
	CSV        FileFormat = "csv"    // delimited text with any delimiter
	LIBSVM     FileFormat = "libsvm" // sparse text: label index:value ...
	Packed     FileFormat = "packed" // what pack writes
	Parquet    FileFormat = "parquet"
	JSONLines  FileFormat = "jsonl" // an object a line; nested keys are joined by dots
)

// Header describes whether the first row of a file names the columns.
type Header string

const (
	AutoHeader Header = ""    // detected from the content; also written "auto"
	HasHeader  Header = "yes" // the first row has the names
	NoHeader   Header = "no"  // the first row is data
)
