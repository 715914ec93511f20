// Package integration runs what toptau writes for other programs in these programs: databases, ONNX Runtime, compilers. A program
// that is not installed is left out with a message; scripts/install.sh installs all of them.
package integration

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"toptau/internal/models/portable"
)

// job is a model with rows and their scores.
type job struct {
	name string
	p    *portable.Program
	rows []record
	want []float64 // NaN: the model refuses the row
}

// record has a value for each input of the program, and a text for each of its segment columns.
type record struct {
	values   []portable.Value
	segments []string
}

// addProbes adds the probe rows of the model.
func (j *job) addProbes() {
	for _, probe := range j.p.Probes {
		j.rows = append(j.rows, record{values: probe.Values, segments: make([]string, len(j.p.Segments()))})
		j.want = append(j.want, probe.Score)
	}
}

// answer is what an engine computed for a job.
type answer struct {
	scores    []float64 // NaN also instead of NULL
	decisions [][]bool  // by row and operating point; nil: the engine has none
	refused   error     // of the export
	seconds   float64   // of the processor, for the statement or call alone
	oneRow    float64   // of the processor, for a call with one row, where the engine measures it
	bytes     int       // of the export
}

// engine scores jobs with an export.
type engine struct {
	name    string
	missing func() string // why it cannot run here; "": it can
	run     func(t *testing.T, dir string, jobs []job) []answer
}

// installed is the directory of scripts/install.sh.
func installed() string {
	if dir := os.Getenv("TOPTAU_ENGINES"); dir != "" {
		return dir
	}
	dir, err := filepath.Abs(".engines")
	if err != nil {
		panic(err)
	}
	return dir
}

func python() string { return filepath.Join(installed(), "venv", "bin", "python") }

// needsPython returns why a module of Python cannot be imported.
func needsPython(module string) func() string {
	return func() string {
		if err := exec.Command(python(), "-c", "import "+module).Run(); err != nil {
			return "Python has no " + module
		}
		return ""
	}
}

func needsCommand(name string) func() string {
	return func() string {
		if _, err := exec.LookPath(name); err != nil {
			return "there is no command " + name
		}
		return ""
	}
}

// available skips a test if an engine is not installed.
func available(t *testing.T, e engine) {
	t.Helper()
	if why := e.missing(); why != "" {
		if os.Getenv("TOPTAU_INTEGRATION") == "all" {
			t.Fatalf("%s is left out: %s (bash integration/scripts/install.sh)", e.name, why)
		}
		t.Skipf("%s is left out: %s (bash integration/scripts/install.sh)", e.name, why)
	}
}

// command runs a program and returns its output.
func command(t *testing.T, stdin io.Reader, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(name, args...)
	var errors bytes.Buffer
	c.Stdin, c.Stderr = stdin, &errors
	out, err := c.Output()
	if err != nil {
		text := errors.String()
		t.Fatalf("%s: %v\n%.2000s\n%.500s", filepath.Base(name), err, text, out)
	}
	return out
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeExport writes a program to a file. A refusal is returned.
func writeExport(t *testing.T, path string, write func(io.Writer) error) (size int, refused error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return 0, err
	}
	writeFile(t, path, b.Bytes())
	return b.Len(), nil
}

// pythonData writes the rows of a job for a script: data.bin has the numbers column by column, data.json names and texts.
func pythonData(t *testing.T, dir string, j job) {
	t.Helper()
	data := struct {
		Rows     int         `json:"rows"`
		Numbers  []string    `json:"numbers"`
		Places   []int       `json:"places"`
		Width    int         `json:"width"`
		Texts    []string    `json:"texts"`
		Values   [][]*string `json:"values"`
		Segments []string    `json:"segments"`
		Segment  [][]string  `json:"segment"`
	}{Rows: len(j.rows), Width: j.p.Width, Segments: j.p.Segments()}
	var raw []byte
	for _, k := range j.p.Numbers() {
		data.Numbers, data.Places = append(data.Numbers, j.p.Inputs[k].Name), append(data.Places, j.p.Inputs[k].Place)
		for _, row := range j.rows {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(row.values[k].Number))
		}
	}
	for _, k := range j.p.Texts() {
		data.Texts = append(data.Texts, j.p.Inputs[k].Name)
		var column []*string
		for _, row := range j.rows {
			column = append(column, row.values[k].Text)
		}
		data.Values = append(data.Values, column)
	}
	for i := range data.Segments {
		var column []string
		for _, row := range j.rows {
			column = append(column, row.segments[i])
		}
		data.Segment = append(data.Segment, column)
	}
	content, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "data.json"), content)
	writeFile(t, filepath.Join(dir, "data.bin"), raw)
}

