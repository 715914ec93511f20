package sketch

import "math"

// Limits of Copied, chosen by hand. Without them, the 115 twins among the 19,020 rows of magic04 and short bursts of network flows would
// count as copies.
const (
	fewCopies     = 0.01 // copies up to which twins are left alone, as a fraction of all rows
	fewInClass    = 0.05 // the same as a fraction of the rows of the class
	manyCopies    = 0.1  // copies of a class from which more than two equal rows are looked at
	manyFold      = 6    // how far these exceed what independent rows allow: bursts reach 5.4
	fewValues     = 5    // values that occur k times of which fewer show nothing
	deviations    = 3    // of a count, in which chance is allowed for
	unseenAtMost  = 7    // a count whose mean is larger is 0 with probability below 1/1000
	largestRepeat = 1000 // rows of a value up to which numbers of values are compared: kddcup99 has values that occur 200,000 times
)

// Repeats returns, at k, the number of values of the sample that occur k times.
func (s *Sketch) Repeats() []int {
	s.shrink()
	f := make([]int, largestRepeat+2)
	for _, k := range s.counts {
		f[min(k, largestRepeat+1)]++
	}
	return f
}

// Occurrences returns how many rows of the sample have the hash of a row, 0 for a row that is not in the sample.
func (s *Sketch) Occurrences(hash uint64) int { return s.counts[hash>>(64-Bits)] }

// Fraction returns the fraction of the different values that are in the sample.
func (s *Sketch) Fraction() float64 { return float64(s.Cut) / (1 << Bits) }

// Covers reports whether a row is below the cut.
func (s *Sketch) Covers(hash uint64) bool { return hash>>(64-Bits) < s.Cut }

// Copied reports whether rows of a class were copied. repeats has, at k, the number of values that occur k times, and of is the fraction of
// all rows that are in the class. If rows of the other class were copied, less shows it.
//
// Let value i occur in independent rows with mean m_i. The expected number F_k of values that occur k times is then close to the sum of
// exp(-m_i) m_i^k / k!, so that k! F_k are moments of a measure, and by the inequality of Cauchy and Schwarz log-convex:
//
//	F_k^2 <= (k+1)/k F_(k-1) F_(k+1).
//
// Good (1953) estimates unseen values from the same numbers. Where every row occurs five times, F_5 alone is above 0. Copies whose numbers
// are log-convex, too, such as those of a bootstrap, satisfy the inequality.
func Copied(repeats []int, of float64, other bool) bool {
	sd, more := float64(deviations), float64(unseenAtMost)
	if other {
		sd, more = 0, 0
	}
	above := func(count int) float64 { return float64(count) + float64(sd*math.Sqrt(float64(count))) + more }
	rows := 0
	for k, f := range repeats {
		rows += k * f
	}
	for k := 2; k < len(repeats)-1; k++ {
		// The last place counts all values that occur more often, and only makes the bound larger.
		low := float64(repeats[k]) - float64(sd*math.Sqrt(float64(repeats[k])))
		bound := float64(k+1) / float64(k) * float64(above(repeats[k-1])*above(repeats[k+1]))
		if repeats[k] < fewValues || low <= 0 || low*low <= bound {
			continue
		}
		allowed := math.Sqrt(float64(k+1) / float64(k) * float64(repeats[k-1]) * float64(repeats[k+1]))
		copies := (float64(repeats[k]) - allowed) * float64(k-1) / float64(rows)
		if k == 2 && (Many(copies, of) || other && copies > fewCopies) || k > 2 && copies > manyCopies && low*low > float64(manyFold*bound) {
			return true
		}
	}
	return false
}

// Even reports whether values occur about as often as each other: above half of what Copied allows for values that occur twice. A bootstrap
// has all of it. Independent rows of public sets have 0.01 to 0.31.
func Even(repeats []int) bool {
	low := float64(repeats[2]) - float64(2*math.Sqrt(float64(repeats[2])))
	high := float64(repeats[3]) + float64(2*math.Sqrt(float64(repeats[3]))) + unseenAtMost/2
	return low > 0 && low*low > 0.5*1.5*float64(repeats[1])*high
}

// Many reports whether a fraction of copies among the rows of a class is too large to leave them alone.
func Many(copies, of float64) bool { return copies*of > fewCopies || copies > fewInClass }
