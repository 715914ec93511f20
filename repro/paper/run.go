package paper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/app/report"
	"toptau/internal/data/atomicfile"
)

// Options select the tables and figures and the data.
type Options struct {
	Items    []string // names of tables and figures (default: all)
	Out      string   // directory of the results; its folder "cache" stores finished parts
	Data     string   // directory of the data sets
	Sets     []string // keys of the sets to use (default: all)
	Quick    bool     // with smaller stand-ins
	Seeds    int      // splits of the small real sets (default 10, or 3 in a quick run)
	Solver   string   // adam, certified or both (default both)
	Start    string   // zero, random or both (default both)
	Build    string   // version of the program, for the record of the run
	Stable   string   // file of a stability campaign, to mark cells (default: stability-cells.csv in Out, if it exists)
	Progress func(fraction float64, text string)

	Adam, Certified, Zero, Random bool // from Solver and Start
	need                          needs
	withChanges                   bool // also the changed runs of a stability campaign
}

// needs are the experiments that an item is made from.
type needs struct{ adam, random, certified, scaled, zeros, times, steps bool }

// union returns the experiments of n and m.
func (n needs) union(m needs) needs {
	return needs{n.adam || m.adam, n.random || m.random, n.certified || m.certified, n.scaled || m.scaled,
		n.zeros || m.zeros, n.times || m.times, n.steps || m.steps}
}

// Piece is one finished item.
type Piece struct {
	Name    string
	Title   string
	Text    []string // before the tables: what they show
	Notes   []string // after them: how to read them, and differences from the paper
	Tables  []NamedTable
	Figures []NamedFigure
}

// NamedTable is a table with the name of its files.
type NamedTable struct {
	Name  string
	Table report.Table
}

// item is a table or figure with a name.
type item struct {
	name string
	need needs
	make func(ctx context.Context, st *study) (*Piece, error)
}

// items lists all items in the order of the page.
func items() []item {
	return []item{
		{"findings", needs{adam: true, random: true, certified: true, scaled: true, zeros: true, times: true}, findingsItem},
		{"errata", needs{}, errataItem},
		{"observations", needs{adam: true, random: true, certified: true, zeros: true, times: true}, observationsItem},
		{"example", needs{}, exampleItem},
		{"methods", needs{}, methodsItem},
		{"criteria", needs{}, criteriaItem},
		{"counts", needs{}, countsItem},
		{"ranks", needs{adam: true, certified: true}, ranksItem},
		{"claims", needs{adam: true, certified: true, zeros: true}, claimsItem},
		{"fails", needs{adam: true, zeros: true, steps: true}, failsItem},
		{"optimum", needs{adam: true, random: true, certified: true, zeros: true}, optimumItem},
		{"starts", needs{adam: true, random: true}, startsItem},
		{"scaling", needs{adam: true, certified: true, scaled: true}, scalingItem},
		{"times", needs{times: true}, timesItem},
		{"curves", needs{adam: true}, curvesItem},
		{"descent", needs{}, descentItem},
		{"ordering", needs{}, orderingItem},
		{"theorems", needs{}, theoremsItem},
		{"stability", needs{adam: true, certified: true}, stabilityItem},
		{"record", needs{}, recordItem},
	}
}

// Names returns the names of all items.
func Names() []string {
	var names []string
	for _, i := range items() {
		names = append(names, i.name)
	}
	return names
}

// Result lists the results of a run.
type Result struct {
	Pieces []*Piece
	Sets   []Set
	Absent map[string]string // the missing file, by the set's key
	Files  []string
}

// withDefaults checks the options, fills in the defaults and returns the items to make.
func (o Options) withDefaults() (Options, []item, error) {
	wanted := items()
	if len(o.Items) > 0 && !slices.Contains(o.Items, "all") {
		wanted = slices.DeleteFunc(wanted, func(i item) bool { return !slices.Contains(o.Items, i.name) })
		for _, name := range o.Items {
			if !slices.Contains(Names(), name) {
				return o, nil, &diag.Error{Kind: diag.Usage, Found: diag.Quote(name),
					Expected: "all, or one of " + strings.Join(Names(), ", ")}
			}
		}
	}
	for _, i := range wanted {
		o.need = o.need.union(i.need)
	}
	switch o.Solver {
	case "", "both":
		o.Adam, o.Certified = true, true
	case solverAdam:
		o.Adam = true
	case solverCertified:
		o.Certified = true
	default:
		return o, nil, &diag.Error{Kind: diag.Usage, Param: "solver", Found: diag.Quote(o.Solver), Expected: "adam, certified or both"}
	}
	switch o.Start {
	case "", "both":
		o.Zero, o.Random = true, true
	case "zero":
		o.Zero = true
	case "random":
		o.Random = true
	default:
		return o, nil, &diag.Error{Kind: diag.Usage, Param: "start", Found: diag.Quote(o.Start), Expected: "zero, random or both"}
	}
	if o.Seeds == 0 {
		o.Seeds = 10
		if o.Quick {
			o.Seeds = 3
		}
	}
	if o.Seeds < 1 {
		return o, nil, &diag.Error{Kind: diag.Usage, Param: "seeds", Found: fmt.Sprint(o.Seeds), Expected: "at least 1"}
	}
	if o.Data == "" {
		return o, nil, &diag.Error{Kind: diag.Usage, Param: "data-dir", Expected: "a directory, or the environment variable TOPTAU_DATA",
			Hint: "toptau-paper fetch downloads the public sets"}
	}
	return o, wanted, nil
}

