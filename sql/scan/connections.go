package scan

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// connections are those to the servers that have the rows. They repeat statements of servers that were lost, and count them all.
type connections struct {
	shards []Conn
	system string                                     // of the database system
	away   func(pause time.Duration)                  // is called when a server was lost; nil: there is no notice
	same   func(ctx context.Context, shard int) error // fails if the rows are not those of the start; nil: there is no start yet

	lock    sync.Mutex
	traffic Traffic
	running int       // statements
	since   time.Time // the first of them
}

// Traffic returns what was asked so far.
func (c *connections) Traffic() Traffic {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.traffic
}

func (c *connections) count(change func(t *Traffic)) {
	c.lock.Lock()
	defer c.lock.Unlock()
	change(&c.traffic)
}

// query runs a statement on a server, and again if the server was lost, provided that the rows are still those of the start. reset
// forgets the rows of an earlier attempt; nil: there is nothing to forget.
func (c *connections) query(ctx context.Context, shard int, statement string, dest []any, reset func(), each func() error) error {
	conn := c.shards[shard]
	return Again(ctx, c.system, conn.Lost, c.away, func(attempt int) error {
		if attempt > 0 {
			if err := c.renew(ctx, shard); err != nil {
				return err
			}
			c.count(func(t *Traffic) { t.Retries++ })
			if reset != nil {
				reset()
			}
		}
		return c.timed(ctx, conn, statement, dest, each)
	})
}

// renew connects to a server again, and compares its rows with those of the start.
func (c *connections) renew(ctx context.Context, shard int) error {
	if err := c.shards[shard].Reconnect(ctx); err != nil {
		return err
	}
	if c.same == nil {
		return nil
	}
	return c.same(ctx, shard)
}

// timed runs a statement once.
func (c *connections) timed(ctx context.Context, conn Conn, statement string, dest []any, each func() error) error {
	c.count(func(*Traffic) {
		if c.running++; c.running == 1 {
			c.since = time.Now()
		}
	})
	err := conn.Query(ctx, statement, dest, each)
	c.count(func(t *Traffic) {
		t.Statements++
		t.Sent += int64(len(statement))
		if c.running--; c.running == 0 { // servers that answer at the same time are waited for once
			t.Waiting += time.Since(c.since)
		}
	})
	return err
}

// one runs a query whose answer is one row.
func (c *connections) one(ctx context.Context, shard int, q *query, from string) error {
	count := 0
	err := c.query(ctx, shard, "SELECT "+strings.Join(q.columns, ", ")+" FROM "+from, q.dest, func() { count = 0 }, func() error {
		count++
		return nil
	})
	if err == nil && count != 1 {
		err = fmt.Errorf("an aggregate gave %d rows", count)
	}
	return err
}

// everywhere runs do for all servers at once and returns the first error in their order.
func (c *connections) everywhere(ctx context.Context, do func(ctx context.Context, k int) error) error {
	if len(c.shards) == 1 {
		return do(ctx, 0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(c.shards))
	var wait sync.WaitGroup
	for k := range c.shards {
		wait.Go(func() {
			if errs[k] = do(ctx, k); errs[k] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	for _, err := range errs { // a cancelled one is not the cause
		if err != nil && ctx.Err() != nil && !strings.Contains(err.Error(), context.Canceled.Error()) {
			return err
		}
	}
	return cmp.Or(errs...)
}

// compile lets the servers compile the expressions of the next statements, or not.
func (c *connections) compile(ctx context.Context, on bool) error {
	return c.everywhere(ctx, func(ctx context.Context, k int) error { return c.shards[k].Compile(ctx, on) })
}
