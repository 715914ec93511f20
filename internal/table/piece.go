package table

// piece is the rows of a chunk as a scan reads them, column by column. Its memory is used again for the next chunk.
type piece struct {
	rows   int     // without those of weight 0
	lines  int     // all lines, each of them a row
	stride int     // between the columns in values
	line   []int32 // by row: its line in the chunk, from 0; nil where no row is left out
	labels symbols // of the label column
	tally  []*labelTally
	weight []float64

	values  []float64  // of the numeric features, stride apart
	symbols []symbols  // of the categorical features
	texts   [][]string // of the columns that are kept as text
	raw     [][]string
	fields  []span // of the row that is being read

	start   []int32 // LIBSVM: where the row's entries end
	index   []uint32
	value   []float64
	numbers [128]float64 // space for indices and values in turns
	top     []int32      // LIBSVM: the row's largest index, from 1, that is not beyond the training width

	beyond      int // LIBSVM: entries above the training width
	beyondFirst int // the line of the first of them, from 0

	taken  int // rows that were handed on
	passed int // lines before the next row that were dealt with
}

// lineOf returns the line of a row, counted from the chunk's first, 0.
func (p *piece) lineOf(row int) int {
	if p.line == nil {
		return row
	}
	return int(p.line[row])
}

// classOf classifies the label of a row and counts it. A label that was met in this chunk, and that labels remembers,
// is not looked up again.
func (p *piece) classOf(l *labels, text []byte, row int) Class {
	code := p.labels.codes[row]
	if code < 0 {
		return l.missing()
	}
	for len(p.tally) < len(p.labels.spans) {
		p.tally = append(p.tally, nil)
	}
	if t := p.tally[code]; t != nil {
		t.Count++
		l.count(t.class)
		return t.class
	}
	label := p.labels.spans[code].of(text)
	class := l.classOf(label)
	p.tally[code] = l.seen[string(label)]
	return class
}
