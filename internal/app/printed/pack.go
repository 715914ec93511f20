package printed

import "toptau/result"

// Packed is the result of packing a file: `pack`.
type Packed struct {
	result.Document
	Rows    int     `json:"rows"`         // rows packed
	Columns int     `json:"columns"`      // columns packed
	Source  string  `json:"source"`       // digest of the uncompressed bytes of the source
	Bytes   int64   `json:"bytes"`        // size of the packed file
	Seconds float64 `json:"seconds_pack"` // time spent reading and writing
}
