// Package simulate generates labelled data with a known truth, of any size, in constant memory.
//
// There are four kinds. detectors: scores of anomaly detectors on network traffic, like the paper's CTA and
// NetFlow sets (appendix "Description of CTA and NetFlow"), optionally with MLT noise. example: the example
// of the paper's Section 3. hepmass: 28 overlapping features like those of a particle search. gisette: 5,000
// sparse whole numbers, half of them probes. The file of each kind states its ground truth.
//
// The data are deterministic. Rows are generated in blocks of 1,024. A block depends only on the kind, the
// options and its number, so that blocks can be computed in any order on any number of processors. A longer
// file starts with the rows of a shorter one, except for example, whose outlier is the last row.
package simulate

import (
	"fmt"

	"toptau/diag"
	"toptau/threshold"
)

// Options describe the data. The zero value of each field is the kind's default. Fields that a kind does not
// use must be zero.
type Options struct {
	Kind      string         // "detectors", "example", "hepmass", "gisette"
	Rows      int            // 0: the kind's default
	Seed      uint64         // any
	Positives threshold.Rate // the expected fraction of positives; not for example
	Columns   int            // detectors, hepmass and gisette: the number of columns
	Types     int            // detectors: the number of attack types
	MLT       bool           // detectors: the noise of a training set, see detectors.go
	Attacks   bool           // detectors: add a column "attack" with the type, before the label
	Context   bool           // detectors: begin with columns flow, time, host and amount, see context.go
}

// Row is a generated row. The next call that fills the row overwrites Values.
type Row struct {
	Values   []float64
	Positive bool   // the label
	Attack   string // detectors: the attack type, also if MLT labels the row negative; "" for benign traffic
}

// Data describes simulated data, whose rows are computed on demand. It is safe for concurrent use.
type Data struct {
	options Options
	names   []string
	kind    kind
}

// kind generates the rows of a block, in order, from the block's stream of random numbers.
type kind interface {
	fill(r *source, index int, row *Row)
}

// Kinds returns all kinds in the order of the documentation.
func Kinds() []string { return []string{"detectors", "example", "hepmass", "gisette"} }

// New checks the options and returns the data. Its errors are of kind diag.Usage.
func New(o Options) (*Data, error) {
	var d *Data
	var err error
	switch o.Kind {
	case "detectors":
		d, err = newDetectors(o)
	case "example":
		d, err = newExample(o)
	case "hepmass":
		d, err = newHepmass(o)
	case "gisette":
		d, err = newGisette(o)
	default:
		unknown := diag.OneOf("", o.Kind, Kinds())
		unknown.Found = "the kind " + unknown.Found
		err = unknown
	}
	return d, err
}

// Rows returns the number of rows.
func (d *Data) Rows() int { return d.options.Rows }

// Names returns the columns in order, without the label.
func (d *Data) Names() []string { return d.names }

// Each calls visit for every row in order until it returns false. The row is valid until visit returns.
func (d *Data) Each(visit func(index int, row *Row) bool) {
	row := d.newRow()
	for block := range d.blocks() {
		r := d.source(block)
		for i := block * blockRows; i < min((block+1)*blockRows, d.options.Rows); i++ {
			d.kind.fill(r, i, row)
			if !visit(i, row) {
				return
			}
		}
	}
}

// blockRows is the number of rows that share a stream of random numbers.
const blockRows = 1024

func (d *Data) blocks() int { return (d.options.Rows + blockRows - 1) / blockRows }

func (d *Data) newRow() *Row { return &Row{Values: make([]float64, len(d.names))} }

// source returns the random numbers of a block.
func (d *Data) source(block int) *source {
	return newSource(d.options.Seed, kindNumber(d.options.Kind), uint64(block))
}

// kindNumber returns a number for each kind, so that kinds have different random numbers.
func kindNumber(name string) uint64 {
	for i, k := range Kinds() {
		if k == name {
			return uint64(i) + 1
		}
	}
	return 0
}

// wrong is the error of a parameter's value.
func wrong(param, found, expected string) error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: found, Expected: expected}
}

// maxRows bounds the rows, against mistyped numbers.
const maxRows = 1_000_000_000_000

// setRows sets the default and checks the range.
func (o *Options) setRows(standard, least int) error {
	if o.Rows == 0 {
		o.Rows = standard
	}
	if o.Rows < least || o.Rows > maxRows {
		return wrong("rows", fmt.Sprint(o.Rows), fmt.Sprintf("a number from %d to %d", least, int64(maxRows)))
	}
	return nil
}

// setColumns sets the default and checks the range.
func (o *Options) setColumns(standard, least, most int) error {
	if o.Columns == 0 {
		o.Columns = standard
	}
	if o.Columns < least || o.Columns > most {
		return wrong("columns", fmt.Sprint(o.Columns), fmt.Sprintf("a number from %d to %d", least, most))
	}
	return nil
}

// setPositives sets the default.
func (o *Options) setPositives(standard string) {
	if o.Positives.IsZero() {
		o.Positives = threshold.MustRate(standard)
	}
}

// onlyDetectors refuses the options of detectors for another kind.
func (o *Options) onlyDetectors() error {
	if o.Types != 0 || o.MLT || o.Attacks || o.Context {
		return &diag.Error{Kind: diag.Usage, Found: "attack types or MLT noise for " + o.Kind,
			Expected: "these only for detectors"}
	}
	return nil
}

// numbered returns prefix1 ... prefixN.
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i+1)
	}
	return names
}
