package main

import (
	"encoding/json"
	"fmt"
	"time"

	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
)

func main() {
	data, info, err := table.Read("/work/shared/data/kddcup99/kddcup.data_10_percent.gz", table.Options{Label: "last", Positive: []string{"!normal."}})
	if err != nil {
		panic(err)
	}
	for _, enc := range []string{"raw", "scorecard", "leaves"} {
		start := time.Now()
		m, _, err := feature.Fit(data, info.Schema, nil, feature.Options{Encode: feature.Encode(enc)})
		if err != nil {
			panic(err)
		}
		f := time.Since(start)
		start = time.Now()
		x, err := m.Matrix(data, nil, matrix.Float32)
		if err != nil {
			panic(err)
		}
		e := time.Since(start)
		text, _ := json.Marshal(m)
		fmt.Println(enc, "cols", m.Cols(), "fit", f, "matrix", e, "bytes", x.Bytes()>>20, "MiB", "json", len(text))
	}
}
