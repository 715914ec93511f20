package dialect

// roundBySum rounds to a whole number, ties to even, where the database's own function rounds ties away from 0. 1.5 * 2^52 has
// no digits after the point, so the sum is rounded to a whole number. The number must be below 2^51; databases do not
// rearrange sums of doubles.
func roundBySum(x string) string {
	const shift = "6755399441055744e0"
	return "(" + x + " + " + shift + " - " + shift + ")"
}

// singleBySplit rounds a double to the 24 bits of a float32 where the database has no such type (Veltkamp's split, Dekker 1971). A
// number exactly between two floats may get the other one, and numbers below 1e-38 keep more digits than a float32 has.
func singleBySplit(x string) string {
	const factor = "536870913e0" // 2^29 + 1
	return "(" + x + " * " + factor + " - (" + x + " * " + factor + " - " + x + "))"
}
