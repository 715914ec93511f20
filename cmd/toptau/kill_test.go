//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toptau/internal/app/cli/verbs"
	"toptau/model"
)

// The kill campaign ends commands at random moments and looks at what is on the disk. A short one is part of every test
// run; TOPTAU_HOSTILE=long makes 300 kills. With TOPTAU_HOSTILE_DIR=DIR, finished kills are kept there and not done again
// by the same binary.

// killSignals are how commands are ended.
var killSignals = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}

// victim is a command that replaces files of an earlier run.
type victim struct {
	name    string
	args    []string // for the directory as the working directory; DATA becomes the data of the run
	outputs []string // files that are old or new, together unless SIGKILL comes between their renames
}

func victims() []victim {
	return []victim{
		{"fit", strings.Fields("fit DATA --label label --method topmean-np --tau 5% -o m.json --certificate c.json"),
			[]string{"m.json", "c.json"}},
		{"train", strings.Fields("train DATA --label label --max-fpr 5% --method logistic --encoding raw,scorecard -o m.json"),
			[]string{"m.json"}},
		{"score", strings.Fields("score model.json DATA -o scores.csv"), []string{"scores.csv"}},
		{"threshold", strings.Fields("threshold DATA --model model.json --max-fpr 10% -o m.json"), []string{"m.json"}},
	}
}

// stage is a directory with everything that the victims read, and the bytes that they write.
type stage struct {
	dir      string
	old, new map[string][]byte // by victim and file
	took     map[string]time.Duration
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir(), old: map[string][]byte{}, new: map[string][]byte{}, took: map[string]time.Duration{}}
	for seed, name := range []string{"old.csv", "new.csv"} {
		mustRun(t, s.dir, "generate", "detectors", "--rows", "800", "--positives", "8%", "--seed", fmt.Sprint(seed+1), "-o", name)
	}
	mustRun(t, s.dir, "fit", "old.csv", "--label", "label", "--method", "topmean-np", "--tau", "5%", "-o", "model.json")
	for _, v := range victims() {
		for _, data := range []string{"old.csv", "new.csv"} {
			start := time.Now()
			mustRun(t, s.dir, v.on(data)...)
			if took := time.Since(start); s.took[v.name] == 0 || took < s.took[v.name] {
				s.took[v.name] = took
			}
			to := s.old
			if data == "new.csv" {
				to = s.new
			}
			for _, name := range v.outputs {
				path := filepath.Join(s.dir, name)
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				to[v.name+":"+name] = content
				os.Remove(path)
			}
		}
	}
	return s
}

func (v *victim) on(data string) []string {
	args := slices.Clone(v.args)
	for i := range args {
		if args[i] == "DATA" {
			args[i] = data
		}
	}
	return args
}

