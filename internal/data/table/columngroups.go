package table

import (
	"slices"

	"toptau/internal/core/parallel"
	"toptau/schema"
)

// columnsAtOnce is the number of columns after which the memory is checked. Chosen by hand.
const columnsAtOnce = 16

// rowGroup is a group of rows of a groupedFile that are in the table, except for their features.
type rowGroup struct {
	before int   // rows of the file before the group
	first  int   // its first row in the table
	rows   []int // those of a weight above 0, counted in the group; nil: all
	count  int   // rows in the table
	start  int64 // bytes of the file before the group
	bytes  int64 // its own
}

// appendGroups appends all rows, one group after the other: first the roles, then the features, column by column.
func (s *columnRows) appendGroups(t *Table, file groupedFile) error {
	if !s.reader.options.Raw {
		s.leaveOutFeatures()
	}
	for {
		g, err := s.appendGroupRoles(t, file)
		if err != nil {
			return err
		}
		if err := s.appendGroupFeatures(t, file, g); err != nil {
			return err
		}
	}
}

// leaveOutFeatures makes next read the columns alone that have another role than that of a feature.
func (s *columnRows) leaveOutFeatures() {
	clear(s.used)
	roles := s.roles
	for _, i := range slices.Concat(roles.ids, roles.kept, []int{roles.label, roles.weight, roles.group, roles.segment, roles.time}) {
		if i >= 0 {
			s.used[i] = true
		}
	}
}

// appendGroupRoles appends everything but the features of a group.
func (s *columnRows) appendGroupRoles(t *Table, file groupedFile) (*rowGroup, error) {
	g := &rowGroup{first: t.Rows(), start: file.consumed()}
	all := 0
	for first := true; first || !file.groupEnds(); first = false {
		if err := s.nextBlock(t, first); err != nil {
			return nil, err
		}
		if first {
			g.before = s.before
		}
		rows, err := s.appendRoles(t, 0, s.block.rows)
		if err != nil {
			return nil, err
		}
		if g.rows == nil && len(rows) < s.block.rows {
			g.rows = make([]int, all)
			for i := range g.rows {
				g.rows[i] = i
			}
		}
		if g.rows != nil {
			for _, row := range rows {
				g.rows = append(g.rows, all+row)
			}
		}
		all += s.block.rows
		if err := s.reader.in.checkExpansion(t.Rows(), t); err != nil {
			return nil, err
		}
	}
	g.count, g.bytes = t.Rows()-g.first, file.consumed()-g.start
	return g, nil
}

// appendGroupFeatures appends the features of a group. Categories share limits, so their columns are read one at a time.
func (s *columnRows) appendGroupFeatures(t *Table, file groupedFile, g *rowGroup) error {
	var numbers, categories []int
	for k, kind := range s.kinds {
		if kind == schema.Categorical {
			categories = append(categories, k)
		} else {
			numbers = append(numbers, k)
		}
	}
	done := 0
	for part := range slices.Chunk(numbers, columnsAtOnce) {
		if err := parallel.ForErr(len(part), func(i int) error { return s.appendColumn(&t.Columns[part[i]], part[i], file, g) }); err != nil {
			return err
		}
		if done += len(part); done == len(s.kinds) {
			return nil // nextBlock checks the memory
		}
		read := float64(done) / float64(len(s.kinds))
		if err := s.reader.outlook.check(t, g.first+int(read*float64(g.count)), s.reader.in, s.reader.in.before+g.start+int64(read*float64(g.bytes))); err != nil {
			return err
		}
	}
	for _, k := range categories {
		if err := s.appendColumn(&t.Columns[k], k, file, g); err != nil {
			return err
		}
	}
	return nil
}

// everyRow returns the rows from 0 to n - 1.
func (s *columnRows) everyRow(n int) []int {
	if known := s.every.Load(); known != nil && len(*known) >= n {
		return (*known)[:n:n]
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	s.every.Store(&rows)
	return rows
}

// appendColumn appends the rows of a group to feature k.
func (s *columnRows) appendColumn(to *Column, k int, file groupedFile, g *rowGroup) error {
	column := s.roles.features[k]
	if column < 0 {
		to.appendMissing(g.count)
		return nil
	}
	if s.reader.packs {
		space := s.idle.Take()
		if space == nil {
			space = &Column{}
		}
		exchange := func() {
			space.Values, space.Codes = append(space.Values[:0], to.Values...), append(space.Codes[:0], to.Codes...)
			to.Values, to.Codes, space.Values, space.Codes = space.Values, space.Codes, to.Values, to.Codes
		}
		exchange()
		defer func() { // only what is not packed yet stays with the column
			exchange()
			s.idle.Put(space)
		}()
	}
	left := g.rows
	return file.readColumn(column, func(first, n int, values *blockColumn) error {
		if err := s.ended(); err != nil {
			return err
		}
		rows := s.everyRow(n)
		if g.rows != nil {
			rows = nil
		}
		for len(left) > 0 && left[0] < first+n {
			rows, left = append(rows, left[0]-first), left[1:]
		}
		s.forgetTexts(k, len(values.dictionary))
		err := s.appendFeature(to, k, values, rows, len(rows) == n, g.before+first)
		if s.reader.packs {
			to.pack(false)
		}
		return err
	})
}
