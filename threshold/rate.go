package threshold

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"toptau/diag"
)

// Rate is an exact fraction strictly between 0 and 1, such as tau. Floating point would not do: 7 % of 100
// rows are 7 rows, but 0.07*100 is 7.000000000000001, which rounds up to 8.
//
// Rates can be compared with ==: "7%", "0.07" and "7/100" are the same value. The zero value means unset.
type Rate struct {
	fraction string  // in lowest terms, "1/1000"; empty when unset
	value    float64 // the nearest float64
}

const (
	maxRateText   = 400 // bytes; the shortest decimal of any float64 needs fewer
	maxPlainText  = 24  // bytes of the longest decimal that String writes without an exponent
	expectedRates = "a rate between 0 and 1 such as 0.1% or 0.001"
)

// ratePattern matches a decimal with or without an exponent, and a fraction of whole numbers.
var ratePattern = regexp.MustCompile(
	`^[+-]?([0-9]+/[0-9]+|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?)$`,
)

// ParseRate reads "0.1%", "0.001", "1e-3" or "1/1000". Anything else, and any number outside (0,1), is an
// error of kind usage.
func ParseRate(text string) (Rate, error) {
	body, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	body = strings.TrimSpace(body)
	if len(body) > maxRateText || !ratePattern.MatchString(body) {
		return Rate{}, badRate(text, commaHint(strings.TrimSpace(text)))
	}
	r, ok := new(big.Rat).SetString(body)
	if !ok { // a denominator of zero
		return Rate{}, badRate(text, "")
	}
	if percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	if r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return Rate{}, badRate(text, percentHint(body, r, percent))
	}
	rate := newRate(r)
	if rate.value == 0 || rate.value == 1 { // so close to an end that its float64 is the end
		return Rate{}, badRate(text, "")
	}
	return rate, nil
}

// Complement returns 1 - r, exactly; unset for an unset rate.
func (r Rate) Complement() Rate {
	q, ok := new(big.Rat).SetString(r.fraction)
	if !ok {
		return Rate{}
	}
	return newRate(q.Sub(big.NewRat(1, 1), q))
}

// Over returns r / n, exactly; n is above 0.
func (r Rate) Over(n int64) Rate {
	q, ok := new(big.Rat).SetString(r.fraction)
	if !ok {
		return Rate{}
	}
	return newRate(q.Quo(q, big.NewRat(n, 1)))
}

// RateOf returns the rate whose decimal is the shortest that reads back as f: RateOf(0.07) is exactly 7/100.
func RateOf(f float64) (Rate, error) {
	return ParseRate(strconv.FormatFloat(f, 'g', -1, 64))
}

// MustRate is ParseRate for constants in programs and tests. It panics on an error.
func MustRate(text string) Rate {
	r, err := ParseRate(text)
	if err != nil {
		panic(err)
	}
	return r
}

func newRate(r *big.Rat) Rate {
	value, _ := r.Float64()
	return Rate{fraction: r.String(), value: value}
}

func badRate(text, hint string) error {
	return &diag.Error{Kind: diag.Usage, Found: "rate " + diag.Quote(text), Expected: expectedRates, Hint: hint}
}

// percentHint suggests a percent sign for a number from 1 to below 100.
func percentHint(body string, r *big.Rat, percent bool) string {
	if percent || r.Cmp(big.NewRat(1, 1)) < 0 || r.Cmp(big.NewRat(100, 1)) >= 0 {
		return ""
	}
	return "did you mean " + strings.TrimPrefix(body, "+") + "%?"
}

// commaHint suggests a decimal point for a number with a comma.
func commaHint(text string) string {
	pointed := strings.Replace(text, ",", ".", 1)
	if pointed == text || len(text) > maxPlainText || !ratePattern.MatchString(strings.TrimSuffix(pointed, "%")) {
		return ""
	}
	return "write the decimal point as a point: " + pointed
}

// IsZero reports whether the rate is unset.
func (r Rate) IsZero() bool { return r.fraction == "" }

// Float64 returns the nearest float64; 0 when unset.
func (r Rate) Float64() float64 { return r.value }

// rat returns the exact fraction; 0 when unset.
func (r Rate) rat() *big.Rat {
	v := new(big.Rat)
	if !r.IsZero() {
		v.SetString(r.fraction)
	}
	return v
}

// Ceil returns max(1, ceil(m r)), computed exactly: K for a population of m rows.
func (r Rate) Ceil(m int) int {
	p := r.rat()
	n := new(big.Int).Mul(big.NewInt(int64(m)), p.Num())
	n.Add(n, p.Denom()).Sub(n, big.NewInt(1))
	n.Div(n, p.Denom()) // rounds down, also below zero
	return max(1, int(n.Int64()))
}

// Floor returns floor(m r), computed exactly: the budget in rows of a population of m rows.
func (r Rate) Floor(m int) int {
	p := r.rat()
	n := new(big.Int).Mul(big.NewInt(int64(m)), p.Num())
	return int(n.Div(n, p.Denom()).Int64())
}

// Times returns the float64 nearest to m r. If m is NaN or infinite it returns m.
func (r Rate) Times(m float64) float64 {
	x := new(big.Rat)
	if x.SetFloat64(m) == nil { // NaN or infinite
		return m
	}
	product, _ := x.Mul(x, r.rat()).Float64()
	return product
}

// ceilMass returns max(1, ceil(m r)), computed exactly, for a finite mass that is a whole number.
func (r Rate) ceilMass(m float64) float64 {
	x := new(big.Rat)
	x.Mul(x.SetFloat64(m), r.rat())
	n := new(big.Int).Add(x.Num(), x.Denom())
	n.Sub(n, big.NewInt(1)).Div(n, x.Denom())
	ceil, _ := new(big.Float).SetInt(n).Float64()
	return max(1, ceil)
}

// String returns a decimal ("0.001"), a fraction if no finite decimal exists ("1/3"), or "" if the rate is
// unset. ParseRate reads the first two back exactly.
func (r Rate) String() string {
	p := r.rat()
	digits, finite := p.FloatPrec()
	if r.IsZero() || !finite {
		return r.fraction
	}
	if digits+2 <= maxPlainText {
		return p.FloatString(digits)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	n := new(big.Int).Mul(p.Num(), scale)
	n.Div(n, p.Denom())
	text := n.String()
	exponent := len(text) - 1 - digits
	if len(text) > 1 {
		text = text[:1] + "." + text[1:]
	}
	return fmt.Sprintf("%se%d", text, exponent)
}

// MarshalText returns String.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what ParseRate reads. Empty text is the unset rate.
func (r *Rate) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Rate{}
		return nil
	}
	parsed, err := ParseRate(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}
