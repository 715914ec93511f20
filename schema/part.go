package schema

// Part is what a feature takes from a column of times or addresses, whose own values are too many to be
// features.
type Part string

const (
	Whole   Part = ""        // the value itself
	Hour    Part = "hour"    // of a time: 0 to 23, in the zone in which it is written
	Weekday Part = "weekday" // of a time: the category mon to sun
	Day     Part = "day"     // of a time: the day of the month, 1 to 31
	Seconds Part = "seconds" // of a time: seconds since Column.Origin

	Net8  Part = "/8"    // of an address: the first 8 bits, of IPv6 32
	Net16 Part = "/16"   // of an address: the first 16 bits, of IPv6 48
	Net24 Part = "/24"   // of an address: the first 24 bits, of IPv6 64
	Range Part = "range" // of an address: private, loopback, link-local, multicast or public
)

// Kind returns the kind of a part's values.
func (p Part) Kind() Kind {
	switch p {
	case Hour, Day, Seconds:
		return Numeric
	}
	return Categorical
}

// Known reports whether p is one of the parts.
func (p Part) Known() bool {
	switch p {
	case Whole, Hour, Weekday, Day, Seconds, Net8, Net16, Net24, Range:
		return true
	}
	return false
}

// FileColumn returns the name of the column of the file that the feature's values come from.
func (c *Column) FileColumn() string {
	if c.Part == Whole {
		return c.Name
	}
	return c.Source
}
