//go:build unix

// Command parquet measures how fast Parquet files are read, next to DuckDB and to text with the same values. It prints a table.
//
// A Python with pyarrow and duckdb writes the files and runs DuckDB. The command makes an environment for it.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"toptau/bench/machine"
	"toptau/internal/core/text"
	"toptau/internal/data/parquet"
	"toptau/internal/data/table"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 2_000_000, "rows of 28 columns")
	rounds := flag.Int("rounds", 5, "interleaved rounds; the fastest counts")
	only := flag.String("only", "", "measure the files whose name contains this")
	dir := flag.String("dir", "", "keep the files in this directory (default: a temporary one)")
	python := flag.String("python", "", "a Python with pyarrow and duckdb (default: a new environment)")
	output := flag.String("o", "", "write the table here, with the run; that of the verbs goes into a file next to it")
	program := flag.String("toptau", "../bin/toptau", "the program")
	flag.Parse()
	debug.SetGCPercent(10) // as in the program
	if err := run(*output, *program, *dir, *python, *only, *rows, *rounds); err != nil {
		log.Fatal(err)
	}
}

//go:embed engine.py
var enginePy []byte

// columns is the number of columns of every file.
const columns = 28

// files are what is read, with the words of the table.
var files = []struct{ name, words string }{
	{"required-none.parquet", "numbers, required, not compressed"},
	{"required-snappy.parquet", "numbers, required, snappy"},
	{"required-zstd.parquet", "numbers, required, zstd"},
	{"optional-none.parquet", "numbers, optional, not compressed"},
	{"optional-snappy.parquet", "numbers, optional, snappy"},
	{"optional-zstd.parquet", "numbers, optional, zstd"},
	{"missing-snappy.parquet", "numbers, 1 % missing, snappy"},
	{"dictionary-snappy.parquet", "numbers, optional, with a dictionary, snappy"},
	{"texts-snappy.parquet", "texts of 300 levels, with a dictionary, snappy"},
	{"numbers.csv", "the numbers as CSV"},
	{"texts.csv", "the texts as CSV"},
}

func run(output, program, dir, python, only string, rows, rounds int) error {
	scratch, err := os.MkdirTemp("", "parquet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if dir == "" {
		dir = scratch
	}
	script := filepath.Join(scratch, "engine.py")
	if err := os.WriteFile(script, enginePy, 0o644); err != nil {
		return err
	}
	if python == "" {
		if python, err = machine.NewPython(filepath.Join(scratch, "python"), "duckdb", "pyarrow", "numpy"); err != nil {
			fmt.Fprintf(os.Stderr, "skipped: no Python with pyarrow and duckdb (%v); give one with -python\n", err)
			return nil
		}
	}
	if _, err := os.Stat(filepath.Join(dir, labelled)); err != nil {
		write := exec.Command(python, script, "write", dir, fmt.Sprint(rows))
		write.Stderr = os.Stderr
		if err := write.Run(); err != nil {
			return fmt.Errorf("writing the files: %w", err)
		}
	}
	duck, err := startEngine(python, script)
	if err != nil {
		return err
	}
	defer duck.close()
	versions, err := exec.Command(python, "-c", "import duckdb, pyarrow; print('DuckDB', duckdb.__version__, 'and files of pyarrow', pyarrow.__version__)").Output()
	if err != nil {
		return err
	}
	about := machine.Description(string(versions)) + fmt.Sprintf(`%s rows of %d columns. Each reader adds up every column of numbers, or the lengths of the texts of every column: millions of values a second,
of processor time with one thread and of wall time with two. The fastest of %d interleaved rounds, with the file in the memory of the system.
"columns" is internal/data/parquet alone. "rows" is a stream of rows with roles, kinds and checks of the columns, and with the digest of the file,
which score leaves out. The last column divides our processor time by DuckDB's: that of "columns", or that of "rows" for CSV.
The texts as CSV are slow because a piece of text (256 kB) has 900 rows, in which most of the 300 levels of every column occur anew:
half of the time looks them up, an eighth computes the digest. Pieces of 1 MiB were no clear gain.`, text.Count(rows), columns, rounds)
	list := [][]string{{"file", "MB", "columns", "columns, two threads", "rows", "rows, two threads", "DuckDB", "DuckDB, two threads", "times DuckDB's time"}}
	for _, f := range files {
		if !strings.Contains(f.name, only) {
			continue
		}
		line, err := measure(duck, filepath.Join(dir, f.name), f.words, rows, rounds)
		if err != nil {
			return err
		}
		list = append(list, line)
	}
	const command = "make measure WHAT=parquet"
	if err := machine.WriteRun(output, command, about, list); err != nil || !strings.Contains(labelled, only) {
		return err
	}
	verbs, err := measureVerbs(program, duck, scratch, filepath.Join(dir, labelled), rounds)
	if err != nil {
		return err
	}
	return machine.WriteRun(strings.Replace(output, ".csv", "-verbs.csv", 1), command, machine.Description(string(versions))+verbNotes, verbs)
}

// cost is what a reading took.
type cost struct{ wall, processor time.Duration }

// reader reads a file with some threads, and returns the sum of all columns.
type reader func(path string, threads int) (sum float64, c cost, err error)

