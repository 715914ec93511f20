package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toptau/internal/data/table"
	"toptau/internal/training/inspect"
	"toptau/schema"
)

func inspected(t *testing.T, text string, f schema.Format) *inspect.TableInspection {
	t.Helper()
	r, err := table.NewReader("flows.csv", strings.NewReader(text), inspect.ReadOptions(f))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found, err := inspect.Table(r)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// suspicious has an identifier, a copy of the label, a constant, a copy of a column, times, numbers with a gap and rows twice.
func suspicious() string {
	var b strings.Builder
	b.WriteString("id,bytes,again,when,kind,fixed,verdict,attack\n")
	for i := range 400 {
		attack, verdict, bytes := "no", "pass", fmt.Sprint(i*i%977)
		if i%8 == 3 {
			attack, verdict = "yes", "block"
		}
		if i%10 == 9 {
			bytes = ""
		}
		fmt.Fprintf(&b, "%d,%s,%s,2024-05-%02d 10:00:00,%s,1,%s,%s\n", 1000+i, bytes, bytes, 1+i%28, []string{"tcp", "udp"}[i%2], verdict, attack)
	}
	return b.String()
}

// A table shows its columns, the classes, what is suspicious, and a command that trains without that.
func TestTable(t *testing.T) {
	r := inspected(t, suspicious(), schema.Format{Label: "attack"})
	if !r.Whole || r.Rows != 400 || len(r.Columns) != 8 || r.Label != "attack" || len(r.Labels) != 2 || r.Labels[1] != (inspect.LabelValue{Value: "yes", Rows: 50}) {
		t.Errorf("%+v", r)
	}
	kinds := map[string]string{}
	for _, c := range r.Columns {
		kinds[c.Column] = c.Kind
	}
	if got := fmt.Sprint(kinds); got != "map[again:numeric attack:label bytes:numeric fixed:numeric id:numeric kind:categorical verdict:categorical when:time]" {
		t.Error(got)
	}
	if c := r.Columns[1]; c.Missing != 40 || *c.Low != 0 || len(c.Examples) != 3 || c.Examples[1] != "1" {
		t.Errorf("%+v", c)
	}
	want := "toptau train flows.csv --label attack --positive yes --drop verdict --id id --impute indicator --max-fpr 1% -o model.json"
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	for _, code := range []string{"constant-columns", "equal-columns", "column-numbers-the-rows", "times"} {
		if !slices.Contains(codes, code) {
			t.Errorf("no warning %s among %q", code, codes)
		}
	}
	if r.Next != want {
		t.Errorf("next: %s\nwant  %s", r.Next, want)
	}
}

// Without a label the next command names the likely one. A clean table gets no warning, and labels of 0 and 1 need no --positive.
func TestTableWithoutLabel(t *testing.T) {
	if r := inspected(t, suspicious(), schema.Format{}); r.Next != "toptau inspect flows.csv --label attack" || r.LabelsMaybe[0] != "attack" {
		t.Errorf("next: %s, labels %q", r.Next, r.LabelsMaybe)
	}
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%g,%d\n", float64(i*7919%1000)/7, i*31%17/15)
	}
	r := inspected(t, "a,y\n"+b.String(), schema.Format{Label: "y"})
	if len(r.Warnings) > 0 || r.Positives == nil || r.Next != "toptau train flows.csv --label y --max-fpr 1% -o model.json" {
		t.Errorf("%+v", r)
	}
}

// What a training would refuse is counted, with the flag that repairs it. Hostile texts stay texts of bounded length.
func TestTableWithBadRows(t *testing.T) {
	long := strings.Repeat("x", 500)
	text := "a,k,y\n"
	for i := range 200 {
		text += fmt.Sprintf("%d.5,\x1b[31m%s,%d\n", i, long, i%2)
	}
	r := inspected(t, text+"n/a,k,1\n7,k\n", schema.Format{Label: "y"})
	if r.BadRows != 2 || r.Rows != 200 || !strings.Contains(r.Next, "--missing n/a --impute indicator") || len(r.Columns[1].Examples[0]) > 50 {
		t.Errorf("%d bad of %d; next: %s; %q", r.BadRows, r.Rows, r.Next, r.Columns[1].Examples)
	}
}

// A long file is read up to a limit, and the result says so.
func TestTableOfManyRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,y\n")
	for i := range 120_000 {
		fmt.Fprintf(&b, "%d,%d\n", i%7, i%3/2)
	}
	r := inspected(t, b.String(), schema.Format{Label: "y"})
	if r.Whole || r.Rows < 90_000 || r.Rows > 100_500 || r.Warnings[0].Code != "first-rows" {
		t.Errorf("%d rows, whole %v, %+v", r.Rows, r.Whole, r.Warnings)
	}
	if r := inspected(t, b.String()[:2000], schema.Format{Label: "y"}); !r.Whole {
		t.Error("the start of it is not whole")
	}
	libsvm := inspected(t, "+1 1:0.5 7:1\n-1 2:1\n", schema.Format{})
	if libsvm.Indices != 7 || libsvm.FileFormat != "libsvm" || libsvm.Next != "toptau train flows.csv --max-fpr 1% -o model.json" {
		t.Errorf("%+v", libsvm)
	}
}
