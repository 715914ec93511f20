package dialect_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/models/dialect"
	"toptau/internal/training/large"
	"toptau/sql/servers"
)

var update = flag.Bool("update", false, "write the golden files again")

// The table of these tests has a key, numbers with NULL and NaN, and texts with NULL. Its names need quotes.
const rows = 1200

var texts = []string{"", "'", `\`, "a\tb\nc", `"; DROP TABLE x; --`, "ß→", "NULL", " a ", "a\\'b", "`x`", "%_", "\x7f\x01", "😀", "\u009b31m", "é\u202e\u2066年"}

// The first numbers are those that are easily written or read wrong.
var numbers = []float64{0, 1, -1, 0.1, 1.0 / 3, -2.0 / 3, 0.5, 1.5, 2.5, -0.5, -2.5, 1e-3, 123456789, 1e15, 1 << 53, math.Pi, 1e22, 1e23,
	1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, 4.35, 2.675, 9007199254740993, 0.1 + 0.2, 3.4e38, 16777217, 1e-45,
	1e-60, -1e-60, math.Copysign(0, -1), 1e300, -1e300, 0x1p-150, -0x1p-150, 0x1.000002p-150, 1e-39, math.MaxFloat32,
	farthest}

// farthest is next to the end of equal intervals from nearest on, at which the number of its interval is rounded up.
const nearest, farthest = -14.094598411228073, 11.638120763777154

func number(row int) float64 {
	switch {
	case row < len(numbers):
		return numbers[row]
	case row%97 == 0:
		return math.NaN()
	}
	return math.Round(math.Sin(float64(row))*1e6) / 1e4
}

func missing(row int) bool { return row%89 == 88 }

func key(row int) int64 { return int64(row)*7919 - 1_000_000 }

func table() servers.Table {
	return servers.Table{Name: "the rows", Key: "the key", Rows: rows, Columns: []servers.Column{
		{Name: "the key", Integer: key},
		{Name: "x", Number: number, Null: missing},
		{Name: `s"'`, Text: func(row int) string { return texts[row%len(texts)] }, Null: func(row int) bool { return row%31 == 30 }},
	}}
}

// question is a statement with a check of its answer, cells by row.
type question struct {
	name, statement string
	check           func(cells [][]string) error
}

// differ is an error with what was found and expected.
func differ[T comparable](what string, got, want T) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s: %v instead of %v", what, got, want)
}

