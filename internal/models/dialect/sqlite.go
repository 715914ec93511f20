package dialect

// SQLite is the SQL of SQLite 3.40 and later, for the statements of models. Its rows are not read.
func SQLite() *Dialect {
	return &Dialect{Name: "sqlite", Title: "SQLite", File: true, Quote: doubleQuotes, Text: sqliteText, Number: exactNumber,
		Notes: []string{"A text in a column of numbers is missing, for SQLite keeps any value in any column."},
		Double: func(c string) string {
			return "CASE WHEN typeof(" + c + ") IN ('real', 'integer') THEN CAST(" + c + " AS REAL) END"
		},
		String: func(c string) string { return "CAST(" + c + " AS TEXT) COLLATE BINARY" },
		Trim:   func(s string) string { return "trim(" + s + ", ' ' || char(9))" },
		Fence:  " LIMIT -1", Listed: true, Folds: true, Nest: 12, Width: 1900}
}
