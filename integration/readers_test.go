package integration

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/tests/modeltest"
	"toptau/model"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// reading is a model with records, for the readers in Python and JavaScript.
type reading struct {
	Model   string           `json:"model"`             // the path of its file
	Rows    []map[string]any `json:"rows"`              // text by column
	Numbers []map[string]any `json:"numbers,omitempty"` // the same with numbers in numeric columns, null for missing values
	Explain int              `json:"explain"`           // the number of rows to explain, from the first

	name string
	want readerAnswer
}

// readerAnswer is what a reader must answer. Floats are their bits in hexadecimal; "" is a row without a score.
type readerAnswer struct {
	Scores        []string         `json:"scores"`
	Errors        []string         `json:"errors"`
	Numbers       []string         `json:"numbers"`
	Batch         string           `json:"batch"`         // what is wrong with scores of many rows
	Decisions     map[string][]int `json:"decisions"`     // by point: of the rows with a score
	Probabilities []string         `json:"probabilities"` // of these rows
	AtPrevalence  []string         `json:"at_prevalence"` // at 0.1 %
	Explain       []readerDivided  `json:"explain"`
}

type readerDivided struct {
	Score    string      `json:"score"`
	Offset   string      `json:"offset"`
	Rounding string      `json:"rounding"`
	Reasons  [][4]string `json:"reasons"` // column, value, adds, above average
	Missing  []string    `json:"missing"`
	Unknown  []string    `json:"unknown"`
}

func hexBits(x float64) string { return fmt.Sprintf("%016x", math.Float64bits(x)) }

// assumedPrevalence is that of AtPrevalence.
var assumedPrevalence = threshold.MustRate("0.1%")

// readers are the ways in which the readers run: the name, why it cannot run here, and the command.
func readers() []struct {
	name    string
	missing func() string
	command []string
} {
	script := func(name string) string { return filepath.Join("scripts", name) }
	return []struct {
		name    string
		missing func() string
		command []string
	}{
		{"Python", needsCommand("python3"), []string{"python3", script("readers_score.py"), "JOBS", "ANSWERS", "plain"}},
		{"Python with numpy", needsPython("numpy"), []string{python(), script("readers_score.py"), "JOBS", "ANSWERS"}},
		{"JavaScript", needsCommand("node"), []string{"node", script("readers_score.mjs"), "JOBS", "ANSWERS"}},
	}
}

// runReaders compares the answers of every reader with the wanted ones, to the bit.
func runReaders(t *testing.T, jobs []*reading) {
	t.Helper()
	dir := t.TempDir()
	content, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	input, output := filepath.Join(dir, "jobs.json"), filepath.Join(dir, "answers.json")
	writeFile(t, input, content)
	for _, r := range readers() {
		t.Run(r.name, func(t *testing.T) {
			available(t, engine{name: r.name, missing: r.missing})
			args := slices.Clone(r.command)
			args[slices.Index(args, "JOBS")], args[slices.Index(args, "ANSWERS")] = input, output
			command(t, nil, args[0], args[1:]...)
			content, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			var answers []readerAnswer
			if err := json.Unmarshal(content, &answers); err != nil || len(answers) != len(jobs) {
				t.Fatal(len(answers), err)
			}
			scores, refused := 0, 0
			for i, j := range jobs {
				compareReader(t, j, &answers[i])
				for _, s := range j.want.Scores {
					if scores++; s == "" {
						refused++
					}
				}
			}
			t.Logf("%d models: %d rows have the same bits or are refused alike (%d)", len(jobs), scores, refused)
		})
	}
}

func compareReader(t *testing.T, j *reading, got *readerAnswer) {
	t.Helper()
	want := &j.want
	for row, s := range want.Scores {
		if got.Scores[row] != s {
			t.Errorf("%s, row %d: score %s instead of %s, error %q, of %v", j.name, row+1, got.Scores[row], s, got.Errors[row], j.Rows[row])
			return
		}
		if len(want.Numbers) > 0 && got.Numbers[row] != want.Numbers[row] {
			t.Errorf("%s, row %d: score %s instead of %s of %v", j.name, row+1, got.Numbers[row], want.Numbers[row], j.Numbers[row])
			return
		}
	}
	if got.Batch != "" {
		t.Errorf("%s: %s", j.name, got.Batch)
	}
	for name, decisions := range want.Decisions {
		if !slices.Equal(decisions, got.Decisions[name]) {
			t.Errorf("%s: other decisions at %q", j.name, name)
		}
	}
	if len(got.Decisions) != len(want.Decisions) || !slices.Equal(got.Probabilities, want.Probabilities) || !slices.Equal(got.AtPrevalence, want.AtPrevalence) {
		t.Errorf("%s: %d operating points, %d probabilities, not the same", j.name, len(got.Decisions), len(got.Probabilities))
	}
	for row := range want.Explain {
		if a, b := fmt.Sprintf("%+v", got.Explain[row]), fmt.Sprintf("%+v", want.Explain[row]); a != b {
			t.Errorf("%s, row %d: explained as\n%.500s\ninstead of\n%.500s", j.name, row+1, a, b)
			return
		}
	}
}

