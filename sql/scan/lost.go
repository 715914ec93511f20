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

func sumOf(list []time.Duration) (sum time.Duration) {
	for _, t := range list {
		sum += t
	}
	return sum
}

// query runs a statement on a server, and again if the server was lost, provided that the rows are still those of the start. reset
// forgets the rows of an earlier attempt; nil: there is nothing to forget.
func (r *Rows) query(ctx context.Context, shard int, statement string, dest []any, reset func(), each func() error) error {
	conn := r.shards[shard]
	return Again(ctx, r.dialect.Title, conn.Lost, r.table.Away, func(attempt int) error {
		if attempt > 0 {
			if err := r.renew(ctx, shard); err != nil {
				return err
			}
			r.count(func(t *Traffic) { t.Retries++ })
			if reset != nil {
				reset()
			}
		}
		return r.timed(ctx, conn, statement, dest, each)
	})
}

// renew connects to a server again, and compares its rows with those of the start.
func (r *Rows) renew(ctx context.Context, shard int) error {
	if err := r.shards[shard].Reconnect(ctx); err != nil {
		return err
	}
	if r.stats == nil || len(r.stats.checksums) <= shard {
		return nil
	}
	return r.checkShard(ctx, shard)
}
