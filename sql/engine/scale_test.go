package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/large"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/schema"
	"toptau/sql/engine"
	"toptau/sql/scan"
	"toptau/sql/servers"
	"toptau/threshold"
)

// scaleColumns is the number of columns of the rows that are measured.
const scaleColumns = 28

// scaleHash spreads the number of a row and of a column (the finaliser of SplitMix64).
func scaleHash(row, column int) uint64 {
	x := uint64(row*64+column+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// scaleValue is the value of a column: a sum of four uniform numbers of 16 bits, which is nearly normal with deviation 1. The first
// columns of positives are larger.
func scaleValue(row, column int) float64 {
	x := scaleHash(row, column)
	sum := x&0xffff + x>>16&0xffff + x>>32&0xffff + x>>48
	z := (float64(sum)/65536 - 2) * math.Sqrt(3)
	if column < 6 {
		z += 1.5 * float64(scaleLabel(row))
	}
	return float64(float32(z))
}

// scaleLabel is 1 for one row of 200.
func scaleLabel(row int) int64 {
	if scaleHash(row, scaleColumns)%200 == 0 {
		return 1
	}
	return 0
}

// scaleTable has some of the rows.
func scaleTable(rows int) servers.Table {
	t := servers.Table{Name: "events", Key: "k", Rows: rows, Columns: []servers.Column{
		{Name: "k", Integer: func(row int) int64 { return int64(row) }}, {Name: "y", Integer: scaleLabel}}}
	for j := range scaleColumns {
		t.Columns = append(t.Columns, servers.Column{Name: fmt.Sprintf("c%d", j+1), Single: true,
			Number: func(row int) float64 { return scaleValue(row, j) }})
	}
	return t
}

// recorder writes a line for each statement: what was read, and what it cost.
type recorder struct {
	scan.Conn
	server *servers.Server
	note   func(answer int, text int, wall, cpu float64, kind string)
}

func (r *recorder) Query(ctx context.Context, statement string, dest []any, each func() error) error {
	rows, cpu, begin := 0, r.server.CPU(), time.Now()
	err := r.Conn.Query(ctx, statement, dest, func() error { rows++; return each() })
	kind := "other"
	if strings.Contains(statement, "toptau_s") {
		kind = "scan"
	}
	r.note(rows*len(dest), len(statement), time.Since(begin).Seconds(), r.server.CPU()-cpu, kind)
	return err
}

// TestScaleMeasurements measures every statement of fits for the cost model of docs/design/scale.md. TOPTAU_SCALE is the file of
// measurements, to which it appends; TOPTAU_SCALE_ROWS the largest number of rows. With TOPTAU_SCALE_ENGINE one engine alone is measured
// at that size. 10 million rows take a quarter of an hour and 4 GB of disk.
func TestScaleMeasurements(t *testing.T) {
	out := os.Getenv("TOPTAU_SCALE")
	if out == "" {
		t.Skip("TOPTAU_SCALE is not set: the file for measurements of statements")
	}
	most, err := strconv.Atoi(os.Getenv("TOPTAU_SCALE_ROWS"))
	if err != nil {
		most = 100_000
	}
	_, missing := os.Stat(out)
	file, err := os.OpenFile(out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if missing != nil {
		fmt.Fprintln(file, "engine,shards,rows,columns,kind,answer_cells,text_bytes,wall_seconds,cpu_seconds")
	}
	for rows := 100_000; rows <= most; rows *= 10 {
		if os.Getenv("TOPTAU_SCALE_ENGINE") != "" && rows < most {
			continue // one engine at one size
		}
		for _, name := range []string{"packed", "postgres", "clickhouse"} {
			if only := os.Getenv("TOPTAU_SCALE_ENGINE"); only != "" && only != name {
				continue
			}
			t.Run(fmt.Sprint(name, " ", rows), func(t *testing.T) {
				switch name {
				case "packed":
					measurePacked(t, file, rows)
				case "postgres":
					s := servers.Postgres(t, servers.PostgresOptions{Settings: []string{"shared_buffers = 2GB", "max_wal_size = 4GB",
						"max_parallel_workers_per_gather = 0"}})
					s.Load(t, scaleTable(rows))
					s.Run(t, "VACUUM ANALYZE events")
					measureSQL(t, file, name, rows, s)
				case "clickhouse":
					list := servers.ClickHouse(t, 2)
					for i, s := range list {
						s.Load(t, scaleTable(rows).Part(i, 2))
					}
					measureSQL(t, file, name, rows, list...)
					one := scaleTable(rows).Part(1, 2)
					one.Name = "other_half"
					list[0].Load(t, one)
					list[0].Run(t, "INSERT INTO events SELECT * FROM other_half")
					list[0].Run(t, "DROP TABLE other_half")
					list[0].Run(t, "OPTIMIZE TABLE events")
					measureSQL(t, file, name, rows, list[0])
				}
			})
		}
	}
}

// scaleProblem is what is solved on all sizes.
func scaleProblem(t testing.TB) method.Problem {
	p, err := method.Problem{Method: method.TopMeanNP, Lambda: 1e-4, Tau: threshold.MustRate("0.1%")}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// droppedColumns are those beyond a number of columns.
func droppedColumns(columns int) (names []string) {
	for j := columns; j < scaleColumns; j++ {
		names = append(names, fmt.Sprintf("c%d", j+1))
	}
	return names
}

func measureSQL(t *testing.T, file *os.File, name string, rows int, list ...*servers.Server) {
	ctx := context.Background()
	var o engine.Options
	for _, s := range list {
		o.DSN = append(o.DSN, s.ReadOnly)
	}
	for _, columns := range []int{7, scaleColumns} {
		e, err := engine.Open(ctx, name, o)
		if err != nil {
			t.Fatal(err)
		}
		var mutex sync.Mutex
		shards := make([]scan.Conn, len(list))
		for i := range list {
			shards[i] = &recorder{e.Shards[i], list[i], func(answer, text int, wall, cpu float64, kind string) {
				mutex.Lock()
				defer mutex.Unlock()
				fmt.Fprintf(file, "%s,%d,%d,%d,%s,%d,%d,%.4f,%.2f\n", name, len(list), rows, columns, kind, answer, text, wall, cpu)
			}}
		}
		begin := time.Now()
		data, err := scan.Open(ctx, e.Dialect, shards, scan.Table{Name: []string{"events"}, Key: "k", Label: "y", Drop: droppedColumns(columns)})
		if err != nil {
			t.Fatal(err)
		}
		sample, err := data.Sample(ctx, large.All(), 100_000)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := feature.Fit(sample.Table, data.Schema(), nil, feature.Options{})
		if err != nil {
			t.Fatal(err)
		}
		prepared := time.Since(begin)
		got := fit(t, e, data, m, scaleProblem(t), 1e-6)
		t.Logf("%s, %d servers, %d rows x %d: %.1f s until the solve; %s", name, len(list), rows, columns, prepared.Seconds(), got.String())
		if !got.Converged {
			t.Error("not converged")
		}
		fmt.Fprintf(file, "%s,%d,%d,%d,done,0,0,0,0\n", name, len(list), rows, columns)
		e.Close()
	}
}

// timedSource notes the time of each pass.
type timedSource struct {
	certified.Source
	note func(wall, cpu float64)
}

func (s timedSource) Scan(ctx context.Context, q []certified.Query) ([]certified.Answer, error) {
	begin, cpu := time.Now(), ownCPU()
	a, err := s.Source.Scan(ctx, q)
	s.note(time.Since(begin).Seconds(), ownCPU()-cpu)
	return a, err
}

// ownCPU returns the processor seconds of this process.
func ownCPU() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func measurePacked(t *testing.T, file *os.File, rows int) {
	ctx := context.Background()
	dir := t.TempDir()
	text, packed := filepath.Join(dir, "events.csv"), filepath.Join(dir, "events.ttp")
	writeScaleCSV(t, text, rows)
	files, err := table.OpenFiles(text)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, err := table.Pack(files, packed, table.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	files.Close()
	os.Remove(text)
	t.Logf("packed %d rows in %.1f s", rows, time.Since(begin).Seconds())
	for _, columns := range []int{7, scaleColumns} {
		reader, err := table.Open(packed, table.Options{Packed: true, Format: schema.Format{Label: "y", Drop: droppedColumns(columns)}})
		if err != nil {
			t.Fatal(err)
		}
		data, info, err := reader.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if !data.InFile() {
			t.Fatal("the columns are in memory")
		}
		all := large.OfTable(data, info.Schema, "events")
		sample, err := all.Sample(ctx, large.All(), 100_000)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := feature.Fit(sample.Table, info.Schema, nil, feature.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Matrix(sample.Table, nil, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		p := scaleProblem(t)
		source, err := all.Source(ctx, large.All(), m, matrix.Float32, p.Definition().Population)
		if err != nil {
			t.Fatal(err)
		}
		scans, wall := 0, 0.0
		got, err := certified.SolveSource(ctx, timedSource{source, func(seconds, cpu float64) {
			fmt.Fprintf(file, "packed,1,%d,%d,scan,0,0,%.4f,%.2f\n", rows, columns, seconds, cpu)
			scans, wall = scans+1, wall+seconds
		}}, p, certified.Options{Gap: 1e-6, Sample: x})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(file, "packed,1,%d,%d,done,0,0,0,0\n", rows, columns)
		t.Logf("packed, %d rows x %d: %d scans in %.1f s, converged %v", rows, columns, scans, wall, got.Converged)
	}
}

func writeScaleCSV(t testing.TB, path string, rows int) {
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	of := scaleTable(rows)
	for i, c := range of.Columns[1:] {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString(c.Name)
	}
	w.WriteByte('\n')
	var line []byte
	for row := range rows {
		line = strconv.AppendInt(line[:0], scaleLabel(row), 10)
		for j := range scaleColumns {
			line = strconv.AppendFloat(append(line, ','), scaleValue(row, j), 'g', -1, 32)
		}
		w.Write(append(line, '\n'))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
