//go:build linux

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"toptau/internal/core/parallel"
	"toptau/internal/data/memory"
	"toptau/internal/tests/provenance"
)

var hostileOnly = flag.String("hostile-only", "", "only the hostile inputs whose names contain this")

var hostileTable = flag.String("hostile-table", "", "write the results of hostile inputs to this table")

var hostileScale = flag.Int("hostile-scale", 0, "write files of this many times the size of the short run (0: 1, or 100 in a long run)")

// A file below smallFile may take 300 MB and a minute of a processor, whatever is in it. A larger one may also take three times its bytes that
// carry data, and hostileRow for an honest row of a few bytes.
const (
	smallFile      = 1_000_000
	hostileBase    = 300_000_000
	hostileTimes   = 3
	hostileRow     = 72
	hostileSeconds = 60
)

// badInput is a file made to hurt, and the commands that are to survive it.
type badInput struct {
	name  string
	file  string            // its extension chooses the compression
	write func(w *attacker) // writes the file before compression
	runs  []string          // arguments; FILE, DATA, MODEL and OUT stand for paths
	exit  int
	want  string // of the message, or of the output
	rows  bool   // honest rows of a few bytes, for each of which a solver may keep hostileRow
}

// attacker writes the uncompressed bytes of a file and counts those that carry data.
type attacker struct {
	w     io.Writer
	data  int64 // bytes that carry data
	all   int64
	lines int64
	scale int // 1 for a short run
}

func (a *attacker) text(format string, args ...any) { a.bytes([]byte(fmt.Sprintf(format, args...))) }

func (a *attacker) bytes(b []byte) {
	a.empty(b)
	a.data += int64(len(b))
}

// empty writes bytes that carry no data.
func (a *attacker) empty(b []byte) {
	if _, err := a.w.Write(b); err != nil {
		panic(err)
	}
	a.all += int64(len(b))
	a.lines += int64(bytes.Count(b, []byte("\n")))
}

// many writes a text until it has written a number of megabytes.
func (a *attacker) many(text string, megabytes int, write func([]byte)) {
	block := []byte(strings.Repeat(text, max(1, (1<<20)/len(text))))
	for written := 0; written < megabytes<<20; written += len(block) {
		write(block)
	}
}

// rows writes a small table.
func (a *attacker) rows(n int) {
	a.text("a,b,s,y\n")
	for i := range n {
		a.text("%d,%d,k%d,%d\n", i%7, i%5, i%3, i%2)
	}
}

// sealed writes a model file whose checksum is right, so that its content is read. write gets the digest of what it has written.
func (a *attacker) sealed(write func(digest func() []byte)) {
	w, sum := a.w, sha256.New()
	a.w = io.MultiWriter(w, sum)
	digest := func() []byte { return sum.Sum(nil) }
	write(digest)
	a.w = w
	a.text("\"checksum\": \"sha256:%x\"\n}\n", digest())
}

// model writes a model with the card of column a. more writes the card's atoms after the first, which is 0, and its weights after the first.
func (a *attacker) model(more func(list string)) {
	a.sealed(func(digest func() []byte) {
		a.text(`{
"toptau_model": 1,
"schema": {"format":"csv","header":true,"width":4,"columns":[{"name":"a","number":1,"kind":"numeric"}],"label":{"name":"y","number":4}},
"features": {"scale":"standard","dropped":[]},
"program": {"missing":"error","columns":[0],"terms":[{"cards":[{"input":0,"atoms":[0`)
		more("atoms")
		a.text(`],"weights":[1`)
		more("weights")
		a.text("]}]}],\"offset\":0},\n")
		a.text(`"digest": "sha256:%x",
"points": [
],
"members": [
],
"training": {"rows":2,"positives":1,"digest":"","seed":0},
"probes": [
{"fields":["0"],"score":1}
],
`, digest())
	})
}

func (a *attacker) indices(n int) {
	for i := range n {
		a.text("%d 1:%d 2:%d\n", i%2, 1+i%7, 1+i%5)
	}
}