// Random models of every kind of block and policy, also with hashed categories, have the same bits, decisions and
// probabilities in both readers, for text and for numbers.
func TestReadersOnRandomModels(t *testing.T) {
	dir := t.TempDir()
	var jobs []*reading
	for seed := range uint64(2 * randomModels()) {
		r := rand.New(rand.NewPCG(seed, 11))
		c := modeltest.NewWith(r, modeltest.Options{Sparse: seed%8 == 0, Salted: seed%8 == 1})
		j := &reading{Model: filepath.Join(dir, fmt.Sprintf("model%d.json", seed)), name: fmt.Sprintf("random model %d", seed)}
		if err := c.Model.Save(j.Model); err != nil {
			t.Fatal(err)
		}
		j.want.Decisions = map[string][]int{}
		for _, row := range c.Rows(r, 40) {
			j.addRecord(t, c.Model, row.Record)
		}
		jobs = append(jobs, j)
	}
	runReaders(t, jobs)
}

// addRecord adds a row with what the model says of it, also as numbers.
func (j *reading) addRecord(t *testing.T, m *model.Model, record map[string]string) {
	t.Helper()
	text, numbers := map[string]any{}, map[string]any{}
	for name, value := range record {
		text[name], numbers[name] = value, value
	}
	s := m.Schema()
	asText := record
	for k := range s.Columns {
		c := &s.Columns[k]
		value := record[c.FileColumn()]
		if c.Kind != schema.Numeric || c.Part != schema.Whole {
			continue
		}
		asText = maps.Clone(asText)
		x, err := strconv.ParseFloat(strings.Trim(value, " \t"), 64)
		if err != nil {
			numbers[c.Name], asText[c.Name] = nil, ""
			continue
		}
		numbers[c.Name] = json.Number(strconv.FormatFloat(x, 'g', -1, 64))
	}
	j.Rows, j.Numbers = append(j.Rows, text), append(j.Numbers, numbers)
	score := func(record map[string]string) (float64, string) {
		z, err := m.Score(record)
		if err != nil {
			return z, ""
		}
		return z, hexBits(z)
	}
	z, bits := score(record)
	_, inNumbers := score(asText)
	j.want.Scores, j.want.Numbers = append(j.want.Scores, bits), append(j.want.Numbers, inNumbers)
	for _, p := range m.Points() {
		if bits != "" {
			j.want.Decisions[p.Name] = append(j.want.Decisions[p.Name], decision(p.Decide(z, strings.Trim(record[p.Segment], " \t"))))
		} else if j.want.Decisions[p.Name] == nil {
			j.want.Decisions[p.Name] = []int{}
		}
	}
	if p := m.Probability(); p != nil && bits != "" {
		j.want.Probabilities = append(j.want.Probabilities, hexBits(p.At(z)))
		j.want.AtPrevalence = append(j.want.AtPrevalence, hexBits(p.AtPrevalence(z, assumedPrevalence.Float64())))
	}
}

func decision(positive bool) int {
	if positive {
		return 1
	}
	return 0
}

// maxRows is the number of rows of each trained model: 20,000 with TOPTAU_INTEGRATION=all, which takes two minutes of processor time.
func maxRows() int {
	if os.Getenv("TOPTAU_INTEGRATION") == "all" {
		return 20000
	}
	return 1500
}

