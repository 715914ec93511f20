package integration

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/internal/models/export/golang"
)

// goCompiler runs exports to Go. All jobs are one program. GOAMD64 v3 has fused multiply-add.
func goCompiler(level string) engine {
	return engine{name: "Go, amd64 " + level, missing: needsCommand("go"), run: func(t *testing.T, dir string, jobs []job) []answer {
		answers := make([]answer, len(jobs))
		var imports, calls bytes.Buffer
		for i, j := range jobs {
			name := fmt.Sprintf("m%d", i)
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			answers[i].bytes, answers[i].refused = writeExport(t, filepath.Join(dir, name, "model.go"), func(w io.Writer) error {
				return golang.Write(w, j.p, golang.Options{Name: name})
			})
			fmt.Fprintf(&imports, "\t%q\n", "scores/"+name)
			var points []string
			for k := range j.p.Points {
				points = append(points, fmt.Sprintf("&%s.Points[%d]", name, k))
			}
			fmt.Fprintf(&calls, "\trun(%d, len(%s.Numbers), len(%[2]s.Texts), %d, %s.Score, []decider{%s})\n", len(j.rows), name, len(j.p.Segments()), name,
				strings.Join(points, ", "))
		}
		writeFile(t, filepath.Join(dir, "go.mod"), []byte("module scores\n\ngo 1.26.0\n"))
		writeFile(t, filepath.Join(dir, "main.go"), []byte(strings.Replace(strings.Replace(goMain, "CALLS\n", calls.String(), 1), "IMPORTS\n", imports.String(), 1)))
		binary := filepath.Join(dir, "score")
		t.Setenv("GOAMD64", level)
		command(t, nil, "go", "-C", dir, "vet", "./...")
		command(t, nil, "go", "-C", dir, "build", "-o", binary, ".")
		readCompiled(t, answers, jobs, command(t, bytes.NewReader(compiledData(jobs)), binary))
		return answers
	}}
}

// goMain writes a threshold as a number just below or above the score, because the exports decide themselves.
const goMain = `package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"os"
	"syscall"

IMPORTS
)

type decider interface {
	Decide(score float64, segment string) bool
}

var (
	in  = bufio.NewReader(os.Stdin)
	out = bufio.NewWriter(os.Stdout)
)

func need(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(in, b); err != nil {
		panic(err)
	}
	return b
}

func text() string {
	n := binary.LittleEndian.Uint32(need(4))
	if n == math.MaxUint32 {
		return ""
	}
	return string(need(int(n)))
}

func write(x float64) {
	out.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
}

func used() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func run(rows, numbers, texts, segments int, score func([]float64, []string) float64, points []decider) {
	at := make([]int32, len(points))
	for i := range at {
		at[i] = int32(binary.LittleEndian.Uint32(need(4)))
	}
	x, s := make([][]float64, rows), make([][]string, rows)
	for i := range rows {
		for range numbers {
			x[i] = append(x[i], math.Float64frombits(binary.LittleEndian.Uint64(need(8))))
		}
		for range texts + segments {
			s[i] = append(s[i], text())
		}
	}
	z := make([]float64, rows)
	start := used()
	for i := range rows {
		z[i] = score(x[i], s[i])
	}
	write(used() - start)
	for i := range rows {
		write(z[i])
		for k, p := range points {
			segment := ""
			if at[k] >= 0 {
				segment = s[i][texts+int(at[k])]
			}
			if p.Decide(z[i], segment) {
				write(math.Inf(-1))
			} else {
				write(math.Inf(1))
			}
		}
	}
}

func main() {
CALLS
	out.Flush()
}
`
