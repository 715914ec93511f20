package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"toptau/internal/data/table"
	"toptau/schema"
)

// exported describes the parts of a set for one seed, for gbdt.py. Each part has two more files: NAME.x with
// the values row by row as float32, and NAME.y with one byte per row, 1 for a positive.
type exported struct {
	Set         string `json:"set"`
	Seed        int    `json:"seed"`
	Columns     int    `json:"columns"`
	Categorical []int  `json:"categorical"` // 0-based columns that hold category numbers; NaN: not seen in training
	Train       int    `json:"train"`       // rows
	Test        int    `json:"test"`
	Digest      string `json:"digest"` // of the test file
}

// export writes the parts of a set for each seed, with the data as toptau reads them.
func (h *harness) export(s *set, dir string) error {
	for seed := 1; seed <= s.seeds; seed++ {
		p, err := h.read(s, seed)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, fmt.Sprintf("%s-%d", s.name, seed))
		e := exported{Set: s.name, Seed: seed, Train: p.train.Rows(), Test: p.test.Rows(), Categorical: []int{}}
		if e.Digest, err = digest(p.files.test); err != nil {
			return err
		}
		known := make([]int, len(p.train.Columns)) // categories of training
		for j := range p.train.Columns {
			if c := &p.train.Columns[j]; c.Kind == schema.Categorical {
				e.Categorical = append(e.Categorical, j)
				known[j] = len(c.Dictionary)
			}
		}
		e.Columns = len(p.train.Columns)
		if p.train.Sparse != nil {
			e.Columns = p.train.Sparse.Cols
		}
		for part, t := range map[string]*table.Table{"train": p.train, "test": p.test} {
			if err := exportPart(name+"."+part, t, e.Columns, known); err != nil {
				return err
			}
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name+".json", text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func exportPart(name string, t *table.Table, columns int, known []int) error {
	x, err := os.Create(name + ".x")
	if err != nil {
		return err
	}
	defer x.Close()
	w := bufio.NewWriterSize(x, 1<<20)
	row, y := make([]float32, columns), make([]byte, t.Rows())
	for i := range t.Rows() {
		if t.Label[i] == table.Positive {
			y[i] = 1
		}
		clear(row)
		if t.Sparse != nil {
			for k := t.Sparse.Start[i]; k < t.Sparse.Start[i+1]; k++ {
				if j := int(t.Sparse.Index[k]); j < columns {
					row[j] = float32(t.Sparse.Value[k])
				}
			}
		}
		for j := range t.Columns {
			row[j] = exportedValue(&t.Columns[j], i, known[j])
		}
		if err := binary.Write(w, binary.LittleEndian, row); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return os.WriteFile(name+".y", y, 0o644)
}

func exportedValue(c *table.Column, row, known int) float32 {
	if c.Kind != schema.Categorical {
		return float32(c.Values[row])
	}
	if code := int(c.Codes[row]); code >= 0 && code < known {
		return float32(code)
	}
	return float32(math.NaN())
}
