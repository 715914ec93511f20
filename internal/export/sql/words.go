package sql

// Words are the parts of a database's SQL that other statements share with a model's: names, literals and conversions.
type Words struct {
	Title  string                                   // the database's name for people
	Tested bool                                     // tests run statements in the database itself
	Quote  func(name string) string                 // a name of a column
	Text   func(s string) (literal string, ok bool) // false: no text of the database is equal to it
	Number func(x float64) string                   // a literal of exactly this finite double
	Double func(x string) string                    // as a double; NULL for NULL and NaN
	String func(x string) string                    // as a text that is compared by bytes
	Trim   func(s string) string                    // a text without blanks and tabs at its ends
	Single func(x string) string                    // a double rounded to float32, as a double; nil: the database has no such type
	Checks bool                                     // a quotient, or a rounded number, that becomes 0 is an error
	Fence  string                                   // ends a subquery, so that its expressions are computed once
}

// Words returns the words of a dialect; false: there is no such dialect.
func (d Dialect) Words() (Words, bool) {
	r, known := dialects[d]
	if !known {
		return Words{}, false
	}
	w := Words{Title: r.title, Tested: !r.untested, Quote: r.quote, Text: r.text, Number: r.number, Double: r.double, String: r.str,
		Trim: r.trim, Single: r.single, Checks: r.checks, Fence: r.fence}
	if w.Quote == nil {
		w.Quote = doubleQuotes
	}
	return w, true
}
