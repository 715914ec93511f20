// Package simulate makes labelled data with known truth, of any size, streaming.
//
// Four kinds. detectors: anomaly detectors on network traffic, shaped like the paper's CTA and NetFlow sets (appendix
// "Description of CTA and NetFlow"), with MLT noise on demand. example: the paper's Section 3. hepmass: 28 overlapping
// features like those of a particle search. gisette: 5,000 sparse whole numbers, half of them probes. Each kind's file
// states its ground truth.
//
// Deterministic. Rows come in blocks of 1,024; a block depends on the kind, the options and its number alone, so that
// blocks can be made in any order and on any number of processors, and a longer run starts with the rows of a shorter
// one (except example, whose outlier is the last row).
package simulate

import (
	"fmt"
	"strings"

	"toptau/diag"
	"toptau/threshold"
)

// Options say what to generate. The zero value of each field means the kind's default; a field that a kind does not use
// must stay zero.
type Options struct {
	Kind      string         // "detectors", "example", "hepmass", "gisette"
	Rows      int            // 0: the kind's default
	Seed      uint64         // any
	Positives threshold.Rate // expected share of positives; unused by example
	Columns   int            // detectors, hepmass and gisette
	Types     int            // detectors: attack types
	MLT       bool           // detectors: the noise of a training set, see detectors.go
	Attacks   bool           // detectors: a column "attack" with the type before the label
}

// Row is one generated sample. Values is reused by the next call that fills the row.
type Row struct {
	Values   []float64
	Positive bool   // the label
	Attack   string // detectors: the attack type, also of a row that MLT labels negative; "" for benign traffic
}

// Data is a simulated set: a description until rows are asked for. It is safe for concurrent use.
type Data struct {
	options Options
	names   []string
	kind    kind
}

// kind makes the rows of one block, each in order, from the block's stream of random numbers.
type kind interface {
	fill(r *source, index int, row *Row)
}

// Kinds lists the kinds in the order of the documentation.
func Kinds() []string { return []string{"detectors", "example", "hepmass", "gisette"} }

// New checks the options and returns the set. The error is of kind usage and names the flag.
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
		err = wrong("KIND "+diag.Quote(o.Kind), "one of "+strings.Join(Kinds(), ", "))
	}
	return d, err
}

// Options returns the options with every default filled in.
func (d *Data) Options() Options { return d.options }

// Rows is the number of rows.
func (d *Data) Rows() int { return d.options.Rows }

// Names are the columns in order, without the label.
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

// source is the stream of a block.
func (d *Data) source(block int) *source {
	return newSource(d.options.Seed, kindNumber(d.options.Kind), uint64(block))
}

// kindNumber keeps the streams of different kinds apart.
func kindNumber(name string) uint64 {
	for i, k := range Kinds() {
		if k == name {
			return uint64(i) + 1
		}
	}
	return 0
}

func wrong(found, expected string) error {
	return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected}
}

// maxRows bounds what a mistyped number can ask for.
const maxRows = 1_000_000_000_000

// setRows fills in the default and checks the range.
func (o *Options) setRows(standard, least int) error {
	if o.Rows == 0 {
		o.Rows = standard
	}
	if o.Rows < least || o.Rows > maxRows {
		return wrong(fmt.Sprintf("--rows %d", o.Rows), fmt.Sprintf("a number from %d to %d", least, int64(maxRows)))
	}
	return nil
}

// setColumns fills in the default and checks the range.
func (o *Options) setColumns(standard, least, most int) error {
	if o.Columns == 0 {
		o.Columns = standard
	}
	if o.Columns < least || o.Columns > most {
		return wrong(fmt.Sprintf("--columns %d", o.Columns), fmt.Sprintf("a number from %d to %d", least, most))
	}
	return nil
}

// setPositives fills in the default.
func (o *Options) setPositives(standard string) {
	if o.Positives.IsZero() {
		o.Positives = threshold.MustRate(standard)
	}
}

// onlyDetectors refuses the options of detectors for another kind.
func (o *Options) onlyDetectors() error {
	if o.Types != 0 || o.MLT || o.Attacks {
		return wrong("attack types or MLT noise for "+o.Kind, "them only for detectors")
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