// readAnswer reads answer.bin: the seconds, the scores, and a byte for each row and point.
func readAnswer(t *testing.T, path string, j job) answer {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := len(j.rows)
	if len(content) != 8+n*(8+len(j.p.Points)) {
		t.Fatalf("%s: %d bytes for %d rows and %d points", path, len(content), n, len(j.p.Points))
	}
	at := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(content[8*i:])) }
	a := answer{seconds: at(0), scores: make([]float64, n), decisions: make([][]bool, n)}
	for i := range n {
		a.scores[i] = at(i + 1)
		for _, b := range content[8+8*n+i*len(j.p.Points):][:len(j.p.Points)] {
			a.decisions[i] = append(a.decisions[i], b == 1)
		}
	}
	return a
}

// check compares the answers of an engine to the bit and returns the number of scores that differ. An error is shown for the first
// row of each job.
func check(t *testing.T, e engine, jobs []job, answers []answer) (all int) {
	t.Helper()
	for i, j := range jobs {
		a := answers[i]
		if a.refused != nil {
			continue
		}
		different, largest := 0, 0.0
		for r, want := range j.want {
			got := a.scores[r]
			same := math.Float64bits(got) == math.Float64bits(want) || math.IsNaN(got) && math.IsNaN(want) || got == 0 && want == 0
			if !same {
				if different++; different == 1 {
					t.Errorf("%s, %s, row %d: score %v instead of %v (%s)", e.name, j.name, r+1, got, want, describe(j, r))
				}
				largest = max(largest, math.Abs(got-want))
				continue
			}
			if a.decisions == nil {
				continue
			}
			if decisions := decided(j, r); !slices.Equal(decisions, a.decisions[r]) {
				t.Errorf("%s, %s, row %d: decisions %v instead of %v of the score %v", e.name, j.name, r+1, a.decisions[r], decisions, want)
			}
		}
		if different > 0 {
			t.Errorf("%s, %s: %d of %d rows differ, by %v at most", e.name, j.name, different, len(j.want), largest)
		}
		all += different
	}
	return all
}

// decided returns the decisions on a row.
func decided(j job, row int) (list []bool) {
	for k := range j.p.Points {
		p := &j.p.Points[k]
		segment := ""
		if p.Segment >= 0 {
			segment = j.rows[row].segments[p.Segment]
		}
		list = append(list, p.Decide(j.want[row], segment))
	}
	return list
}

func describe(j job, row int) string {
	var b bytes.Buffer
	for k, v := range j.rows[row].values {
		in := &j.p.Inputs[k]
		if in.Text && v.Text != nil {
			fmt.Fprintf(&b, "%q=%q ", in.Name, *v.Text)
		} else {
			fmt.Fprintf(&b, "%q=%v ", in.Name, v.Number)
		}
		if b.Len() > 1000 {
			break
		}
	}
	return b.String()
}

// measured returns the processor seconds that a function takes, with those of the programs that it ran.
func measured(run func()) float64 {
	used := func() (seconds float64) {
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				panic(err)
			}
			seconds += float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
		}
		return seconds
	}
	start := used()
	run()
	return used() - start
}

// jobDirs makes a directory for each job.
func jobDirs(t *testing.T, dir string, jobs []job) []string {
	t.Helper()
	dirs := make([]string, len(jobs))
	for i := range jobs {
		dirs[i] = filepath.Join(dir, fmt.Sprintf("job%03d", i))
		if err := os.MkdirAll(dirs[i], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// kept returns the directories of the jobs that were exported.
func kept(dirs []string, answers []answer) (list []string) {
	for i, dir := range dirs {
		if answers[i].refused == nil {
			list = append(list, dir)
		}
	}
	return slices.Clip(list)
}
