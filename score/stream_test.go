package score_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"toptau/certify"
	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// flowModel is a model of two numeric columns and a categorical one without missing values, and its median row.
func flowModel(t *testing.T) *model.Model {
	t.Helper()
	var text strings.Builder
	text.WriteString("bytes,load,proto,y\n")
	for i := range 201 {
		fmt.Fprintf(&text, "%d,%d,%s,%d\n", i, 3*i%100, []string{"tcp", "tcp", "udp"}[i%3], i/180)
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "f.csv", text.String()), schema.Format{Label: "y"})
	fitted, err := certify.Fit(t.Context(), d, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("5%"), Lambda: 0.001}, certify.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return fitted.Model
}

func scoreText(t *testing.T, m *model.Model, text string, o score.Options) ([]result.Row, result.Scoring, error) {
	t.Helper()
	stream, err := score.Open(t.Context(), m, strings.NewReader(text), o)
	if err != nil {
		return nil, result.Scoring{}, err
	}
	var rows []result.Row
	for r, err := range stream.Rows() {
		if err != nil {
			return rows, stream.Totals(), err
		}
		rows = append(rows, r.Clone())
	}
	return rows, stream.Totals(), nil
}

const flowsWithBadRows = "bytes,load,proto,y\n1,2,tcp,0\n,5,udp,0\n3,x,tcp,0\n4,5\n9,9,,0\n6,7,udp,0\n"

func TestStreamBadRows(t *testing.T) {
	m := flowModel(t)
	good, _, err := scoreText(t, m, "bytes,load,proto\n1,2,tcp\n6,7,udp\n", score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := scoreText(t, m, flowsWithBadRows, score.Options{})
	if e := diag.Of(err); e == nil || e.Column != "bytes" || e.Line != 3 || len(rows) != 1 {
		t.Errorf("without a policy: %v after %d rows", err, len(rows))
	}
	var lines []int
	var texts []string
	rows, totals, err := scoreText(t, m, flowsWithBadRows, score.Options{OnError: schema.SkipBadRows, OnReject: func(r result.Rejected) error {
		lines, texts = append(lines, r.Line), append(texts, r.Text)
		return nil
	}})
	if err != nil || len(rows) != 2 || rows[0].Score != good[0].Score || rows[1].Score != good[1].Score || rows[1].Number != 6 {
		t.Fatalf("skip: %+v, %v", rows, err)
	}
	if fmt.Sprint(lines) != "[3 4 5 6]" || texts[0] != ",5,udp,0" || texts[2] != "4,5" || totals.Rows != 6 || totals.Failed != 4 {
		t.Errorf("rejected %v %q, totals %+v", lines, texts, totals)
	}
	rows, _, err = scoreText(t, m, flowsWithBadRows, score.Options{OnError: schema.EmptyBadRows, Keep: true, Impute: schema.ImputeMedian})
	if err != nil || len(rows) != 6 {
		t.Fatalf("empty: %d rows, %v", len(rows), err)
	}
	// bytes has the median 100, proto mostly tcp.
	want, _, err := scoreText(t, m, "bytes,load,proto\n100,5,udp\n9,9,tcp\n", score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows[1].Score != want[0].Score || fmt.Sprint(rows[1].Imputed) != "[bytes]" || rows[4].Score != want[1].Score ||
		fmt.Sprint(rows[4].Imputed) != "[proto]" || rows[0].Imputed != nil || rows[2].Err == nil || rows[3].Err == nil {
		t.Errorf("imputed: %+v, want %+v", rows, want)
	}
	if fmt.Sprint(rows[2].Input) != "[3 x tcp 0]" {
		t.Errorf("the input of a bad row: %q", rows[2].Input)
	}
	if _, _, err := scoreText(t, m, "bytes,load,proto\nx,1,tcp\n", score.Options{OnError: schema.SkipBadRows}); err == nil {
		t.Error("a file without any row that fits is no error")
	}
	for _, o := range []score.Options{{OnError: "no"}, {Impute: schema.ImputeIndicator}} {
		if _, _, err := scoreText(t, m, flowsWithBadRows, o); diag.Of(err) == nil || diag.Of(err).Kind != diag.Usage {
			t.Errorf("%+v: %v", o, err)
		}
	}
	stop := errors.New("stop")
	if _, _, err := scoreText(t, m, flowsWithBadRows, score.Options{OnError: schema.SkipBadRows, OnReject: func(result.Rejected) error { return stop }}); err != stop {
		t.Errorf("an error of OnReject: %v", err)
	}
}

// A row of a pipe is scored before the next one is written, and a cancelled context ends the wait.
func TestStreamIsLive(t *testing.T) {
	m := flowModel(t)
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	scores := make(chan float64)
	ended := make(chan error, 1)
	go func() {
		stream, err := score.Open(ctx, m, in, score.Options{})
		if err != nil {
			ended <- err
			return
		}
		for r, err := range stream.Rows() {
			if err != nil {
				ended <- err
				return
			}
			scores <- r.Score
		}
		ended <- nil
	}()
	io.WriteString(out, "bytes,load,proto,y\n")
	for i := range 20 {
		fmt.Fprintf(out, "%d,%d,tcp,0\n", i, i)
		select {
		case z := <-scores:
			want, err := m.Score(map[string]string{"bytes": fmt.Sprint(i), "load": fmt.Sprint(i), "proto": "tcp"})
			if err != nil || math.Float64bits(z) != math.Float64bits(want) {
				t.Errorf("row %d scores %v, want %v (%v)", i, z, want, err)
			}
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(10 * time.Second):
			t.Fatal("the row waits for the next one")
		}
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the context does not end the wait")
	}
}

// Times and addresses score the same bits as rows of a file, as records and in the packed matrix.
func TestDerivedColumnsScoreTheSameBits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	var text strings.Builder
	text.WriteString("when,src,bytes,y\n")
	var records []map[string]string
	for i := range 600 {
		at := time.Unix(1.7e9+random.Int64N(1e7), 0).UTC()
		y := 0
		if at.Hour() < 3 || i%97 == 0 {
			y = 1
		}
		r := map[string]string{"when": at.Format(time.RFC3339), "src": fmt.Sprintf("10.%d.0.%d", random.IntN(4), random.IntN(256)), "bytes": fmt.Sprint(random.IntN(1000))}
		if i%50 == 49 {
			r["src"] = "2001:db8::7"
		}
		records = append(records, r)
		fmt.Fprintf(&text, "%s,%s,%s,%d\n", r["when"], r["src"], r["bytes"], y)
	}
	path := trial.WriteFile(t, "f.csv", text.String())
	for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves} {
		d := trial.ReadFile(t, path, schema.Format{Label: "y", Date: []string{"when"}})
		fitted, err := certify.Fit(t.Context(), d, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("5%"), Lambda: 0.001}, certify.FitOptions{Encoding: encoding})
		if err != nil {
			t.Fatal(err)
		}
		m := fitted.Model
		rows, _, err := scoreText(t, m, text.String(), score.Options{})
		if err != nil {
			t.Fatal(err)
		}
		file := trial.WriteFile(t, "m.json", "")
		if err := m.Save(file); err != nil {
			t.Fatal(err)
		}
		loaded, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Schema()
		read, _, err := table.Read(path, table.Options{Schema: &s})
		if err != nil {
			t.Fatal(err)
		}
		x, err := feature.MapOf(m.Features()).Matrix(read, nil, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		packed := map[float64]int{}
		parts := m.Parts()
		for _, class := range []*matrix.ClassRows{x.Positives, x.Negatives} {
			z := make([]float64, class.Rows())
			class.Scores(parts.Weights, z)
			for _, v := range z {
				packed[v+parts.Offset]++
			}
		}
		for i, r := range rows {
			z, err := loaded.Score(records[i])
			if err != nil || math.Float64bits(z) != math.Float64bits(r.Score) {
				t.Fatalf("%s, row %d: record %v (%v), file %v", encoding, i, z, err, r.Score)
			}
			if packed[z]--; packed[z] < 0 {
				t.Fatalf("%s, row %d: the packed matrix has no score %v", encoding, i, z)
			}
		}
		if _, err := m.Score(map[string]string{"when": "yesterday", "src": "10.0.0.1", "bytes": "1"}); err == nil || !strings.Contains(err.Error(), "a time such as") {
			t.Errorf("a record with a wrong time: %v", err)
		}
		if _, err := m.Score(map[string]string{"bytes": "1"}); err == nil || !strings.Contains(err.Error(), `without "when", "src"`) {
			t.Errorf("a record without a time: %v", err)
		}
	}
}