// Trained models of every encoding have the bits of `toptau score` on rows with missing values, odd categories, times and
// addresses, and both readers explain rows alike.
func TestReadersOnTrainedModels(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "toptau")
	command(t, nil, "go", "build", "-C", "..", "-o", binary, "./cmd/toptau")
	train, later := filepath.Join(dir, "train.csv"), filepath.Join(dir, "later.csv")
	writeFlows(t, binary, train, 4000, 1)
	writeFlows(t, binary, later, maxRows(), 2)
	fit := []string{"fit", train, "--label", "label", "--id", "flow", "--drop", "attack", "--date", "time", "--address", "address", "--missing=-", "--missing=n/a", "--method",
		"topmean-np", "--tau", "1%", "--lambda", "0.001", "--solver", "adam", "--iterations", "20", "--quiet"}
	var jobs []*reading
	for _, impute := range []string{"indicator", "median", "zero"} {
		for _, encoding := range []string{"raw", "scorecard", "leaves", "scorecard+leaves", "boosted", "stochastic", "pairs", "additive"} {
			if impute != "indicator" && encoding != "raw" && encoding != "boosted" {
				continue
			}
			path := filepath.Join(dir, encoding+"-"+impute+".json")
			command(t, nil, binary, slices.Concat(fit, []string{"--encoding", encoding, "--impute", impute, "--scale", "all", "-o", path})...)
			jobs = append(jobs, newReading(t, path, later))
		}
	}
	averaged := filepath.Join(dir, "average.json")
	command(t, nil, binary, "train", train, "--label", "label", "--id", "flow", "--drop", "attack", "--missing=-", "--missing=n/a", "--impute", "indicator", "--max-fpr", "5%",
		"--encoding", "raw,scorecard", "--method", "logistic", "--quiet", "-o", averaged)
	jobs = append(jobs, newReading(t, averaged, later))
	runReaders(t, jobs)
}

// writeFlows writes simulated flows with missing values, categories with odd characters, times and addresses.
func writeFlows(t *testing.T, binary, path string, rows int, seed uint64) {
	t.Helper()
	generated := command(t, nil, binary, "generate", "detectors", "--rows", strconv.Itoa(rows), "--positives", "10%", "--seed", strconv.FormatUint(seed, 10),
		"--attacks", "--context")
	records, err := csv.NewReader(bytes.NewReader(generated)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 3))
	names := []string{"tcp", "udp", `quo"te`, "a,b", "é", "two words", "it's", "80"}
	for i, record := range records {
		if i == 0 {
			records[i] = append(record, "service", "address")
			continue
		}
		for j := range record {
			if strings.HasPrefix(records[0][j], "detector") && r.IntN(50) == 0 {
				record[j] = []string{"", "-", "n/a"}[r.IntN(3)]
			}
		}
		service := names[min(r.IntN(len(names)), r.IntN(len(names)))]
		if r.IntN(100) == 0 {
			service = []string{"", "unseen " + strconv.Itoa(r.IntN(9)), "n/a"}[r.IntN(3)]
		}
		address := fmt.Sprintf("%d.%d.%d.%d", []int{10, 192, 8}[r.IntN(3)], 160+r.IntN(10), r.IntN(3), r.IntN(256))
		if r.IntN(20) == 0 {
			address = fmt.Sprintf("2001:db8:%x::%x", r.IntN(3), r.IntN(65536))
		}
		records[i] = append(record, service, address)
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, b.Bytes())
}

// newReading makes a job of a model and a file of delimited text, with the scores of the stream that the command prints.
func newReading(t *testing.T, modelPath, path string) *reading {
	t.Helper()
	m, err := model.Load(modelPath)
	if err != nil {
		t.Fatal(err)
	}
	content := readFile(t, path)
	if os.Getenv("TOPTAU_INTEGRATION") != "all" {
		content = firstLines(content, maxRows()+1)
	}
	j := &reading{Model: modelPath, name: filepath.Base(modelPath), Explain: 50}
	s := m.Schema()
	if s.Sparse() {
		j.Rows = sparseRecords(content)
	} else {
		j.Rows = records(t, content, s.Header)
	}
	j.want.Decisions = map[string][]int{}
	stream, err := score.Open(context.Background(), m, bytes.NewReader(content), score.Options{Explain: true, Probability: m.Probability() != nil})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range stream.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		j.want.Scores = append(j.want.Scores, hexBits(row.Score))
		for k, name := range stream.Points {
			j.want.Decisions[name] = append(j.want.Decisions[name], decision(row.Decisions[k]))
		}
		if p := m.Probability(); p != nil {
			j.want.Probabilities = append(j.want.Probabilities, hexBits(*row.Probability))
			j.want.AtPrevalence = append(j.want.AtPrevalence, hexBits(p.AtPrevalence(row.Score, assumedPrevalence.Float64())))
		}
		if len(j.want.Explain) == j.Explain {
			continue
		}
		e := row.Explanation
		divided := readerDivided{Score: hexBits(row.Score), Offset: hexBits(e.Offset), Rounding: hexBits(e.Rounding)}
		for _, r := range e.Reasons {
			divided.Reasons = append(divided.Reasons, [4]string{r.Column, r.Value, hexBits(r.Adds), hexBits(r.AboveAverage)})
		}
		divided.Missing, divided.Unknown = missingAndUnknown(t, m, j.Rows[len(j.want.Explain)])
		j.want.Explain = append(j.want.Explain, divided)
	}
	if len(j.want.Scores) != len(j.Rows) {
		t.Fatalf("%d scores of %d rows", len(j.want.Scores), len(j.Rows))
	}
	return j
}

