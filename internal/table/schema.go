package table

// Schema is what a model keeps of its training file in order to read another file the same way.
type Schema struct {
	Format   string         `json:"format"`             // "csv", "libsvm" or "idx"
	Header   bool           `json:"header"`             // the columns had names; otherwise they are matched by number
	Width    int            `json:"width"`              // the number of columns of the file; for LIBSVM of features
	Columns  []SchemaColumn `json:"columns,omitempty"`  // the features in the order of the file; none for LIBSVM
	Label    *ColumnName    `json:"label,omitempty"`    // the label's column; nil when it has none of its own
	Positive []string       `json:"positive,omitempty"` // as in Options
	Missing  []string       `json:"missing,omitempty"`  // as in Options
	Others   []ColumnName   `json:"others,omitempty"`   // columns that are neither feature nor label
}

// ColumnName identifies a column: its name, which is the number in decimal when there is no header, and its 1-based
// number in the training file.
type ColumnName struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
}

// SchemaColumn is a feature of the training file.
type SchemaColumn struct {
	Name       string   `json:"name"`
	Number     int      `json:"number"`
	Kind       Kind     `json:"kind"`
	Dictionary []string `json:"dictionary,omitempty"` // Symbolic: the values in order of first appearance
}
