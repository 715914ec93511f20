package inspect

import "toptau/result"

// TableInspection describes the first rows of a table: `inspect` with data.
type TableInspection struct {
	result.Document
	File        string        `json:"file"`                // as it was given
	FileFormat  string        `json:"file_format"`         // csv, jsonl, parquet, libsvm or packed
	Delimiter   string        `json:"delimiter,omitempty"` // of csv
	Header      bool          `json:"header"`              // the file names its columns
	Rows        int           `json:"n"`                   // number of rows that were read; everything here is about them
	Whole       bool          `json:"whole"`               // they are all rows
	BadRows     int           `json:"bad_rows"`            // further rows that cannot be read
	Copies      int           `json:"copies"`              // rows that equal an earlier row in every column
	Columns     []TableColumn `json:"columns"`             // in the order of the file; empty for LIBSVM
	Indices     int           `json:"indices,omitempty"`   // LIBSVM: the largest index
	Label       string        `json:"label,omitempty"`     // the column of the label; absent: none was named
	Labels      []LabelValue  `json:"labels"`              // its values, the most frequent first; at most 20
	Positives   *int          `json:"positives,omitempty"` // number of positive rows; absent: the positive label is not known
	LabelsMaybe []string      `json:"labels_maybe"`        // columns with two values that may be the label, if none was named
	Next        string        `json:"next"`                // the command to run next
}

// TableColumn is a column of a table.
type TableColumn struct {
	Column    string   `json:"column"`         // name, or the number if the file names no columns
	Number    int      `json:"number"`         // place in the file, from 1
	Kind      string   `json:"kind"`           // numeric, categorical, time or address; label; other: no feature
	Missing   int      `json:"missing"`        // rows without a value
	Different int      `json:"different"`      // number of different values, at most 1,000
	More      bool     `json:"more,omitempty"` // there are more than 1,000
	Low       *float64 `json:"low,omitempty"`  // numeric: the smallest number
	High      *float64 `json:"high,omitempty"` // numeric: the largest number
	Examples  []string `json:"examples"`       // the first three different values, at most 40 characters of each
}

// LabelValue is a value of the label and its rows.
type LabelValue struct {
	Value string `json:"value"` // as the file has it
	Rows  int    `json:"n"`     // number of rows
}
