package table

import (
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"toptau/diag"
	"toptau/internal/core/parallel"
	"toptau/internal/core/text"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// columnFile is a file that stores a table column by column.
type columnFile interface {
	// described returns the columns, and whether they have names instead of numbers.
	described() ([]packed.Column, bool)
	// next returns the next rows with the columns that are used, valid until the following call; io.EOF at the end.
	next(used []bool) (*columnBlock, error)
	// rewind makes next return the first rows again.
	rewind()
	// consumed returns the bytes of the file so far.
	consumed() int64
}

// groupedFile is a columnFile whose rows form groups, in which columns can be read one after the other: whole files
// then need the memory of a few columns instead of that of a row of pages.
type groupedFile interface {
	columnFile
	// groupEnds reports whether the rows that next returned last are the end of a group.
	groupEnds() bool
	// readColumn calls do with the values of a column in that group, some rows at a time, and the number of the rows before them.
	// It may be called for several columns at the same time.
	readColumn(column int, do func(first, n int, values *blockColumn) error) error
}

// columnBlock is some rows of a columnFile.
type columnBlock struct {
	rows    int
	columns []blockColumn
}

// blockColumn is the values of a column in a block: numbers, or codes of a dictionary of the block.
type blockColumn struct {
	numbers    []float64 // finite, or NaN for a missing value
	codes      []int32   // -1: missing
	dictionary []string
}

// textOf returns a value as text, that of a number in its shortest form; "" if it is missing.
func (c *blockColumn) textOf(row int) string {
	if c.numbers == nil {
		if code := c.codes[row]; code >= 0 {
			return c.dictionary[code]
		}
		return ""
	}
	if v := c.numbers[row]; v == v {
		return text.Decimal(v)
	}
	return ""
}

// columnRows reads the rows of a columnFile.
type columnRows struct {
	*assembler
	file    columnFile
	columns []packed.Column
	used    []bool
	spelled []bool // by column: numbers of the file that are read as texts, with all digits
	block   *columnBlock
	taken   int // rows of block
	before  int // rows of the blocks before

	adjacent bool // all rows of the file become rows of one table, so that it needs no list of lines

	kept    []bool                  // by feature: its values stay in the file, and only its categories are read; nil: none
	classes []*labelTally           // by code of the label in block
	tallies map[float64]*labelTally // by label that is a number
	whole   [][]int32               // by feature: codes of block to those of the table, or unset
	parsed  [][]float64             // by feature: the number of a text of block
	numbers []float64               // the spellings of a missing value that are numbers

	idle  parallel.Spares[Column] // memory for a column of a group
	every atomic.Pointer[[]int]   // 0, 1, 2, ...; nil: not needed yet
}

// unset is a code of a block whose code in the table is not known yet.
const unset = -2

func newColumnRows(r *Reader, file columnFile) (*columnRows, error) {
	o := &r.options
	columns, named := file.described()
	if o.Header == schema.HasHeader && !named || o.Header == schema.NoHeader && named {
		return nil, &diag.Error{Kind: diag.Usage, Param: "header", Found: "with " + r.format.words, Expected: "no value: the file says whether its columns have names"}
	}
	var header *row
	if named {
		header = &row{line: 0}
		for _, c := range columns {
			header.fields = append(header.fields, []byte(c.Name))
		}
	}
	n, err := newNames(r.file, header, len(columns))
	if err != nil {
		return nil, err
	}
	s := &columnRows{file: file, columns: columns, used: make([]bool, len(columns)), spelled: make([]bool, len(columns)), tallies: map[float64]*labelTally{}}
	for k, c := range columns { // texts of the first block show times and addresses
		s.used[k] = c.Kind == packed.Texts && o.Schema == nil
	}
	if s.block, err = file.next(s.used); err != nil && err != io.EOF {
		return nil, err
	}
	counts := make([]kindCount, len(columns))
	for k := range columns {
		s.countKind(&counts[k], k, r)
	}
	if s.assembler, err = newAssembler(r, n, counts); err != nil {
		return nil, err
	}
	if err := checkTexts(r, s.roles, columns); err != nil {
		return nil, err
	}
	for _, text := range r.missing.all {
		if v, what := parseNumber([]byte(text)); what == number {
			s.numbers = append(s.numbers, v)
		}
	}
	s.markUsed()
	r.schema.Format = schema.CSV // for a model, the format is a table with columns
	s.whole, s.parsed = make([][]int32, len(s.roles.features)), make([][]float64, len(s.roles.features))
	return s, nil
}

// checkTexts refuses to take the texts of rows from numbers that have others, so that no two names become one.
func checkTexts(r *Reader, all *roles, columns []packed.Column) error {
	for _, c := range r.table.Kept {
		if columns[c.Number-1].Respelled {
			r.table.respelled = append(r.table.respelled, c.Name)
		}
	}
	for _, role := range []struct {
		param   string
		columns []int
	}{{"id", all.ids}, {"group", []int{all.group}}, {"segment", []int{all.segment}}} {
		for _, i := range role.columns {
			if i >= 0 && columns[i].Respelled {
				return Respelled(r.file, role.param, columns[i].Name)
			}
		}
	}
	return nil
}

// Respelled is the error of a parameter that needs the texts of a packed column of numbers that are not kept.
func Respelled(file, param, name string) error {
	return &diag.Error{Kind: diag.Data, File: file, Param: param, Found: diag.Quote(name) + ", whose packed numbers have lost their texts, such as 1.50",
		Expected: "texts or whole numbers", Hint: "pack the source again with this column as categorical"}
}

// consumed returns the bytes of the file so far.
func (s *columnRows) consumed() int64 { return s.file.consumed() }

// countKind describes a column as the first rows of a text file would. Texts that look like numbers stay categories in a packed file, unless it
// says that they are numbers, because pack has made numbers of all others; and in the names of folders, of which all decide.
func (s *columnRows) countKind(c *kindCount, column int, r *Reader) {
	source := &s.columns[column]
	if source.Kind == packed.Numbers {
		c.seen, c.numbers, c.exact = 1, 1, !source.Respelled
		return
	}
	if s.block != nil && s.used[column] {
		values := &s.block.columns[column]
		for _, code := range values.codes[:min(len(values.codes), r.policy.head)] {
			if code >= 0 {
				c.count([]byte(values.dictionary[code]), r.missing)
			}
		}
	}
	if source.Numeric {
		return
	}
	folder := column >= len(s.columns)-len(r.in.partitions)
	if c.asTexts = c.numbers; folder {
		c.asTexts = 0
	}
	if folder || r.format.name == schema.Packed {
		c.texts, c.numbers, c.commas, c.epochs, c.booleans = c.seen, 0, 0, 0, 0
	}
}

// markUsed marks the columns that have a role, and forgets the first block, which lacks some of them.
func (s *columnRows) markUsed() {
	clear(s.used)
	roles := s.roles
	one := []int{roles.label, roles.weight, roles.group, roles.segment, roles.time}
	for _, i := range slices.Concat(roles.features, roles.ids, roles.kept, one) {
		if i >= 0 {
			s.used[i] = true
		}
	}
	if s.reader.options.Raw {
		for i := range s.used {
			s.used[i] = true
		}
	}
	if f, ok := s.file.(interface{ asTexts(column int) }); ok {
		for i := range s.columns {
			if s.columns[i].Kind == packed.Numbers && s.onlyText(i) {
				f.asTexts(i)
				s.spelled[i] = true
			}
		}
		s.columns, _ = s.file.described()
	}
	s.file.rewind()
	s.block = nil
}

// onlyText reports whether a column is used, and only as text.
func (s *columnRows) onlyText(column int) bool {
	for k, i := range s.roles.features {
		if i == column && s.kinds[k] == schema.Numeric && s.derived[k].part == schema.Whole {
			return false
		}
	}
	return s.used[column] && column != s.roles.weight
}

// appendRows implements rowSource.
func (s *columnRows) appendRows(t *Table, limit int) error {
	if file, ok := s.file.(groupedFile); ok && limit == math.MaxInt {
		return s.appendGroups(t, file)
	}
	packer := packer{on: s.reader.packs}
	for t.Rows() < limit {
		if s.block == nil || s.taken == s.block.rows {
			if err := s.nextBlock(t, limit == math.MaxInt); err != nil {
				return err
			}
			continue
		}
		packer.pack(t)
		n := min(s.block.rows-s.taken, limit-t.Rows())
		if err := s.appendPart(t, s.taken, n); err != nil {
			return err
		}
		s.taken += n
	}
	return nil
}

// nextBlock reads the next block. If the whole file is read, it checks that the rest fits into memory.
func (s *columnRows) nextBlock(t *Table, whole bool) error {
	if s.block != nil {
		s.before += s.block.rows
	}
	if err := s.ended(); err != nil {
		return err
	}
	if whole && t.Rows() > 0 {
		if err := s.reader.outlook.check(t, t.Rows(), s.reader.in, s.file.consumed()+s.reader.in.before); err != nil {
			return err
		}
	}
	var err error
	s.block, s.taken = nil, 0
	if s.block, err = s.file.next(s.used); err != nil {
		return err
	}
	if i := s.roles.label; i >= 0 {
		s.classes = make([]*labelTally, len(s.block.columns[i].dictionary))
	}
	for k, i := range s.roles.features {
		if i < 0 {
			continue
		}
		if s.kept != nil && s.kept[k] {
			if err := s.keepCodes(&t.Columns[k], k, s.block.columns[i].dictionary); err != nil {
				return err
			}
			continue
		}
		s.forgetTexts(k, len(s.block.columns[i].dictionary))
	}
	return nil
}

// ended returns the error of the options' context.
func (s *columnRows) ended() error {
	if c := s.reader.options.Context; c != nil {
		return c.Err()
	}
	return nil
}

// forgetTexts prepares feature k for another dictionary, of n texts.
func (s *columnRows) forgetTexts(k, n int) {
	s.parsed[k] = nil
	if s.kinds[k] == schema.Categorical {
		s.whole[k] = slices.Grow(s.whole[k][:0], n)[:n]
		for code := range s.whole[k] {
			s.whole[k][code] = unset
		}
	}
}

// keepCodes keeps the codes of the texts of a block for a column that stays in the file.
func (s *columnRows) keepCodes(to *Column, k int, dictionary []string) error {
	if s.kinds[k] != schema.Categorical {
		return nil
	}
	codes := make([]int32, len(dictionary))
	for i, text := range dictionary {
		var err error
		if codes[i], err = s.codeOf(k, to, categoryText(s, k, text), s.before+1); err != nil {
			return err
		}
	}
	to.stored.codes = append(to.stored.codes, codes)
	return nil
}

// line returns the number of a row of the block, from 1 in the file.
func (s *columnRows) line(row int) int { return s.before + row + 1 }

// appendPart appends n rows of the block, from row first on.
func (s *columnRows) appendPart(t *Table, first, n int) error {
	rows, err := s.appendRoles(t, first, n)
	if err != nil {
		return err
	}
	for k, i := range s.roles.features {
		if s.kept != nil && s.kept[k] {
			continue
		}
		if i < 0 {
			t.Columns[k].appendMissing(len(rows))
			continue
		}
		if err := s.appendFeature(&t.Columns[k], k, &s.block.columns[i], rows, len(rows) == n, s.before); err != nil {
			return err
		}
	}
	return nil
}

// appendRoles appends everything but the features of n rows of the block, from row first on, and returns those of a weight
// above 0.
func (s *columnRows) appendRoles(t *Table, first, n int) ([]int, error) {
	rows, err := s.weigh(t, first, n)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		class, err := s.classOf(row)
		if err != nil {
			return nil, err
		}
		t.Label = append(t.Label, class)
		if !s.adjacent {
			t.Line = append(t.Line, s.line(row))
		}
	}
	if s.adjacent {
		t.first, t.adjacent = 1, len(t.Label)
	}
	s.appendTexts(t, rows)
	return rows, nil
}

