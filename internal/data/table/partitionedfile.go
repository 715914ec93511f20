package table

import (
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/data/packed"
)

// partitionedFile is a columnFile with a constant column for each partition.
type partitionedFile struct {
	groupedFile
	partitions []partition
	texts      []bool // by partition
	block      columnBlock
	group      int // rows of the group so far
}

// withPartitions adds the partitions of the reader's file to its columns.
func withPartitions(r *Reader, file groupedFile) (columnFile, error) {
	list := r.in.partitions
	if len(list) == 0 {
		return file, nil
	}
	columns, _ := file.described()
	for i, p := range list {
		if slices.ContainsFunc(columns, func(c packed.Column) bool { return c.Name == p.key }) {
			return nil, &diag.Error{Kind: diag.Data, File: r.file, Column: p.key, Found: "a column of the file that its folder names, too",
				Expected: "one of both", Hint: "rename the folders or the column, or give the files themselves"}
		}
		if slices.ContainsFunc(list[:i], func(q partition) bool { return q.key == p.key }) {
			return nil, &diag.Error{Kind: diag.Data, File: r.file, Column: p.key, Found: "two folders with the key", Expected: "one"}
		}
	}
	s := &partitionedFile{groupedFile: file, partitions: list, texts: make([]bool, len(list))}
	for k, p := range list {
		s.texts[k] = !p.numeric
	}
	return s, nil
}

func (s *partitionedFile) described() ([]packed.Column, bool) {
	columns, named := s.groupedFile.described()
	columns = slices.Clone(columns)
	for k, p := range s.partitions {
		kind := packed.Numbers
		if s.texts[k] {
			kind = packed.Texts
		}
		columns = append(columns, packed.Column{Name: p.key, Kind: kind})
	}
	return columns, named
}

// asTexts implements what columnRows asks of files whose numbers can be read as texts.
func (s *partitionedFile) asTexts(column int) {
	columns, _ := s.groupedFile.described()
	if k := column - len(columns); k >= 0 {
		s.texts[k] = true
	} else if f, ok := s.groupedFile.(interface{ asTexts(column int) }); ok {
		f.asTexts(column)
	}
}

func (s *partitionedFile) rewind() {
	s.group = 0
	s.groupedFile.rewind()
}

func (s *partitionedFile) next(used []bool) (*columnBlock, error) {
	if s.group > 0 && s.groupEnds() {
		s.group = 0
	}
	n := len(used) - len(s.partitions)
	block, err := s.groupedFile.next(used[:n])
	if err != nil {
		return nil, err
	}
	s.group += block.rows
	s.block.rows, s.block.columns = block.rows, append(s.block.columns[:0], block.columns...)
	for k, p := range s.partitions {
		s.block.columns = append(s.block.columns, p.values(block.rows, s.texts[k]))
	}
	return &s.block, nil
}

func (s *partitionedFile) readColumn(column int, do func(first, n int, values *blockColumn) error) error {
	columns, _ := s.groupedFile.described()
	if column < len(columns) {
		return s.groupedFile.readColumn(column, do)
	}
	k := column - len(columns)
	for first := 0; first < s.group; first += constantRows {
		n := min(constantRows, s.group-first)
		c := s.partitions[k].values(n, s.texts[k])
		if err := do(first, n, &c); err != nil {
			return err
		}
	}
	return nil
}

// constantRows is the number of rows that readColumn repeats the value of a partition for. Chosen by hand.
const constantRows = 1 << 15

// values returns the value of the partition in some rows.
func (p *partition) values(rows int, asText bool) (c blockColumn) {
	if asText {
		c.codes = make([]int32, rows)
		c.dictionary = []string{p.value}
		if p.missing {
			c.codes, c.dictionary = slices.Repeat([]int32{-1}, rows), nil
		}
		return c
	}
	v := math.NaN()
	if !p.missing {
		v, _ = parseNumber([]byte(p.value))
	}
	c.numbers = slices.Repeat([]float64{v}, rows)
	return c
}
