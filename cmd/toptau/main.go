// Command toptau trains linear classifiers for the top of the list and applies them. It has no logic of its own: it reads
// flags, calls the toptau package and prints.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/alecthomas/kong"

	"toptau"
	"toptau/diag"
	"toptau/internal/paper"
)

// commands is the command line: one field a verb, each in a file of its name.
type commands struct {
	Demo      demoCommand      `cmd:"" help:"A simulated network-detection task end to end; nothing to download."`
	Train     trainCommand     `cmd:"" help:"Choose, fit and evaluate a model for a goal."`
	Fit       fitCommand       `cmd:"" help:"Fit one method with given hyperparameters on all rows."`
	Score     scoreCommand     `cmd:"" help:"Scores and decisions for the rows of a file, in its order."`
	Explain   explainCommand   `cmd:"" help:"What each column adds to the score of a row."`
	Evaluate  evaluateCommand  `cmd:"" help:"Criteria with intervals, and curves, of a model on labelled data."`
	Compare   compareCommand   `cmd:"" help:"Top-focused methods, baselines and anyone's scores on one test part, with paired intervals."`
	Threshold thresholdCommand `cmd:"" help:"A threshold with a guarantee, for anybody's scores or as a new operating point of a model."`
	Diagnose  diagnoseCommand  `cmd:"" help:"Is w = 0 optimal and for whom, separability, sizes against budgets, what to use."`
	Verify    verifyCommand    `cmd:"" help:"Recompute both bounds of a certificate from the data."`
	Keygen    keygenCommand    `cmd:"" help:"A new pair of keys, to sign models and certificates and to check signatures."`
	Generate  generateCommand  `cmd:"" help:"Simulated data with known truth, as CSV."`
	Paper     paperCommand     `cmd:"" help:"The tables and figures of the paper, reproduced beside its own numbers."`

	JSON    bool             `name:"json" help:"Print one JSON object instead of text (score: one a line)."`
	Quiet   bool             `short:"q" help:"No progress on standard error."`
	Threads int              `placeholder:"N" help:"Threads to use, at most one for each processor; results do not depend on it (default: all processors)."`
	Version kong.VersionFlag `help:"Print the version."`
}

const description = `Classification at the top: linear classifiers that put as many positives as possible into a limited review ` +
	`capacity ("we can look at the top 1 %") or under a false-alarm budget ("at most 0.1 % false positives").

Exit codes: 0 done; 1 data, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 done, but the guarantee asked ` +
	`for cannot be given; 130 interrupted.`

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(10) // nearly all memory is numbers, in which a collection has nothing to follow
	}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error to return quietly from, not a signal to die of
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	s := newSession(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	go s.watch(signals, cancel)
	code := s.run(os.Args[1:])
	s.ending.Lock()
	os.Exit(code)
}

// session is what a verb may use of the world.
type session struct {
	context.Context
	stdin        io.Reader
	out          io.Writer     // standard output as it is, for files
	stdout       *bufio.Writer // flushed at the end
	stderr       io.Writer
	json         bool
	taken        bool // a file of the verb goes to standard output, so that no text does
	progress     *progress
	shown        atomic.Pointer[progress] // the same, for other goroutines
	interruption interruption
	ending       sync.Mutex // locked by what reports the end
}

func newSession(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) *session {
	text := stdout
	if isTerminal(stdout) {
		text = &screen{w: stdout}
	}
	return &session{Context: ctx, stdin: stdin, out: stdout, stdout: bufio.NewWriterSize(text, 1<<16), stderr: stderr,
		json: asksForJSON(args)}
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newSession(ctx, args, stdin, stdout, stderr).run(args)
}

func (s *session) run(args []string) int {
	err := execute(s, args)
	s.progress.clear()
	if flushed := s.stdout.Flush(); err == nil {
		err = flushed
	}
	s.ending.Lock()
	defer s.ending.Unlock()
	return s.report(err)
}

// asksForJSON looks for --json before the flags are parsed, so that a wrong flag is reported in JSON too.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// stopped is what the parser's exit becomes, after --help or --version have printed.
type stopped struct{ code int }

