//go:build unix

// Command large measures fits and scans of packed files that are larger than memory. It prints a page.
package main

import (
	"flag"
	"log"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 90_000_000, "rows of 28 columns, 112 bytes each")
	file := flag.String("file", "", "write the packed file here and end")
	flag.Parse()
	if err := generate(*file, *rows); err != nil {
		log.Fatal(err)
	}
}
