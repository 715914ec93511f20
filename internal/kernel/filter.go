package kernel

// Filter writes the scores above t to values and their row numbers, first for z[0], to rows, in order, and returns
// how many there are. values and rows must have room for all of z; what lies behind the ones returned is undefined.
func Filter(z []float64, t float64, first int32, values []float64, rows []int32) int {
	values, rows = values[:len(z)], rows[:len(z)]
	done, count := vectorFilter(z, t, first, values, rows)
	return count + filter(z[done:], t, first+int32(done), values[count:], rows[count:])
}

// filter is the plain Go of Filter.
func filter(z []float64, t float64, first int32, values []float64, rows []int32) int {
	count := 0
	for i, s := range z {
		if s > t {
			values[count], rows[count] = s, first+int32(i)
			count++
		}
	}
	return count
}
