package score

import (
	"context"
	"errors"
	"io"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/training/effect"
	"toptau/internal/training/rowset"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Explain measures what each column of r adds to the scores. It reads r once. Its memory does not grow with
// the number of rows. Effects are measured on all rows, and shapes on a sample of at most 20,000 rows drawn
// with a fixed seed.
func Explain(ctx context.Context, m *model.Model, r io.Reader, o ExplainOptions) (*result.Columns, error) {
	options, err := rowset.TableOptions(m, o.Format)
	if err != nil {
		return nil, err
	}
	options.Unlabelled, options.Undigested, options.Context = true, true, ctx
	options.Text = o.OnReject != nil
	if err := o.OnError.Check(); err != nil {
		return nil, err
	}
	if o.OnError == schema.EmptyBadRows {
		return nil, &diag.Error{Kind: diag.Usage, Param: "on-error", Found: string(schema.EmptyBadRows),
			Expected: "stop or skip, for what columns add to all rows"}
	}
	if !o.OnError.Stop() {
		options.OnBadRow = table.KeepBadRow
	}
	reader, err := table.NewReader(table.NameOf(r), r, options)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	e, err := effect.NewEffects(m, o.Impute)
	if err != nil {
		return nil, err
	}
	left := leftOut{options: &o}
	for {
		t, err := reader.Next(rowset.ChunkRows)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := left.addTable(ctx, e, t); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(e.Rows)
		}
	}
	if e.Rows == 0 && left.rows > 0 {
		return nil, left.first
	}
	c := e.Columns()
	c.Warnings = append(c.Warnings, reader.Warnings()...)
	if left.rows > 0 {
		c.Warnings = append(c.Warnings, rejectedWarning(left.rows, left.first))
	}
	return c, nil
}

// addTable adds the rows of a table to the effects, and counts those that are left out.
func (l *leftOut) addTable(ctx context.Context, e *effect.Sums, t *table.Table) error {
	for row := range t.Rows() + 1 {
		for ; len(t.Bad) > 0 && t.Bad[0].Before == row; t.Bad = t.Bad[1:] {
			if err := l.add(t.File, e.Rows, t.Bad[0]); err != nil {
				return err
			}
		}
		if row == t.Rows() {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := e.AddRow(t, row)
		if err == nil {
			continue
		}
		if !e.Checked || l.options.OnError.Stop() {
			return diag.At(err, diag.Error{File: t.File})
		}
		if err := l.add(t.File, e.Rows, unscored(t, row, err)); err != nil {
			return err
		}
	}
	return nil
}

// leftOut counts the rows that Explain leaves out.
type leftOut struct {
	options *ExplainOptions
	rows    int
	first   error
}

// add counts a row that comes after some that were not left out.
func (l *leftOut) add(file string, others int, row table.BadRow) error {
	err := diag.At(rowset.AtScoring(row.Err), diag.Error{File: file})
	if l.rows++; l.rows == 1 {
		l.first = err
	}
	if l.options.OnReject == nil {
		return nil
	}
	return l.options.OnReject(result.Rejected{Row: others + l.rows, Line: row.Line, Err: err, Text: row.Text})
}

// ExplainOptions are the options of Explain.
type ExplainOptions struct {
	Format   schema.Format               // differences from the format of the training file
	Impute   schema.Impute               // as Options.Impute
	OnError  schema.BadRows              // what becomes of rows that have no score: schema.StopAtBadRows or schema.SkipBadRows
	OnReject func(result.Rejected) error // is called with each of these rows; an error ends Explain
	Progress func(rows int)              // is called with the number of rows read so far
}
