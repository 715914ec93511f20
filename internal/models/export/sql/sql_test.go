package sql

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/dialect"
	"toptau/internal/models/portable"
	"toptau/internal/tests/modeltest"
)

// A number for SQLite is a fraction of doubles whose operations are exact.
func TestExactNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many numbers")
	}
	r := rand.New(rand.NewPCG(1, 1))
	list := []float64{1, -1, 0.1, 1.0 / 3, math.MaxFloat64, -math.SmallestNonzeroFloat64, 1e22, 1e23, 9007199254740993, 0x1p-1022, 402653184}
	for range 20000 {
		x := math.Float64frombits(r.Uint64())
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			list = append(list, x, math.Round(x*1000)/1000, r.NormFloat64(), math.Round(r.NormFloat64()*1e4)/1e4)
		}
	}
	plain := 0
	sqlite := dialect.SQLite()
	for _, x := range list {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			continue
		}
		s := sqlite.Number(x)
		if strings.Contains(s, "e") {
			t.Fatalf("%v is %s", x, s)
		}
		if !strings.HasPrefix(s, "(") {
			plain++
		}
		if got := fraction(t, s); got != x {
			t.Fatalf("%s is %v and not %v", s, got, x)
		}
	}
	if plain < 1000 {
		t.Errorf("%d of %d numbers are decimals", plain, len(list))
	}
}

// fraction computes a number of SQLite as a database does, and fails unless each step is exact.
func fraction(t *testing.T, s string) float64 {
	t.Helper()
	s = strings.Trim(s, "()")
	read := func(s string) float64 {
		x, _, err := big.ParseFloat(s, 10, 200, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		y, _ := x.Float64()
		return y
	}
	z := 0.0
	for i, part := range strings.FieldsFunc(strings.NewReplacer("/", " /", "*", " *").Replace(s), func(r rune) bool { return r == ' ' }) {
		if i == 0 {
			z = read(part)
			continue
		}
		y, exact := read(part[1:]), new(big.Float).SetPrec(4000)
		if part[0] == '/' {
			exact.Quo(new(big.Float).SetFloat64(z), new(big.Float).SetFloat64(y))
			z /= y
		} else {
			exact.Mul(new(big.Float).SetFloat64(z), new(big.Float).SetFloat64(y))
			z *= y
		}
		if got, accuracy := exact.Float64(); got != z || accuracy != big.Exact {
			t.Fatalf("%s: a step is not exact", s)
		}
	}
	return z
}

// single is what single32 writes for a database without float32.
func single(v float64) float64 {
	split := func(x float64, bits int) float64 {
		c := float64(int64(1)<<bits + 1)
		return float64(x*c) - (float64(x*c) - x)
	}
	h := split(v, 29)
	if math.Abs(v) < 0x1p-126 {
		return v + 0x1.8p-97 - 0x1.8p-97
	}
	e := h + (v - h) + (v - h)
	if e != h && e == split(e, 29) && h != split(h, 30) {
		return e
	}
	return h
}

// Rounding to float32 without that type is right for ties, subnormal numbers and all others.
func TestRoundingToFloat32(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300000 {
		x := math.Float32frombits(r.Uint32())
		if x != x || math.IsInf(float64(x), 0) || math.Abs(float64(x)) > math.MaxFloat32/2 {
			continue
		}
		a, b := float64(x), float64(math.Nextafter32(x, float32(math.Inf(1))))
		middle := a/2 + b/2
		for _, v := range []float64{a, b, middle, math.Nextafter(middle, a), math.Nextafter(middle, b), a + float64((b-a)*r.Float64()), a * (1 + r.Float64())} {
			if got, want := single(v), float64(float32(v)); got != want {
				t.Fatalf("%v rounds to %v and not %v", v, got, want)
			}
		}
	}
}

// scan removes the literals, quoted names and comments of a statement.
func scan(t *testing.T, d, s string) string {
	t.Helper()
	backslash := d == "clickhouse" || d == "spark"
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case strings.HasPrefix(s[i:], "--"):
			for i < len(s) && s[i] != '\n' {
				i++
			}
			continue
		case c != '\'' && c != '"' && c != '`':
			out.WriteByte(c)
			continue
		}
		escapes := backslash && c != '"' && !(d == "spark" && c == '`') || c == '\'' && d == "postgres" && i > 0 && s[i-1] == 'E'
		for i++; ; i++ {
			if i >= len(s) {
				t.Fatalf("%s: a literal without an end", d)
			}
			if escapes && s[i] == '\\' {
				i++
				continue
			}
			if s[i] != c {
				if c == '\'' && (s[i] < ' ' || s[i] == 0x7f) {
					t.Fatalf("%s: the control character %q in a literal", d, s[i])
				}
				continue
			}
			if i+1 < len(s) && s[i+1] == c {
				i++
				continue
			}
			break
		}
	}
	return out.String()
}

