package model

import "bytes"

// decodedTimes is about how many times as much memory as its text a model takes while it is read.
const decodedTimes = 8

// checkDensity refuses files that would take far more memory than a model of their size, before they are decoded: objects that
// are nearly empty, and weights without features. The checks of a decoded model would refuse them too.
func checkDensity(data []byte) error {
	const few, least = 1 << 20, 10 // objects, and bytes that one has on average where there are more
	if n := bytes.Count(data, []byte("{")); n > few && len(data) < least*n {
		return refusal("edited or damaged: more objects than a model has")
	}
	weights := bytes.Count(field(data, "weights"), []byte(","))
	if weights > few && weights > len(field(data, "features")) {
		return refusal("edited or damaged: more weights than features")
	}
	return nil
}

// field returns the line of a field of the file, which has each of the large ones on a line of its own.
func field(data []byte, name string) []byte {
	_, line, _ := bytes.Cut(data, []byte("\n\""+name+"\": "))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return line
}
