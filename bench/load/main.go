//go:build linux

// Command load measures toptau serve from a second process, on this machine's loopback alone, and writes a page. It
// ends within about a quarter of an hour.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"toptau"
	"toptau/bench/machine"
	"toptau/dataset"
	"toptau/internal/core/simulate"
	"toptau/internal/tests/provenance"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// campaign is one run.
type campaign struct {
	dir     string
	toptau  string // the program
	running []*server
	short   float64 // factor of all times
	attack  string  // only attacks with this in their name
	page    *page
	data    data
}

// data are the models and rows of a campaign.
type data struct {
	columns []string
	rows    [][]string // fields, without the label
	models  map[schema.Encoding]string
	sizes   map[schema.Encoding]int64
}

// stage is a part of the campaign.
type stage struct {
	name string
	run  func(*campaign) error
}

var stages = []stage{
	{"bits", (*campaign).measureBits},
	{"single", (*campaign).measureSingle},
	{"batches", (*campaign).measureBatches},
	{"latency", (*campaign).measureLatency},
	{"overload", (*campaign).measureOverload},
	{"reload", (*campaign).measureReload},
	{"attacks", (*campaign).measureAttacks},
	{"memory", (*campaign).measureMemory},
}

func main() {
	log.SetFlags(log.Ltime)
	output := flag.String("o", "", "write the page here (default standard output)")
	only := flag.String("only", "", "only these stages: bits, single, batches, latency, overload, reload, attacks, memory")
	program := flag.String("toptau", "", "the program (default: it is built)")
	short := flag.Float64("short", 1, "multiply all times by this, to try the campaign")
	attack := flag.String("attack", "", "only attacks whose names contain this")
	empty := flag.String("empty", "", "serve nothing at this address; used by the campaign itself")
	flag.Parse()
	if *empty != "" {
		if err := serveEmpty(*empty); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(*output, *only, *program, *attack, *short); err != nil {
		log.Fatal(err)
	}
}

// notify sends interruptions to a channel.
func notify(to chan<- os.Signal) { signal.Notify(to, os.Interrupt, syscall.SIGTERM) }

func run(output, only, program, attack string, short float64) (failed error) {
	dir, err := os.MkdirTemp("", "load-")
	if err != nil {
		return err
	}
	c := &campaign{dir: dir, toptau: program, short: short, attack: attack, page: &page{short: short}}
	stop := make(chan os.Signal, 1)
	notify(stop)
	go func() {
		<-stop
		c.end()
		os.Exit(130)
	}()
	defer c.end()
	if err := c.prepare(); err != nil {
		return err
	}
	for _, s := range stages {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		log.Print(s.name)
		if err := s.run(c); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := c.stopAll(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if t := c.page.tables["attacks"]; t != nil && output != "" {
		path := strings.TrimSuffix(output, ".md") + "-attacks.csv"
		if err := provenance.WriteTable(path, append([][]string{t.header}, t.rows...)); err != nil {
			return err
		}
	}
	return machine.WritePage(output, []byte(c.page.text()), "make measure WHAT=load")
}

// end kills what still runs and removes the files.
func (c *campaign) end() {
	for _, s := range c.running {
		if s.process != nil {
			s.process.Process.Kill()
		}
	}
	os.RemoveAll(c.dir)
}

func (c *campaign) stopAll() error {
	defer func() { c.running = nil }()
	for _, s := range c.running {
		if err := s.stop(); err != nil {
			return err
		}
	}
	return nil
}

// time returns a time of the campaign.
func (c *campaign) time(seconds float64) time.Duration {
	return time.Duration(seconds * c.short * float64(time.Second))
}

// encodings are the models that are measured.
var encodings = []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves, schema.Boosted}

// prepare builds the program, trains the models and makes the rows.
func (c *campaign) prepare() error {
	if c.toptau == "" {
		c.toptau = filepath.Join(c.dir, "toptau")
		build := exec.Command("go", "build", "-C", "..", "-o", c.toptau, "./cmd/toptau")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	flows, later := filepath.Join(c.dir, "flows.csv"), filepath.Join(c.dir, "later.csv")
	if err := writeFlows(flows, 20_000, 1); err != nil {
		return err
	}
	if err := writeFlows(later, 10_000, 2); err != nil {
		return err
	}
	c.data.models, c.data.sizes = map[schema.Encoding]string{}, map[schema.Encoding]int64{}
	for _, e := range encodings {
		path, err := c.train(flows, e, string(e)+".json")
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		c.data.models[e], c.data.sizes[e] = path, info.Size()
	}
	return c.readRows(later)
}

// train trains the model that train chooses by default on 20,000 simulated flows, of one encoding.
func (c *campaign) train(data string, e schema.Encoding, name string) (string, error) {
	d, err := dataset.Read(context.Background(), data, schema.Format{Label: "label"})
	if err != nil {
		return "", err
	}
	trained, err := toptau.Train(context.Background(), d, toptau.MaxFPR("1%"), toptau.TrainOptions{
		Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{e}, Delta: threshold.MustRate("5%")})
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, name)
	return path, trained.Model.Save(path)
}

func writeFlows(path string, rows int, seed uint64) error {
	data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: rows, Seed: seed, Positives: threshold.MustRate("5%")})
	if err != nil {
		return err
	}
	return data.WriteFile(context.Background(), path)
}

// readRows reads the rows of a file and leaves the label, the last column, out.
func (c *campaign) readRows(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, line := range bytes.Split(bytes.TrimSpace(content), []byte("\n")) {
		fields := strings.Split(string(line), ",")
		fields = fields[:len(fields)-1]
		if i == 0 {
			c.data.columns = fields
			continue
		}
		c.data.rows = append(c.data.rows, fields)
	}
	return nil
}