// badInputs are the inputs of the table.
func badInputs() []badInput {
	const (
		fit          = "fit FILE --method toppush --label y -o OUT -q"
		quick        = fit + " --solver adam --iterations 5"
		train        = "train FILE --top 10% --label y -o OUT -q"
		fitIndices   = "fit FILE --method toppush -o OUT -q"
		trainIndices = "train FILE --top 10% -o OUT -q"
	)
	return []badInput{
		{"newlines", "a.csv.zst", func(a *attacker) { a.many("\n", 100*a.scale, a.empty) }, []string{fit}, 1, "an empty file", false},
		{"a table and newlines", "a.csv.gz", func(a *attacker) {
			a.rows(1000)
			a.many("\n", 8*a.scale, a.empty)
		}, []string{fit, "score MODEL FILE -q", "evaluate MODEL FILE -q", "diagnose FILE --label y"}, 0, "", false},
		{"a table and newlines, more of them", "a.csv.zst", func(a *attacker) {
			a.rows(1000)
			a.many("\r\n \t\n", 5*a.scale, a.empty)
		}, []string{fit}, 0, "", false},
		{"newlines inside a table", "a.csv.zst", func(a *attacker) {
			a.rows(1000)
			a.many("\n", 10*a.scale, a.empty)
			a.text("1,1,k1,1\n")
		}, []string{fit}, 1, "an empty line", false},
		{"newlines before a table", "a.csv.zst", func(a *attacker) {
			a.many("\n", 10*a.scale, a.empty)
			a.rows(1000)
		}, []string{"fit FILE --method toppush --delimiter comma --label y -o OUT -q"}, 0, "", false},
		{"LIBSVM and newlines", "a.svm.zst", func(a *attacker) {
			a.indices(1000)
			a.many("\n", 10*a.scale, a.empty)
		}, []string{fitIndices}, 0, "", false},
		{"LIBSVM and comments", "a.svm.zst", func(a *attacker) {
			a.indices(1000)
			a.many("#\n", 2*a.scale, a.empty)
		}, []string{fitIndices}, 0, "", false},
		{"newlines for labels", "a.labels.zst", func(a *attacker) { a.many("\n", 10*a.scale, a.empty) },
			[]string{"fit DATA --drop y --labels-file FILE --method toppush -o OUT -q"}, 1, "no labels", false},
		{"blanks without a line's end", "a.csv.zst", func(a *attacker) {
			a.rows(10)
			a.many(" ", 10*a.scale, a.empty)
		}, []string{fit}, -1, "", false},
		{"blanks around fields", "a.csv.zst", func(a *attacker) {
			a.text("a,b,y\n")
			for i := range a.scale {
				a.text("%d,", i%3)
				a.many(" ", 2, a.empty)
				a.text("%d,%d\n", i%5, i%2)
			}
		}, []string{fit}, -1, "", false},
		{"NUL bytes", "a.csv.zst", func(a *attacker) { a.many("\x00", 10*a.scale, a.empty) }, []string{fit}, 1, "", false},
		{"a line without an end", "a.csv.gz", func(a *attacker) { a.many("x", longLine(), a.bytes) }, []string{fit}, -1, "", false},
		{"a quote that is never closed", "a.csv.gz", func(a *attacker) {
			a.text("a,b,y\n1,2,1\n\"")
			a.many("text\n", longLine(), a.bytes)
		}, []string{fit}, 1, "does not end", false},
		{"a field of many megabytes", "a.csv.gz", func(a *attacker) {
			a.text("a,b,y\n")
			for i := range 40 {
				a.text("%d,x,%d\n", i%7, i%2)
			}
			a.text("3,")
			a.many("x", min(longLine(), 30), a.bytes)
			a.text(",1\n")
		}, []string{fit, train}, -1, "", false},
		{"a name of many megabytes", "a.csv.gz", func(a *attacker) {
			a.text("a,")
			a.many("x", min(longLine(), 30), a.bytes)
			a.text(",y\n")
			for i := range 40 {
				a.text("%d,%d,%d\n", i%7, i%5, i%2)
			}
		}, []string{fit, train}, -1, "", false},
		{"commas", "a.csv.gz", func(a *attacker) { a.many(",", 7*min(a.scale, 9), a.bytes) }, []string{fit}, 1, "more than 25,000 fields", false},
		{"lines of commas", "a.csv.gz", func(a *attacker) {
			a.many(strings.Repeat(",", 24_999)+"\n", 20*min(a.scale, 20), a.bytes)
		}, []string{"fit FILE --method toppush --label 1 -o OUT -q"}, 1, "", false},
		{"a header of 1,000,000 columns", "a.csv", func(a *attacker) {
			for i := range 1_000_000 {
				a.text("c%d,", i)
			}
			a.text("y\n")
		}, []string{fit, train}, 1, "at most 25,000 columns", false},
		{"24,999 columns, 40 rows", "a.csv", func(a *attacker) {
			for i := range 24_999 {
				a.text("c%d,", i)
			}
			a.text("y\n")
			for row := range 40 {
				for i := range 24_999 {
					a.text("%d,", (row*7919+i*104729)%10)
				}
				a.text("%d\n", row%2)
			}
		}, slices.Concat([]string{quick}, long(fit, train, "diagnose FILE --label y")), 0, "", false},
		{"one index of 100,000,000", "a.svm", func(a *attacker) {
			a.indices(400)
			a.text("1 100000000:1\n0 3:1\n")
		}, []string{fitIndices, trainIndices, "diagnose FILE"}, 0, "", false},
		{"one index of 20,000,000 as columns", "a.svm", func(a *attacker) {
			a.text("1 1:1 20000000:1\n0 3:1\n")
		}, []string{"fit FILE --method toppush --encoding scorecard -o OUT -q"}, 2, "at most 131,072 indices", false},
		{"an index in every row, all different", "a.svm", func(a *attacker) {
			for i := range 20_000 * min(a.scale, 10) {
				a.text("%d 1:%d %d:1\n", i%2, 1+i%3, 1000+(i*7919)%90_000_000)
			}
		}, slices.Concat([]string{fitIndices + " --solver adam --iterations 5"}, long(trainIndices+" --method logistic --folds 2")), 0, "", false},
		{"categories, all different", "a.csv.gz", func(a *attacker) {
			a.text("a,s,y\n")
			for i := range 20_000 * a.scale {
				a.text("%d,k%d,%d\n", i%7, i*7919, i%2)
			}
		}, []string{quick, quick + " --drop s"}, -1, "", false},
		{"200,000 categories", "a.csv", func(a *attacker) {
			a.text("a,s,y\n")
			for i := range 20_000 * min(a.scale, 10) {
				a.text("%d,k%d,%d\n", i%7, i*7919, i%2)
			}
		}, slices.Concat([]string{quick}, long(train+" --method logistic --folds 2")), 0, "", false},
		{"new categories and identifiers to score", "a.csv.gz", func(a *attacker) {
			a.text("a,b,s,id,y\n")
			for i := range 20_000 * a.scale {
				a.text("%d,%d,k%d,id%d,%d\n", i%7, i%5, i, i*7919, i%2)
			}
		}, []string{"score MODEL FILE --id id -q -o OUT"}, 0, "", false},
		{"short rows", "a.csv.gz", func(a *attacker) {
			a.text("a,y\n")
			a.many("1,1\n3,0\n2,0\n", 2*min(a.scale, 50), a.bytes)
		}, []string{fit}, -1, "", true},
		{"digits", "a.csv.gz", func(a *attacker) {
			a.text("a,b,c,y\n")
			a.many("1,2,3,1\n3,4,5,0\n2,7,1,0\n", 2*min(a.scale, 50), a.bytes)
		}, slices.Concat([]string{quick}, long(train+" --method logistic --encoding raw --folds 2")), -1, "", true},
		{"scores", "a.csv.gz", func(a *attacker) {
			a.text("score,y\n")
			a.many("1.5,1\n0.25,0\n-2,0\n", 2*min(a.scale, 50), a.bytes)
		}, []string{"threshold FILE --label y --max-fpr 1%"}, -1, "", true},
		{"gzip cut off, with a trailer of 4 GB", "a.csv", func(a *attacker) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			fmt.Fprint(z, "a,b,y\n", strings.Repeat("1,2,1\n3,4,0\n", 100_000))
			z.Close()
			a.bytes(append(b.Bytes()[:b.Len()-40], 0xff, 0xff, 0xff, 0xff))
		}, []string{fit}, 1, "gzip data", false},
		{"a zstd window of 2 GB", "a.csv", func(a *attacker) { // window descriptor: exponent 21 over 1 KiB
			a.bytes([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00})
		}, []string{fit}, 1, "a window above 128 MiB", false},
		{"a zstd window of 128 MB", "a.csv", func(a *attacker) { // and a block of one repeated byte
			a.bytes([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x03, 0x00, 0x10, '\n'})
		}, []string{fit}, 1, "an empty file", false},
		{"a model of numbers", "m.json", func(a *attacker) {
			a.model(func(string) { a.many(",0", 12*min(a.scale, 20), a.bytes) })
		}, []string{"score FILE DATA"}, 1, "edited or damaged: longer lists", false},
		{"a model of longer numbers", "m.json", func(a *attacker) {
			a.model(func(string) { a.many(",0.5", 3*min(a.scale, 80), a.bytes) })
		}, []string{"score FILE DATA"}, 1, "edited or damaged: the program: ", false},
		{"an honest model of many numbers", "m.json", func(a *attacker) {
			a.model(func(list string) {
				for i := range 100_000 * min(a.scale, 10) {
					if list == "weights" {
						i = 0
					}
					a.text(",%d", i+1)
				}
			})
		}, []string{"explain FILE DATA --columns"}, 0, "", false},
		{"a certificate of numbers", "c.json", func(a *attacker) {
			a.text(`{"toptau_certificate":1,"p":{"rows":[0`)
			a.many(",0", 3*a.scale, a.bytes)
			a.text("]}}\n")
		}, []string{"verify MODEL DATA FILE --label y"}, 1, "", false},
		{"a model of empty objects", "m.json", func(a *attacker) {
			a.sealed(func(func() []byte) {
				a.text("{\n\"toptau_model\": 1,\n\"schema\": {\"columns\":[{}")
				a.many(",{}", 3*a.scale, a.bytes)
				a.text("]},\n")
			})
		}, []string{"score FILE DATA"}, 1, "edited or damaged: ", false},
		{"a model of brackets", "m.json", func(a *attacker) {
			a.sealed(func(func() []byte) {
				a.text("{\n\"toptau_model\": 1,\n\"schema\": ")
				a.many("[", 3*a.scale, a.bytes)
			})
		}, []string{"score FILE DATA"}, 1, "edited or damaged: ", false},
		{"a certificate of brackets", "c.json", func(a *attacker) {
			a.text(`{"toptau_certificate":`)
			a.many("[", 3*a.scale, a.bytes)
		}, []string{"verify MODEL DATA FILE --label y"}, 1, "", false},
		{"a device without an end as certificate", "c.json", func(*attacker) {},
			long("verify MODEL DATA /dev/zero --label y"), 1, "", false},
		{"a device without an end as model and data", "c.json", func(*attacker) {},
			[]string{"score /dev/zero DATA", "fit /dev/zero --label y --method toppush -q"}, 1, "", false},
		{"1,000,000 threads", "a.csv", func(a *attacker) { a.rows(100_000) },
			[]string{fit + " --threads 1000000"}, 0, "", false},
	}
}

