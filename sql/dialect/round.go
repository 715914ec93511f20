package dialect

// roundBySum rounds to a whole number, ties to even, where the database's own function rounds ties away from 0. 1.5 * 2^52 has
// no digits after the point, so the sum is rounded to a whole number. The number must be below 2^51; databases do not
// rearrange sums of doubles.
func roundBySum(x string) string {
	const shift = "6755399441055744e0"
	return "(" + x + " + " + shift + " - " + shift + ")"
}
