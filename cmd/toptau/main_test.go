package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"toptau/internal/app/cli/clitest"
)

// TestMain lets the transcripts run this program as "toptau".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toptau": main, "toptau-traced": clitest.Traced(main)})
}

// run runs the command without touching the process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return app().Run(ctx, args, stdin, stdout, stderr)
}

// TestTranscripts runs what a user types, with what the user reads and the exit code.
func TestTranscripts(t *testing.T) {
	clitest.RunTranscripts(t, map[string]func(*testscript.TestScript, bool, []string){
		"unescape": unescape,
		"cut":      cut,
		"gzipped":  gzipped,
		"replace":  replace,
		"edit":     edit,
	})
}

// unescape FILE replaces \r, \0, \x1b, \xff and \t in a file by the bytes they stand for, which a transcript cannot hold.
func unescape(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	text := strings.NewReplacer(`\r`, "\r", `\x1b`, "\x1b", `\0`, "\x00", `\xff`, "\xff", `\t`, "\t", `\n`, "\n").Replace(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(path, []byte(text), 0o644))
}

// edit FILE COPY PATTERN TEXT writes a copy in which TEXT stands for the first match of a regular expression.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	content, pattern := ts.ReadFile(args[0]), regexp.MustCompile(args[2])
	match := pattern.FindStringIndex(content)
	if match == nil {
		ts.Fatalf("%s does not match %s", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(content[:match[0]]+args[3]+content[match[1]:]), 0o644))
}

// cut FILE N drops the last N bytes of a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	content := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(path, []byte(content[:len(content)-atoi(ts, args[1])]), 0o644))
}

func atoi(ts *testscript.TestScript, text string) int {
	n := 0
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}

// gzipped FILE writes FILE.gz.
func gzipped(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Create(filepath.Clean(ts.MkAbs(args[0]) + ".gz"))
	ts.Check(err)
	w := gzip.NewWriter(f)
	_, err = w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(f.Close())
}

func TestInterruptedBeforeTheFirstStepWritesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	var out, errs strings.Builder
	data := filepath.Join(dir, "d.csv")
	if err := os.WriteFile(data, []byte("a,y\n1,1\n2,0\n3,1\n0,0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "m.json")
	code := run(ctx, []string{"fit", data, "--label", "y", "--method", "toppush", "-o", model}, nil, &out, &errs)
	if code != 130 || !strings.Contains(errs.String(), "toptau: interrupted; ") {
		t.Errorf("exit code %d, standard error %q", code, errs.String())
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("a model without a step was written")
	}
}

func TestFlagsThatNameFilesHaveATag(t *testing.T) {
	clitest.CheckFileTags(t, app(), "data", "model", "certificate")
}

// replace OLD NEW FILE edits a file.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	text := ts.ReadFile(args[2])
	if !strings.Contains(text, args[0]) {
		ts.Fatalf("no %q in %s", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Replace(text, args[0], args[1], 1)), 0o666))
}