// weigh appends the weights of rows and returns those of a weight above 0, in the block.
func (s *columnRows) weigh(t *Table, first, n int) (rows []int, err error) {
	k := s.roles.weight
	if k < 0 {
		return s.everyRow(first + n)[first:], nil
	}
	r := row{}
	for i := first; i < first+n; i++ {
		r.line = s.line(i)
		weight, err := s.weightAt(&s.block.columns[k], i, &r, k)
		if err != nil {
			return nil, err
		}
		if weight == 0 {
			if l := s.reader.labelsFile; l != nil {
				if _, err := l.nextFor(s.reader.file); err != nil {
					return nil, err
				}
			}
			s.zeroWeight++
			continue
		}
		t.Weight = append(t.Weight, weight)
		rows = append(rows, i)
	}
	return rows, nil
}

// weightAt returns the weight of a row of the block. Only a number that may be refused is spelled.
func (s *columnRows) weightAt(from *blockColumn, i int, r *row, column int) (float64, error) {
	if from.numbers != nil && s.numbers == nil && from.numbers[i] >= 0 {
		return from.numbers[i], nil
	}
	return s.checkWeight([]byte(from.textOf(i)), r, column)
}

// classOf counts the label of a row and returns its class.
func (s *columnRows) classOf(row int) (Class, error) {
	if l := s.reader.labelsFile; l != nil {
		label, err := l.nextFor(s.reader.file)
		if err != nil {
			return Unknown, err
		}
		return s.reader.countLabel(label), nil
	}
	k := s.roles.label
	if k < 0 {
		return s.reader.countLabel(nil), nil
	}
	c := &s.block.columns[k]
	var known *labelTally
	if c.numbers != nil {
		known = s.tallies[c.numbers[row]]
	} else if code := c.codes[row]; code >= 0 {
		known = s.classes[code]
	}
	if known != nil {
		return s.reader.labels.count(known), nil
	}
	label, err := s.checkLabel([]byte(c.textOf(row)), s.line(row))
	if err != nil || label == nil {
		return s.reader.countLabel(nil), err
	}
	tally := s.reader.labels.tallyOf(label)
	if c.numbers == nil {
		s.classes[c.codes[row]] = tally
	} else if len(s.tallies) < labelLimit {
		s.tallies[c.numbers[row]] = tally
	}
	return s.reader.labels.count(tally), nil
}

