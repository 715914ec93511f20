// Command toptau trains linear classifiers for the top of the list and applies them. It has no logic of its own: it reads
// flags, calls the toptau package and prints.
package main

import (
	"slices"

	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
)

// commands is the command line: one field a verb, each in a file of its name, here or in package verbs.
type commands struct {
	Demo       demoCommand                         `cmd:"" help:"Run a simulated network-detection task end to end; nothing to download."`
	Train      verbs.Train[verbs.Files]            `cmd:"" help:"Choose a model for a goal and fit it."`
	Fit        verbs.Fit[verbs.Files]              `cmd:"" help:"Fit one method with given hyperparameters to all rows."`
	Score      scoreCommand                        `cmd:"" help:"Score the rows of a file and decide on each."`
	Serve      serveCommand                        `cmd:"" help:"Answer requests for scores over HTTP."`
	Explain    explainCommand                      `cmd:"" help:"Show what each column adds to the scores."`
	Evaluate   evaluateCommand                     `cmd:"" help:"Measure models and other programs' scores on labelled data, with intervals."`
	UI         uiCommand                           `cmd:"" name:"ui" help:"Look at a ranking in a browser: drag the budget, see the rows at the top and why, change values, save an operating point."`
	Compare    compareCommand                      `cmd:"" help:"Train every learner and compare all of them on a test part, with paired intervals."`
	Diff       diffCommand                         `cmd:"" help:"Show what differs between two models: columns, encodings, weights, thresholds."`
	Threshold  verbs.Threshold[verbs.HeldOutFiles] `cmd:"" help:"Compute a threshold with a guarantee, for any scores or as a new operating point of a model."`
	Diagnose   verbs.Diagnose[verbs.Files]         `cmd:"" help:"Report what the methods can achieve on some data before fitting."`
	Monitor    monitorCommand                      `cmd:"" help:"Watch a model in production: alarms about scores, columns and the budget, with a stated probability that any of them is false."`
	Inspect    verbs.Inspect                       `cmd:"" help:"Show what a table has before you train on it, or what a model file contains. --redact writes a copy of a model without category names."`
	Export     exportCommand                       `cmd:"" help:"Write a model for programs without toptau: ONNX, SQL, C or Go."`
	Verify     verbs.Verify[verbs.CertifiedFiles]  `cmd:"" help:"Recompute both bounds of a certificate from the data."`
	Keygen     keygenCommand                       `cmd:"" help:"Generate a pair of keys, to sign models and certificates and to check signatures."`
	Pack       packCommand                         `cmd:"" help:"Pack data into a file from which verbs read a table that may be larger than memory."`
	Generate   generateCommand                     `cmd:"" help:"Generate simulated data with known truth, as CSV."`
	Completion completionCommand                   `cmd:"" help:"Print a script that completes verbs, flags and values in a shell."`
	Version    versionCommand                      `cmd:"" name:"version" help:"Print the version, and the versions of everything that is linked in."`

	cli.Flags
}

const description = `Classification at the top: linear classifiers that put as many positives as possible into a limited review ` +
	`capacity ("we can look at the top 1 %") or under a false-alarm budget ("at most 0.1 % false positives").

Exit codes: 0 done; 1 data, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 the requested ` +
	`guarantee is impossible; 4 evaluate --gate: the new model may not replace the old one, monitor: an alarm; 130 interrupted.`

func main() { app().Main() }

// app returns the command with a fresh set of flags.
func app() *cli.App {
	var c commands
	return &cli.App{Name: "toptau", Description: description, Verbs: &c, Flags: &c.Flags,
		Options: verbs.Options, Hidden: slices.Concat(verbs.HiddenFields, hidden), Orientation: orientation, Examples: examples,
		Synonyms: verbs.Synonyms}
}

// hidden are the fields of options that are no flags because nobody would miss them: what belongs to rows that a model scores, and what
// the search decides better.
var hidden = []string{"Train.NoTime", "Fit.NoTime", "Diagnose.NoTime", "compareCommand.NoTime", "compareCommand.Surrogate",
	"compareCommand.Scale"}

// errAlarm is the error of a verb that has printed the reason.
var errAlarm = &cli.Exit{Code: 4, Reason: "an alarm"}
