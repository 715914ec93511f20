package paper

import (
	"math"
	"math/big"
	"strconv"

	"toptau/method"
	"toptau/threshold"
)

// quantity is an exact rational number, or the nearest float64 of an irrational one.
type quantity struct {
	r       *big.Rat
	inexact bool
}

func quantityOf(n int64) quantity { return quantity{r: new(big.Rat).SetInt64(n)} }

// with applies an operation to two quantities.
func (a quantity) with(b quantity, f func(z, x, y *big.Rat) *big.Rat) quantity {
	return quantity{f(new(big.Rat), a.r, b.r), a.inexact || b.inexact}
}

func (a quantity) plus(b quantity) quantity  { return a.with(b, (*big.Rat).Add) }
func (a quantity) minus(b quantity) quantity { return a.with(b, (*big.Rat).Sub) }
func (a quantity) times(b quantity) quantity { return a.with(b, (*big.Rat).Mul) }
func (a quantity) over(b quantity) quantity  { return a.with(b, (*big.Rat).Quo) }

// root returns the square root of a positive number.
func (a quantity) root() quantity {
	num, den := new(big.Int).Sqrt(a.r.Num()), new(big.Int).Sqrt(a.r.Denom())
	exact := quantity{new(big.Rat).SetFrac(num, den), a.inexact}
	if exact.times(exact).r.Cmp(a.r) == 0 {
		return exact
	}
	v, _ := a.r.Float64()
	return quantity{new(big.Rat).SetFloat64(math.Sqrt(v)), true}
}

// cell returns the table cell of a formula with this value.
func (a quantity) cell(formula string) ExampleCell {
	c := ExampleCell{Formula: formula}
	c.Value, _ = a.r.Float64()
	if !a.inexact {
		c.Exact = a.r
	}
	return c
}

// sixDigits writes a value with six significant digits.
func sixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// formulaRow is a row of the example with its hyperparameters.
type formulaRow struct {
	ExampleRow
	k    int
	beta float64
}

// problem returns the method with the row's hyperparameters.
func (r *formulaRow) problem(tau threshold.Rate) (method.Problem, error) {
	h := method.Problem{K: r.k, Beta: r.beta}
	if r.Method.UsesTau {
		h.Tau = tau
	}
	return r.Method.With(h)
}

// exampleRows returns the methods with their formulas: those of the paper's table, with several k and beta
// because the answer depends on them, and the three methods that it leaves out. With these multiples of tau
// the roots are rational.
func exampleRows(rate threshold.Rate) []formulaRow {
	r, _ := new(big.Rat).SetString(rate.String())
	tau, m := quantity{r: r}, method.All()
	row := func(m method.Method, with string, at [2]ExamplePoint) formulaRow {
		return formulaRow{ExampleRow: ExampleRow{Method: m, With: with, At: at, InPaper: m.Criterion != method.AtNP}}
	}
	withK := func(k int) formulaRow {
		r := row(m[1], "k = "+strconv.Itoa(k), topPushKExample(k))
		r.k = k
		return r
	}
	withBeta := func(m method.Method, multiple int64, at func(tau, beta quantity) [2]ExamplePoint) formulaRow {
		beta, text := quantityOf(multiple).times(tau), "β = "+strconv.FormatInt(multiple, 10)+"τ"
		if multiple == 1 {
			text = "β = τ"
		}
		r := row(m, text, at(tau, beta))
		r.beta, _ = beta.r.Float64()
		return r
	}
	return []formulaRow{
		row(m[0], "", topPushExample()),
		withK(3), withK(4), withK(10),
		row(m[2], "", grillExample(tau)),
		withBeta(m[3], 1, patMatExample), withBeta(m[3], 4, patMatExample), withBeta(m[3], 16, patMatExample),
		row(m[4], "", topMeanExample(tau)),
		row(m[5], "", grillNPExample(tau)),
		withBeta(m[6], 1, patMatNPExample), withBeta(m[6], 8, patMatNPExample),
		row(m[7], "", topMeanNPExample(tau)),
	}
}

// Constants of the formulas.
var (
	none, one, two = quantityOf(0), quantityOf(1), quantityOf(2)
	half           = one.over(two)
)