// appendFeature appends some rows of a column to a feature. before is the number of rows of the file before the column's;
// adjacent says that the rows follow each other.
func (s *columnRows) appendFeature(to *Column, k int, from *blockColumn, rows []int, adjacent bool, before int) error {
	switch {
	case len(rows) == 0:
		return nil
	case s.kinds[k] == schema.Categorical:
		for _, row := range rows {
			code, err := s.codeAt(k, to, from, row, before+row+1)
			if err != nil {
				return err
			}
			to.Codes = append(to.Codes, code)
		}
		return nil
	case from.numbers == nil || s.derived[k].part != schema.Whole:
		for _, row := range rows {
			v, err := s.numberAt(k, from, row, before+row+1)
			if err != nil {
				return err
			}
			to.Values = append(to.Values, v)
		}
		return nil
	case adjacent && s.numbers == nil:
		to.Values = append(to.Values, from.numbers[rows[0]:rows[0]+len(rows)]...)
		return nil
	}
	for _, row := range rows {
		v := from.numbers[row]
		if slices.Contains(s.numbers, v) {
			v = math.NaN()
		}
		to.Values = append(to.Values, v)
	}
	return nil
}

// appendMissing appends missing values.
func (c *Column) appendMissing(n int) {
	for range n {
		if c.Kind == schema.Categorical {
			c.Codes = append(c.Codes, -1)
		} else {
			c.Values = append(c.Values, missingNumber)
		}
	}
}

