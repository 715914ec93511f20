// Command toptau trains linear classifiers for the top of the list and applies them. It has no logic of its own: it reads
// flags, calls the toptau package and prints.
package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"toptau"
	"toptau/diag"
	"toptau/internal/cli"
)

// commands is the command line: one field a verb, each in a file of its name.
type commands struct {
	Demo      demoCommand      `cmd:"" help:"A simulated network-detection task end to end; nothing to download."`
	Train     trainCommand     `cmd:"" help:"Choose, fit and evaluate a model for a goal."`
	Fit       fitCommand       `cmd:"" help:"Fit one method with given hyperparameters on all rows."`
	Score     scoreCommand     `cmd:"" help:"Scores and decisions for the rows of a file, in its order."`
	Explain   explainCommand   `cmd:"" help:"What each column adds to the score of a row."`
	Evaluate  evaluateCommand  `cmd:"" help:"Criteria with intervals, and curves, of a model on labelled data."`
	Compare   compareCommand   `cmd:"" help:"Top-focused methods, baselines and anyone's scores on one test part, with paired intervals."`
	Threshold thresholdCommand `cmd:"" help:"A threshold with a guarantee, for anybody's scores or as a new operating point of a model."`
	Diagnose  diagnoseCommand  `cmd:"" help:"Is w = 0 optimal and for whom, separability, sizes against budgets, what to use."`
	Verify    verifyCommand    `cmd:"" help:"Recompute both bounds of a certificate from the data."`
	Keygen    keygenCommand    `cmd:"" help:"A new pair of keys, to sign models and certificates and to check signatures."`
	Generate  generateCommand  `cmd:"" help:"Simulated data with known truth, as CSV."`
	Paper     paperMoved       `cmd:"" hidden:"" passthrough:""`

	cli.Flags
}

const description = `Classification at the top: linear classifiers that put as many positives as possible into a limited review ` +
	`capacity ("we can look at the top 1 %") or under a false-alarm budget ("at most 0.1 % false positives").

Exit codes: 0 done; 1 data, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 done, but the guarantee asked ` +
	`for cannot be given; 130 interrupted.`

func main() { app().Main() }

// app returns the command with a fresh set of flags.
func app() *cli.App {
	var c commands
	return &cli.App{Name: "toptau", Description: description, SchemaVersion: toptau.SchemaVersion, Verbs: &c, Flags: &c.Flags,
		Vars: kong.Vars{"lambda": fmt.Sprint(defaultLambda)}}
}

// paperMoved points to the command that reproduces the paper.
type paperMoved struct {
	Args []string `arg:"" optional:"" passthrough:""`
}

func (*paperMoved) Run(*cli.Session) error {
	return &diag.Error{Kind: diag.Usage, Found: "toptau has no verb paper", Hint: "another command reproduces the paper: toptau-paper"}
}

// Errors of verbs that have printed the reason in their JSON object.
var (
	errNotHeld     = &cli.Exit{Code: 1, Reason: "the certificate does not hold"}
	errNoGuarantee = &cli.Exit{Code: 3, Reason: "the guarantee cannot be given"}
	errSetAside    = &cli.Exit{Code: 1, Reason: "the model was written to another file"}
)

// showProgress shows the progress of the library.
func showProgress(s *cli.Session, now toptau.Progress) { s.Progress.Show(now.Share, "%s", now.Text) }
