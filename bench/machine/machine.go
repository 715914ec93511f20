// Package machine describes what a benchmark runs on, as far as Linux reports it, and returns the processor time that it has
// used. It also makes an environment of Python, compares programs that take turns, and writes pages and tables of results.
package machine

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toptau/internal/tests/provenance"
)

// Processor returns the name of the processor, or its architecture.
func Processor() string {
	if name := CPUInfo("model name"); name != "" {
		return name
	}
	return runtime.GOARCH
}

// CPUInfo returns a field of the first processor, "" where it is unknown.
func CPUInfo(field string) string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == field {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Load returns the load average of the last minute, which tells how busy other programs keep the machine, "" where it is unknown.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}

// ProcessorTime returns the user and system time of this process, 0 where it is unknown.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// NewPython makes an environment of Python with some packages in a directory, and returns the path of its program.
func NewPython(dir string, packages ...string) (string, error) {
	python := filepath.Join(dir, "bin", "python")
	install := append([]string{python, "-m", "pip", "install", "-q"}, packages...)
	for _, c := range [][]string{{"python3", "-m", "venv", dir}, install} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			return "", fmt.Errorf("%s: %w: %s", c[0], err, lines[len(lines)-1])
		}
	}
	return python, nil
}

// WritePage writes the page of results of a command to a file, or to standard output if the path is "".
func WritePage(path string, page []byte, command string) error {
	if path == "" {
		_, err := os.Stdout.Write(page)
		return err
	}
	return provenance.WritePage(path, page, command)
}

// Description describes the machine for the notes of a table, with the other programs that were measured on it, "" if there were none.
func Description(programs string) string {
	if programs = strings.TrimSpace(programs); programs != "" {
		programs = ", with " + programs
	}
	return fmt.Sprintf("Machine: %d processors of %s, %s%s. Load average at the start: %s.\n", runtime.NumCPU(), Processor(), runtime.Version(), programs, Load())
}

// WriteRun writes the table of a command with its run and notes to a file, or the table to standard output if the path is "".
func WriteRun(path, command, notes string, rows [][]string) error {
	if path == "" {
		return csv.NewWriter(os.Stdout).WriteAll(rows)
	}
	return provenance.WriteRun(path, command, notes, rows)
}

// Turns are processor seconds of a program and a rival that take turns.
type Turns struct{ ours, theirs, ratios []float64 }

// TurnsHead names the columns of Turns.Line.
var TurnsHead = []string{"what", "rival", "toptau, seconds", "rival, seconds", "ratio", "goal"}

// Add adds a turn of both.
func (t *Turns) Add(ours, theirs float64) {
	t.ours, t.theirs, t.ratios = append(t.ours, ours), append(t.theirs, theirs), append(t.ratios, ours/theirs)
}

// Line returns a row of a table: the medians of the seconds, with some digits, and of the ratios. It prints the row, too.
func (t *Turns) Line(what, rival, goal string, digits int) []string {
	number := func(x []float64, digits int) string {
		x = slices.Sorted(slices.Values(x))
		return strconv.FormatFloat(x[len(x)/2], 'f', digits, 64)
	}
	line := []string{what, rival, number(t.ours, digits), number(t.theirs, digits), number(t.ratios, 2), goal}
	fmt.Fprintln(os.Stderr, strings.Join(line, ", "))
	return line
}
