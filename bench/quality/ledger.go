package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"

	"toptau/internal/data/atomicfile"
)

// ledger is a CSV file of results. A result is written as soon as it is computed, so a campaign continues after interruptions and on other
// machines. One process at a time writes it.
type ledger[T any] struct {
	path    string
	columns []column[T]
	list    []*T
}

// column is where a result has the value of a column of a ledger: a pointer to a text, a number or a bool. Decimals have six digits.
type column[T any] struct {
	name string
	of   func(r *T) any
}

// openLedger reads a file, which need not exist.
func openLedger[T any](path string, columns []column[T]) (*ledger[T], error) {
	l := &ledger[T]{path: path, columns: columns}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], l.head()) {
		return nil, fmt.Errorf("%s does not begin with the columns %v", path, l.head())
	}
	for i, line := range lines[1:] {
		r := new(T)
		for k, c := range columns {
			if err := setValue(c.of(r), line[k]); err != nil {
				return nil, fmt.Errorf("%s, result %d, %s: %w", path, i+1, c.name, err)
			}
		}
		l.list = append(l.list, r)
	}
	return l, nil
}

func (l *ledger[T]) head() (names []string) {
	for _, c := range l.columns {
		names = append(names, c.name)
	}
	return names
}

// find returns the result that is, nil if there is none.
func (l *ledger[T]) find(is func(r *T) bool) *T {
	if i := slices.IndexFunc(l.list, is); i >= 0 {
		return l.list[i]
	}
	return nil
}

// put adds results in the place of those that they replace, and writes the file.
func (l *ledger[T]) put(replaced func(r *T) bool, results ...*T) error {
	l.list = append(slices.DeleteFunc(l.list, replaced), results...)
	lines := [][]string{l.head()}
	for _, r := range l.list {
		var line []string
		for _, c := range l.columns {
			line = append(line, valueText(c.of(r)))
		}
		lines = append(lines, line)
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(lines); err != nil {
		return err
	}
	return atomicfile.Write(l.path, b.Bytes())
}

func setValue(to any, field string) error {
	if text, is := to.(*string); is {
		*text = field
		return nil
	}
	_, err := fmt.Sscan(field, to)
	return err
}

func valueText(of any) string {
	if x, decimal := of.(*float64); decimal {
		return strconv.FormatFloat(*x, 'g', 6, 64)
	}
	return fmt.Sprint(reflect.ValueOf(of).Elem())
}
