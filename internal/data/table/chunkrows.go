package table

// chunkRows holds the rows of a scanned chunk, column by column. Its memory is used again for the next chunk.
type chunkRows struct {
	count  int     // rows, without those of weight 0
	lines  int     // all lines, each of them a row
	stride int     // the distance of the columns in values
	line   []int32 // by row: its line in the chunk, from 0; nil if no row is left out
	labels symbols // of the label column
	tally  []*labelTally
	weight []float64

	values  []float64  // of the numeric features, column by column
	symbols []symbols  // of the categorical features
	texts   [][]string // of the columns that are kept as text
	raw     [][]string
	text    []string
	fields  []span // of the current row

	start   []int32 // LIBSVM: the end of the row's entries
	index   []uint32
	value   []float64
	numbers [128]float64 // LIBSVM: alternating indices and values, as kernel.Decimals returns them
	top     []int32      // LIBSVM: the row's largest index, from 1, within the training width

	beyond      int // LIBSVM: entries above the training width
	beyondFirst int // LIBSVM: the line of the first of them in the chunk, from 0

	taken  int // rows that were appended to a table
	passed int // lines before the next row that were counted as rows of weight 0
}

// lineOf returns the line of a row in the chunk, from 0.
func (p *chunkRows) lineOf(row int) int {
	if p.line == nil {
		return row
	}
	return int(p.line[row])
}

// classOf counts the label of a row and returns its class. It looks up each label of the chunk once, if
// labels counts it separately.
func (p *chunkRows) classOf(l *labels, text []byte, row int) Class {
	code := p.labels.codes[row]
	if code < 0 {
		return l.countMissing()
	}
	for len(p.tally) < len(p.labels.spans) {
		p.tally = append(p.tally, nil)
	}
	if t := p.tally[code]; t != nil {
		t.Count++
		l.countClass(t.class)
		return t.class
	}
	label := p.labels.spans[code].of(text)
	class := l.classOf(label)
	p.tally[code] = l.seen[string(label)]
	return class
}
