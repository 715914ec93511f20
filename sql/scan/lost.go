package scan

import (
	"context"
	"time"

	"toptau/diag"
)

// pauses are the times after which work is repeated whose server was lost: together three minutes, in which a server restarts.
var pauses = []time.Duration{time.Second, 4 * time.Second, 15 * time.Second, 40 * time.Second, 60 * time.Second, 60 * time.Second}

// Again does some work, and again after each pause as long as its error means that the server was lost. away is called before each pause;
// nil: there is no notice. title names the server. The work connects again itself, from the second attempt on.
//
// Errors: those of the work; diag.IO if the server is still lost after the last pause.
func Again(ctx context.Context, title string, lost func(err error) bool, away func(pause time.Duration), work func(attempt int) error) error {
	for attempt := 0; ; attempt++ {
		err := work(attempt)
		if err == nil || ctx.Err() != nil || !lost(err) {
			return err
		}
		if attempt == len(pauses) {
			return &diag.Error{Kind: diag.IO, File: title, Found: "the server is away", Err: err, Expected: "an answer within " + sumOf(pauses).String(),
				Hint: "run the command again when the server is back"}
		}
		if away != nil {
			away(pauses[attempt])
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pauses[attempt]):
		}
	}
}

func sumOf[T int | time.Duration](list []T) (sum T) {
	for _, x := range list {
		sum += x
	}
	return sum
}