// Run makes the items and writes them to o.Out: tables as Markdown, CSV and LaTeX, figures as SVG, and
// index.html with all of them. Finished parts are stored in o.Out/cache, so an interrupted run continues
// where it stopped.
func Run(ctx context.Context, o Options) (*Result, error) {
	o, wanted, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	st := newStudy(o)
	if st.stable, err = readStability(o); err != nil {
		return nil, err
	}
	if err := st.open(); err != nil {
		return nil, err
	}
	if err := st.experiments(ctx); err != nil {
		return nil, err
	}
	res := &Result{Sets: st.sets, Absent: st.absent}
	for _, i := range wanted {
		st.work.showText("table or figure " + i.name)
		piece, err := i.make(ctx, st)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.name, err)
		}
		if piece != nil {
			piece.Name = i.name
			res.Pieces = append(res.Pieces, piece)
		}
	}
	if err := st.noteSession(true); err != nil {
		return nil, err
	}
	if res.Files, err = writeResults(o.Out, st, res); err != nil {
		return nil, err
	}
	cells, err := st.writeCells()
	res.Files = append(res.Files, cells...)
	return res, err
}

// newStudy returns a study without results.
func newStudy(o Options) *study {
	return &study{o: o, store: &store{dir: filepath.Join(o.Out, "cache")}, absent: map[string]string{},
		shapes: map[string]*Shape{}, cells: map[string]*Cell{}, zeros: map[string]*ZeroAnswer{},
		timed: map[string]*Timing{}, work: workMeter{report: o.Progress}}
}

// open checks that results can be written, and starts the record.
func (st *study) open() error {
	if err := os.MkdirAll(st.o.Out, 0o777); err != nil {
		return &diag.Error{Kind: diag.IO, File: st.o.Out, Err: err}
	}
	if err := atomicfile.Check(filepath.Join(st.o.Out, "index.html")); err != nil {
		return err
	}
	return st.openRecord()
}

// experiments runs all experiments on one set after the other, so that only one set is in memory.
func (st *study) experiments(ctx context.Context) error {
	var err error
	if st.sets, err = st.wantedSets(); err != nil {
		return err
	}
	for i := range st.sets {
		s := &st.sets[i]
		if path := s.missing(); path != "" {
			st.absent[s.Key] = path
			continue
		}
		if st.prints == nil {
			if st.prints, err = codeFingerprints(); err != nil {
				return err
			}
		}
		for _, seed := range st.seeds(s) {
			for _, v := range st.variants(s, seed) {
				st.work.total += float64(st.estimateWork(s, v) * float64(len(tableEntries())))
			}
		}
	}
	for i := range st.sets {
		s := &st.sets[i]
		if st.absent[s.Key] != "" {
			continue
		}
		if err := st.runSet(ctx, s); err != nil {
			return err
		}
		debug.FreeOSMemory() // the next set may be as large as this one
	}
	if st.o.need.times {
		return st.measureTimes(ctx)
	}
	return nil
}

// wantedSets returns the sets of Options.Sets, or the whole catalogue.
func (st *study) wantedSets() ([]Set, error) {
	sets := catalogue{dir: st.o.Data, quick: st.o.Quick}.sets()
	if len(st.o.Sets) == 0 {
		return sets, nil
	}
	var keys []string
	for _, s := range sets {
		keys = append(keys, s.Key)
	}
	for _, key := range st.o.Sets {
		if !slices.Contains(keys, key) {
			return nil, &diag.Error{Kind: diag.Usage, Param: "sets", Found: diag.Quote(key),
				Expected: "some of " + strings.Join(keys, ", ")}
		}
	}
	return slices.DeleteFunc(sets, func(s Set) bool { return !slices.Contains(st.o.Sets, s.Key) }), nil
}

// present returns the sets that were read, of some kinds or of all.
func (st *study) present(kinds ...Kind) []*Set {
	var list []*Set
	for i := range st.sets {
		s := &st.sets[i]
		if st.absent[s.Key] == "" && (len(kinds) == 0 || slices.Contains(kinds, s.Kind)) {
			list = append(list, s)
		}
	}
	return list
}
