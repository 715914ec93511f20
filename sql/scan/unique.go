package scan

import (
	"context"
	"errors"

	"toptau/internal/models/dialect"
	"toptau/internal/training/large"
)

// KeyCheck is how it is known that a key differs in every row.
type KeyCheck string

const (
	KeyIndex     KeyCheck = "index"     // a primary key or a unique index
	KeyCounted   KeyCheck = "counted"   // the repeated values were counted: there are none on any server
	KeyUnchecked KeyCheck = "unchecked" // the database refused to count
)

// keysCounted is the number of rows of a server whose keys one statement counts. A database that groups in memory needs about 50 bytes
// for a key, 2.5 GB. More rows are counted in parts, by the hash of the key.
const keysCounted = 50_000_000

// UniqueKey reports whether the catalogue of a server has a constraint that keeps the key of a table different in every row. It reads no
// row.
func UniqueKey(ctx context.Context, d *dialect.Dialect, conn Conn, t Table) (bool, error) {
	return uniqueKey(d, &t, func(statement string, dest []any) error {
		return conn.Query(ctx, statement, dest, func() error { return nil })
	})
}

func uniqueKey(d *dialect.Dialect, t *Table, run func(statement string, dest []any) error) (bool, error) {
	if d.Unique == nil {
		return false, nil
	}
	var n int64
	err := run(d.Unique(d, t.Name, t.Key), []any{&n})
	return n > 0, err
}

// CheckKey looks for rows with equal keys: in the catalogue, which is free, or else by a statement that groups the rows of a server by
// their keys. refused is the error of a database that cannot do so, for KeyUnchecked.
//
// Errors: diag.Data for repeated keys.
func (r *Rows) CheckKey(ctx context.Context) (check KeyCheck, refused error, err error) {
	check = KeyIndex
	for k := range r.shards {
		unique, err := uniqueKey(r.dialect, &r.table, func(statement string, dest []any) error {
			return r.query(ctx, k, statement, dest, nil, func() error { return nil })
		})
		if err != nil {
			return "", nil, err
		}
		if unique {
			continue
		}
		check = KeyCounted
		if r.areFew() {
			if _, err := r.readFew(ctx); err != nil {
				return "", nil, err
			}
			break
		}
		parts := (r.stats.rows[0]+r.stats.rows[1])/len(r.shards)/keysCounted + 1
		for part := range parts {
			repeated, err := r.repeatedKeys(ctx, k, large.Part{From: part * large.Buckets / parts, To: (part + 1) * large.Buckets / parts})
			switch {
			case repeated != nil:
				return "", nil, repeated
			case err != nil && (ctx.Err() != nil || r.shards[k].Lost(err)):
				return "", nil, err
			case err != nil:
				if r.shards[k].Steady() { // the error ended the transaction
					if again := r.renew(ctx, k); again != nil {
						return "", nil, errors.Join(err, again)
					}
				}
				return KeyUnchecked, err, nil
			}
		}
	}
	return check, nil, nil
}

// repeatedKeys counts the keys of several rows of a server, among those whose hash is in a part. repeated is the error for them.
func (r *Rows) repeatedKeys(ctx context.Context, shard int, p large.Part) (repeated, err error) {
	d, key := r.dialect, r.dialect.Quote(r.layout.key.name)
	var q query
	var keys, rows int64
	var one nullText
	q.add(d.Int("count(*)"), &keys)
	q.add(d.Int("coalesce(sum(toptau_n), 0)"), &rows)
	q.add("min("+r.keyText("toptau_k")+")", &one)
	from := "(SELECT " + key + " AS toptau_k, count(*) AS toptau_n FROM " + r.from(r.is.all, dialect.Part(d.Bucket(key, countSeed), p.From, p.To), r.upTo(shard)) +
		" GROUP BY " + key + " HAVING count(*) > 1) toptau_q"
	if err := r.one(ctx, shard, &q, from); err != nil {
		return nil, err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	if keys == 0 {
		return nil, nil
	}
	return r.severalTimes(int(keys), int(rows), one.text), nil
}
