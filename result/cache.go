package result

import "time"

// PackedCopy is a packed copy of data that did not fit into memory: `cache`.
type PackedCopy struct {
	Name    string    `json:"name"`    // a digest of the source's bytes and the options of packing
	Path    string    `json:"path"`    // of the packed file
	Sources []string  `json:"sources"` // the files that were packed
	Digest  string    `json:"source"`  // digest of the uncompressed bytes of the source
	Rows    int       `json:"rows"`    // rows packed
	Columns int       `json:"columns"` // columns packed
	Bytes   int64     `json:"bytes"`   // size of the packed file
	Packed  time.Time `json:"packed"`  // when it was packed
	Used    time.Time `json:"used"`    // when it was used last
	Reused  bool      `json:"-"`       // it was packed by an earlier run
}

// Cache is the content of the cache of packed copies: `cache`.
type Cache struct {
	Document
	Directory string       `json:"directory"` // of the packed files
	Bytes     int64        `json:"bytes"`     // size of all packed files
	Copies    []PackedCopy `json:"copies"`    // the last used first
	Removed   []PackedCopy `json:"removed"`   // by `cache clear`
}
