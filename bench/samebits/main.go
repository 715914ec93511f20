// Samebits compares two builds of toptau: both run the same commands, and the weights, thresholds, scores and certificate
// numbers must be equal to the bit. The new build also scores the old build's models if it reads their format. Numbers of
// passes, scans and statements may not be higher. With two builds of toptau-sql, the commands of a private PostgreSQL run, too.
//
//	go run -C bench ./samebits [-rounds N] OLD NEW [OLD-SQL NEW-SQL]
//
// The last columns are processor seconds of OLD and NEW, with those of the database, and their ratio: the minimum of the rounds,
// in which the two run in turns. Speed decides nothing.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toptau/sql/servers"
)

// testCase is a command that writes MODEL and perhaps CERTIFICATE. Options have the spellings that both builds know. Scored is
// the file that the model scores. A packed file is packed by each build, from the CSV of the same name.
type testCase struct{ name, data, command, scored string }

var cases = []testCase{
	{"certified, hinge", "flows.csv", "fit DATA --label label --method topmean-np --tau 5% -o MODEL --certificate CERTIFICATE", ""},
	{"certified, squared hinge", "flows.csv", "fit DATA --label label --method patmat-np --tau 1% --beta 0.1 --surrogate squared-hinge -o MODEL --certificate CERTIFICATE", ""},
	{"certified, lambda 0", "flows.csv", "fit DATA --label label --method toppushk -k 20 --lambda 0 -o MODEL --certificate CERTIFICATE", ""},
	{"certified, weights, categories", "mixed.csv", "fit DATA --label label --weight weight --impute median --method patmat --tau 10% --beta 1 -o MODEL --certificate CERTIFICATE", ""},
	{"adam", "mixed.csv", "fit DATA --label label --drop weight --impute zero --method grill --tau 5% --iterations 50 -o MODEL", ""},
	{"sgd, minibatches", "flows.csv", "fit DATA --label label --method topmean --tau 5% --solver sgd --iterations 30 --minibatches 4 --start random -o MODEL", ""},
	{"scorecard", "mixed.csv", "fit DATA --label label --drop weight --impute median --encoding scorecard --method toppush -o MODEL --certificate CERTIFICATE", ""},
	{"leaves", "flows.csv", "fit DATA --label label --encoding leaves --method topmean-np --tau 5% --solver adam --iterations 30 -o MODEL", ""},
	{"boosted", "mixed.csv", "train DATA --label label --drop weight --impute indicator --max-fpr 5% --method boosting --encoding boosted,stochastic,pairs,additive -o MODEL", ""},
	{"libsvm", "flows.svm", "fit DATA --method patmat-np --tau 2% --beta 1 -o MODEL --certificate CERTIFICATE", ""},
	{"train, cross-fitted", "flows.csv", "train DATA --label label --max-fpr 1% --method logistic,ramp --encoding raw,scorecard -o MODEL", ""},
	{"train, guarantee", "flows.csv", "train DATA --label label --max-fpr 5% --delta 5% --method logistic,topmean-np --encoding raw -o MODEL", ""},
	{"train, all encodings", "mixed.csv", "train DATA --label label --drop weight --impute median --top 5% -o MODEL", ""},
	{"packed, in memory", "mixed.ttp", "fit DATA --label label --weight weight --impute median --method toppush -o MODEL --certificate CERTIFICATE", "mixed.csv"},
	{"packed, in passes", "large.ttp", "fit DATA --label label --drop weight --impute median --method topmean-np --tau 5% --memory 1MB -o MODEL --certificate CERTIFICATE", "mixed.csv"},
	{"packed, train", "large.ttp", "train DATA --label label --drop weight --impute median --top 5% --delta 5% --method logistic,topmean-np --encoding raw --memory 1MB --sample-rows 4000 -o MODEL", "mixed.csv"},
}

// databaseCases are commands of toptau-sql. It reads the small table once and scans the large one.
var databaseCases = []testCase{
	{"PostgreSQL, small table", "mixed", "fit TABLE --weight weight --impute median --method patmat --tau 10% --beta 1 -o MODEL --certificate CERTIFICATE", "mixed.csv"},
	{"PostgreSQL, large table", "large", "fit TABLE --drop weight --impute median --method topmean-np --tau 5% -o MODEL --certificate CERTIFICATE", "mixed.csv"},
	{"PostgreSQL, train", "large", "train TABLE --drop weight --impute median --top 5% --delta 5% --method logistic,topmean-np --encoding raw --sample-rows 4000 -o MODEL", "mixed.csv"},
}

const (
	smallRows = 2500
	largeRows = 210_000 // toptau-sql holds tables of up to 200,000 rows in memory
)

