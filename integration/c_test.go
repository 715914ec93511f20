package integration

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"

	"toptau/internal/models/export/c"
)

// gcc runs exports that were compiled with some flags. All jobs are one program.
func gcc(flags ...string) engine {
	return engine{name: fmt.Sprint("gcc ", flags), missing: needsCommand("gcc"), run: func(t *testing.T, dir string, jobs []job) []answer {
		answers := make([]answer, len(jobs))
		var main bytes.Buffer
		main.WriteString(cMain)
		args := append([]string{"-std=c99", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(dir, "score"), filepath.Join(dir, "main.c")}, flags...)
		for i, j := range jobs {
			name := fmt.Sprintf("m%d", i)
			path := filepath.Join(dir, name+".c")
			answers[i].bytes, answers[i].refused = writeExport(t, path, func(w io.Writer) error { return c.Write(w, j.p, c.Options{Name: name}) })
			if answers[i].refused == nil {
				args = append(args, path)
			}
			fmt.Fprintf(&main, "extern double %[1]s_score_sized(const double *, const char *const *, const size_t *), %[1]s_threshold(int, const char *);\n", name)
		}
		main.WriteString("int main(void) {\n")
		for i, j := range jobs {
			fmt.Fprintf(&main, "run(%d, %d, %d, %d, %d, m%d_score_sized, m%[6]d_threshold);\n", len(j.rows), len(j.p.Numbers()), len(j.p.Texts()),
				len(j.p.Segments()), len(j.p.Points), i)
		}
		main.WriteString("return 0;\n}\n")
		writeFile(t, filepath.Join(dir, "main.c"), main.Bytes())
		command(t, nil, "gcc", args...)
		readCompiled(t, answers, jobs, command(t, bytes.NewReader(compiledData(jobs)), filepath.Join(dir, "score")))
		return answers
	}}
}

// compiledData writes the rows of all jobs for compiled programs: for each row its numbers, then texts and segments with their
// length, -1 for a missing one; then the segment of each point.
func compiledData(jobs []job) []byte {
	var data []byte
	text := func(s *string) {
		if s == nil {
			data = binary.LittleEndian.AppendUint32(data, math.MaxUint32)
			return
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(len(*s)))
		data = append(data, *s...)
	}
	for _, j := range jobs {
		for _, p := range j.p.Points {
			data = binary.LittleEndian.AppendUint32(data, uint32(p.Segment))
		}
		for _, row := range j.rows {
			for _, k := range j.p.Numbers() {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(row.values[k].Number))
			}
			for _, k := range j.p.Texts() {
				text(row.values[k].Text)
			}
			for i := range row.segments {
				text(&row.segments[i])
			}
		}
	}
	return data
}

// readCompiled reads the output: for each job the seconds, then for each row the score and the threshold of each point.
func readCompiled(t *testing.T, answers []answer, jobs []job, out []byte) {
	t.Helper()
	next := func() float64 {
		if len(out) < 8 {
			t.Fatal("the program wrote too little")
		}
		x := math.Float64frombits(binary.LittleEndian.Uint64(out))
		out = out[8:]
		return x
	}
	for i, j := range jobs {
		a := &answers[i]
		a.seconds = next()
		for range j.rows {
			score := next()
			var decisions []bool
			for range j.p.Points {
				decisions = append(decisions, score > next())
			}
			a.scores, a.decisions = append(a.scores, score), append(a.decisions, decisions)
		}
	}
	if len(out) > 0 {
		t.Errorf("the program wrote %d bytes too many", len(out))
	}
}

const cMain = `#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void need(void *to, size_t n) { if (n > 0 && fread(to, 1, n, stdin) != n) exit(2); }

static char *text(size_t *size) {
	uint32_t n;
	char *s;
	need(&n, 4);
	*size = 0;
	if (n == UINT32_MAX) return NULL;
	s = malloc(n + 1);
	need(s, n);
	s[n] = 0;
	*size = n;
	return s;
}

static void run(int rows, int numbers, int texts, int segments, int points,
		double (*score)(const double *, const char *const *, const size_t *), double (*threshold)(int, const char *)) {
	double *x = malloc(8 * ((size_t)rows * numbers + 1)), *z = malloc(8 * (rows + 1)), seconds;
	char **s = malloc(sizeof(char *) * ((size_t)rows * (texts + segments) + 1));
	size_t *sizes = malloc(sizeof(size_t) * ((size_t)rows * (texts + segments) + 1));
	int32_t *at = malloc(4 * (points + 1));
	int i, k;
	clock_t start;
	need(at, 4 * points);
	for (i = 0; i < rows; i++) {
		need(x + (size_t)i * numbers, 8 * numbers);
		for (k = 0; k < texts + segments; k++) {
			size_t j = (size_t)i * (texts + segments) + k;
			s[j] = text(&sizes[j]);
		}
	}
	start = clock();
	for (i = 0; i < rows; i++) {
		size_t j = (size_t)i * (texts + segments);
		z[i] = score(x + (size_t)i * numbers, (const char *const *)s + j, sizes + j);
	}
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	fwrite(&seconds, 8, 1, stdout);
	for (i = 0; i < rows; i++) {
		fwrite(z + i, 8, 1, stdout);
		for (k = 0; k < points; k++) {
			double t = threshold(k, at[k] < 0 ? NULL : s[(size_t)i * (texts + segments) + texts + at[k]]);
			fwrite(&t, 8, 1, stdout);
		}
	}
	free(x); free(z); free(s); free(sizes); free(at);
}

`