// questions use every function of a dialect. few is set for the golden files, which people read.
func questions(d *dialect.Dialect, few bool) (list []question) {
	k, x, s, from := d.Quote("the key"), d.Double(d.Quote("x")), d.String(d.Quote(`s"'`)), " FROM "+d.Path([]string{"the rows"})
	ask := func(name, statement string, check func(cells [][]string) error) {
		list = append(list, question{name, statement, check})
	}
	// one compares the cells of the only row.
	one := func(want []string) func([][]string) error {
		return func(cells [][]string) error {
			if len(cells) != 1 || !slices.Equal(cells[0], want) {
				return fmt.Errorf("%v instead of %v", cells, want)
			}
			return nil
		}
	}
	count := func(of func(row int) bool) string {
		n := 0
		for row := range rows {
			if of(row) {
				n++
			}
		}
		return strconv.Itoa(n)
	}
	has := func(row int) bool { return !missing(row) && !math.IsNaN(number(row)) }

	var columns, want []string
	for _, c := range []float64{5e-324, 0.1 + 0.2, 1e23, 1.7976931348623157e308, 2.5, -2.0 / 3, 9007199254740993}[:pick(few, 3, 7)] {
		columns = append(columns, d.CountIf(x+" = "+d.Num(c)))
		want = append(want, count(func(row int) bool { return has(row) && number(row) == c }))
	}
	ask("numbers", "SELECT "+strings.Join(columns, ", ")+from, one(want))

	columns, want = nil, nil
	for i, text := range texts[:pick(few, 5, len(texts))] {
		literal, fits := d.Text(text)
		if !fits {
			continue
		}
		columns = append(columns, d.CountIf(s+" = "+literal))
		want = append(want, count(func(row int) bool { return row%31 != 30 && row%len(texts) == i }))
	}
	ask("texts", "SELECT "+strings.Join(columns, ", ")+from, one(want))

	ask("missing", "SELECT count(*), "+d.CountIf(x+" IS NULL")+", "+d.CountIf(s+" IS NULL")+from,
		one([]string{strconv.Itoa(rows), count(func(row int) bool { return !has(row) }), count(func(row int) bool { return row%31 == 30 })}))

	for _, cuts := range [][]float64{{0.25}, {-50, 0, 1.0 / 3}, equal(-99, 0.05, 500), append(append([]float64{-90, -80.5}, equal(-10, 0.01, 2000)...), 77, 78, 1e300),
		append(equal(nearest, (farthest-nearest)/4096, 4096), math.Nextafter(farthest, math.Inf(1)))} {
		if few && len(cuts) > 10 {
			cuts = append(cuts[:3:3], equal(cuts[3], cuts[4]-cuts[3], 66)...)
		}
		ask(fmt.Sprintf("%d cuts", len(cuts)), "SELECT "+k+", "+d.Near(d, x, cuts)+", "+d.Bin(d, x, cuts)+from+" WHERE "+x+" IS NOT NULL", func(cells [][]string) error {
			if err := differ("rows", strconv.Itoa(len(cells)), count(has)); err != nil {
				return err
			}
			for _, c := range cells {
				n, _ := strconv.ParseInt(c[0], 10, 64)
				z := number(int((n + 1_000_000) / 7919))
				want := sort.Search(len(cuts), func(i int) bool { return cuts[i] > z })
				got, err := strconv.Atoi(c[1])
				if err != nil {
					return err
				}
				if c[2] != strconv.Itoa(want) {
					return fmt.Errorf("%v is in interval %s instead of %d", z, c[2], want)
				}
				if got != want && (got == 0 || want == 0 || got == len(cuts) || want == len(cuts)) {
					return fmt.Errorf("%v is in interval %d instead of %d, next to the ends", z, got, want)
				}
				// Next to a cut, rounding may count a score on the other side where intervals are computed.
				if got != want && (abs(got-want) > 1 || len(cuts) <= 64 || math.Abs(z-cuts[max(got, want)-1]) > 1e-9) {
					return fmt.Errorf("%v is in interval %d instead of %d", z, got, want)
				}
			}
			return nil
		})
	}

	bucket := d.Bucket(k, 1)
	ask("buckets", "SELECT "+k+", "+bucket+", "+d.Bucket(k, 2)+", "+d.Bucket(s, 1)+from+" WHERE "+s+" IS NOT NULL", func(cells [][]string) error {
		low, both := 0, 0
		byText := map[string]string{}
		for _, c := range cells {
			a, err := strconv.Atoi(c[1])
			b, err2 := strconv.Atoi(c[2])
			if err != nil || err2 != nil || min(a, b) < 0 || max(a, b) >= large.Buckets {
				return fmt.Errorf("buckets %v", c)
			}
			n, _ := strconv.ParseInt(c[0], 10, 64)
			text := texts[int((n+1_000_000)/7919)%len(texts)]
			if old, known := byText[text]; known && old != c[3] {
				return fmt.Errorf("equal texts have buckets %s and %s", old, c[3])
			}
			byText[text] = c[3]
			if a < large.Buckets/2 {
				low++
				if b < large.Buckets/2 {
					both++
				}
			}
		}
		// 5 standard deviations of n/2 and n/4
		n := float64(len(cells))
		if math.Abs(float64(low)-n/2) > 5*math.Sqrt(n)/2 || math.Abs(float64(both)-n/4) > 5*math.Sqrt(n*3)/4 {
			return fmt.Errorf("of %v rows %d are in the lower half for one seed, %d for two", n, low, both)
		}
		return nil
	})
	part := large.Part{From: large.Buckets / 4, To: large.Buckets / 2}
	ask("part", "SELECT "+d.CountIf(dialect.Part(bucket, part.From, part.To))+", "+d.CountIf(bucket+" >= 262144 AND "+bucket+" < 524288")+from, func(cells [][]string) error {
		return differ("rows", cells[0][0], cells[0][1])
	})

	condition := k + " < " + d.Int("-500000")
	inside := func(row int) bool { return key(row) < -500000 }
	sum := 0.0
	var wholes, hexes []string
	for row := range rows {
		if inside(row) && has(row) && row >= len(numbers) {
			sum += number(row)
		}
		if inside(row) && row%31 != 30 {
			wholes = append(wholes, strconv.FormatInt(key(row), 10))
			hexes = append(hexes, hex.EncodeToString([]byte(texts[row%len(texts)])))
		}
	}
	ordinary := " AND " + k + " >= " + d.Int(strconv.FormatInt(key(len(numbers)), 10))
	ask("sums", "SELECT "+d.SumIf(x, condition+ordinary)+", "+d.CountIf(condition)+from, func(cells [][]string) error {
		got, err := strconv.ParseFloat(cells[0][0], 64)
		if err != nil || math.Abs(got-sum) > 1e-9*math.Abs(sum) {
			return fmt.Errorf("sum %v instead of %v: %v", got, sum, err)
		}
		return differ("rows", cells[0][1], count(inside))
	})
	ask("scores", "SELECT "+k+", "+d.Scored(d.Whole(k), x)+", "+d.Missing(x)+from+" WHERE "+x+" IS NOT NULL", func(cells [][]string) error {
		for _, c := range cells {
			n, _ := strconv.ParseInt(c[0], 10, 64)
			_, text, _ := strings.Cut(c[1], ":")
			for _, text := range []string{text, c[2]} {
				if got, err := strconv.ParseFloat(text, 64); err != nil || got != number(int((n+1_000_000)/7919)) {
					return fmt.Errorf("%v: %v instead of %v: %v", c, got, number(int((n+1_000_000)/7919)), err)
				}
			}
		}
		return nil
	})
	given := condition + " AND " + s + " IS NOT NULL"
	ask("lists", "SELECT "+d.ListIf(d.Whole(k), given)+", "+d.ListIf(d.Hex(s), given)+from, func(cells [][]string) error {
		for i, want := range [][]string{wholes, hexes} {
			got := strings.Split(strings.ToLower(cells[0][i]), ",")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				return fmt.Errorf("list %.200v instead of %.200v", got, want)
			}
		}
		return nil
	})

	for _, n := range []int{3, pick(few, 5, 5000)} {
		var literals []string
		wanted := map[int64]bool{}
		for i := range n {
			id := key(i % (2 * rows) * 2)
			if i >= 2*rows {
				id = int64(10_000_000 + i)
			}
			wanted[id] = true
			literals = append(literals, strconv.FormatInt(id, 10))
		}
		ask(fmt.Sprintf("%d keys", n), "SELECT "+d.CountIf("NOT ("+d.Among(k, literals)+")")+from,
			one([]string{count(func(row int) bool { return !wanted[key(row)] })}))
	}

	round := d.Round(x + " / " + d.Num(4) + " * " + d.Num(2))
	ask("rounding", "SELECT "+k+", "+round+from+" WHERE abs("+x+") BETWEEN "+d.Num(1e-300)+" AND "+d.Num(1e9), func(cells [][]string) error {
		for _, c := range cells {
			n, _ := strconv.ParseInt(c[0], 10, 64)
			z := number(int((n + 1_000_000) / 7919))
			if got, err := strconv.ParseFloat(c[1], 64); err != nil || got != math.RoundToEven(z/4*2) {
				return fmt.Errorf("%v is rounded to %s: %v", z/4*2, c[1], err)
			}
		}
		return nil
	})
	if d.Single != nil {
		// The table has numbers below the smallest float32, which some databases refuse to convert, and up to its largest one.
		for _, by := range []float64{1, 4} {
			for _, single := range []bool{true, false} {
				ask(fmt.Sprintf("scaled by %v, single %v", by, single), "SELECT "+k+", "+d.Scaled(x, by, single, 0)+from+
					" WHERE abs("+x+") <= "+d.Num(math.MaxFloat32), func(cells [][]string) error {
					for _, c := range cells {
						n, _ := strconv.ParseInt(c[0], 10, 64)
						z := number(int((n+1_000_000)/7919)) / by
						if single {
							z = float64(float32(z))
						}
						if got, err := strconv.ParseFloat(c[1], 64); err != nil || got != z {
							return fmt.Errorf("%v is rounded to %s: %v", z, c[1], err)
						}
					}
					return differ("numbers", len(cells), bounded(math.MaxFloat32))
				})
			}
		}
		ask("single", "SELECT "+k+", "+d.Single(x)+from+" WHERE abs("+x+") BETWEEN "+d.Num(1e-45)+" AND "+d.Num(1e30), func(cells [][]string) error {
			for _, c := range cells {
				n, _ := strconv.ParseInt(c[0], 10, 64)
				z := number(int((n + 1_000_000) / 7919))
				if got, err := strconv.ParseFloat(c[1], 64); err != nil || got != float64(float32(z)) {
					return fmt.Errorf("%v is rounded to %s: %v", z, c[1], err)
				}
			}
			return nil
		})
	}

	if d.Narrow != nil {
		ask("factor", "SELECT "+k+", "+d.Factor(x, 3, true, 0)+" * "+d.Num(1.1)+from+" WHERE abs("+x+") <= "+d.Num(1e30), func(cells [][]string) error {
			for _, c := range cells {
				n, _ := strconv.ParseInt(c[0], 10, 64)
				z := float64(float32(number(int((n+1_000_000)/7919))/3)) * 1.1
				if got, err := strconv.ParseFloat(c[1], 64); err != nil || got != z {
					return fmt.Errorf("%v is %s: %v", z, c[1], err)
				}
			}
			return differ("numbers", len(cells), bounded(1e30))
		})
	}
	if d.Element != nil {
		list := []float64{-1.5, 1e-300, 2e300}
		place := "1 + " + d.Bin(d, x, []float64{-0.5, 0.5})
		ask("element", "SELECT "+k+", "+d.Element(d, list, place)+from+" WHERE abs("+x+") <= "+d.Num(1e30), func(cells [][]string) error {
			for _, c := range cells {
				n, _ := strconv.ParseInt(c[0], 10, 64)
				z, at := number(int((n+1_000_000)/7919)), 0
				for _, cut := range []float64{-0.5, 0.5} {
					if z >= cut {
						at++
					}
				}
				if got, err := strconv.ParseFloat(c[1], 64); err != nil || got != list[at] {
					return fmt.Errorf("%v is at %s instead of %v: %v", z, c[1], list[at], err)
				}
			}
			return differ("numbers", len(cells), bounded(1e30))
		})
	}

	// The checksum does not depend on the order, and changes with a value, a missing value, and values that change places.
	changed := func(name, expr string) string {
		return "SELECT " + k + " AS k, " + expr + " AS x, " + s + " AS s" + from + name
	}
	sumOf := func(sub string) string {
		return "(SELECT " + d.Checksum([]string{"k", "x", "s"}) + " AS c FROM (" + sub + ") q)"
	}
	shuffled := d.Bucket(k, 3)
	twoRows := fmt.Sprintf("CASE WHEN %s = %d THEN %s WHEN %s = %d THEN %s ELSE %s END", k, key(3), d.Num(number(4)), k, key(4), d.Num(number(3)), x)
	ask("checksum", "SELECT "+sumOf(changed("", x))+" AS a, "+sumOf(changed(" ORDER BY "+shuffled+" LIMIT 1000000", x))+" AS b, "+
		sumOf(changed("", fmt.Sprintf("CASE WHEN %s = %d THEN NULL ELSE %s END", k, key(5), x)))+" AS c, "+sumOf(changed("", twoRows))+" AS d",
		func(cells [][]string) error {
			c := cells[0]
			if c[0] == "" || c[0] != c[1] || c[0] == c[2] || c[0] == c[3] || c[2] == c[3] {
				return fmt.Errorf("checksums: whole %s, in another order %s, with a value missing %s, with two values exchanged %s", c[0], c[1], c[2], c[3])
			}
			return nil
		})

	ask("catalogue", d.Columns(d, []string{"the rows"}), func(cells [][]string) error {
		want := []dialect.Kind{dialect.Int, dialect.Number, dialect.Text}
		for i, name := range []string{"the key", "x", `s"'`} {
			at := slices.IndexFunc(cells, func(c []string) bool { return c[0] == name || c[0] == strings.ReplaceAll(name, "'", `\'`) })
			if at < 0 || len(cells) != 3 {
				return fmt.Errorf("columns %v", cells)
			}
			if kind := d.Kind(cells[at][1]); kind != want[i] {
				return fmt.Errorf("column %s is a %v", cells[at], kind)
			}
		}
		return nil
	})
	if d.Explain != nil {
		ask("plan", d.Explain("SELECT count(*)"+from), func(cells [][]string) error { return differ("a plan", len(cells) > 0, true) })
	}
	return list
}