// A redacted model scores records, fields and rows of files the same, also values that training did not have.
func TestRedactedModelScoresTheSame(t *testing.T) {
	var text strings.Builder
	text.WriteString("when,who,port,bytes,y\n")
	random := rand.New(rand.NewPCG(3, 3))
	for i := range 300 {
		fmt.Fprintf(&text, "2024-05-%02d,Person %c,%d,%d,%d\n", 1+random.IntN(30), 'A'+rune(random.IntN(9)), 80+random.IntN(3), random.IntN(100), i%7/6)
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "f.csv", text.String()), schema.Format{Label: "y", Categorical: []string{"port"}, Missing: []string{"?"}})
	fitted, err := certify.Fit(t.Context(), d, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("5%"), Lambda: 0.001}, certify.FitOptions{Impute: schema.ImputeIndicator})
	if err != nil {
		t.Fatal(err)
	}
	m := fitted.Model
	redacted, err := m.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	path := trial.WriteFile(t, "m.json", "")
	if err := redacted.Save(path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(content), "Person") || strings.Contains(string(content), `"mon"`) {
		t.Errorf("the copy shows names (%v)", err)
	}
	if redacted, err = model.Load(path); err != nil {
		t.Fatal(err)
	}
	later := text.String() + "2024-06-01,Person Z,81,5,0\n,Person A,?,5,0\n?,,99,1,0\n"
	want, _, err := scoreText(t, m, later, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := scoreText(t, redacted, later, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(later), "\n")
	for i := range want {
		f := strings.Split(lines[i+1], ",")
		z, err := redacted.Score(map[string]string{"when": f[0], "who": f[1], "port": f[2], "bytes": f[3]})
		if err != nil || got[i].Score != want[i].Score || z != want[i].Score {
			t.Fatalf("row %d: file %v, record %v (%v), want %v", i, got[i].Score, z, err, want[i].Score)
		}
	}
	for _, fields := range [][]string{{"1", "mon", "Person B", "80", "7"}, {"1", "sun", "nobody", "80", "7"}} {
		a, errA := m.ScoreFields(fields)
		b, errB := redacted.ScoreFields(fields)
		if errA != nil || errB != nil || a != b {
			t.Errorf("%q: %v and %v (%v, %v)", fields, a, b, errA, errB)
		}
	}
	numbers := []float64{math.NaN(), math.NaN(), math.NaN(), 81, 7}
	a, errA := m.ScoreNumbers(numbers)
	b, errB := redacted.ScoreNumbers(numbers)
	if errA != nil || errB != nil || a != b {
		t.Errorf("numbers: %v and %v (%v, %v)", a, b, errA, errB)
	}
}