// Whatever names and categories contain, the statement outside of literals and names has the same few characters.
func TestQuoting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		p, err := portable.Of(modeltest.NewWith(r, modeltest.Options{Wild: true}).Model)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dialect.Names() {
			var b bytes.Buffer
			err := Write(&b, p, Options{Dialect: d, Table: `my"table`, Name: "a view"})
			if e := diag.Of(err); e != nil && strings.HasPrefix(e.Found, "a column with the name") {
				continue // TestPrintable
			}
			if err != nil {
				t.Fatalf("%s: %v", d, err)
			}
			rest := scan(t, d, b.String())
			if i := strings.IndexFunc(rest, func(r rune) bool {
				return r > '~' || !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ \n(),.*/+-<>=|:;&", r)
			}); i >= 0 {
				t.Fatalf("%s: %q outside of a literal", d, rest[max(0, i-50):i+10])
			}
		}
	}
}

// Characters that a terminal obeys are escaped in names and texts. Where a database has no escape for names, the name is refused.
// Letters are written unchanged.
func TestPrintable(t *testing.T) {
	bad := func(r rune) bool { return r != '\n' && text.Unprintable(r) }
	program := func(name, category string) *portable.Program {
		return &portable.Program{Columns: []string{name}, Inputs: []portable.Input{{Name: name, Text: true}}, MissingTexts: []string{category}}
	}
	for _, d := range dialect.Names() {
		for text, want := range map[string]map[string]string{
			"\u009b31m": {"postgres": `E'\u009b31m'`, "sqlite": "CAST(x'c29b33316d' AS TEXT)", "duckdb": "('' || chr(155) || '31m')",
				"clickhouse": `'\xc2\x9b31m'`, "trino": `U&'\009b31m'`, "spark": `'\u009b31m'`},
			"größe\u202e年": {"postgres": `E'größe\u202e年'`, "sqlite": "CAST(x'6772c3b6c39f65e280aee5b9b4' AS TEXT)", "duckdb": "('größe' || chr(8238) || '年')",
				"clickhouse": `'größe\xe2\x80\xae年'`, "trino": `U&'größe\202e年'`, "spark": `'größe\u202e年'`},
			"größe 年": {"postgres": "'größe 年'", "sqlite": "'größe 年'", "duckdb": "('größe 年')", "clickhouse": "'größe 年'", "trino": "'größe 年'", "spark": "'größe 年'"},
		} {
			var b bytes.Buffer
			if err := Write(&b, program("größe 年", text), Options{Dialect: d}); err != nil {
				t.Fatalf("%s: %v", d, err)
			}
			if !strings.Contains(b.String(), want[d]) || strings.ContainsFunc(b.String(), bad) || !strings.Contains(b.String(), "größe 年") {
				t.Errorf("%s: no %s in %s", d, want[d], b.String())
			}
			b.Reset()
			err := Write(&b, program(text, ""), Options{Dialect: d})
			quoted := map[string]string{"postgres": "U&\"" + strings.NewReplacer("\u009b", `\009b`, "\u202e", `\202e`).Replace(text) + `"`,
				"clickhouse": "`" + strings.NewReplacer("\u009b", `\xc2\x9b`, "\u202e", `\xe2\x80\xae`).Replace(text) + "`"}[d]
			switch {
			case !strings.ContainsFunc(text, bad):
				if err != nil || !strings.Contains(b.String(), text) {
					t.Errorf("%s: %v, %s", d, err, b.String())
				}
			case quoted != "":
				if err != nil || !strings.Contains(b.String(), quoted) || strings.ContainsFunc(b.String(), bad) {
					t.Errorf("%s: %v, no %s in %s", d, err, quoted, b.String())
				}
			default:
				if e := diag.Of(err); e == nil || !strings.HasPrefix(e.Found, "a column with the name") || strings.ContainsFunc(err.Error(), bad) || b.Len() > 0 {
					t.Errorf("%s: %v, %s", d, err, b.String())
				}
			}
		}
	}
}

// PostgreSQL cuts names after 63 bytes, so that two columns could become one.
func TestLongNamesAreRefused(t *testing.T) {
	p := &portable.Program{Columns: []string{}, Inputs: []portable.Input{{Name: strings.Repeat("ä", 32)}}}
	err := Write(new(bytes.Buffer), p, Options{})
	if err == nil || !strings.Contains(err.Error(), "64 bytes, of which it keeps 63") {
		t.Error(err)
	}
	if err := Write(new(bytes.Buffer), p, Options{Dialect: "duckdb"}); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	p.Inputs[0].Name = "flag"
	if err := Write(&b, p, Options{Booleans: []string{"flag"}}); err != nil || !strings.Contains(b.String(), `WHEN NOT "flag" THEN`) {
		t.Errorf("%v: %s", err, b.String())
	}
}