// codeAt returns the code of a row, which has a line, in the dictionary of a categorical feature.
func (s *columnRows) codeAt(k int, to *Column, from *blockColumn, row, line int) (int32, error) {
	if from.numbers != nil {
		return s.codeOf(k, to, s.numberText(k, []byte(from.textOf(row))), line)
	}
	code := from.codes[row]
	if code < 0 {
		return -1, nil
	}
	if s.whole[k][code] == unset {
		whole, err := s.codeOf(k, to, categoryText(s, k, from.dictionary[code]), line)
		if err != nil {
			return 0, err
		}
		s.whole[k][code] = whole
	}
	return s.whole[k][code], nil
}

// categoryText returns the text of a category of feature k from a dictionary, which may be that of a column of numbers.
func categoryText(s *columnRows, k int, text string) []byte {
	if s.spelled[s.roles.features[k]] {
		return s.numberText(k, []byte(text))
	}
	return []byte(text)
}

// numberAt returns the number that a text in a line stands for, or what a feature takes from a time.
func (s *columnRows) numberAt(k int, from *blockColumn, i, line int) (float64, error) {
	code := int32(-1)
	if from.numbers == nil {
		if code = from.codes[i]; code < 0 {
			return math.NaN(), nil
		}
		if s.parsed[k] == nil {
			s.parsed[k] = make([]float64, len(from.dictionary))
			for c := range s.parsed[k] {
				s.parsed[k][c] = math.Inf(1) // not parsed yet
			}
		}
		if v := s.parsed[k][code]; !math.IsInf(v, 1) {
			return v, nil
		}
	}
	v, err := s.numberOf(k, &row{line: line}, []byte(from.textOf(i)))
	if err == nil && code >= 0 {
		s.parsed[k][code] = v
	}
	return v, err
}

// appendTexts appends the columns that are kept as text.
func (s *columnRows) appendTexts(t *Table, rows []int) {
	keep := func(text *Text, column int, cut string) {
		from := &s.block.columns[column]
		for _, row := range rows {
			text.Values = append(text.Values, strings.Trim(from.textOf(row), cut))
		}
	}
	for k, i := range s.roles.ids {
		keep(&t.ID[k], i, "")
	}
	for _, c := range []struct {
		text   *Text
		column int
	}{{t.Group, s.roles.group}, {t.Segment, s.roles.segment}, {t.Time, s.roles.time}} {
		if c.text != nil && c.column >= 0 {
			keep(c.text, c.column, blanks)
		}
	}
	for k, i := range s.roles.kept {
		keep(&t.Kept[k], i, "")
	}
	if !s.reader.options.Raw {
		return
	}
	for _, row := range rows {
		fields := make([]string, len(s.columns))
		for i := range fields {
			fields[i] = s.block.columns[i].textOf(row)
		}
		t.Raw = append(t.Raw, fields)
	}
}

// openAgain opens the reader's file for a format whose end is read first, which a stream does not have.
func openAgain[F any](r *Reader, open func(*os.File) (F, error)) (F, error) {
	var none F
	if !r.in.regular || r.in.compression != "" || r.file == "-" {
		return none, &diag.Error{Kind: diag.Usage, File: r.file, Found: r.format.words + " as a stream",
			Expected: "a path: its end is read first"}
	}
	file, err := OpenFile(r.file)
	if err != nil {
		return none, err
	}
	return open(file)
}
