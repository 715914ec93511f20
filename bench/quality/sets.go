package main

import (
	"slices"

	"toptau/internal/data/table"
	"toptau/schema"
)

// set is a set of the benchmark data and the trainings that are made with it.
type set struct {
	name   string
	train  string    // a file below the data's directory
	test   string    // the set's own test file; "": a quarter of the rows of train, stratified, another one for each seed
	labels [2]string // files with the labels of the two, one a line; "": the labels are in the files
	format schema.Format
	seeds  int // 1 to this
	// relabel are the positive labels of sets with a test file. The labels become 1 and 0, because a positive
	// value must occur in a file that is read, and the training file lacks some of these.
	relabel []string
	goals   []string // one training each, as on the command line; the first gives the log-pAUC
	kind    string   // a word on the set, for the page
	chose   bool     // the settings of boosting were chosen on it; the others judge them
	shifted bool     // its test file has positives that training lacks; it neither chose nor judges
}

// maxSeeds is the largest number of seeds of a set.
const maxSeeds = 5

// The budgets of the trainings.
const (
	tenth     = "--max-fpr 0.001"
	percent   = "--max-fpr 0.01"
	five      = "--max-fpr 0.05"
	topShare  = "--top 0.01"
	topAmount = "--top 800/4000"
)

// sets are the sets of the protocol, the quick ones first.
var sets = []set{
	{name: "pima", chose: true, train: "pima/pima-indians-diabetes.data", seeds: 5, goals: []string{percent},
		format: schema.Format{Label: "last", Positive: []string{"1"}}},
	{name: "german", train: "german/german.numer_scale", seeds: 5, goals: []string{percent}},
	{name: "ionosphere", chose: true, train: "ionosphere/ionosphere.data", seeds: 5, goals: []string{percent},
		format: schema.Format{Label: "last", Positive: []string{"b"}}},
	{name: "oil_spill", train: "oil_spill/oil-spill.csv", seeds: 5, goals: []string{percent},
		format: schema.Format{Label: "last", Positive: []string{"1"}, Drop: []string{"1"}}},
	{name: "mammography", chose: true, train: "mammography/mammography.csv", seeds: 5, goals: []string{percent, tenth, topShare},
		format: schema.Format{Label: "last", Positive: []string{"'1'"}}},
	{name: "spambase", train: "spambase/spambase.data", seeds: 5, goals: []string{percent, five},
		format: schema.Format{Label: "last", Positive: []string{"1"}}},
	{name: "coil2000", chose: true, train: "coil2000/ticdata2000.txt.gz", test: "coil2000/ticeval2000.txt",
		labels: [2]string{"", "coil2000/tictgts2000.txt"}, seeds: 5, goals: []string{percent, topAmount},
		format: schema.Format{Label: "last", Positive: []string{"1"}}},
	{name: "higgs_7k", train: "higgs_7k/binary.train.gz", seeds: 5, goals: []string{percent},
		format: schema.Format{Label: "first", Positive: []string{"1"}}},
	{name: "cicids2017_web", chose: true, train: "cicids2017_web/web_attacks_balanced.csv.gz", seeds: 5,
		goals:  []string{percent, tenth},
		format: schema.Format{Label: "Label", Positive: []string{"!BENIGN"}, Drop: []string{"1-7"}}},
	{name: "magic04", train: "magic04/magic04.data.gz", seeds: 5, goals: []string{percent, five},
		format: schema.Format{Label: "last", Positive: []string{"g"}}},
	{name: "madelon", chose: true, train: "madelon/madelon_train.data.gz", test: "madelon/madelon_valid.data.gz",
		labels: [2]string{"madelon/madelon_train.labels", "madelon/madelon_valid.labels"}, seeds: 2, goals: []string{percent},
		format: schema.Format{Label: "last", Positive: []string{"1"}}},
	{name: "usps", train: "usps/zip.train.gz", test: "usps/zip.test.gz", seeds: 2, goals: []string{percent},
		format: schema.Format{Label: "first", Positive: []string{"8"}}, kind: "the digit 8"},
	{name: "a9a", chose: true, train: "a9a/a9a.gz", test: "a9a/a9a.t.gz", seeds: 3, goals: []string{percent}},
	{name: "w8a", train: "w8a/w8a.gz", seeds: 3, goals: []string{percent}},
	{name: "nsl_kdd", shifted: true, train: "nsl_kdd/KDDTrain+_20Percent.txt.gz", test: "nsl_kdd/KDDTest+.txt.gz", seeds: 2,
		goals: []string{percent}, kind: "attacks; the test file has 18 kinds that training lacks",
		format: schema.Format{Label: "42", Positive: []string{"!normal"}, Drop: []string{"43"}}},
	{name: "covtype_2vs4", chose: true, train: "covtype_2vs4/covtype_2vs4.csv.gz", seeds: 3, goals: []string{tenth},
		format: schema.Format{Label: "last", Positive: []string{"1"}}},
	{name: "kddcup99", shifted: true, train: "kddcup99/kddcup.data_10_percent.gz", test: "kddcup99/corrected.gz", seeds: 1,
		goals: []string{percent}, kind: "r2l and u2r against the rest; the test file has 17 kinds of attacks that training lacks",
		relabel: remote, format: schema.Format{Label: "last", Positive: []string{"1"}}},
}

// remote are the attacks of the groups r2l and u2r.
var remote = []string{"guess_passwd.", "ftp_write.", "imap.", "phf.", "multihop.", "warezmaster.", "warezclient.", "spy.",
	"xlock.", "xsnoop.", "snmpguess.", "snmpgetattack.", "httptunnel.", "sendmail.", "named.", "worm.",
	"buffer_overflow.", "loadmodule.", "rootkit.", "perl.", "sqlattack.", "xterm.", "ps."}

// setOf returns the set of a name, nil if there is none.
func setOf(name string) *set {
	if i := slices.IndexFunc(sets, func(s set) bool { return s.name == name }); i >= 0 {
		return &sets[i]
	}
	return nil
}

// options are the set's format as the reader takes it.
func (s *set) options() table.Options {
	return table.Options{Format: schema.Format{Label: s.format.Label, Positive: s.format.Positive, Drop: s.format.Drop}}
}