// straight returns a point at which all positives are on the linear part of the hinge and no negative
// contributes. Then f = t + c, with c = 1 at w1, and c = 1 minus the mean score 1/2 at w2.
func straight(t, c quantity, formula, f string) ExamplePoint {
	return ExamplePoint{t.cell(formula), t.plus(c).cell(f)}
}

// atZero returns w1 for a threshold of 0.
func atZero() ExamplePoint { return straight(none, one, "0", "1") }

func topPushExample() [2]ExamplePoint {
	return [2]ExamplePoint{atZero(), straight(two, half, "2", "0.5 + t")}
}

// topPushKExample uses that one of the k scores is 2 and the others are 0 for large n.
func topPushKExample(k int) [2]ExamplePoint {
	return [2]ExamplePoint{atZero(), straight(two.over(quantityOf(int64(k))), half, "2/k", "0.5 + 2/k")}
}

func topMeanExample(tau quantity) [2]ExamplePoint {
	return [2]ExamplePoint{atZero(), straight(one.minus(tau), half, "1 − τ", "1.5 − τ")}
}

// grillZero returns w1, where the false positives contribute as much as the positives.
func grillZero() ExamplePoint { return ExamplePoint{none.cell("0"), two.cell("2")} }

// grillExample adds to the positives the negatives above t - 1 = -2 tau, with the mean loss 2 tau^2.
func grillExample(tau quantity) [2]ExamplePoint {
	t := one.minus(two.times(tau))
	at := straight(t, half.plus(two.times(tau).times(tau)), "1 − 2τ", "1.5 − 2τ(1 − τ)")
	at.F.Printed = "1.5 + 2τ(1 − τ)"
	return [2]ExamplePoint{grillZero(), at}
}

// missed returns the mean of max(0, 1 + t - z) over z uniform on [0,1], for -1 <= t <= 0.
func missed(t quantity) quantity { return half.times(one.plus(t)).times(one.plus(t)) }

// grillNPExample uses that all negatives are on the linear part, with the mean loss 1/2 + tau.
func grillNPExample(tau quantity) [2]ExamplePoint {
	t := none.minus(tau)
	return [2]ExamplePoint{grillZero(), {t.cell("−τ"), missed(t).plus(half).plus(tau).cell("1 + τ²/2")}}
}

func topMeanNPExample(tau quantity) [2]ExamplePoint {
	t := none.minus(half.times(tau))
	return [2]ExamplePoint{atZero(), {t.cell("−τ/2"), missed(t).cell("(1 − τ/2)²/2")}}
}

// patMatZero returns w1 for a surrogate quantile.
func patMatZero(flat quantity) ExamplePoint {
	return straight(flat, one, "(1 − τ)/β", "1 + (1 − τ)/β")
}

// patMatExample solves for the t at which the mean of max(0, 1 + beta (z - t)) over z uniform on [-1,1] is
// tau. All z are on the linear part if beta <= tau, otherwise those above t - 1/beta.
func patMatExample(tau, beta quantity) [2]ExamplePoint {
	flat := one.minus(tau).over(beta)
	if beta.r.Cmp(tau.r) <= 0 {
		return [2]ExamplePoint{patMatZero(flat), straight(flat, half, "(1 − τ)/β", "0.5 + (1 − τ)/β")}
	}
	t := one.plus(one.over(beta)).minus(two.times(tau.over(beta).root()))
	at := straight(t, half, "1 + 1/β − 2√(τ/β)", "1.5 + 1/β − 2√(τ/β)")
	at.F.Printed = "0.5 + (1 − τ)/β, for β ≤ τ"
	return [2]ExamplePoint{patMatZero(flat), at}
}

// patMatNPExample does the same for z uniform on [-1,0], where all z are on the linear part if beta <= 2 tau.
func patMatNPExample(tau, beta quantity) [2]ExamplePoint {
	flat := one.minus(tau).over(beta)
	at := straight(flat.minus(half), half, "(1 − τ)/β − 0.5", "(1 − τ)/β")
	if beta.r.Cmp(two.times(tau).r) > 0 {
		t := one.over(beta).minus(two.times(tau).over(beta).root())
		at = straight(t, half, "1/β − √(2τ/β)", "0.5 + 1/β − √(2τ/β)")
	}
	return [2]ExamplePoint{patMatZero(flat), at}
}
