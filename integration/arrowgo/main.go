// Command arrowgo prints the values of Parquet files as arrow-go reads them, in the form of scripts/parquet_values.py: a line of JSON for each path
// on standard input. It is a module of its own, because its library takes a minute and a half of processor time to compile.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

type column struct {
	Name   string    `json:"name"`
	Kind   string    `json:"kind"`
	Values []*string `json:"values"`
}

type content struct {
	File    string   `json:"file"`
	Error   string   `json:"error,omitempty"`
	Rows    int64    `json:"rows"`
	Columns []column `json:"columns"`
}

func main() {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := out.Encode(read(lines.Text())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// read reads the columns of a file that are not in lists.
func read(path string) (c content) {
	c.File = path
	defer func() {
		if e := recover(); e != nil {
			c.Error = fmt.Sprint("panic: ", e)
		}
	}()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		c.Error = err.Error()
		return c
	}
	defer f.Close()
	c.Rows = f.NumRows()
	for k := range f.MetaData().Schema.NumColumns() {
		s := f.MetaData().Schema.Column(k)
		if s.MaxRepetitionLevel() > 0 {
			continue
		}
		to := column{Name: s.Path(), Kind: kindOf(s)}
		for g := range f.NumRowGroups() {
			if err := to.add(f.RowGroup(g), k, s); err != nil {
				to.Kind, to.Values = "unread", nil
				break
			}
		}
		c.Columns = append(c.Columns, to)
	}
	return c
}

// kindOf returns the kind of a column. Times and everything of bytes are texts.
func kindOf(s *schema.Column) string {
	_, isDecimal := s.LogicalType().(schema.DecimalLogicalType)
	_, isHalf := s.LogicalType().(schema.Float16LogicalType)
	switch s.LogicalType().(type) {
	case schema.DateLogicalType, schema.TimeLogicalType, schema.TimestampLogicalType:
		return "text"
	}
	switch t := s.PhysicalType(); {
	case isDecimal:
		return "decimal"
	case t == parquet.Types.Boolean:
		return "bool"
	case t == parquet.Types.Int32 || t == parquet.Types.Int64:
		return "int"
	case isHalf || t == parquet.Types.Float || t == parquet.Types.Double:
		return "float"
	}
	return "text"
}

// add adds the values of a row group. The library panics at what it does not have.
func (c *column) add(g *file.RowGroupReader, k int, s *schema.Column) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v", e)
		}
	}()
	r, err := g.Column(k)
	if err != nil {
		return err
	}
	for range g.NumRows() {
		text, err := next(r, s)
		if err != nil {
			return err
		}
		if c.Values = append(c.Values, text); text != nil && c.Kind == "text" && !utf8.ValidString(*text) {
			c.Kind = "bytes"
		}
	}
	if c.Kind == "bytes" {
		c.Values = nil
	}
	return r.Err()
}

// one reads a value, whose bytes are valid until the next call.
func one[T any](read func(int64, []T, []int16, []int16) (int64, int, error), text func(T) string) (*string, error) {
	var v [1]T
	var level [1]int16
	total, n, err := read(1, v[:], level[:], nil)
	switch {
	case err != nil:
		return nil, err
	case total != 1:
		return nil, fmt.Errorf("fewer values than rows")
	case n == 0:
		return nil, nil
	}
	s := text(v[0])
	return &s, nil
}

func next(r file.ColumnChunkReader, s *schema.Column) (*string, error) {
	switch r := r.(type) {
	case *file.BooleanColumnChunkReader:
		return one(r.ReadBatch, func(v bool) string { return map[bool]string{false: "0", true: "1"}[v] })
	case *file.Int32ColumnChunkReader:
		return one(r.ReadBatch, func(v int32) string { return whole(int64(v), uint64(uint32(v)), s) })
	case *file.Int64ColumnChunkReader:
		return one(r.ReadBatch, func(v int64) string { return whole(v, uint64(v), s) })
	case *file.Int96ColumnChunkReader:
		return one(r.ReadBatch, julian)
	case *file.Float32ColumnChunkReader:
		return one(r.ReadBatch, func(v float32) string { return float(float64(v)) })
	case *file.Float64ColumnChunkReader:
		return one(r.ReadBatch, float)
	case *file.ByteArrayColumnChunkReader:
		return one(r.ReadBatch, func(v parquet.ByteArray) string { return array(v, s) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return one(r.ReadBatch, func(v parquet.FixedLenByteArray) string { return array(v, s) })
	}
	return nil, fmt.Errorf("a reader %T", r)
}

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var units = map[schema.TimeUnitType]int64{schema.TimeUnitMillis: 1e3, schema.TimeUnitMicros: 1e6, schema.TimeUnitNanos: 1e9}

const clock = "15:04:05.999999999"

func whole(v int64, unsigned uint64, s *schema.Column) string {
	switch l := s.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return scaled(big.NewInt(v), int(l.Scale()))
	case schema.DateLogicalType:
		return time.Unix(86400*v, 0).UTC().Format(time.DateOnly)
	case schema.TimeLogicalType:
		return moment(v, units[l.TimeUnit()]).Format(clock)
	case schema.TimestampLogicalType:
		text := moment(v, units[l.TimeUnit()]).Format("2006-01-02T" + clock)
		if l.IsAdjustedToUTC() {
			text += "Z"
		}
		return text
	case schema.IntLogicalType:
		if !l.IsSigned() {
			return strconv.FormatUint(unsigned, 10)
		}
	}
	return strconv.FormatInt(v, 10)
}

func moment(v, unit int64) time.Time { return time.Unix(v/unit, v%unit*(1e9/unit)).UTC() }

// julian returns a time of 96 bits. Beyond 9999 a writer has exceeded 64 bits of microseconds.
func julian(v parquet.Int96) string {
	at := time.Unix(86400*(int64(int32(binary.LittleEndian.Uint32(v[8:])))-2440588), int64(binary.LittleEndian.Uint64(v[:]))).UTC()
	if at.Year() < -9999 || at.Year() > 9999 {
		return "refused"
	}
	return at.Format("2006-01-02T" + clock)
}

// scaled returns a decimal.
func scaled(unscaled *big.Int, scale int) string {
	digits := new(big.Int).Abs(unscaled).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if unscaled.Sign() < 0 {
		digits = "-" + digits
	}
	return digits
}

func array(b []byte, s *schema.Column) string {
	switch l := s.LogicalType().(type) {
	case schema.DecimalLogicalType:
		v := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return scaled(v, int(l.Scale()))
	case schema.UUIDLogicalType:
		h := hex.EncodeToString(b)
		return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	case schema.Float16LogicalType:
		return float(half(binary.LittleEndian.Uint16(b)))
	}
	return string(b)
}