// bounded counts the numbers that are at most this large.
func bounded(most float64) (n int) {
	for row := range rows {
		if !missing(row) && math.Abs(number(row)) <= most {
			n++
		}
	}
	return n
}

func pick(few bool, a, b int) int {
	if few {
		return a
	}
	return b
}

func abs(x int) int { return max(x, -x) }

func equal(first, step float64, n int) (cuts []float64) {
	for i := range n {
		cuts = append(cuts, first+float64(float64(i)*step))
	}
	return cuts
}

func spark(t testing.TB, settings ...string) *servers.Server {
	if os.Getenv("TOPTAU_SPARK") == "" {
		t.Skip("starts a Java program: make spark")
	}
	return servers.Spark(t, settings...)
}

// Every function of a dialect does in the database what its comment promises.
func TestDialectsInTheirDatabases(t *testing.T) {
	for _, e := range []struct {
		name, dialect string
		start         func(t testing.TB) *servers.Server
	}{
		{"PostgreSQL", "postgres", func(t testing.TB) *servers.Server { return servers.Postgres(t, servers.PostgresOptions{}) }},
		{"ClickHouse 18.16", "clickhouse", func(t testing.TB) *servers.Server { return servers.ClickHouse(t, 1)[0] }},
		{"ClickHouse, embedded", "clickhouse", servers.CHDB},
		{"DuckDB", "duckdb", servers.DuckDB},
		{"Trino", "trino", func(t testing.TB) *servers.Server {
			if os.Getenv("TOPTAU_TRINO") == "" {
				t.Skip("starts three Java programs: make trino")
			}
			s, _ := servers.Trino(t, 2)
			return s
		}},
		{"Spark", "spark", func(t testing.TB) *servers.Server { return spark(t) }},
		{"Spark, ANSI", "spark", func(t testing.TB) *servers.Server { return spark(t, "spark.sql.ansi.enabled=true") }},
	} {
		t.Run(e.name, func(t *testing.T) {
			s := e.start(t)
			s.Load(t, table())
			d, err := dialect.ByName(e.dialect)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range questions(d, false) {
				t.Run(q.name, func(t *testing.T) {
					if q.name == "plan" && e.name == "ClickHouse 18.16" {
						t.Skip("came with a later version")
					}
					var cells [][]string
					for _, line := range strings.Split(s.Run(t, q.statement), "\n") {
						cells = append(cells, strings.Split(line, "\t"))
					}
					if err := q.check(cells); err != nil {
						t.Errorf("%v\n%.1500s", err, q.statement)
					}
				})
			}
		})
	}
}

// The golden files show each dialect to people, and any change of it.
func TestStatementsOfEachDialect(t *testing.T) {
	for _, name := range dialect.Readers() {
		d, err := dialect.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, q := range questions(d, true) {
			fmt.Fprintf(&b, "\n-- %s\n%s;\n", q.name, q.statement)
		}
		path := filepath.Join("testdata", name+".sql")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(want, b.Bytes()) {
			t.Errorf("%s differs (%v); run the test with -update and read the difference", path, err)
		}
	}
}