func mustRun(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("toptau", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("toptau %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// killed is what one kill came to, a line of the state file.
type killed struct {
	Kill    int     `json:"kill"`
	Verb    string  `json:"verb"`
	Signal  string  `json:"signal"`
	Code    int     `json:"code"`    // -1: the signal itself
	Outcome string  `json:"outcome"` // old or new, and "+ partial" with a partial model next to it
	Stale   int     `json:"stale"`   // temporary files before the next run
	Seconds float64 `json:"seconds"` // from the signal to the end
}

func TestKillLeavesOldOrNew(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: kills processes")
	}
	kills := 6
	if os.Getenv("TOPTAU_LONG") == "" {
		kills = 2
	}
	if hostile() {
		kills = 300
	}
	stage := newStage(t)
	state := openState(t, "kills.jsonl")
	list := victims()
	var all []killed
	for i := range kills {
		line, done := state.lines[fmt.Sprint(i)]
		var k killed
		if !done {
			v := list[i%len(list)]
			k = stage.kill(t, i, v, killSignals[i/len(list)%len(killSignals)])
			state.add(t, fmt.Sprint(i), k)
		} else if err := json.Unmarshal(line, &k); err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	t.Logf("kills by verb and signal\n%s", killTable(all))
}

// kill runs a victim in a fresh directory that has its old files, ends it at a random moment, and checks the files that remain.
func (s *stage) kill(t *testing.T, number int, v victim, signal syscall.Signal) killed {
	t.Helper()
	random := rand.New(rand.NewPCG(20, uint64(number)))
	dir := t.TempDir()
	inputs := []string{"old.csv", "new.csv", "model.json"}
	for _, name := range inputs {
		if err := os.Link(filepath.Join(s.dir, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.putOld(t, dir, v)
	k := killed{Kill: number, Verb: v.name, Signal: signalName(signal)}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("kill %d, %s of %s: %s", number, k.Signal, v.name, fmt.Sprintf(format, args...))
	}

	c := exec.Command("toptau", v.on("new.csv")...)
	c.Dir = dir
	var text bytes.Buffer
	c.Stderr = &text
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	if random.IntN(2) == 0 {
		moment := time.Now().Add(time.Duration(random.Float64() * float64(s.took[v.name])))
		await(done, func() bool { return time.Now().After(moment) })
	} else { // around the moment when files get their names
		await(done, func() bool { return hasContent(dir) })
		time.Sleep(time.Duration(random.Float64() * float64(3*time.Millisecond)))
	}
	sent := time.Now()
	c.Process.Signal(signal)
	err := <-done
	k.Seconds = time.Since(sent).Seconds()
	k.Code = c.ProcessState.ExitCode()
	switch {
	case k.Code == 0 || signal == syscall.SIGKILL && k.Code == -1:
	case signal != syscall.SIGKILL && k.Code == 130:
		if !regexp.MustCompile(`(?m)^toptau: (interrupted|aborted)`).Match(text.Bytes()) {
			fail("no line says so: %q", &text)
		}
	case signal != syscall.SIGKILL && k.Code == -1: // before the handler was there
		if used := c.ProcessState.UserTime() + c.ProcessState.SystemTime(); used > time.Second { // a busy machine may take longer for it
			fail("ended by the signal itself, after %v of processor time", used)
		}
	default:
		fail("exit code %d (%v): %s", k.Code, err, &text)
	}

	// What the next command does that writes here, whatever it is.
	k.Stale = len(temporary(t, dir))
	if signal != syscall.SIGKILL && k.Stale > 0 {
		fail("left %v", temporary(t, dir))
	}
	mustRun(t, dir, "generate", "example", "--rows", "4", "-o", "next.csv")
	os.Remove(filepath.Join(dir, "next.csv"))
	if left := temporary(t, dir); len(left) > 0 {
		fail("the next run left %v", left)
	}
	k.Outcome = s.outcome(t, dir, v, signal, fail)
	return k
}

// putOld lays the files of an earlier run.
func (s *stage) putOld(t *testing.T, dir string, v victim) {
	t.Helper()
	for key, content := range s.old {
		name, found := strings.CutPrefix(key, v.name+":")
		if !found {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// outcome says which of the files are there.
func (s *stage) outcome(t *testing.T, dir string, v victim, signal syscall.Signal, fail func(string, ...any)) string {
	t.Helper()
	var states []string
	for _, name := range v.outputs {
		content, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case err != nil:
			fail("%v", err)
		case bytes.Equal(content, s.new[v.name+":"+name]):
			states = append(states, "new")
		case bytes.Equal(content, s.old[v.name+":"+name]):
			states = append(states, "old")
		default:
			fail("%s has %d bytes that are neither old nor new", name, len(content))
		}
	}
	if len(slices.Compact(slices.Clone(states))) > 1 && signal != syscall.SIGKILL {
		fail("a mismatched pair: %v of %v", states, v.outputs)
	}
	outcome := strings.Join(slices.Compact(states), ", ")
	if partial := filepath.Join(dir, "m.json"+verbs.PartialSuffix); fileExists(partial) {
		outcome += " + partial"
		if _, err := model.Load(partial); err != nil {
			fail("%v", err)
		}
		if v.name == "fit" {
			mustRun(t, dir, "verify", partial, "new.csv", filepath.Join(dir, "c.json"+verbs.PartialSuffix), "--label", "label")
		}
	}
	return outcome
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// temporary lists the temporary files of a directory.
func temporary(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// await waits until something is so, or the process has ended.
func await(done <-chan error, so func() bool) {
	for len(done) == 0 && !so() {
		time.Sleep(100 * time.Microsecond)
	}
}

// hasContent reports whether a temporary file has content, which it gets when it is nearly complete.
func hasContent(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

func signalName(s syscall.Signal) string {
	return map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT"}[s]
}

// killTable counts the outcomes.
func killTable(all []killed) string {
	type cell struct {
		n, stale int
		outcomes map[string]int
		codes    map[int]int
		seconds  []float64
	}
	cells := map[string]*cell{}
	var keys []string
	for _, k := range all {
		key := k.Verb + " " + k.Signal
		if cells[key] == nil {
			cells[key] = &cell{outcomes: map[string]int{}, codes: map[int]int{}}
			keys = append(keys, key)
		}
		c := cells[key]
		c.n++
		c.stale += k.Stale
		c.outcomes[k.Outcome]++
		c.codes[k.Code]++
		c.seconds = append(c.seconds, k.Seconds)
	}
	slices.Sort(keys)
	var b strings.Builder
	fmt.Fprintln(&b, "verb | signal | kills | found on the disk | exit codes (-1: the signal) | temporary files before the next run | seconds to the end: median, worst")
	fmt.Fprintln(&b, "-- | -- | --: | -- | -- | --: | --:")
	for _, key := range keys {
		c := cells[key]
		median, worst := medianAndWorst(c.seconds)
		fmt.Fprintf(&b, "%s | %d | %s | %s | %d | %.3f, %.3f\n", strings.Replace(key, " ", " | ", 1), c.n, tally(c.outcomes), tally(c.codes), c.stale, median, worst)
	}
	return b.String()
}

func tally[K cmp.Ordered](counts map[K]int) string {
	var keys []K
	for key := range counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var list []string
	for _, key := range keys {
		list = append(list, fmt.Sprintf("%v: %d", key, counts[key]))
	}
	return strings.Join(list, ", ")
}

func medianAndWorst(x []float64) (median, worst float64) {
	slices.Sort(x)
	return x[len(x)/2], x[len(x)-1]
}

// hostile reports whether the long campaigns are asked for.
func hostile() bool { return os.Getenv("TOPTAU_HOSTILE") == "long" }

// stateFile keeps the finished parts of a campaign, one JSON line each.
type stateFile struct {
	file  *os.File // nil: nothing is kept
	lines map[string]json.RawMessage
}

// openState reads what the same binary has finished; without TOPTAU_HOSTILE_DIR nothing is kept.
func openState(t *testing.T, name string) *stateFile {
	t.Helper()
	s := &stateFile{lines: map[string]json.RawMessage{}}
	dir := os.Getenv("TOPTAU_HOSTILE_DIR")
	if dir == "" || !hostile() {
		return s
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, text := range bytes.Split(content, []byte("\n")) {
		var line stateLine
		if json.Unmarshal(text, &line) == nil && line.Binary == binaryDigest(t) { // a line cut short does not count
			s.lines[line.Part] = line.Result
		}
	}
	if s.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.file.Close() })
	return s
}

type stateLine struct {
	Binary string          `json:"binary"`
	Part   string          `json:"part"`
	Result json.RawMessage `json:"result"`
}

func (s *stateFile) add(t *testing.T, part string, result any) {
	t.Helper()
	if s.file == nil || t.Failed() {
		return
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(stateLine{binaryDigest(t), part, text}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.file.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
}
