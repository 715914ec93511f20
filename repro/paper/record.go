package paper

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
)

// record is the history of a directory of results: the sessions that made its parts.
type record struct {
	Key      string    `json:"key"`
	Sessions []session `json:"sessions"`
}

// recordKey identifies the form of a record.
const recordKey = "sessions 1"

// session is one run of the program on a directory. A session that only wrote the pages again is not
// recorded.
type session struct {
	Build     string  `json:"build"`   // the version in words
	Program   string  `json:"program"` // digest of the executable file
	Threads   int     `json:"threads"`
	Empty     bool    `json:"empty"`    // the directory had no parts before
	Finished  bool    `json:"finished"` // it was neither interrupted nor killed
	Parts     int     `json:"parts"`    // number of parts that it made
	Wall      float64 `json:"seconds_wall"`
	Processor float64 `json:"seconds_processor"` // 0: unknown
	Peak      int64   `json:"peak_bytes"`        // 0: unknown
}

// thisProgram returns the digest of the executable file, which is another one for each build, or "unknown".
var thisProgram = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return hex.EncodeToString(h.Sum(nil))
})

// openRecord adds a session to the record. It counts as unfinished until noteSession(true).
func (st *study) openRecord() error {
	st.started = time.Now()
	r := record{Key: recordKey}
	if _, err := st.store.load("record", recordKey, &r); err != nil {
		return err
	}
	_, err := os.Stat(st.store.dir)
	r.Sessions = append(r.Sessions, session{Build: cmp.Or(st.o.Build, "unknown"), Program: thisProgram(),
		Threads: runtime.GOMAXPROCS(0), Empty: os.IsNotExist(err)})
	st.record = r
	return nil
}

// savePart stores a part. The record comes first, so that every stored part has a session, also after a kill.
func (st *study) savePart(name string, part any) error {
	st.record.Sessions[len(st.record.Sessions)-1].Parts++
	if err := st.noteSession(false); err != nil {
		return err
	}
	return st.store.save(name, part)
}

// noteSession updates the last session and stores the record if the session has made a part.
func (st *study) noteSession(finished bool) error {
	s := &st.record.Sessions[len(st.record.Sessions)-1]
	s.Finished = finished
	s.Wall = time.Since(st.started).Seconds()
	s.Processor, s.Peak = readUsage()
	if s.Parts == 0 {
		return nil
	}
	return st.store.save("record", &st.record)
}

// sessions returns the sessions that made parts.
func (r *record) sessions() []session {
	var list []session
	for _, s := range r.Sessions {
		if s.Parts > 0 {
			list = append(list, s)
		}
	}
	return list
}

// text describes how the parts were made.
func (r *record) text() string {
	list := r.sessions()
	if len(list) == 0 {
		return "No experiment was needed for these tables."
	}
	one := len(list) == 1 && list[0].Empty && list[0].Finished
	var wall, processor float64
	var peak int64
	program := map[string]bool{}
	for _, s := range list {
		wall, processor, peak = wall+s.Wall, processor+s.Processor, max(peak, s.Peak)
		program[s.Program] = true
	}
	last := list[len(list)-1]
	used := fmt.Sprintf("%s of wall time", minutes(wall))
	if processor > 0 {
		used += fmt.Sprintf(", %s of processor time, at most %s of memory", minutes(processor), memory.Size(peak))
	}
	used += fmt.Sprintf(", on %s. Build: %s, program %s.", text.Plural(last.Threads, "thread"), last.Build,
		last.Program[:min(12, len(last.Program))])
	if one {
		return "One uninterrupted run of one build into an empty directory made all parts of these tables: " + used
	}
	words := fmt.Sprintf("%s made the parts of these tables, with %s", text.Plural(len(list), "session"),
		text.Plural(len(program), "build"))
	if len(list) == 1 && !list[0].Empty {
		words = "One session made the parts of these tables that its directory did not have"
	}
	return words + ". This was not one uninterrupted run into an empty directory. In all: " + used +
		" An interrupted session is counted up to its last stored part."
}

// minutes returns a time in words.
func minutes(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f seconds", seconds)
	}
	return fmt.Sprintf("%.0f minutes", seconds/60)
}

// recordItem describes the run and the arithmetic of each table. Like the table of times it differs between
// runs.
func recordItem(_ context.Context, st *study) (*Piece, error) {
	if err := st.noteSession(true); err != nil {
		return nil, err
	}
	const exact = "float64, sums in a fixed order"
	t := report.Table{Caption: "The arithmetic of the tables and figures. Data are rounded to float32 once, when " +
		"rows are packed.",
		Header: []string{"table or figure", "solver", "arithmetic"},
		Rows: [][]string{
			{"ranks, claims, fails, starts, scaling, curves, stability", "ADAM", exact},
			{"ranks, claims, optimum, scaling", "certified", exact + "; bounds proven"},
			{"optimum", "ADAM and certified", exact},
			{"descent", "ADAM and certified", exact},
			{"example, ordering, theorems", "formulas and ADAM on small cases", exact},
			{"convergence", "ADAM and certified", exact + "; its seconds are those of the table of times"},
			{"times", "ADAM", "the fast arithmetic: float32 scores, thresholds and losses in float64"},
		}}
	return &Piece{Title: "How these tables were made", Tables: []NamedTable{{"record", t}}, Text: []string{
		st.record.text(),
		"Everything but times is the same, to the byte, in every run of the same source on the same data: on any number " +
			"of threads, interrupted or not. This section, the tables of times and of convergence, the sentences that quote " +
			"them, and the fields seconds_ have times. cells.csv has the results of every cell. A test computes a sample of " +
			"them again and compares."}}, nil
}