func execute(s *session, args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			exit, ok := r.(stopped)
			if !ok {
				panic(r)
			}
			if exit.code != 0 {
				err = &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("exit code %d from the flag parser", exit.code)}
			}
		}
	}()
	var c commands
	parser, err := kong.New(&c, kong.Name("toptau"), kong.Description(description), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		helpVars(), kong.Writers(s.stdout, s.stderr),
		kong.Exit(func(code int) { panic(stopped{code}) }))
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return &diag.Error{Kind: diag.Usage, Found: err.Error(), Hint: helpHint(err)}
	}
	if err := checkEmpty(parsed); err != nil {
		return err
	}
	if c.Threads < 0 {
		return &diag.Error{Kind: diag.Usage, Column: "", Found: fmt.Sprintf("--threads %d", c.Threads), Expected: "at least 1"}
	}
	if c.Threads > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(min(c.Threads, runtime.NumCPU())))
	}
	s.json = c.JSON
	s.progress = newProgress(s.stderr, c.Quiet || c.JSON)
	s.shown.Store(s.progress)
	if err := s.checkFiles(filesOf(parsed)); err != nil {
		return err
	}
	return parsed.Run(s)
}

// helpVars are the values that help and defaults refer to.
func helpVars() kong.Vars {
	return kong.Vars{"version": version(), "lambda": fmt.Sprint(defaultLambda), "paper_items": strings.Join(paper.Names(), ", "),
		"paper_source": paper.Source}
}

// helpHint names the verb whose help to read.
func helpHint(err error) string {
	verb := ""
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Command() != "" {
		verb = strings.Fields(parse.Context.Command())[0] + " "
	}
	return "see toptau " + verb + "--help"
}

// Failures of verbs whose object has said everything.
var (
	errNotHeld     = errors.New("the certificate does not hold")
	errNoGuarantee = errors.New("the guarantee cannot be given")
	errSetAside    = errors.New("the model is not where it was asked for")
)

// report prints an error in the form asked for and returns the exit code.
func (s *session) report(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNotHeld), errors.Is(err, errSetAside):
		return 1
	case errors.Is(err, errNoGuarantee):
		return 3
	case errors.Is(err, syscall.EPIPE):
		return 0 // the reader has seen enough
	case isInterrupted(err):
		s.reportInterruption(err)
		return 130
	}
	found := diag.Of(err)
	if found == nil {
		found = &diag.Error{Kind: diag.IO, Err: err}
	}
	if s.json {
		writeFailure(s, found, err)
	} else {
		fmt.Fprintln(s.stderr, "toptau: "+diag.Printable(message(err)))
	}
	switch found.Kind {
	case diag.Usage:
		return 2
	case diag.Guarantee:
		return 3
	}
	return 1
}

// spell returns the flag that sets a parameter.
func spell(param string) string { return "--" + param }

// message returns the text of an error with its parameters written as flags.
func message(err error) string {
	if e := diag.Of(err); e != nil {
		return strings.Replace(err.Error(), e.Error(), e.Text(spell), 1)
	}
	return err.Error()
}

// writeFailure prints the one object that stands for a failure. Unknown fields are null.
func writeFailure(s *session, e *diag.Error, err error) {
	text := func(v string) *string {
		if v == "" {
			return nil
		}
		return &v
	}
	found := e.Found
	switch {
	case found == "":
		found = message(err)
	case e.Param != "":
		found = spell(e.Param) + " " + found
	}
	var line *int
	if e.Line > 0 {
		line = &e.Line
	}
	type failure struct {
		Kind     diag.Kind `json:"kind"`
		File     *string   `json:"file"`
		Line     *int      `json:"line"`
		Column   *string   `json:"column"`
		Found    *string   `json:"found"`
		Expected *string   `json:"expected"`
		Hint     *string   `json:"hint"`
		Message  string    `json:"message"`
	}
	s.emit(struct {
		SchemaVersion int     `json:"schema_version"`
		Error         failure `json:"error"`
	}{toptau.SchemaVersion, failure{e.Kind, text(e.File), line, text(e.Column), text(found), text(e.Expected), text(e.Advice(spell)), message(err)}})
}

// emit prints one JSON object on one line.
func (s *session) emit(v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	s.stdout.Write(printableJSON(text.Bytes())) // Flush returns its error
	return s.stdout.Flush()
}

// printf prints text for people; strings among the arguments may come from data.
func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.stdout, format, showAll(args)...) }
