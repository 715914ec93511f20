package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
)

// A signal (SIGINT or SIGTERM) ends the context. A verb then returns, and the command prints one line on
// which files exist and exits with code 130. A verb that does not return within patience is ended here. All
// files appear complete or not at all, so that loses nothing. A verb that called FinishAfterSignal may take
// its time; a second signal aborts it.
//
// An interrupted command must end within a second (see TestKillLatency). 300 ms of it was chosen by hand.
const patience = 300 * time.Millisecond

// interruption is the state of a session with respect to signals.
type interruption struct {
	mu        sync.Mutex
	signalled bool   // the first signal has come
	finishing string // what the verb does after a signal, in words; "" if it stops
	resume    string // how lost work can be continued, in words
}

// FinishAfterSignal announces that after a signal the verb still finishes what words describe. It has no
// effect after a
// signal: the verb must then end.
func (s *Session) FinishAfterSignal(words string) {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	if !s.interruption.signalled {
		s.interruption.finishing = words
	}
}

// checkMayWrite fails after a signal to a verb that has nothing to finish.
func (s *Session) checkMayWrite() error {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	if s.interruption.finishing == "" {
		return s.Err()
	}
	return nil
}

// SetResume sets the words in which an interruption explains how to continue.
func (s *Session) SetResume(words string) {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	s.interruption.resume = words
}

// Interrupted is the error of a verb that was interrupted and has written its results so far.
type Interrupted struct{ Words string }

// Error implements error.
func (e *Interrupted) Error() string { return "interrupted; " + e.Words }

// watchSignals acts on signals until the process ends.
func (s *Session) watchSignals(signals <-chan os.Signal, cancel context.CancelFunc) {
	<-signals
	s.interruption.mu.Lock()
	s.interruption.signalled = true
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
	s.PrintError("interrupted: " + words + "; a second signal aborts, and nothing more is written")
	<-signals
	s.abort("aborted")
}

// abort ends the process at once.
func (s *Session) abort(how string) {
	s.ending.Lock() // never unlocked: nothing else is reported, and main does not return
	atomicfile.Abandon()
	done := make(chan struct{})
	go func() {
		s.PrintError(how + "; " + s.keptFiles())
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(200 * time.Millisecond): // standard error is blocked
	}
	os.Exit(130)
}

// keptFiles describes the files that exist after an interruption, or how to continue.
func (s *Session) keptFiles() string {
	s.interruption.mu.Lock()
	defer s.interruption.mu.Unlock()
	written := atomicfile.Written()
	switch n := len(written); {
	case s.interruption.resume != "":
		return s.interruption.resume
	case n == 0:
		return "no file was written"
	case n > 3:
		return fmt.Sprintf("written before: %s and %s more", strings.Join(written[:3], ", "), text.Count(n-3))
	default:
		return "written before: " + strings.Join(written, ", ")
	}
}

// isInterrupted reports whether a verb ended because of a signal.
func isInterrupted(err error) bool {
	var e *Interrupted
	return errors.As(err, &e) || errors.Is(err, context.Canceled)
}

// reportInterruption prints what exists after an interruption.
func (s *Session) reportInterruption(err error) {
	var e *Interrupted
	if errors.As(err, &e) {
		s.PrintError(e.Error())
		return
	}
	s.PrintError("interrupted; " + s.keptFiles())
}
