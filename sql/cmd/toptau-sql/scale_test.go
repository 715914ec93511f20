package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"toptau/sql/servers"
)

// TestScale trains on two servers of ClickHouse and on a packed file of the same rows, and measures both models on fresh rows. It runs if
// TOPTAU_SQL_ROWS is the number of rows; TOPTAU is the command toptau. docs/results/sql.md has its output for 20 million rows.
func TestScale(t *testing.T) {
	rows, _ := strconv.Atoi(os.Getenv("TOPTAU_SQL_ROWS"))
	if rows == 0 {
		t.Skip("TOPTAU_SQL_ROWS is not set: no run with many rows")
	}
	dir := t.TempDir()
	timed := func(what string, do func()) {
		begin := time.Now()
		do()
		t.Logf("%s: %.1f s", what, time.Since(begin).Seconds())
	}
	list := servers.ClickHouse(t, 2)
	all, fresh := gaussians("flows", rows, 1), gaussians("fresh", rows/4, 2)
	timed("load", func() {
		for i, s := range list {
			s.Load(t, all.Part(i, 2))
			s.Load(t, fresh.Part(i, 2))
		}
	})
	t.Log(list[0].Run(t, "SELECT count(), sum(label) FROM flows"))
	run := func(program string, args ...string) {
		c := exec.Command(program, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "FIRST="+list[0].ReadOnly, "SECOND="+list[1].ReadOnly)
		timed(fmt.Sprint(filepath.Base(program), " ", args), func() {
			out, err := c.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
		})
	}
	search := []string{"--label", "label", "--max-fpr", "0.1%", "--delta", "5%", "--method", "logistic,topmean-np,patmat-np", "--encoding", "raw", "--test-fraction", "20%"}
	table := func(name string) []string {
		return []string{"--dsn-env", "FIRST", "--dsn-env", "SECOND", "--table", name, "--key", "id"}
	}
	run("toptau-sql", append(append([]string{"train", "clickhouse:", "-o", "m.json"}, table("flows")...), search...)...)
	run("toptau-sql", append([]string{"evaluate", "m.json", "clickhouse:"}, table("fresh")...)...)

	program := os.Getenv("TOPTAU")
	if program == "" {
		return
	}
	timed("write CSV", func() {
		gaussianCSV(t, filepath.Join(dir, "flows.csv"), all)
		gaussianCSV(t, filepath.Join(dir, "fresh.csv"), fresh)
	})
	run(program, "pack", "flows.csv", "-o", "flows.ttp")
	os.Remove(filepath.Join(dir, "flows.csv"))
	run(program, append([]string{"train", "flows.ttp", "-o", "p.json", "--memory", "1000000000", "--drop", "id"}, search...)...)
	run(program, "evaluate", "p.json", "fresh.csv")
	run(program, "evaluate", "m.json", "fresh.csv")
}

// gaussians returns rows of 12 columns of floats, about 1 % positive. Four columns of the positives are 1.2 higher.
func gaussians(name string, rows int, seed uint64) servers.Table {
	label := func(row int) int64 {
		if uniform(seed, row, 0) < 0.01 {
			return 1
		}
		return 0
	}
	t := servers.Table{Name: name, Key: "id", Rows: rows, Columns: []servers.Column{
		{Name: "id", Integer: func(row int) int64 { return int64(row) }}, {Name: "label", Integer: label}}}
	for j := range 12 {
		t.Columns = append(t.Columns, servers.Column{Name: fmt.Sprintf("x%d", j+1), Single: true, Number: func(row int) float64 {
			sum := -2.0 // of four uniform numbers, with variance 1/3
			for k := range 4 {
				sum += uniform(seed, row, 1+4*j+k)
			}
			x := sum * math.Sqrt(3)
			if j < 4 && label(row) == 1 {
				x += 1.2
			}
			return math.Round(x*1e4) / 1e4
		}})
	}
	return t
}

// uniform returns a number from 0 to 1 that depends on its place alone.
func uniform(seed uint64, row, place int) float64 {
	x := seed<<56 ^ uint64(row)<<8 ^ uint64(place)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

// gaussianCSV writes the rows with float32 values.
func gaussianCSV(t *testing.T, path string, of servers.Table) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i, c := range of.Columns {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString(c.Name)
	}
	var b []byte
	for row := range of.Rows {
		b = append(b[:0], '\n')
		for i, c := range of.Columns {
			if i > 0 {
				b = append(b, ',')
			}
			if c.Integer != nil {
				b = strconv.AppendInt(b, c.Integer(row), 10)
			} else {
				b = strconv.AppendFloat(b, float64(float32(c.Number(row))), 'g', -1, 32)
			}
		}
		w.Write(b)
	}
	w.WriteByte('\n')
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
