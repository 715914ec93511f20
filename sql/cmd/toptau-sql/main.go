// Command toptau-sql has verbs of toptau for rows that stay in a database: PostgreSQL, ClickHouse, Trino, Spark or DuckDB.
package main

import (
	"maps"
	"slices"

	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
)

// commands is the command line: one field a verb, each in a file of its name.
type commands struct {
	Fit       verbs.Fit[source]        `cmd:"" help:"Fit one method with given hyperparameters to all rows of a table."`
	Train     verbs.Train[source]      `cmd:"" help:"Choose a model on a sample, and fit, calibrate and measure it on all rows of a table."`
	Evaluate  verbs.Evaluate[measured] `cmd:"" help:"Measure a model on all labelled rows of a table."`
	Threshold verbs.Threshold[source]  `cmd:"" help:"Give a model an operating point with a guarantee, from all labelled rows of a table that no model saw."`
	Verify    verbs.Verify[certified]  `cmd:"" help:"Recompute both bounds of a certificate from the table."`
	Diagnose  verbs.Diagnose[source]   `cmd:"" help:"Report what the methods can achieve on a table before fitting."`
	Score     scoreCommand             `cmd:"" help:"Score the rows of a table in the database: into a new table, a file, or as a statement."`
	Inspect   verbs.Inspect            `cmd:"" help:"Show what a table has before you train on it, or what a model file contains. --redact writes a copy of a model without category names."`

	cli.Flags
}

const description = `Classification at the top, trained and measured where the data live. DATA is the kind of database: postgres:, ` +
	`clickhouse:, trino: or spark:, whose connection comes from --dsn-env or --dsn-file, or duckdb:FILE. The database adds, counts and selects; ` +
	`single rows near the threshold, a sample and sums leave it, and the output says how many.

Exit codes: 0 done; 1 data, database, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 the requested ` +
	`guarantee is impossible; 130 interrupted.`

func main() { app().Main() }

// app returns the command with a fresh set of flags.
func app() *cli.App {
	var c commands
	return &cli.App{Name: "toptau-sql", Description: description, Verbs: &c, Flags: &c.Flags, Options: options(),
		Hidden: slices.Concat(verbs.HiddenFields, hidden), Orientation: orientation, Examples: examples, Synonyms: verbs.Synonyms}
}

// hidden are the fields of verbs and of the library's options that need files, or all rows in memory, or models that no database computes.
var hidden = []string{"Entity", "Value", "LabelDelay", "Derive", "OutOfFold", "LearningCurve", "MaxTime", "ReportDate", "Memory",
	"Iterations", "Step", "Minibatches", "Stratified", "Start", "Solver",
	"CostAlert", "MinPrecision", "MinRecall", "Audit", "Answers",
	"By", "Simultaneous", "Against", "Gate", "Margin", "Replicates", "Examples", "Segments",
	"Train.Choose", "Train.Calibrate", "Train.Measure", "Fit.Trace", "Evaluate.Report", "Threshold.Score", "Threshold.Scores",
	"Threshold.Remove", "Threshold.Default"}

// options returns the descriptions of flags. Some of toptau's are about files.
func options() map[string]cli.Option {
	all := maps.Clone(verbs.Options)
	all["label"] = cli.Option{Placeholder: "COL", Help: "The column of the label. Rows where it is NULL are left out (default: that of the model)."}
	all["positive"] = cli.Option{Placeholder: "VALUE", Whole: true, Help: "A label of the positive class; repeatable (default: that of the model, or else 1 or true)."}
	all["drop"] = cli.Option{Placeholder: "COLS", Whole: true, Help: "Columns to leave out; repeatable."}
	all["categorical"] = cli.Option{Group: "Table", Placeholder: "COLS", Whole: true, Help: "Columns of numbers whose values are categories; repeatable."}
	all["weight"] = cli.Option{Group: "Table", Placeholder: "COL", Help: "A column of importance weights."}
	all["group"] = cli.Option{Group: "Table", Placeholder: "COL", Help: "A column whose equal values are never split between parts (default: the key)."}
	all["prevalence"] = cli.Option{Group: "Counting", Placeholder: "RATE", Help: "The fraction of positives that the summary assumes (default: that of the data)."}
	all["sample-rows"] = cli.Option{Placeholder: "N", Help: "Search on a sample of N rows (default 200,000). Fits, thresholds and measurements use all rows; trees keep the sample."}
	return all
}

const orientation = `toptau-sql trains linear classifiers for the top of the list inside a database.

  toptau-sql train    postgres: --dsn-env FLOWS --table flows --key id --label attack --max-fpr 0.1% -o model.json
  toptau-sql score    model.json postgres: --dsn-env FLOWS --table new_flows --key id --into alerts
  toptau-sql evaluate model.json clickhouse: --dsn-file servers.txt --table flows --key id

See toptau-sql --help, and toptau-sql VERB --help.
`

// examples are shown by the help of the verbs.
var examples = map[string][]string{
	"fit": {
		"toptau-sql fit postgres: --dsn-env FLOWS --table flows --key id --label attack --method topmean-np --tau 0.1% -o m.json",
		"toptau-sql fit clickhouse: --dsn-file servers.txt --table flows --key id --label attack --method toppushk -k 20 --dry-run",
	},
	"train": {
		"toptau-sql train clickhouse: --dsn-file servers.txt --table flows --key id --label attack --max-fpr 0.1% --delta 5% -o m.json",
		"toptau-sql train duckdb:lake.duckdb --table flows --key id --label attack --max-fpr 0.1% --delta 5% -o m.json",
	},
	"score": {
		"toptau-sql score m.json postgres: --dsn-env FLOWS --table flows --key id --into scores --into-dsn-env WRITER",
		"toptau-sql score m.json trino: --table hive.logs.flows --key id --print",
	},
}