func missingAndUnknown(t *testing.T, m *model.Model, row map[string]any) (missing, unknown []string) {
	t.Helper()
	record := map[string]string{}
	for name, value := range row {
		record[name] = value.(string)
	}
	s := m.NewScorer()
	if _, err := s.Score(record); err != nil {
		t.Fatal(err)
	}
	return s.Missing(), s.Unknown()
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(content)); err == nil {
			content, err = io.ReadAll(unpacked)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func firstLines(content []byte, n int) []byte {
	lines := bytes.SplitAfterN(content, []byte("\n"), n+1)
	return bytes.Join(lines[:min(n, len(lines))], nil)
}

// records are the rows of delimited text, by name, or without a header by number.
func records(t *testing.T, content []byte, header bool) (rows []map[string]any) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for j := range lines[0] {
		names = append(names, strconv.Itoa(j+1))
	}
	if header {
		names, lines = lines[0], lines[1:]
	}
	for _, line := range lines {
		row := map[string]any{}
		for j, name := range names {
			row[name] = line[j]
		}
		rows = append(rows, row)
	}
	return rows
}

// sparseRecords are the rows of LIBSVM text, by index.
func sparseRecords(content []byte) (rows []map[string]any) {
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		row := map[string]any{}
		for _, entry := range strings.Fields(lines.Text())[1:] {
			index, value, _ := strings.Cut(entry, ":")
			row[index] = value
		}
		rows = append(rows, row)
	}
	return rows
}

// NSL-KDD, whose columns have numbers instead of names, and LIBSVM rows have the same bits; with TOPTAU_INTEGRATION=all, all rows.
func TestReadersOnRealData(t *testing.T) {
	data := os.Getenv("TOPTAU_DATA")
	if data == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "toptau")
	command(t, nil, "go", "build", "-C", "..", "-o", binary, "./cmd/toptau")
	sets := []struct {
		train, test string
		options     []string
	}{
		{"nsl_kdd/KDDTrain+_20Percent.txt.gz", "nsl_kdd/KDDTest+.txt.gz", []string{"--label", "42", "--positive", "!normal", "--drop", "43"}},
		{"a9a/a9a.gz", "a9a/a9a.t.gz", nil},
	}
	var jobs []*reading
	for _, set := range sets {
		for _, encoding := range []string{"raw", "scorecard", "leaves", "boosted"} {
			path := filepath.Join(dir, filepath.Dir(set.train)+"-"+encoding+".json")
			args := slices.Concat([]string{"fit", filepath.Join(data, set.train)}, set.options, []string{"--encoding", encoding, "--method", "patmat-np", "--tau", "1%",
				"--beta", "0.1", "--lambda", "0.001", "--solver", "adam", "--iterations", "20", "--quiet", "-o", path})
			if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			jobs = append(jobs, newReading(t, path, filepath.Join(data, set.test)))
		}
	}
	runReaders(t, jobs)
}

// The readers' own tests, which need nothing else, pass.
func TestReadersOwnTests(t *testing.T) {
	for _, test := range []struct {
		name, dir string
		missing   func() string
		command   []string
	}{
		{"Python", "../python/tests", needsCommand("python3"), []string{"python3", "-m", "unittest", "--quiet", "test_reader"}},
		{"Python with numpy", "../python/tests", needsPython("numpy"), []string{python(), "-m", "unittest", "--quiet", "test_reader"}},
		{"JavaScript", "../js", needsCommand("node"), []string{"node", "--test"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			available(t, engine{name: test.name, missing: test.missing})
			c := exec.Command(test.command[0], test.command[1:]...)
			c.Dir = test.dir
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%.3000s", err, out)
			}
		})
	}
}