// longLine returns megabytes: in a long run more than a line may have.
func longLine() int {
	if hostile() {
		return 40
	}
	return 7
}

// long returns commands for a long run alone.
func long(runs ...string) []string {
	if hostile() {
		return runs
	}
	return nil
}

// outcome is what a command did with an input.
type outcome struct {
	Command string
	Peak    int64   // bytes
	Seconds float64 // of a processor
	Exit    int
	Said    string // on standard error
	Packed  int64  // bytes of the file
	All     int64  // before compression
	Data    int64  // of these, bytes that carry data
	Rows    int64  // of an input of honest, short rows; otherwise 0
}

func (v *outcome) allowed() int64 {
	if v.Packed < smallFile {
		return hostileBase
	}
	return hostileBase + hostileTimes*v.Data + hostileRow*v.Rows
}

const alarmed = 4 // the exit code of monitor with an alarm

// refused reports whether the command ended with an error that the user can fix.
func (v *outcome) refused() bool { return v.Exit >= 1 && v.Exit <= 3 }

// TestHostileInputs runs the program on files made to exhaust its memory and measures the peak of each process. None may
// take more than allowed, end in a crash, or say something else than is wrong. A long run tries every verb that reads the file.
func TestHostileInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: more than a hundred processes")
	}
	program, err := exec.LookPath(cmp.Or(os.Getenv("TOPTAU_BINARY"), "toptau"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	paths := map[string]string{"DATA": filepath.Join(dir, "data.csv"), "MODEL": filepath.Join(dir, "model.json"), "CERTIFICATE": filepath.Join(dir, "certificate.json")}
	attackOn(paths["DATA"], 1, func(a *attacker) { a.rows(400) })
	setup, err := attack(t.Context(), program, "fit DATA --method toppush --label y -o MODEL --certificate CERTIFICATE -q", paths)
	if err != nil || setup.Exit != 0 {
		t.Fatal(setup.Said, err)
	}
	// A process begins with the peak of the one that started it.
	if floor, err := attack(t.Context(), program, "--version", paths); err != nil || floor.Peak > hostileBase/2 {
		t.Fatalf("the test itself takes %s, %v", memory.Size(floor.Peak), err)
	}
	scale := 1
	if hostile() {
		scale = 100
	}
	scale = cmp.Or(*hostileScale, scale)
	state := openState(t, "inputs.jsonl")
	inputs := slices.DeleteFunc(append(badInputs(), columnInputs()...), func(h badInput) bool { return !strings.Contains(h.name, *hostileOnly) })
	if os.Getenv("TOPTAU_LONG") == "" && !hostile() && *hostileOnly == "" { // make nightly has all
		for i := range inputs {
			if 3*i < len(inputs) {
				inputs[i] = inputs[3*i]
			}
		}
		inputs = inputs[:(len(inputs)+2)/3]
	}
	var table []outcome
	var names []string
	next := 0
	key := func(h *badInput) string { return fmt.Sprintf("%s, %d times", h.name, scale) }
	err = parallel.InOrder(len(inputs), 4*runtime.NumCPU(), func(i int) (list []outcome, err error) {
		h := &inputs[i]
		if kept, done := state.lines[key(h)]; !done || json.Unmarshal(kept, &list) != nil {
			list, err = h.attackAll(t.Context(), program, scale, paths)
		}
		return list, err
	}, func(list []outcome) {
		h := &inputs[next]
		next++
		if state.lines[key(h)] == nil {
			state.add(t, key(h), list)
		}
		for _, v := range list {
			h.judge(t, &v)
			table, names = append(table, v), append(names, h.name)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if *hostileTable != "" {
		notes, rows := hostileResults(names, table)
		command := fmt.Sprintf("TOPTAU_HOSTILE=long go test ./cmd/toptau -run TestHostileInputs -timeout 0 -hostile-scale %d -hostile-table %s", scale, *hostileTable)
		if err := provenance.WriteRun(*hostileTable, command, notes, rows); err != nil {
			t.Fatal(err)
		}
	}
}

// attackAll writes the file into a directory of its own and runs all commands on it.
func (h *badInput) attackAll(ctx context.Context, program string, scale int, paths map[string]string) ([]outcome, error) {
	dir, err := os.MkdirTemp(filepath.Dir(paths["DATA"]), "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, h.file)
	a := attackOn(file, scale, h.write)
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	paths = maps.Clone(paths)
	paths["FILE"], paths["OUT"] = file, filepath.Join(dir, "out")
	var list []outcome
	for _, run := range slices.Concat(h.runs, long(h.otherRuns()...)) {
		v, err := attack(ctx, program, run, paths)
		if err != nil {
			return nil, err
		}
		v.Packed, v.All, v.Data = info.Size(), a.all, a.data
		if h.rows {
			v.Rows = a.lines
		}
		list = append(list, v)
	}
	return list, nil
}

// otherRuns returns the commands of all verbs that read such a file and are not in h.runs. Where fit has ADAM, the certified solver takes minutes:
// diagnose, which has no other, and compare, which has all, are left out.
func (h *badInput) otherRuns() []string {
	label := " --label y"
	switch {
	case strings.Contains(h.file, ".svm"):
		label = ""
	case strings.HasSuffix(h.file, ".json"), strings.HasSuffix(h.file, ".labels.zst"):
		return nil
	}
	all := []string{"fit FILE --method toppush -o OUT -q" + label, "train FILE --top 10% -o OUT -q" + label, "compare FILE --top 10% -q" + label,
		"diagnose FILE" + label, "verify MODEL FILE CERTIFICATE" + label, "score MODEL FILE -q -o OUT", "evaluate MODEL FILE -q",
		"threshold FILE --model MODEL --max-fpr 1% -o OUT", "explain MODEL FILE --columns", "monitor MODEL FILE", "pack FILE -o OUT"}
	slow := slices.ContainsFunc(h.runs, func(run string) bool { return strings.Contains(run, "--solver adam") })
	return slices.DeleteFunc(all, func(run string) bool {
		return slow && (verbOf(run) == "diagnose" || verbOf(run) == "compare") || slices.ContainsFunc(h.runs, func(other string) bool { return verbOf(other) == verbOf(run) })
	})
}

func verbOf(command string) string { return command[:strings.IndexByte(command, ' ')] }

func (h *badInput) judge(t *testing.T, v *outcome) {
	name := fmt.Sprintf("%s: toptau %s", h.name, v.Command)
	t.Logf("%s: %s of %s, exit code %d, %.1f s of a processor: %s", name, memory.Size(v.Peak), memory.Size(v.allowed()), v.Exit, v.Seconds, v.Said)
	if v.Peak > v.allowed() {
		t.Errorf("%s took %s of memory, more than %s", name, memory.Size(v.Peak), memory.Size(v.allowed()))
	}
	if v.Packed < smallFile && v.Seconds > hostileSeconds {
		t.Errorf("%s took %.0f s of a processor", name, v.Seconds)
	}
	exit, want := h.exit, h.want
	if !slices.Contains(h.runs, v.Command) { // any verb: done, or a reason why not
		exit, want = -1, ""
	}
	if v.Exit != exit && (exit >= 0 || v.Exit != 0 && !v.refused() && v.Exit != alarmed) {
		t.Errorf("%s ended with exit code %d: %s", name, v.Exit, v.Said)
	}
	for _, crash := range []string{"goroutine ", "panic:", "fatal error", "runtime:"} {
		if strings.Contains(v.Said, crash) {
			t.Errorf("%s crashed: %s", name, v.Said)
		}
	}
	last := v.Said[1+strings.LastIndexByte(v.Said, '\n'):]
	if v.refused() && !strings.HasPrefix(last, "toptau: ") || !strings.Contains(v.Said, want) {
		t.Errorf("%s says %q, want %q", name, v.Said, want)
	}
}

// attackOn writes a file and counts what it writes.
func attackOn(file string, scale int, write func(*attacker)) *attacker {
	f, err := os.Create(file)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	var w io.WriteCloser = f
	switch filepath.Ext(file) {
	case ".gz":
		w, _ = gzip.NewWriterLevel(f, gzip.BestSpeed)
	case ".zst":
		w, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	}
	if err != nil {
		panic(err)
	}
	a := &attacker{w: w, scale: scale}
	write(a)
	if w != f {
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
	return a
}

// attack runs a command.
func attack(ctx context.Context, program, command string, paths map[string]string) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	var args []string
	for _, arg := range strings.Fields(command) {
		args = append(args, cmp.Or(paths[arg], arg))
	}
	cmd := exec.CommandContext(ctx, program, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	said := strings.TrimSuffix(errs.String(), "\n")
	if len(said) > 2000 {
		said = said[:2000]
	}
	for _, path := range paths {
		said = strings.ReplaceAll(said, path, filepath.Base(path))
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return outcome{Command: command, Peak: usage.Maxrss << 10, Exit: cmd.ProcessState.ExitCode(), Said: said,
		Seconds: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}, nil
}

// hostileResults returns the notes of the results, and a row for each file.
func hostileResults(names []string, list []outcome) (notes string, table [][]string) {
	verbs := []string{"fit", "train", "compare", "diagnose", "verify", "score", "evaluate", "threshold", "explain", "monitor", "pack"}
	type row struct {
		peak    map[string]int64
		refused map[string]bool
		first   *outcome
		seconds float64
	}
	rows := map[string]*row{}
	var order []string
	peak, slowest, small, processes := int64(0), 0.0, 0, 0
	for i := range list {
		v := &list[i]
		r := rows[names[i]]
		if r == nil {
			r = &row{peak: map[string]int64{}, refused: map[string]bool{}, first: v}
			rows[names[i]], order = r, append(order, names[i])
			if v.Packed < smallFile {
				small++
			}
		}
		verb := verbOf(v.Command)
		r.peak[verb], r.refused[verb], r.seconds = max(r.peak[verb], v.Peak), v.refused(), max(r.seconds, v.Seconds)
		if v.Packed < smallFile {
			peak, slowest, processes = max(peak, v.Peak), max(slowest, v.Seconds), processes+1
		}
	}
	table = [][]string{append(append([]string{"input", "file_bytes", "bytes_before_compression"}, verbs...), "seconds", "message")}
	for _, name := range order {
		r := rows[name]
		cells := []string{name, fmt.Sprint(r.first.Packed), fmt.Sprint(r.first.All)}
		for _, verb := range verbs {
			cell := ""
			if p := r.peak[verb]; p > 0 {
				cell = fmt.Sprint((p + 500_000) / 1_000_000)
				if r.refused[verb] {
					cell = "(" + cell + ")"
				}
			}
			cells = append(cells, cell)
		}
		said := []rune(strings.ReplaceAll(strings.TrimPrefix(r.first.Said, "toptau: "), "\n", " "))
		table = append(table, append(cells, fmt.Sprintf("%.1f", r.seconds), string(said[:min(len(said), 160)])))
	}
	return fmt.Sprintf(`%d files are made to exhaust memory. %d of them are below a megabyte: none took more than %s, or more than %.0f seconds of a processor, in
%d processes (allowed: 300 MB and %d seconds). Larger files may also take three times their bytes that carry data, and 72 bytes for each row of
a few bytes. A process without work takes about 20 MB, and reads 40 MB here, because it begins with the peak of the test that starts it.
A verb has the peak memory of its process in MB (resident set, as the system counts it), in parentheses if it refused the file. Seconds
are the most of a processor that any verb took, and the message is that of the first verb. Where the certified solver would take minutes, fit has
ADAM, and diagnose and compare are left out. The tests have smaller files and fewer verbs.`,
		len(order), small, memory.Size(peak), slowest, processes, hostileSeconds), table
}
