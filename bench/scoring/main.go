//go:build unix

// Command scoring measures how fast files are scored, next to reading them alone, and how long a row of a stream
// waits. It prints two tables.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"toptau"
	"toptau/bench/machine"
	"toptau/dataset"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 300_000, "rows of the file that is scored")
	rounds := flag.Int("rounds", 7, "interleaved rounds; the fastest counts")
	slow := flag.Int("slow", 60, "rows that a slow writer writes, one a second")
	output := flag.String("o", "", "write the table of files here, with the run; that of streams goes into a file next to it")
	flag.Parse()
	dir, err := os.MkdirTemp("", "scoring-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := measure(*output, dir, *rows, *rounds, *slow); err != nil {
		log.Fatal(err)
	}
}

const command = "make measure WHAT=scoring"

func measure(output, dir string, rows, rounds, slow int) error {
	notes := machine.Description("") + fmt.Sprintf(`%d rows of "generate detectors" (34 numeric columns), read from a file in memory: rows a second of processor time of one thread, the
fastest of %d interleaved rounds. "read" parses the file for the same model and scores nothing. "score" yields the scored rows in Go, and
"score, CSV" is the command without its start. The last column is the time of "score" over that of "read".`, rows, rounds)
	table := [][]string{{"encoding", "weights", "read", "score", "score, CSV", "score / read"}}
	flows, later := filepath.Join(dir, "flows.csv"), filepath.Join(dir, "later.csv")
	if err := writeFlows(flows, 20_000, 1); err != nil {
		return err
	}
	if err := writeFlows(later, rows, 2); err != nil {
		return err
	}
	content, err := os.ReadFile(later)
	if err != nil {
		return err
	}
	models := map[schema.Encoding]*model.Model{}
	encodings := []schema.Encoding{schema.Raw, schema.Scorecard, schema.Boosted, schema.Leaves}
	for _, e := range encodings {
		if models[e], err = fit(flows, e); err != nil {
			return err
		}
	}
	best := map[string]time.Duration{}
	runtime.GOMAXPROCS(1)
	for range rounds {
		for _, e := range encodings {
			for _, way := range []string{"read", "score", "csv"} {
				begin := machine.ProcessorTime()
				if err := run(models[e], content, way); err != nil {
					return err
				}
				key, spent := string(e)+way, machine.ProcessorTime()-begin
				if known, found := best[key]; !found || spent < known {
					best[key] = spent
				}
			}
		}
	}
	runtime.GOMAXPROCS(runtime.NumCPU())
	rate := func(d time.Duration) string { return fmt.Sprintf("%.0f", float64(rows)/d.Seconds()) }
	for _, e := range encodings {
		read, score, csv := best[string(e)+"read"], best[string(e)+"score"], best[string(e)+"csv"]
		table = append(table, []string{string(e), fmt.Sprint(models[e].Len()), rate(read), rate(score), rate(csv), fmt.Sprintf("%.2f", score.Seconds()/read.Seconds())})
	}
	if err := machine.WriteRun(output, command, notes, table); err != nil {
		return err
	}
	return measureLatency(strings.Replace(output, ".csv", "-streams.csv", 1), dir, models[schema.Raw], content, slow)
}

func fit(path string, e schema.Encoding) (*model.Model, error) {
	d, err := dataset.Read(context.Background(), path, schema.Format{Label: "label"})
	if err != nil {
		return nil, err
	}
	trained, err := toptau.Train(context.Background(), d, toptau.MaxFPR("1%"), toptau.TrainOptions{
		Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{e}})
	if err != nil {
		return nil, err
	}
	return trained.Model, nil
}

func writeFlows(path string, rows int, seed uint64) error {
	data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: rows, Seed: seed, Positives: threshold.MustRate("5%")})
	if err != nil {
		return err
	}
	return data.WriteFile(context.Background(), path)
}

// memoryFile is a file in memory. Like a regular file it never waits.
type memoryFile struct {
	*bytes.Reader
	info os.FileInfo
}

func (f *memoryFile) Stat() (os.FileInfo, error) { return f.info, nil }

func run(m *model.Model, content []byte, way string) error {
	self, err := os.Stat(os.Args[0])
	if err != nil {
		return err
	}
	in := &memoryFile{bytes.NewReader(content), self}
	if way == "read" {
		s := m.Schema()
		r, err := table.NewReader("later.csv", in, table.Options{Schema: &s, Unlabelled: true, Live: true})
		if err != nil {
			return err
		}
		for err == nil {
			_, err = r.Next(4096)
		}
		if err != io.EOF {
			return err
		}
		return r.Close()
	}
	stream, err := score.Open(context.Background(), m, in, score.Options{})
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(io.Discard, 1<<16)
	for r, err := range stream.Rows() {
		if err != nil {
			return err
		}
		if way == "csv" {
			decision := "0"
			if r.Decisions[0] {
				decision = "1"
			}
			fmt.Fprintf(out, "%d,%v,%s\n", r.Number, r.Score, decision)
		}
	}
	return nil
}

// measureLatency starts the command with standard input and output as pipes and measures the time from the write of
// a row to its line.
func measureLatency(output, dir string, m *model.Model, content []byte, slow int) error {
	path, binary := filepath.Join(dir, "model.json"), filepath.Join(dir, "toptau")
	if err := m.Save(path); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", binary, "./cmd/toptau")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	notes := machine.Description("") + `"toptau score model.json -" with pipes for its input and output: milliseconds from the write of a row to the arrival of its line. A burst is
written at once, and the time is that of its last row.`
	table := [][]string{{"writer", "rows", "median, ms", "worst, ms"}}
	lines := bytes.SplitAfter(content, []byte{'\n'})
	header, rows := lines[0], lines[1:]
	for _, c := range []struct {
		name          string
		burst, bursts int
		pause         time.Duration
	}{
		{"one row a second", 1, slow, time.Second},
		{"100 rows a second", 1, 10 * slow, 10 * time.Millisecond},
		{"bursts of 1,000 rows, one a second", 1000, slow / 3, time.Second},
		{"bursts of 10,000 rows, one a second", 10_000, min(slow/3, len(rows)/10_001), time.Second},
	} {
		waits, err := waitsOf(dir, binary, path, header, rows, c.burst, c.bursts, c.pause)
		if err != nil {
			return err
		}
		slices.Sort(waits)
		table = append(table, []string{c.name, fmt.Sprint(c.burst * c.bursts), milliseconds(waits[len(waits)/2]), milliseconds(waits[len(waits)-1])})
	}
	return machine.WriteRun(output, command, notes, table)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

func waitsOf(dir, binary, model string, header []byte, rows [][]byte, burst, bursts int, pause time.Duration) ([]time.Duration, error) {
	c := exec.Command(binary, "score", model, "-")
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	defer func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	}()
	if _, err := in.Write(header); err != nil {
		return nil, err
	}
	answers := bufio.NewScanner(out)
	var waits []time.Duration
	for i := range bursts {
		text := bytes.Join(rows[i*burst:(i+1)*burst], nil)
		begin := time.Now()
		go in.Write(text)
		for k := 0; k < burst; k++ {
			if !answers.Scan() {
				return nil, fmt.Errorf("the command ended: %w", answers.Err())
			}
			if strings.HasPrefix(answers.Text(), "row,") {
				k--
			}
		}
		if i > 0 || bursts == 1 { // the first burst waits for the start of the command
			waits = append(waits, time.Since(begin))
		}
		time.Sleep(max(0, pause-time.Since(begin)))
	}
	return waits, nil
}
