package score_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/tests/trial"
	"toptau/result"
	"toptau/score"
)

func TestScoreKeepsTheOrderOfTheInput(t *testing.T) {
	m := trial.SmallModel(t)
	path := trial.WriteFile(t, "in.csv", "size,speed,kind\n0,0,red\n5,5,blue\n1,1,unheard\n")
	rows, s := trial.ScoreAll(t, m, path, score.Options{})
	totals := s.Totals()
	if totals.Rows != 3 || len(rows) != 3 || totals.Unknown != 1 || totals.Missing != 0 {
		t.Fatalf("%d rows, %+v", len(rows), totals)
	}
	above := 0
	for i, r := range rows {
		if r.Number != i+1 || len(r.ID) != 0 || len(r.Input) != 0 || len(r.Decisions) != 1 {
			t.Errorf("row %d: %+v", i+1, r)
		}
		if r.Decisions[0] != (r.Score > m.Points()[0].Threshold) {
			t.Errorf("row %d: decision %v for score %v at %v", i+1, r.Decisions[0], r.Score, m.Points()[0].Threshold)
		}
		if r.Decisions[0] {
			above++
		}
	}
	if totals.Positives[0] != above {
		t.Errorf("counted %d alarms, there are %d", totals.Positives[0], above)
	}
	// The same bits as one record by itself.
	score, err := m.Score(map[string]string{"size": "5", "speed": "5", "kind": "blue"})
	if err != nil || score != rows[1].Score {
		t.Errorf("one record scores %v (%v), in the file %v", score, err, rows[1].Score)
	}
}

func TestScoreKeepPassesTheInputThrough(t *testing.T) {
	m := trial.SmallModel(t)
	path := trial.WriteFile(t, "in.csv", "note,size,speed,name,kind\nfirst,0,+1.50,x,red\n\"second, quoted\",2,3,y,blue\n")
	o := score.Options{Keep: true}
	o.Format.ID = []string{"name"}
	rows, s := trial.ScoreAll(t, m, path, o)
	if want := []string{"note", "size", "speed", "kind"}; !slices.Equal(s.Kept, want) {
		t.Errorf("kept %q, want %q", s.Kept, want)
	}
	if !slices.Equal(s.ID, []string{"name"}) {
		t.Errorf("identified by %q, want name", s.ID)
	}
	if want := []string{"first", "0", "+1.50", "red"}; !slices.Equal(rows[0].Input, want) {
		t.Errorf("row 1 has %q, want %q as in the file", rows[0].Input, want)
	}
	if want := []string{"second, quoted", "2", "3", "blue"}; !slices.Equal(rows[1].Input, want) || rows[1].ID[0] != "y" {
		t.Errorf("row 2 has %q and %q, want %q and y", rows[1].Input, rows[1].ID, want)
	}
}

// Best keeps the first rows of the stable order by descending score: the earlier row wins a tie.
func TestBestKeepsTheFirstOfTheStableOrder(t *testing.T) {
	m := trial.SmallModel(t)
	var file strings.Builder
	file.WriteString("size,speed,kind\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 { // several chunks, 12 different records
		fmt.Fprintf(&file, "%d,%d,%s\n", r.IntN(3), r.IntN(2), []string{"red", "blue"}[r.IntN(2)])
	}
	path := trial.WriteFile(t, "ties.csv", file.String())
	all, _ := trial.ScoreAll(t, m, path, score.Options{})
	if len(all) != 10_000 {
		t.Fatalf("%d rows", len(all))
	}
	slices.SortStableFunc(all, func(a, b result.Row) int { return cmp.Compare(b.Score, a.Score) })
	for _, limit := range []int{1, 2, 700, 833, 9_999, 10_000, 20_000} {
		best, s := trial.ScoreAll(t, m, path, score.Options{Best: limit})
		if want := all[:min(limit, len(all))]; !reflect.DeepEqual(best, want) {
			t.Errorf("the best %d differ from the first of the sorted rows", limit)
		}
		if n := s.Totals().Rows; n != 10_000 {
			t.Errorf("best %d: %d rows scored", limit, n)
		}
		tied, note := 0, ""
		for _, r := range all[min(limit, len(all)):] {
			if r.Score == all[limit-1].Score {
				tied++
			}
		}
		for _, w := range s.Totals().Warnings {
			if w.Code == "ties" {
				note = w.Text
			}
		}
		want := fmt.Sprintf("%s with the score of the last one on the list: of equal scores the first in the input are listed", text.Plural(tied, "more row"))
		if tied == 0 {
			want = ""
		}
		if note != want {
			t.Errorf("best %d: %q, want %q", limit, note, want)
		}
	}
}

func TestScoreStops(t *testing.T) {
	m := trial.SmallModel(t)
	path := trial.WriteFile(t, "in.csv", "size,speed,kind\n0,0,red\n5,5,blue\n")
	s, err := trial.OpenStream(t, t.Context(), m, path, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	yielded := 0
	for range s.Rows() { // leaving the loop ends the stream
		yielded++
		break
	}
	if yielded != 1 {
		t.Errorf("%d rows before the break", yielded)
	}
	for row, err := range s.Rows() {
		if row != nil || diag.Of(err) == nil {
			t.Errorf("a second use of Rows yields %v, %v", row, err)
		}
	}

	ended, cancel := context.WithCancel(context.Background())
	if s, err = trial.OpenStream(t, ended, m, path, score.Options{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	for row, rowError := range s.Rows() {
		if row != nil {
			t.Error("a row after the context had ended")
		}
		err = rowError
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	bad := trial.WriteFile(t, "bad.csv", "size,speed,kind\n0,0,red\n5,fast,blue\n")
	s, err = trial.OpenStream(t, t.Context(), m, bad, score.Options{})
	if err == nil {
		for _, rowError := range s.Rows() {
			err = rowError
		}
	}
	trial.WantError(t, err, diag.Data, "bad.csv:3", `"speed"`, `"fast"`)

	missing := trial.WriteFile(t, "missing.csv", "size,kind\n0,red\n")
	_, err = trial.OpenStream(t, t.Context(), m, missing, score.Options{})
	trial.WantError(t, err, diag.Model, "missing.csv", `missing columns: "speed"`)
}
