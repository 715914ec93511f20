package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"toptau/diag"
	"toptau/internal/data/jsontext"
)

// Session is one run of a command. Its context ends with the first signal.
type Session struct {
	context.Context
	Stdin       io.Reader
	Stdout      *bufio.Writer // escapes for a terminal; flushed at the end
	Stderr      io.Writer
	JSON        bool      // print JSON instead of text
	StdoutTaken bool      // a file goes to standard output, so the verb prints no text
	Progress    *Progress // nil, which is silent, without a terminal

	app          *App
	ownsProcess  bool            // the collector may be set
	flags        map[string]bool // names of the flags of the verb that runs
	rawStdout    io.Writer       // what Stdout writes to
	shown        atomic.Pointer[Progress]
	interruption interruption
	ending       sync.Mutex // held while the end is reported
	atEnd        []func()
}

func newSession(ctx context.Context, a *App, args []string, stdin io.Reader, stdout, stderr io.Writer) *Session {
	escaped := stdout
	if isTerminal(stdout) {
		escaped = &screen{w: stdout}
	}
	return &Session{Context: ctx, app: a, Stdin: stdin, rawStdout: stdout, Stdout: bufio.NewWriterSize(escaped, 1<<16),
		Stderr: stderr, JSON: wantsJSON(args)}
}

// AtEnd calls a function when the verb has ended, and not after a signal that ends the process.
func (s *Session) AtEnd(do func()) { s.atEnd = append(s.atEnd, do) }

// Emit prints a value as JSON on one line.
func (s *Session) Emit(v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	s.Stdout.Write(jsontext.Printable(text.Bytes())) // Flush returns its error
	return s.Stdout.Flush()
}

// Printf prints text for people. Strings among the arguments may come from data: they are escaped.
func (s *Session) Printf(format string, args ...any) {
	fmt.Fprintf(s.Stdout, format, printableArgs(args)...)
}

// Note returns a warning in words, with those of its fixes that are flags of the verb.
func (s *Session) Note(w diag.Warning) string {
	w.Fixes = slices.DeleteFunc(slices.Clone(w.Fixes), func(f diag.Fix) bool { return !s.flags[f.Param] })
	return w.Words(Spell)
}

// PrintError prints an escaped line on standard error, after the name of the command.
func (s *Session) PrintError(line string) {
	s.shown.Load().Clear()
	fmt.Fprintf(s.Stderr, "%s: %s\n", s.app.Name, Printable(line))
}

// Version describes this build of the program.
func (s *Session) Version() string { return s.app.version() }
