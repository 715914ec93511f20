package simulate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/threshold"
)

func mustNew(t testing.TB, o Options) *Data {
	t.Helper()
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func csvText(t testing.TB, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := mustNew(t, o).WriteCSV(context.Background(), &b, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// small returns a fast size of each kind with more than one block.
func small(kind string) Options {
	o := Options{Kind: kind, Rows: 2500, Seed: 7}
	if kind == "gisette" {
		o.Columns = 60
	}
	return o
}

// Published numbers depend on the bytes of a seed. A change here needs an entry in the change log.
func TestBytesOfASeed(t *testing.T) {
	want := map[string]string{
		"detectors": "c0625d5ca1a023f28f4947338175eb0eb12de4849eba6ba08621c76a3181bb61",
		"example":   "a119198c264a974a5fff220edea010dcf351e3edb5df61536d54749fa0a039b4",
		"hepmass":   "8593111ef9e2e576f6e679cb966d0e5a8df061025b1672a2b4425beb1bcb3055",
		"gisette":   "7b8999ef03ad12fc7618c2ebd01762575ab21d480e84b76dc71ccaaec34cf0bd",
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range Kinds() {
		for _, processors := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(processors)
			sum := sha256.Sum256(csvText(t, small(kind)))
			if got := hex.EncodeToString(sum[:]); got != want[kind] {
				t.Errorf("%s with %d processors: %s, want %s", kind, processors, got, want[kind])
			}
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	for _, kind := range Kinds() {
		a, b := small(kind), small(kind)
		b.Seed++
		if bytes.Equal(csvText(t, a), csvText(t, b)) {
			t.Errorf("%s: two seeds give the same bytes", kind)
		}
	}
}

func TestLongerRunStartsWithTheShorter(t *testing.T) {
	for _, kind := range []string{"detectors", "hepmass", "gisette"} {
		short, long := small(kind), small(kind)
		long.Rows = 3100
		if !bytes.HasPrefix(csvText(t, long), csvText(t, short)) {
			t.Errorf("%s: the first 2,500 rows differ", kind)
		}
	}
}

// WriteCSV writes the bits of the rows of Each.
func TestCSVReadsBack(t *testing.T) {
	for _, kind := range Kinds() {
		o := small(kind)
		o.Attacks = kind == "detectors"
		d := mustNew(t, o)
		records, err := csv.NewReader(bytes.NewReader(csvText(t, o))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(records) != o.Rows+1 || records[0][len(records[0])-1] != "label" {
			t.Fatalf("%s: %d records, header %v", kind, len(records), records[0])
		}
		d.Each(func(i int, row *Row) bool {
			record := records[i+1]
			for j, v := range row.Values {
				if got, err := strconv.ParseFloat(record[j], 64); err != nil || got != v {
					t.Fatalf("%s: row %d column %s: %q, want %v", kind, i, d.Names()[j], record[j], v)
				}
			}
			if (record[len(record)-1] == "1") != row.Positive {
				t.Fatalf("%s: row %d: label %q", kind, i, record[len(record)-1])
			}
			if o.Attacks && record[len(record)-2] != row.Attack {
				t.Fatalf("row %d: attack %q, want %q", i, record[len(record)-2], row.Attack)
			}
			return true
		})
	}
}

func TestAppendNumberIsShortest(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, v float64) {
		if got, want := string(appendNumber(nil, v)), strconv.FormatFloat(v, 'f', -1, 64); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 0.0001, -0.0001, 12.3, -12.03, 99999999.9999, 1e11, 1e300, 5e-324, 1.0 / 3} {
		check(t, v)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, float64(rapid.Int64Range(-1e13, 1e13).Draw(t, "ten thousandths"))/1e4)
		check(t, rapid.Float64().Draw(t, "any"))
	})
}

// The number of positives is within the binomial interval at level 1e-4.
func TestShareOfPositives(t *testing.T) {
	for _, c := range []Options{
		{Kind: "detectors", Rows: 50_000}, {Kind: "detectors", Rows: 50_000, Positives: threshold.MustRate("8.7%"), Columns: 25},
		{Kind: "hepmass", Rows: 50_000}, {Kind: "hepmass", Rows: 50_000, Positives: threshold.MustRate("10%")},
		{Kind: "gisette", Rows: 4000, Columns: 20}, {Kind: "gisette", Rows: 4000, Columns: 20, Positives: threshold.MustRate("1/3")},
	} {
		d := mustNew(t, c)
		positives := 0
		d.Each(func(_ int, row *Row) bool {
			if row.Positive {
				positives++
			}
			return true
		})
		p := d.options.Positives.Float64()
		if binomial.AtMost(c.Rows, positives, p) < 5e-5 || binomial.AtLeast(c.Rows, positives, p) < 5e-5 {
			t.Errorf("%+v: %d positives of %d, share %v", c, positives, c.Rows, p)
		}
	}
}

func TestProgressAndCancel(t *testing.T) {
	last := 0
	d := mustNew(t, small("hepmass"))
	if err := d.WriteCSV(context.Background(), new(bytes.Buffer), func(rows int) {
		if rows <= last {
			t.Errorf("%d rows after %d", rows, last)
		}
		last = rows
	}); err != nil || last != d.Rows() {
		t.Errorf("%d rows, %v", last, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	long := mustNew(t, Options{Kind: "hepmass", Rows: 1_000_000_000})
	if err := long.WriteCSV(ctx, new(bytes.Buffer), func(int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := long.WriteCSV(context.Background(), &full{left: 10_000}, nil); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("the disk is full")

// full is a writer that fails after a number of bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWrongOptions(t *testing.T) {
	for _, c := range []struct {
		options Options
		text    string
	}{
		{Options{Kind: "iris"}, "detectors, example, hepmass, gisette"},
		{Options{Kind: "hepmass", Rows: -1}, "rows -1"},
		{Options{Kind: "example", Rows: 2}, "rows 2"},
		{Options{Kind: "detectors", Columns: 3}, "columns 3"},
		{Options{Kind: "hepmass", Columns: 27}, "columns 27"},
		{Options{Kind: "example", Columns: 3}, "columns 3"},
		{Options{Kind: "example", Positives: threshold.MustRate("1%")}, "positives"},
		{Options{Kind: "hepmass", MLT: true}, "MLT"},
		{Options{Kind: "gisette", Types: 3}, "attack types"},
		{Options{Kind: "detectors", Types: -1}, "types -1"},
	} {
		_, err := New(c.options)
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v, want %q", c.options, err, c.text)
		}
	}
}
