package schema

// Schema describes the training file of a model, so that other files can be read the same way.
type Schema struct {
	Format   FileFormat `json:"format"`             // the file's format, never AutoFormat
	Header   bool       `json:"header"`             // match columns by name, otherwise by number
	Width    int        `json:"width"`              // number of columns in the file; LIBSVM: of features
	Columns  []Column   `json:"columns,omitempty"`  // feature columns in the order of the file; LIBSVM: none
	Label    *Name      `json:"label,omitempty"`    // the label's column, nil without one
	Positive []string   `json:"positive,omitempty"` // positive labels, as in Format
	// The most frequent values of the label, the most frequent first, and the number of rows with further values. Numbers are in their
	// shortest form. Empty: not known.
	Labels      []LabelCount `json:"labels,omitempty"`
	OtherLabels int          `json:"other_labels,omitempty"`
	Missing     []string     `json:"missing,omitempty"` // spellings of a missing value, as in Format
	Others      []Name       `json:"others,omitempty"`  // columns that are neither feature nor label

	// Roles of some of Others in the training file. Files that have these columns are read with the same roles,
	// unless a Format sets others.
	ID    []string `json:"id,omitempty"`    // columns that identify a row
	Group string   `json:"group,omitempty"` // rows with equal values stay together
	Time  string   `json:"time,omitempty"`  // orders the rows

	Timezone string `json:"timezone,omitempty"` // zone of the days; "": UTC
	Decimal  string `json:"decimal,omitempty"`  // the decimal mark of numbers in text, as in Format
}

// Sparse reports whether rows have features by index instead of columns.
func (s *Schema) Sparse() bool { return s.Format == LIBSVM }

// Name identifies a column.
type Name struct {
	Name   string `json:"name"`   // the header; without one, Number in decimal
	Number int    `json:"number"` // 1-based position in the training file
}

// Column is the column of a feature.
type Column struct {
	Name       string   `json:"name"`             // as in Name
	Number     int      `json:"number"`           // as in Name
	Kind       Kind     `json:"kind"`             // the kind of its values
	Part       Part     `json:"part,omitempty"`   // what the feature takes from a time or an address; "": the value itself
	Source     string   `json:"source,omitempty"` // with Part: the column's name in the file
	Origin     float64  `json:"origin,omitempty"` // with Part Seconds: what they count from, in seconds since 1970
	Salt       string   `json:"salt,omitempty"`   // Categorical: the model keeps hashes of its categories, made with this text
	Unit       string   `json:"unit,omitempty"`   // Numeric: % or a currency sign, which a number in text may have before or after it
	Dictionary []string `json:"-"`                // Categorical: the values with codes 0, 1, ...
	Unused     bool     `json:"-"`                // the model has no weight for it: a file may lack it, and its values are missing then
}

// Kind is the kind of a column's values.
type Kind string

const (
	Numeric     Kind = "numeric"
	Categorical Kind = "categorical"
)
