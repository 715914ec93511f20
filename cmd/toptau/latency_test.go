//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toptau/internal/app/cli/clitest"
)

// latency is the time from a signal to the end of the process, a line of the state file.
type latency struct {
	Phase   string  `json:"phase"`
	Said    float64 `json:"said"` // seconds to the first line on standard error; negative: none came
	Seconds float64 `json:"seconds"`
	Code    int     `json:"code"`
}

// TestKillLatency measures how long SIGINT takes in each phase of each verb. It decides nothing but that the process ends
// as a whole run or with exit code 130.
func TestKillLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: kills processes")
	}
	rows, each := 1500, 1
	if hostile() {
		rows, each = 60_000, 5
	}
	if text := os.Getenv("TOPTAU_HOSTILE_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		rows = n
	}
	dir := t.TempDir()
	mustRun(t, dir, "generate", "detectors", "--rows", fmt.Sprint(rows), "--positives", "5%", "-o", "d.csv")
	encoding := "raw"
	if hostile() {
		encoding = "leaves"
	}
	mustRun(t, dir, "fit", "d.csv", "--label", "label", "--method", "topmean-np", "--tau", "5%", "--encoding", encoding, "-o", "model.json")
	mustRun(t, dir, "fit", "d.csv", "--label", "label", "--method", "topmean-np", "--tau", "5%", "-o", "m0.json", "--certificate", "c0.json")
	commands := [][]string{
		strings.Fields("generate detectors --rows " + fmt.Sprint(4*rows) + " -o g.csv"),
		strings.Fields("fit d.csv --label label --method topmean-np --tau 1% --encoding leaves -o m.json"),
		strings.Fields("fit d.csv --label label --method topmean-np --tau 1% --gap 1e-12 -o m.json --certificate c.json"),
		strings.Fields("train d.csv --label label --max-fpr 1% --method logistic --encoding raw,leaves -o m.json"),
		strings.Fields("score model.json d.csv -o scores.csv"),
		strings.Fields("explain model.json d.csv --columns"),
		strings.Fields("evaluate model.json d.csv --report r.html"),
		strings.Fields("threshold d.csv --model model.json --max-fpr 1% -o m.json"),
		strings.Fields("verify m0.json d.csv c0.json --label label"),
		strings.Fields("diagnose d.csv --label label"),
		strings.Fields("compare d.csv --label label --max-fpr 1% --method topmean-np --encoding raw,leaves --report r.html"),
		strings.Fields("demo --rows " + fmt.Sprint(rows/4)),
	}
	if !hostile() {
		commands = slices.DeleteFunc(commands, func(args []string) bool { return args[0] != "generate" && args[0] != "score" })
	}
	state := openState(t, "latency.jsonl")
	var table strings.Builder
	fmt.Fprintln(&table, "command | phase | signals | seconds to the first line: median, worst | seconds to the end: median, worst | exit codes")
	fmt.Fprintln(&table, "-- | -- | --: | --: | --: | --")
	for _, args := range commands {
		name := args[0]
		if slices.Contains(args, "leaves") {
			name += " (leaves)"
		}
		t.Run(name, func(t *testing.T) {
			lasts, whole := phasesOf(t, dir, args)
			found := map[string][]latency{}
			for _, phase := range inOrder(lasts) {
				for i := range each {
					part := fmt.Sprintf("%s/%s/%d/%d", name, phase, rows, i)
					var l latency
					if line, done := state.lines[part]; done {
						if err := json.Unmarshal(line, &l); err != nil {
							t.Fatal(err)
						}
					} else {
						random := rand.New(rand.NewPCG(uint64(i), uint64(len(part))))
						l = interruptIn(t, dir, args, phase, time.Duration(random.Float64()*float64(lasts[phase])), 3*whole)
						state.add(t, part, l)
					}
					found[l.Phase] = append(found[l.Phase], l)
				}
			}
			for _, p := range append(clitest.PhaseNames(), "after the end") {
				list := found[p]
				if len(list) == 0 {
					continue
				}
				var said, ended []float64
				codes := map[int]int{}
				for _, l := range list {
					if l.Said >= 0 {
						said = append(said, l.Said)
					}
					ended = append(ended, l.Seconds)
					codes[l.Code]++
				}
				first := "-"
				if len(said) > 0 {
					median, worst := medianAndWorst(said)
					first = fmt.Sprintf("%.3f, %.3f", median, worst)
				}
				median, worst := medianAndWorst(ended)
				fmt.Fprintf(&table, "%s | %s | %d | %s | %.3f, %.3f | %s\n", name, p, len(list), first, median, worst, tally(codes))
			}
		})
	}
	t.Logf("SIGINT on %d rows\n%s", rows, &table)
}

