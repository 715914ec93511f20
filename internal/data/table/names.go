package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
)

// names resolves references to columns.
type names struct {
	file   string
	all    []string // by column; the number in decimal where there is no name
	header bool
	index  map[string]int
}

// newNames returns the names of width columns from the fields of the header. Without a header, or where a
// field is empty, the name is the column's number, after "column" if another column has that name.
func newNames(file string, header *row, width int) (*names, error) {
	n := &names{file: file, header: header != nil, index: make(map[string]int, width)}
	text := 0
	for i := range width {
		name := strconv.Itoa(i + 1)
		if header != nil && len(trimBlanks(header.fields[i])) > 0 {
			name = string(trimBlanks(header.fields[i]))
		} else if header != nil && slices.ContainsFunc(header.fields, func(f []byte) bool { return string(trimBlanks(f)) == name }) {
			name = "column " + name
		}
		if text += len(name); text > maxText {
			return nil, &diag.Error{Kind: diag.Data, File: file, Line: header.lineOf(i),
				Found:    "more than 16 MiB of column names",
				Expected: "shorter names", Hint: "check the quotes and the delimiter of the first line"}
		}
		if j, ok := n.index[name]; ok {
			return nil, &diag.Error{Kind: diag.Data, File: file, Line: header.lineOf(i),
				Found:    fmt.Sprintf("the name %s for columns %d and %d", diag.Quote(name), j+1, i+1),
				Expected: "different names",
				Fixes:    []diag.Fix{{Param: "header", Value: "no", When: "if the line is a row"}},
				Hint:     "otherwise rename one"}
		}
		n.all = append(n.all, name)
		n.index[name] = i
	}
	return n, nil
}

// find returns the column of a name, a 1-based number, "first" or "last", in this order.
func (n *names) find(ref string) (int, bool) {
	if i, ok := n.index[ref]; ok {
		return i, true
	}
	switch ref {
	case "first":
		return 0, len(n.all) > 0
	case "last":
		return len(n.all) - 1, len(n.all) > 0
	}
	i, err := strconv.Atoi(ref)
	return i - 1, err == nil && 1 <= i && i <= len(n.all)
}

// findOne returns the column that a parameter names, -1 if it is not set.
func (n *names) findOne(param, ref string) (int, error) {
	if ref == "" {
		return -1, nil
	}
	if i, ok := n.find(ref); ok {
		return i, nil
	}
	return -1, n.unknownColumn(param, ref)
}

// findAll returns the columns that a parameter names. Each element is a column or, if no column has that
// name, a list of columns and ranges of numbers, separated by commas.
func (n *names) findAll(param string, refs []string) ([]int, error) {
	var all []int
	for _, ref := range refs {
		if i, ok := n.find(ref); ok {
			all = append(all, i)
			continue
		}
		for _, part := range strings.Split(ref, ",") {
			part = strings.TrimSpace(part)
			if i, ok := n.find(part); ok {
				all = append(all, i)
				continue
			}
			first, last, ok := rangeOf(part)
			if !ok || last > len(n.all) {
				return nil, n.unknownColumn(param, part)
			}
			for i := first; i <= last; i++ {
				all = append(all, i-1)
			}
		}
	}
	return all, nil
}

// rangeOf parses a range such as "3-7".
func rangeOf(part string) (first, last int, ok bool) {
	a, b, found := strings.Cut(part, "-")
	first, errFirst := strconv.Atoi(a)
	last, errLast := strconv.Atoi(b)
	return first, last, found && errFirst == nil && errLast == nil && 1 <= first && first <= last
}

// unknownColumn is the error of a column that does not exist. It lists those that do and suggests the nearest
// name.
func (n *names) unknownColumn(param, ref string) *diag.Error {
	e := &diag.Error{Kind: diag.Data, File: n.file, Param: param, Found: diag.Quote(ref)}
	if !n.header {
		e.Expected = fmt.Sprintf("a column's number from 1 to %d", len(n.all))
		if strings.Trim(ref, "0123456789-") != "" {
			e.Fixes = []diag.Fix{{Param: "header", Value: "yes", When: "if line 1 names the columns"}}
			e.Hint = "no header was found"
		}
		return e
	}
	e.Expected = "one of the columns " + quotedList(n.all, 20)
	if near := text.Nearest(ref, n.all); near != "" {
		e.Hint = fmt.Sprintf("did you mean %s?", diag.Quote(near))
	}
	return e
}

// quotedList lists at most limit names.
func quotedList(all []string, limit int) string {
	shown := all
	if len(all) > limit {
		shown = all[:limit]
	}
	quoted := make([]string, len(shown))
	for i, s := range shown {
		quoted[i] = diag.Quote(s)
	}
	list := strings.Join(quoted, ", ")
	if len(all) > limit {
		list += fmt.Sprintf(" and %s more", text.Count(len(all)-limit))
	}
	return list
}
