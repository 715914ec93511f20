package model

import "bytes"

// decodedTimes is the memory that reading a model takes, in multiples of the size of its file. Measured;
// approximate.
const decodedTimes = 8

// checkDensity refuses files that would take far more memory than a model of their size: those with nearly
// empty objects. The checks of a decoded model would refuse them as well, but only after decoding.
func checkDensity(data []byte) error {
	const few, least = 1 << 20, 10 // objects that are accepted in any case, and the least mean size in bytes of more objects
	if n := bytes.Count(data, []byte("{")); n > few && len(data) < least*n {
		return refusal("edited or damaged: more objects than a model has")
	}
	return nil
}