// What the solver has reached is kept, next to an existing model unless the flag says otherwise.
func TestKillInTheSolverKeepsWhatItHas(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: kills processes")
	}
	dir := t.TempDir()
	mustRun(t, dir, "generate", "detectors", "--rows", "1000", "--positives", "8%", "-o", "d.csv")
	args := strings.Fields("fit d.csv --label label --method topmean-np --tau 5% --solver adam --iterations 1000000000 -o m.json")
	for _, c := range []struct {
		flag, want string
		there      bool
	}{
		{"", "the results so far are in m.json", false},
		{"", "the results so far are in m.json.partial; m.json was not replaced (--replace-partial replaces it)", true},
		{"--replace-partial", "the results so far are in m.json", true},
	} {
		old := []byte("an older model")
		if c.there {
			if err := os.WriteFile(filepath.Join(dir, "m.json"), old, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		command, said, phase := startTraced(t, dir, args)
		for end := time.Now().Add(time.Minute); phase() != "solving" && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		met := phase()
		command.Process.Signal(syscall.SIGTERM)
		command.Wait()
		if met != "solving" {
			t.Fatalf("the run is %s after a minute", met)
		}
		if code := command.ProcessState.ExitCode(); code != 130 {
			t.Errorf("exit code %d", code)
		}
		if got := said.text.String(); !strings.HasSuffix(got, "toptau: interrupted; "+c.want+"\n") {
			t.Errorf("standard error %q, want %q", got, c.want)
		}
		content, err := os.ReadFile(filepath.Join(dir, "m.json"))
		if err != nil {
			t.Fatal(err)
		}
		if kept := bytes.Equal(content, old); kept != (c.there && c.flag == "") {
			t.Errorf("%q: the older model was kept: %v", c.flag, kept)
		}
		clean(dir)
	}
}

// inOrder lists the phases of a run that last long enough to be met.
func inOrder(lasts map[string]time.Duration) []string {
	var list []string
	for _, name := range clitest.PhaseNames() {
		if lasts[name] >= 20*time.Millisecond {
			list = append(list, name)
		}
	}
	return list
}

// startTraced starts a traced command.
func startTraced(t *testing.T, dir string, args []string) (c *exec.Cmd, said *firstByte, phase func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "phase")
	if err := os.WriteFile(path, []byte(fmt.Sprintf("%-20s", "starting")), 0o600); err != nil {
		t.Fatal(err)
	}
	c = exec.Command("toptau", args...)
	c = exec.Command(c.Args[0]+"-traced", c.Args[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), clitest.PhaseFile+"="+path)
	said = &firstByte{}
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, said, func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
}

// firstByte notes when something was written.
type firstByte struct {
	mu   sync.Mutex
	at   time.Time
	text bytes.Buffer
}

func (f *firstByte) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at.IsZero() {
		f.at = time.Now()
	}
	return f.text.Write(b)
}

// phasesOf runs a command to its end and measures how long each phase lasts.
func phasesOf(t *testing.T, dir string, args []string) (lasts map[string]time.Duration, whole time.Duration) {
	t.Helper()
	c, said, phase := startTraced(t, dir, args)
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	lasts = map[string]time.Duration{}
	start := time.Now()
	for last := start; ; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("toptau %s: %v\n%s", strings.Join(args, " "), err, &said.text)
			}
			clean(dir)
			return lasts, time.Since(start)
		case <-time.After(2 * time.Millisecond):
			now := time.Now()
			lasts[phase()] += now.Sub(last)
			last = now
		}
	}
}

// interruptIn sends SIGINT some time after a phase has begun, or later where the phase is over by then.
func interruptIn(t *testing.T, dir string, args []string, wanted string, after, most time.Duration) latency {
	t.Helper()
	c, said, phase := startTraced(t, dir, args)
	defer clean(dir)
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	ended := func() bool { return len(done) > 0 }
	spent := time.Duration(0)
	last := time.Now()
	for end := last.Add(most); !ended() && time.Now().Before(end) && (phase() != wanted || spent < after); {
		time.Sleep(2 * time.Millisecond)
		now := time.Now()
		if phase() == wanted {
			spent += now.Sub(last)
		} else if spent > 0 && spent > after*9/10 {
			break
		}
		last = now
	}
	l := latency{Phase: phase(), Said: -1}
	if ended() {
		l.Phase = "after the end"
	}
	sent := time.Now()
	c.Process.Signal(syscall.SIGINT)
	<-done
	l.Seconds = time.Since(sent).Seconds()
	l.Code = c.ProcessState.ExitCode()
	said.mu.Lock()
	defer said.mu.Unlock()
	if !said.at.IsZero() {
		l.Said = max(0, said.at.Sub(sent).Seconds())
	}
	if l.Code != 0 && l.Code != 130 && l.Phase != "starting" {
		t.Errorf("toptau %s, interrupted in %s: exit code %d\n%s", strings.Join(args, " "), l.Phase, l.Code, &said.text)
	}
	return l
}

// clean removes what a command wrote.
func clean(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !slices.Contains([]string{"d.csv", "model.json", "m0.json", "c0.json"}, e.Name()) {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

var binaryOnce = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)[:8]), err
})

// binaryDigest tells builds of the test apart.
func binaryDigest(t *testing.T) string {
	t.Helper()
	digest, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
