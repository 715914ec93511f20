// Package verbs contains what the verbs of toptau and of toptau-sql share: the descriptions of flags, groups of flags, and the
// sentences that print results.
package verbs

import (
	"slices"

	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/internal/models/dialect"
	"toptau/internal/models/feature"
	"toptau/internal/training/tune"
	"toptau/method"
)

// HiddenFields are the fields of the library's options that are not flags: data, functions, what a verb decides, and what the search
// decides better.
var HiddenFields = []string{"Goal", "Progress", "ReleaseData", "KeepAll", "Validation", "Test", "Calibration", "Kept", "Reviewed",
	"Train.Surrogate", "Train.Scale", "CalibrationFraction"}

// Options describes the flags whose names come from the fields of the library's option structs.
var Options = map[string]cli.Option{
	"format": {Group: "Data", Placeholder: "FORMAT",
		Help:   "The file's format: csv (any delimited text), jsonl (JSON lines), parquet, libsvm or packed (default: detected).",
		Values: []string{"csv", "jsonl", "parquet", "libsvm", "idx", "packed"}},
	"decimal": {Group: "Data", Placeholder: "MARK",
		Help: "The decimal mark of numbers in text, comma or point; the other one may separate thousands (default: a point, and no separators)."},
	"delimiter": {Group: "Data", Placeholder: "D", Help: "The character between fields, or tab or blank (default: detected).",
		Values: []string{"comma", "semicolon", "tab", "pipe", "blank"}},
	"header": {Group: "Data", Placeholder: "yes|no", Help: "Whether the first row names the columns (default: detected).",
		Values: []string{"yes", "no"}},
	"label": {Group: "Data", First: true, Placeholder: "COL",
		Help: "The label: a column's name or number, first, or last. LIBSVM needs none."},
	"labels-file": {Group: "Data", Placeholder: "FILE", File: "in", Help: "A file with one label per row, instead of --label."},
	"positive": {Group: "Data", First: true, Placeholder: "VALUE", Whole: true,
		Help: "A label of the positive class; repeatable. '!normal' means every label but normal."},
	"drop": {Group: "Data", First: true, Placeholder: "COLS", Whole: true,
		Help: "Columns to leave out: a name, or numbers like 1-7,43; repeatable."},
	"id": {Group: "Data", First: true, Placeholder: "COLS", Whole: true,
		Help: "Columns that identify a row. They are never features; score prints them."},
	"weight":  {Group: "Data", Placeholder: "COL", Help: "A column of importance weights."},
	"group":   {Group: "Data", Placeholder: "COL", Help: "A column whose equal values are never split between parts."},
	"segment": {Group: "Data", Placeholder: "COL", Help: "A column whose values may have thresholds of their own. It is never a feature."},
	"no-time": {Group: "Data", Help: "Read no column of times, although the model has one: an entity then counts once, not once a day."},
	"time":    {Group: "Data", Placeholder: "COL", Help: "A column that orders the rows in time. It is never a feature."},
	"memory":  {Group: "Data", Placeholder: "BYTES", Help: "The memory that rows may take, such as 300MB (default: half of the free memory). Rows that need more stay in their file, which is read in passes. A file that compresses unusually well is read up to it."},
	"file-column": {Group: "Data", Placeholder: "NAME",
		Help: "Call the name of the file NAME, so that --id, --group, --segment and --time can refer to it. It is never a feature."},
	"missing": {Group: "Data", First: true, Placeholder: "VALUE", Whole: true,
		Help: "A spelling of a missing value, besides the empty field; repeatable."},
	"categorical": {Group: "Data", Placeholder: "COLS", Whole: true,
		Help: "Columns whose values are categories even if they look like numbers."},
	"numeric":             {Group: "Data", Placeholder: "COLS", Whole: true, Help: "Columns whose values are numbers."},
	"date":                {Group: "Data", Placeholder: "COLS", Whole: true, Help: "Columns of times (2024-05-31 23:59:59, or seconds since 1970): hour, weekday, day of the month and seconds are features. The first two also without the flag, if all first values are times."},
	"address":             {Group: "Data", Placeholder: "COLS", Whole: true, Help: "Columns of IP addresses: the networks /8, /16 and /24 (IPv6: /32, /48, /64) and the range are features (default: if all first values are addresses)."},
	"width":               {Group: "Data", Placeholder: "N", Help: "LIBSVM: the number of features (default: the largest index)."},
	"monitor labels-file": {Group: "Data", Placeholder: "FILE", File: "in", Help: "A file with one label per row of the data."},
	"timezone":            {Group: "Data", Placeholder: "ZONE", Help: "The zone of days (--entity, --by, --alert-limit), such as Europe/Prague (default UTC). A time without a zone has the day that is written."},

	"encoding": {Group: "Features", Placeholder: "NAME", Help: "How numeric columns are encoded: raw (the numbers), scorecard (piecewise linear), leaves (of random trees), scorecard+leaves, boosted (leaves of boosted trees), stochastic (of trees that grow on samples of the rows and columns), pairs (of trees that read two columns) or additive (a step function of each column) (default raw).", Values: text.Strings(feature.Encodings())},
	"scale":    {Group: "Features", Placeholder: "NAME", Help: "What is scaled: standard (numeric columns, but not LIBSVM indices of 0 and 1), all (one-hot columns and those too) or none (default standard).", Values: []string{"standard", "all", "none"}},
	"impute": {Group: "Features", First: true, Placeholder: "NAME",
		Help:   "How a missing value is encoded: error (refused), median, zero or indicator (default error).",
		Values: []string{"error", "median", "zero", "indicator"}},
	"no-profile": {Group: "Features", Help: "Keep no quantiles and masses of categories of the columns in the model. Then monitor cannot watch columns."},
	"monotone": {Group: "Features", Placeholder: "COL=+|-", Whole: true,
		Help: "The score may only rise (+) or only fall (-) with this numeric column; repeatable. The model is then a sum of boosted trees."},
	"no-fingerprints": {Group: "Features", Help: "Keep no hashes of training rows in the model. Then nobody can test whether a row was among them, nor can threshold and evaluate."},

	"surrogate": {Placeholder: "NAME", Help: "The loss of the paper's methods: hinge, squared-hinge or logistic (default hinge).",
		Values: []string{"hinge", "squared-hinge", "logistic"}},
	"fit method":      {Placeholder: "NAME", Required: true, Help: "toppush, toppushk, grill, patmat, topmean, grill-np, patmat-np or topmean-np.", Values: Learners()},
	"fit lambda":      {Placeholder: "L", Default: "0.001", Help: "The strength of the regularisation lambda/2 |w|^2 (default 0.001)."},
	"threshold audit": {Placeholder: "N", Help: "Instead of computing a threshold, print the N negatives with the highest scores as CSV. Write yes or no into the column positive, for --audited."},
	"tau":             {Placeholder: "RATE", Help: "The fraction on top: 1% or 0.01."},
	"beta":            {Placeholder: "B", Help: "patmat, patmat-np: the steepness of the surrogate quantile."},
	"k":               {Placeholder: "K", Short: 'k', Help: "toppushk: the number of negatives that make the threshold."},
	"solver":          {Group: "Solver", Placeholder: "NAME", Help: "auto, certified, adam or sgd (default auto: certified where it applies).", Values: []string{"auto", "certified", "adam", "sgd"}},
	"gap":             {Group: "Solver", Placeholder: "G", Help: "certified: the fraction of the possible decrease that may be missed (default 1e-6)."},
	"max-passes":      {Group: "Solver", Placeholder: "N", Help: "certified: stop after at most N passes over the data; both bounds hold."},
	"iterations":      {Group: "Solver", Placeholder: "N", Help: "adam, sgd: steps (default 1000)."},
	"step":            {Group: "Solver", Placeholder: "S", Help: "adam, sgd: the step size (default 0.01)."},
	"minibatches":     {Group: "Solver", Placeholder: "N", Help: "adam, sgd: split the rows into N minibatches."},
	"stratified":      {Group: "Solver", Help: "adam, sgd: give every minibatch its fraction of the positives."},
	"start":           {Group: "Solver", Placeholder: "NAME", Help: "adam, sgd: the first w: zero or random, uniform in [-1,1] (default zero).", Values: []string{"zero", "random"}},
	"storage": {Group: "Solver", Placeholder: "NAME", Help: "How the packed matrix is stored: float32 or float64 (default float32).",
		Values: []string{"float32", "float64"}},
	"train seed": {Group: "Search", Placeholder: "N", Default: "1", Help: "The seed of every random choice (default 1)."},
	"seed":       {Placeholder: "N", Default: "1", Help: "The seed of every random choice (default 1)."},

	"method":           {Group: "Search", Placeholder: "NAMES", Help: "Only these learners: logistic, svm, ramp, boosting, the eight methods, or all (default: logistic and boosting; with --encoding also ramp and the convex methods for the goal).", Values: Learners()},
	"compare method":   {Group: "Search", Placeholder: "NAMES", Help: "Only these learners, and logistic as the reference: svm, ramp, boosting, the eight methods, or all (default: svm, boosting, ramp and the convex methods for the goal).", Values: Learners()},
	"train encoding":   {Group: "Search", Placeholder: "NAMES", Help: "Only these encodings: raw, scorecard, leaves, scorecard+leaves, boosted, stochastic, pairs, additive (default: raw, boosted and stochastic, and leaves for the mean of the boosters).", Values: text.Strings(feature.Encodings())},
	"compare encoding": {Group: "Search", Placeholder: "NAMES", Help: "Only these encodings: raw, scorecard, leaves, scorecard+leaves, boosted, stochastic, pairs, additive (default: raw, boosted and stochastic).", Values: text.Strings(feature.Encodings())},
	"derive":           {Group: "Features", Placeholder: "NAME", Help: "Let the boosters also read derived columns: pairs (the differences, products and ratios of the strongest numeric columns) or none. They are kept if they gain more than chance explains. The search takes two to four times as long (default none).", Values: []string{"none", "pairs"}},
	"class-weight":     {Group: "Search", Placeholder: "W", Help: "logistic, svm: the weight of the positives, a number or balanced (default 1). The methods for the top compare the classes, so it has no effect on them.", Values: []string{"balanced"}},
	"folds":            {Group: "Search", Placeholder: "K", Help: "Folds of the cross-validation (default 5)."},
	"test-fraction":    {Placeholder: "RATE", Help: "Set aside this fraction of DATA as the test part: 25% or 0.25."},
	"sample-rows":      {Group: "Data", Placeholder: "N", Help: "If the rows stay in their file: search on a sample of this many, before the chosen methods are fitted to all (default 200,000)."},
	"label-delay":      {Group: "Parts", Placeholder: "TIME", Help: "With --time: the time after which labels are known (30d, 2w, 36h). Rows of that time before the test part or a validation period do not train what is measured there."},
	"delta":            {Placeholder: "RATE", Help: "Guarantee the goal with confidence 1 - RATE: 5% or 0.05."},
	"out-of-fold":      {Group: "Threshold", Needs: "delta", Help: "With --delta: take the threshold from out-of-fold scores. That needs no rows of its own and is not certified."},
	"prevalence":       {Group: "Counting", Placeholder: "RATE", Help: "The fraction of positives that the summary assumes (default: that of the data). With --min-precision the precision is meant at this fraction, and holds for every larger one."},
	"learning-curve":   {Group: "Search", Help: "Also fit the chosen learner to an eighth, a quarter, half and all of the rows: what would more rows bring?"},
	"max-size": {Group: "Search", Placeholder: "BYTES",
		Help: "Choose among models whose features and weights take about this size at most, such as 50kB."},
	"max-time": {Group: "Search", Placeholder: "TIME", Help: "Return the best model so far after this time: 2m, 90s."},

	"against": {Placeholder: "NAME", Help: "The entry that the others are compared with, by its name, or a model file (default: the first; compare: logistic)."},
	"gate":    {Help: "Decide whether the first model may replace --against; exit code 4 if not. Its loss must be below --margin, and its threshold must keep its goal."},
	"margin": {Needs: "gate", Placeholder: "RATE", Default: "2%",
		Help: "With --gate: the largest loss of the criterion, at the lower end of the paired interval (default 2%)."},
	"confidence": {Placeholder: "C", Default: "0.95", Help: "The confidence of the intervals (default 0.95)."},
	"replicates": {Placeholder: "N", Default: "2000", Help: "Replicates of the bootstrap (default 2000)."},
	"curves":     {Placeholder: "N", Help: "With --json: ROC, PR and P-tau curves with at most N points each."},

	"by": {Placeholder: "COL", Whole: true,
		Help: "Count found positives and false alarms by the values of this column, feature or not; repeatable."},
	"evaluate simultaneous":  {Help: "With --by: the intervals of all values and columns together have the confidence (Bonferroni)."},
	"threshold simultaneous": {Help: "With --segment: the guarantees of all segments together have the confidence of --delta (Sidak)."},
	"threshold entity": {Group: "Counting", Placeholder: "COL",
		Help: "The budget counts one alert per value of this column, with --time one a day, instead of rows. The point keeps this."},
	"train entity":   {Group: "Counting", Placeholder: "COL", Help: "One alert per value of this column counts, with --time one a day: in the choice, the threshold and its guarantee. It is never a feature, and is the --group unless that is set."},
	"compare entity": {Group: "Counting", Placeholder: "COL", Help: "One alert per value of this column counts, with --time one a day: in the choice and on the test part. It is never a feature, and is the --group unless that is set."},
	"entity": {Group: "Counting", Placeholder: "COL",
		Help: "One alert per value of this column counts, with --time one a day: budget, rates and criteria are in entities, not in rows."},
	"train value":     {Group: "Counting", Placeholder: "COL", Help: "A column of amounts, such as money: the model is chosen by the fraction of the positives' sum found within the budget. Use --drop too if it is no feature."},
	"compare value":   {Group: "Counting", Placeholder: "COL", Help: "A column of amounts, such as money: the choice and the comparison are about fractions of the positives' sum. Use --drop too if it is no feature."},
	"threshold value": {Group: "Counting", Placeholder: "COL", Help: "With --cost-alert: the column of amounts."},
	"value": {Group: "Counting", Placeholder: "COL",
		Help: "A column of amounts, such as money: criteria are fractions of the positives' sum."},
	"report-date": {Placeholder: "TEXT", Help: "The date in the report (default: that of the data file)."},
	"examples":    {Placeholder: "N", Help: "List the N highest false alarms and positives found and the N lowest positives missed, with reasons."},

	"name":     {Placeholder: "NAME", Default: "threshold", Help: "The name of the new operating point (default threshold)."},
	"replace":  {Needs: "model", Placeholder: "NAME", Help: "Replace this operating point of --model instead of adding one. Its goal is the default."},
	"segments": {Help: "Also compute a threshold for each value of the --segment column (on if --segment is set)."},
	"force":    {Needs: "model", Help: "Certify even on rows that look as if they had trained the model, because they are other rows with equal values."},

	"dialect":     {Placeholder: "NAME", Help: "sql: the database (default postgres).", Values: dialect.Names()},
	"table":       {Placeholder: "NAME", Help: "sql: the table to read, perhaps with a schema: main.flows (default rows)."},
	"export name": {Placeholder: "NAME", Help: "c: what names begin with; go: the package (default model); sql: create a view of this name."},
	"export keep": {Placeholder: "COLS", Whole: true, Help: "sql: columns to pass through; repeatable (default: those that identify a row, or else all that the model reads)."},
	"tensor":      {Help: "onnx: one input X with all columns of the model, in their order, instead of one input a column."},
	"ui delta":    {Placeholder: "RATE", Help: "With --held-out: guarantee saved points with confidence 1 - RATE: 5% or 0.05."},

	"diagnose delta": {Placeholder: "RATE", Default: "5%", Help: "Count the negatives that a guarantee needs at confidence 1 - RATE (default 5%)."},
}

// Learners lists the names of all learners but boosting.
func Learners() []string {
	return text.Strings(slices.DeleteFunc(tune.Learners(), func(name method.Name) bool { return name == method.Boosting }))
}
