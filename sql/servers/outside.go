package servers

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// ErrNotInstalled matches the error of Outside if a server was skipped.
var ErrNotInstalled = errors.New("not installed")

// Outside runs a function that starts servers in a program that is no test. They end when the function returns. The error
// is the function's skip or first failure.
func Outside(use func(t testing.TB)) error {
	o := &outside{}
	done := make(chan struct{})
	go func() { // which Fatalf and Skipf end
		defer close(done)
		use(o)
	}()
	<-done
	for i := len(o.cleanups) - 1; i >= 0; i-- {
		o.cleanups[i]()
	}
	return o.err
}

// outside has the methods of testing.TB that this package calls.
type outside struct {
	testing.TB
	cleanups []func()
	err      error
}

func (*outside) Helper()               {}
func (o *outside) Cleanup(end func())  { o.cleanups = append(o.cleanups, end) }
func (o *outside) Fatal(values ...any) { o.fail(errors.New(fmt.Sprint(values...))) }

func (o *outside) Fatalf(format string, values ...any) { o.fail(fmt.Errorf(format, values...)) }

func (o *outside) Skipf(format string, values ...any) {
	o.fail(fmt.Errorf("%w: "+format, append([]any{ErrNotInstalled}, values...)...))
}

func (o *outside) fail(err error) {
	o.err = err
	runtime.Goexit()
}
