package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"toptau/diag"
	"toptau/internal/atomicfile"
)

// An interruption (SIGINT or SIGTERM) ends the context, and every verb returns with exit code 130 and one line that says
// what is kept. A verb that has nothing to finish and does not return within patience is ended from here, wherever it is:
// all files appear complete or not at all, so nothing is lost. A verb that goes on to write what it has, after a call of
// finish, says so and takes its time; a second signal aborts it, and nothing more is written.
const patience = 300 * time.Millisecond

// interruption is what a session knows of signals.
type interruption struct {
	mu        sync.Mutex
	came      bool   // the first signal
	finishing string // what the verb does after a signal before it ends, in words; "": nothing
	resumes   string // what makes up for the lost work, in words
}

// finish says that after a signal from now on the verb goes on to finish what these words say. After a signal it does
// nothing, and the verb is expected to end.
func (s *session) finish(words string) {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	if !s.interruption.came {
		s.interruption.finishing = words
	}
}

// mayWrite fails after a signal that has left the verb nothing to finish.
func (s *session) mayWrite() error {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	if s.interruption.finishing == "" {
		return s.Err()
	}
	return nil
}

// resumes says what an interruption leaves besides files.
func (s *session) resumes(words string) {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	s.interruption.resumes = words
}

// interrupted is the end of a verb that has written what it had.
type interrupted struct{ words string }

func (e *interrupted) Error() string { return "interrupted; " + e.words }

// watch acts on signals until the process ends.
func (s *session) watch(signals <-chan os.Signal, cancel context.CancelFunc) {
	<-signals
	s.interruption.mu.Lock()
	s.interruption.came = true
	words := s.interruption.finishing
	s.interruption.mu.Unlock()
	cancel()

	limit := time.NewTimer(patience)
	select {
	case <-signals:
		s.abort("aborted")
	case <-limit.C:
	}
	if words == "" {
		s.abort("interrupted")
	}
	s.say("interrupted: " + words + "; a second signal aborts, and nothing more is written")
	<-signals
	s.abort("aborted")
}

// abort ends the process from whatever it is doing.
func (s *session) abort(how string) {
	s.ending.Lock() // for good: nothing else is reported, and main does not return
	atomicfile.Abandon()
	done := make(chan struct{})
	go func() {
		s.say(how + "; " + s.kept())
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(200 * time.Millisecond): // standard error is blocked
	}
	os.Exit(130)
}

// say prints a line on standard error.
func (s *session) say(line string) {
	s.shown.Load().clear()
	fmt.Fprintln(s.stderr, "toptau: "+diag.Printable(line))
}

// kept says what an interruption leaves.
func (s *session) kept() string {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	written := atomicfile.Written()
	switch n := len(written); {
	case s.interruption.resumes != "":
		return s.interruption.resumes
	case n == 0:
		return "no file was written"
	case n > 3:
		return fmt.Sprintf("written before: %s and %s more", strings.Join(written[:3], ", "), group(n-3))
	default:
		return "written before: " + strings.Join(written, ", ")
	}
}

// isInterrupted reports whether a verb ended because of a signal.
func isInterrupted(err error) bool {
	var e *interrupted
	return errors.As(err, &e) || errors.Is(err, context.Canceled)
}

// reportInterruption prints what an interruption leaves.
func (s *session) reportInterruption(err error) {
	var e *interrupted
	if errors.As(err, &e) {
		s.say(e.Error())
		return
	}
	s.say("interrupted; " + s.kept())
}
