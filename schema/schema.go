package schema

// Schema describes the training file of a model, so that other files can be read the same way.
type Schema struct {
	Format   FileFormat `json:"format"`             // how the training file was stored; never AutoFormat
	Header   bool       `json:"header"`             // columns are matched by name, otherwise by number
	Width    int        `json:"width"`              // columns of the training file; LIBSVM: features
	Columns  []Column   `json:"columns,omitempty"`  // the features in the order of the training file; none for LIBSVM
	Label    *Name      `json:"label,omitempty"`    // the label's column; nil if it has none
	Positive []string   `json:"positive,omitempty"` // as in Format
	Missing  []string   `json:"missing,omitempty"`  // as in Format
	Others   []Name     `json:"others,omitempty"`   // columns that are neither feature nor label
}

// Sparse reports whether the rows have features by index instead of columns.
func (s *Schema) Sparse() bool { return s.Format == LIBSVM }

// Name identifies a column: its header (without one, its number in decimal) and its 1-based number in the
// training file.
type Name struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
}

// Column is a feature's column.
type Column struct {
	Name       string   `json:"name"`
	Number     int      `json:"number"`
	Kind       Kind     `json:"kind"`
	Dictionary []string `json:"-"` // Categorical: the values with codes 0, 1, ...; readers always keep them
}

// Kind is the kind of a column's values.
type Kind string

const (
	Numeric     Kind = "numeric"
	Categorical Kind = "categorical"
)