// measure returns the line of a file.
func measure(duck *engine, path, words string, rows, rounds int) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	csv := strings.HasSuffix(path, ".csv")
	readers := []reader{inProcess(readColumns), inProcess(readRows), duck.read}
	if csv {
		readers[0] = nil
	}
	best := make([][3]cost, len(readers)) // by threads
	sums := make([]float64, len(readers))
	for range rounds {
		for threads := 1; threads <= 2; threads++ {
			for k, read := range readers {
				if read == nil {
					continue
				}
				sum, c, err := read(path, threads)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", path, err)
				}
				sums[k] = sum
				b := &best[k][threads]
				if b.wall == 0 || c.wall < b.wall {
					b.wall = c.wall
				}
				if b.processor == 0 || c.processor < b.processor {
					b.processor = c.processor
				}
			}
		}
	}
	for k, sum := range sums { // in another order of additions
		if readers[k] != nil && math.Abs(sum-sums[2]) > 1e-6*(1+math.Abs(sums[2])) {
			return nil, fmt.Errorf("%s: the sum of reader %d is %v, DuckDB's %v", path, k, sum, sums[2])
		}
	}
	line := []string{words, fmt.Sprint(info.Size() / 1_000_000)}
	for k := range readers {
		if readers[k] == nil {
			line = append(line, "", "")
			continue
		}
		for _, d := range []time.Duration{best[k][1].processor, best[k][2].wall} {
			line = append(line, fmt.Sprintf("%.0f", float64(rows*columns)/d.Seconds()/1e6))
		}
	}
	ours := best[0][1].processor
	if csv {
		ours = best[1][1].processor
	}
	return append(line, fmt.Sprintf("%.2f", ours.Seconds()/best[2][1].processor.Seconds())), nil
}

// inProcess measures a reader in this process.
func inProcess(read func(path string) (float64, error)) reader {
	return func(path string, threads int) (float64, cost, error) {
		runtime.GC()
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		start, used := time.Now(), machine.ProcessorTime()
		sum, err := read(path)
		return sum, cost{time.Since(start), machine.ProcessorTime() - used}, err
	}
}

// readColumns reads a Parquet file column by column.
func readColumns(path string) (float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	f, err := parquet.New(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	list := f.Columns()
	forms, space, sums := make([]parquet.Form, len(list)), make([]parquet.Values, len(list)), make([]float64, len(list))
	for k := range list {
		forms[k] = list[k].Form
	}
	for {
		if _, err := f.Next(forms, space); errors.Is(err, io.EOF) {
			return total(sums), nil
		} else if err != nil {
			return 0, err
		}
		for k := range space {
			if forms[k] == parquet.Numbers {
				sums[k] += sumOf(space[k].Numbers)
			} else {
				sums[k] += lengthOf(space[k].Codes, space[k].Dictionary)
			}
		}
	}
}

// readRows reads a file as score does.
func readRows(path string) (float64, error) {
	files, err := table.OpenFiles(path)
	if err != nil {
		return 0, err
	}
	r, err := table.NewReader(path, files, table.Options{Unlabelled: true})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	sums := make([]float64, columns)
	for {
		t, err := r.Next(pieceRows)
		if errors.Is(err, io.EOF) {
			return total(sums), nil
		} else if err != nil {
			return 0, err
		}
		for k, c := range t.Columns {
			if c.Codes == nil {
				sums[k] += sumOf(c.Values)
			} else {
				sums[k] += lengthOf(c.Codes, c.Dictionary)
			}
		}
	}
}

// pieceRows is the number of rows that are read at a time, more than score reads: 4,096.
const pieceRows = 1 << 14

func sumOf(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		if v == v {
			sum += v
		}
	}
	return sum
}

// lengthOf returns the number of bytes of texts.
func lengthOf(codes []int32, dictionary []string) float64 {
	lengths := make([]int, len(dictionary)+1) // the first is that of a missing value
	for i, s := range dictionary {
		lengths[i+1] = len(s)
	}
	sum := 0
	for _, c := range codes {
		sum += lengths[c+1]
	}
	return float64(sum)
}

func total(sums []float64) float64 {
	sum := 0.0
	for _, s := range sums {
		sum += s
	}
	return sum
}

// engine is a Python process with DuckDB.
type engine struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     io.Reader
}

func startEngine(python, script string) (*engine, error) {
	e := &engine{process: exec.Command(python, script, "read")}
	e.process.Stderr = os.Stderr
	var err error
	if e.in, err = e.process.StdinPipe(); err != nil {
		return nil, err
	}
	if e.out, err = e.process.StdoutPipe(); err != nil {
		return nil, err
	}
	return e, e.process.Start()
}

func (e *engine) close() {
	e.in.Close()
	e.process.Wait()
}

// read is a reader.
func (e *engine) read(path string, threads int) (float64, cost, error) {
	numbers := !strings.Contains(filepath.Base(path), "texts")
	var terms, types []string
	for k := range columns {
		term, kind := fmt.Sprintf("sum(c%d)", k), "DOUBLE"
		if !numbers {
			term, kind = fmt.Sprintf("sum(strlen(c%d))", k), "VARCHAR"
		}
		terms, types = append(terms, term), append(types, fmt.Sprintf("'c%d': '%s'", k, kind))
	}
	from := "'" + path + "'"
	if strings.HasSuffix(path, ".csv") {
		from = fmt.Sprintf("read_csv(%s, header = true, auto_detect = false, columns = {%s})", from, strings.Join(types, ", "))
	}
	if _, err := fmt.Fprintf(e.in, "%d\tSELECT %s FROM %s\n", threads, strings.Join(terms, ", "), from); err != nil {
		return 0, cost{}, err
	}
	var wall, used, sum float64
	if _, err := fmt.Fscanln(e.out, &wall, &used, &sum); err != nil {
		return 0, cost{}, fmt.Errorf("DuckDB ended: %w", err)
	}
	return sum, cost{time.Duration(wall * 1e9), time.Duration(used * 1e9)}, nil
}
