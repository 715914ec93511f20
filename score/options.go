package score

import (
	"toptau/dataset"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// Options are the options of Open. The zero value of each is its default.
type Options struct {
	Format schema.Format // differences from the format of the training file
	At     string        // name of the operating point that comes first; "": the model's default
	Best   int           // yields only this many rows, highest scores first; 0: all rows in their order
	// MaxFalseDiscoveries yields the longest list, highest scores first, of which at most this fraction is negative on average over
	// inputs, by the calibration negatives of the operating point; zero: no list. With it or Best the rows have a MaxFalse, if the
	// point has calibration negatives.
	MaxFalseDiscoveries threshold.Rate
	// RankByValue is a column of amounts. Best then yields the rows with the highest expected amount, which is the probability that the row is
	// positive times its amount, and rows have an ExpectedValue. Such a list has no MaxFalse.
	RankByValue string
	Calibration *dataset.Data // labelled rows that did not train the model: their negatives take the place of the point's
	// Entity is a column that names entities. Their rows are merged: one row for each entity, or for each entity and
	// day if the input has the column Format.Time, at the end of the input; see result.Merged. "": rows.
	Entity string
	// OnlyAlerts yields only rows with an alert at the chosen operating point, as they come. With an entity, Entity or
	// else that of the point, it yields the first alert of each entity, or of each entity and day.
	OnlyAlerts bool
	Keep       bool // passes the other columns of the input through
	Explain    bool // also returns what each column adds to the score
	// Probability also returns the probability that a row is positive. Prevalence is the fraction of positives
	// among the rows that it assumes; zero: as in training.
	Probability bool
	Prevalence  threshold.Rate
	// HoldBack is called with each row of the stream that has a score, in their order. If it returns a reason, the row's
	// decisions are false, and the reason is its HeldBack. An error ends the stream.
	HoldBack func(*Stream, *result.Row) (reason string, err error)
	Impute   schema.Impute               // median or zero: imputes values that the model refuses if they are missing; see result.Row.Imputed
	OnError  schema.BadRows              // what becomes of rows that have no score
	OnReject func(result.Rejected) error // is called with each of these rows; an error ends the stream
	// Progress is called with the number of rows so far whenever the stream has yielded the rows that have
	// arrived, so before it waits for more.
	Progress func(rows int)
}