func main() {
	rounds := flag.Int("rounds", 3, "run each command this often")
	flag.Parse()
	if flag.NArg() != 2 && flag.NArg() != 4 || *rounds < 1 {
		fmt.Fprintln(os.Stderr, "usage: samebits [-rounds N] OLD NEW [OLD-SQL NEW-SQL]")
		os.Exit(2)
	}
	var programs [4]string
	for i, name := range flag.Args() {
		path, err := filepath.Abs(name)
		check(err)
		programs[i] = path
	}
	dir, err := os.MkdirTemp("", "samebits")
	check(err)
	defer os.RemoveAll(dir)
	check(os.Chmod(dir, 0o755)) // PostgreSQL reads files as another user
	c := &comparison{dir: dir, programs: [2]string(programs[:2]), rounds: *rounds}
	c.run(c.programs[0], "generate", "detectors", "--rows", "3000", "-o", "flows.csv")
	for name, content := range map[string][]byte{"mixed.csv": mixedRows(smallRows), "large.csv": mixedRows(largeRows), "flows.svm": sparseRows(2000)} {
		check(os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
	for _, of := range cases {
		c.compare(of, c.programs, nil)
	}
	if flag.NArg() == 4 {
		err := servers.Outside(func(t testing.TB) { c.compareDatabases(t, [2]string(programs[2:])) })
		if errors.Is(err, servers.ErrNotInstalled) {
			fmt.Println(err)
		} else {
			check(err)
		}
	} else {
		fmt.Println("without OLD-SQL and NEW-SQL: no case of PostgreSQL")
	}
	fmt.Printf("%d of %d cases equal; processor seconds %.2f and %.2f, ratio %.3f\n", c.cases-c.different, c.cases, c.seconds[0], c.seconds[1], c.seconds[1]/c.seconds[0])
	if c.unread > 0 {
		fmt.Printf("NEW does not read %d models of OLD\n", c.unread)
	}
	if c.different > 0 {
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

// comparison has what the cases have in common, and their results.
type comparison struct {
	dir      string
	programs [2]string // OLD and NEW of toptau
	rounds   int

	cases, different, unread int
	seconds                  [2]float64 // sums of the cases' processor seconds
}

// compareDatabases loads two tables into a private server of PostgreSQL and compares what programs read from it.
func (c *comparison) compareDatabases(t testing.TB, programs [2]string) {
	s := servers.Postgres(t, servers.PostgresOptions{})
	for _, name := range []string{"mixed", "large"} {
		s.Run(t, fmt.Sprintf("CREATE TABLE %s (id serial PRIMARY KEY, bytes int8, load float8, service text, state text, weight int8, label int8);"+
			"COPY %[1]s (bytes, load, service, state, weight, label) FROM '%s' (FORMAT csv, HEADER); ANALYZE %[1]s", name, filepath.Join(c.dir, name+".csv")))
	}
	check(os.Setenv("SAMEBITS_DSN", s.ReadOnly))
	for _, of := range databaseCases {
		c.compare(of, programs, s)
	}
}

// compare runs a case with both programs in turns and prints what differs, the numbers of passes, and the processor seconds.
func (c *comparison) compare(of testCase, programs [2]string, database *servers.Server) {
	var models, certificates, scores [2][]byte
	var read [2]counts
	seconds := [2]float64{math.Inf(1), math.Inf(1)}
	csv := cmp.Or(of.scored, of.data)
	for range c.rounds {
		for k, program := range programs {
			data, model, certificate := of.data, fmt.Sprintf("m%d.json", k), fmt.Sprintf("c%d.json", k)
			if name, packed := strings.CutSuffix(data, ".ttp"); packed {
				data = fmt.Sprintf("%s%d.ttp", name, k)
				c.run(program, "pack", name+".csv", "-o", data)
			}
			table := "postgres: --dsn-env SAMEBITS_DSN --key id --label label --table " + data
			command := strings.NewReplacer("DATA", data, "TABLE", table, "MODEL", model, "CERTIFICATE", certificate).Replace(of.command)
			before := databaseSeconds(database)
			out, used, err := c.output(program, append(strings.Fields(command), "--json")...)
			check(err)
			seconds[k] = min(seconds[k], used+databaseSeconds(database)-before)
			check(json.Unmarshal(out, &read[k]))
			models[k] = c.read(model)
			if strings.Contains(of.command, "CERTIFICATE") {
				certificates[k] = c.read(certificate)
			}
		}
	}
	for k := range programs {
		scores[k] = c.run(c.programs[k], "score", fmt.Sprintf("m%d.json", k), csv)
	}
	var found []string
	for _, field := range []string{"weights", "offset", "thresholds", "certificates"} {
		if !bytes.Equal(modelNumbers(models[0], field), modelNumbers(models[1], field)) {
			found = append(found, field)
		}
	}
	if !bytes.Equal(certificateNumbers(certificates[0]), certificateNumbers(certificates[1])) {
		found = append(found, "certificate")
	}
	if !bytes.Equal(scores[0], scores[1]) {
		found = append(found, "scores")
	}
	if again, _, err := c.output(c.programs[1], "score", "m0.json", csv); err != nil {
		c.unread++ // the format of the files changed
	} else if !bytes.Equal(scores[0], again) {
		found = append(found, "scores of the old model")
	}
	if read[1].exceeds(read[0]) {
		found = append(found, "more reading")
	}
	verdict := "equal"
	if len(found) > 0 {
		verdict = "differs: " + strings.Join(found, ", ")
		c.different++
	}
	c.cases++
	c.seconds[0], c.seconds[1] = c.seconds[0]+seconds[0], c.seconds[1]+seconds[1]
	fmt.Printf("%-32s %-8s %6.2f %6.2f %6.3f  %s\n", of.name, verdict, seconds[0], seconds[1], seconds[1]/seconds[0], describeCounts(read))
}

// databaseSeconds returns the processor seconds of a server so far.
func databaseSeconds(s *servers.Server) float64 {
	if s == nil {
		return 0
	}
	return s.CPU()
}

// counts are the numbers in a result that describe how often the data were read.
type counts struct {
	Passes   int `json:"passes"` // of a fit
	Database struct {
		Statements int `json:"statements"`
		Scans      int `json:"scans"`
		Rows       int `json:"rows_fetched"`
	} `json:"database"`
}

// list returns the counts in the order of their names.
func (c counts) list() [4]int {
	return [4]int{c.Passes, c.Database.Statements, c.Database.Scans, c.Database.Rows}
}

// exceeds reports whether one of the counts is higher than in another result.
func (c counts) exceeds(other counts) bool {
	of := other.list()
	for i, n := range c.list() {
		if n > of[i] {
			return true
		}
	}
	return false
}

// describeCounts names the counts of OLD that are not zero, with those of NEW where they differ.
func describeCounts(of [2]counts) string {
	var parts []string
	after := of[1].list()
	for i, n := range of[0].list() {
		name := [4]string{"passes", "statements", "scans", "rows fetched"}[i]
		switch {
		case n != after[i]:
			parts = append(parts, fmt.Sprintf("%s %d -> %d", name, n, after[i]))
		case n > 0:
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	return strings.Join(parts, ", ")
}

// modelNumbers returns some numbers of a model file as they are written.
func modelNumbers(file []byte, field string) []byte {
	var m struct {
		Weights json.RawMessage `json:"weights"`
		Offset  json.RawMessage `json:"offset"`
		Points  []struct {
			Threshold json.RawMessage `json:"threshold"`
		} `json:"points"`
		Members []struct {
			Certificate json.RawMessage `json:"certificate"`
		} `json:"members"`
	}
	check(json.Unmarshal(file, &m))
	switch field {
	case "weights":
		return m.Weights
	case "offset":
		return m.Offset
	}
	var all []byte
	if field == "thresholds" {
		for _, p := range m.Points {
			all = append(append(all, p.Threshold...), '\n')
		}
		return all
	}
	for _, member := range m.Members {
		all = append(append(all, member.Certificate...), '\n')
	}
	return all
}

// certificateNumbers returns the bounds and the dual point as they are written.
func certificateNumbers(file []byte) []byte {
	if file == nil {
		return nil
	}
	var c map[string]json.RawMessage
	check(json.Unmarshal(file, &c))
	var all []byte
	for _, name := range []string{"ball_radius", "objective", "lower_bound", "p", "a"} {
		all = append(append(all, c[name]...), '\n')
	}
	return all
}

// mixedRows returns a table with numbers, categories, missing values and weights.
func mixedRows(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("bytes,load,service,state,weight,label\n")
	for range n {
		positive := 0
		if r.Float64() < 0.08 {
			positive = 1
		}
		load := ""
		if r.Float64() < 0.9 {
			load = fmt.Sprintf("%.4f", r.NormFloat64()+0.8*float64(positive))
		}
		service := []string{"http", "dns", "smtp", "ssh", ""}[min(4, r.IntN(4+positive))]
		fmt.Fprintf(&b, "%d,%s,%s,%c,%d,%d\n", r.IntN(10000)+3000*positive, load, service, 'a'+rune(r.IntN(6)), 1+r.IntN(3), positive)
	}
	return b.Bytes()
}

// sparseRows returns a LIBSVM table.
func sparseRows(n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	for range n {
		label := -1
		if r.Float64() < 0.1 {
			label = 1
		}
		fmt.Fprintf(&b, "%+d", label)
		for j := 1; j <= 60; j++ {
			if r.Float64() < 0.15 {
				fmt.Fprintf(&b, " %d:%.3f", j, r.Float64()+0.3*float64(label)*float64(j%3))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// output returns what a program prints, and its processor seconds. An error contains the program's message.
func (c *comparison) output(program string, args ...string) ([]byte, float64, error) {
	var errs bytes.Buffer
	command := exec.Command(program, args...)
	command.Dir, command.Stderr = c.dir, &errs
	out, err := command.Output()
	if err != nil {
		return out, 0, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, errs.String())
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return out, used.Seconds(), nil
}

func (c *comparison) run(program string, args ...string) []byte {
	out, _, err := c.output(program, args...)
	check(err)
	return out
}

func (c *comparison) read(name string) []byte {
	content, err := os.ReadFile(filepath.Join(c.dir, name))
	check(err)
	return content
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
