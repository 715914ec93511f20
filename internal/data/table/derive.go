package table

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

// moment is a time: seconds and nanoseconds since 1970, and the seconds by which its zone is ahead of UTC.
type moment struct {
	seconds int64
	nanos   int
	zone    int64
	zoned   bool // the text has a zone, or is a number
}

// parseMoment parses a date or a number of seconds, milliseconds, microseconds or nanoseconds since 1970. The
// size of a number gives its unit: seconds end in the year 5138, milliseconds begin in 1973.
func parseMoment(b []byte) (moment, bool) {
	b = trimBlanks(b)
	if m, ok := parseDate(b); ok {
		return m, true
	}
	v, what := parseNumber(b)
	if what != number || math.Abs(v) > 1e19 {
		return moment{}, false
	}
	v = EpochSeconds(v)
	whole := math.Floor(v)
	return moment{seconds: int64(whole), nanos: int((v - whole) * 1e9), zoned: true}, true
}

// EpochSeconds returns a number of seconds, milliseconds, microseconds or nanoseconds in seconds.
func EpochSeconds(v float64) float64 {
	for range 3 {
		if math.Abs(v) >= 1e11 {
			v /= 1000
		}
	}
	return v
}

// parseDate parses YYYY-MM-DD or DD.MM.YYYY, or one of them with T or a blank and HH:MM[:SS[.fraction]], and with seconds or T
// also a zone, Z or +HH:MM. Without a zone it is UTC.
func parseDate(b []byte) (moment, bool) {
	var m moment
	if len(b) >= 10 && b[2] == '.' && b[5] == '.' {
		b = slices.Concat(b[6:10], []byte{'-'}, b[3:5], []byte{'-'}, b[:2], b[10:])
	}
	s := dateScan{rest: b}
	year := s.number(4)
	s.expect("-")
	month := s.number(2)
	s.expect("-")
	day := s.number(2)
	if s.wrong || month < 1 || month > 12 || day < 1 || day > daysOf(year, month) {
		return m, false
	}
	m.seconds = 86400 * daysBefore(year, month, day)
	if len(s.rest) == 0 {
		return m, true
	}
	s.expect("T ")
	m.seconds += s.hoursAndMinutes()
	if s.wrong || len(s.rest) == 0 {
		return m, !s.wrong
	}
	s.expect(":")
	second := s.number(2)
	m.seconds += second
	m.nanos = s.fraction()
	m.zoned = len(s.rest) > 0
	m.zone = s.zone()
	m.seconds -= m.zone
	return m, !s.wrong && second <= 59
}

// dateScan reads a date from the left. wrong is set by the first part that is not as expected, and stays.
type dateScan struct {
	rest  []byte
	wrong bool
}

// number reads n digits.
func (s *dateScan) number(n int) int64 {
	if len(s.rest) < n {
		s.wrong = true
		return 0
	}
	v := int64(0)
	for _, c := range s.rest[:n] {
		if c-'0' > 9 {
			s.wrong = true
			return 0
		}
		v = 10*v + int64(c-'0')
	}
	s.rest = s.rest[n:]
	return v
}

// skip reads one of some characters, and reports whether it is there.
func (s *dateScan) skip(options string) bool {
	for i := range len(options) {
		if len(s.rest) > 0 && s.rest[0] == options[i] {
			s.rest = s.rest[1:]
			return true
		}
	}
	return false
}

func (s *dateScan) expect(options string) { s.wrong = !s.skip(options) || s.wrong }

// hoursAndMinutes reads HH:MM and returns its seconds.
func (s *dateScan) hoursAndMinutes() int64 {
	hour := s.number(2)
	s.expect(":")
	minute := s.number(2)
	s.wrong = s.wrong || hour > 23 || minute > 59
	return 3600*hour + 60*minute
}

// fraction reads the fraction of a second, if there is one, and returns its nanoseconds. Digits after the ninth do not count.
func (s *dateScan) fraction() int {
	if !s.skip(".,") {
		return 0
	}
	n, unit := 0, 100_000_000
	for ; len(s.rest) > 0 && s.rest[0]-'0' <= 9; s.rest = s.rest[1:] {
		n += unit * int(s.rest[0]-'0')
		unit /= 10
	}
	s.wrong = s.wrong || unit == 100_000_000
	return n
}

// zone reads nothing, Z or +HH:MM to the end, and returns the seconds that the zone is ahead of UTC.
func (s *dateScan) zone() int64 {
	switch {
	case len(s.rest) == 0 || string(s.rest) == "Z":
		return 0
	case len(s.rest) != 6:
		s.wrong = true
		return 0
	}
	sign := int64(1)
	if s.skip("-") {
		sign = -1
	} else {
		s.expect("+")
	}
	return sign * s.hoursAndMinutes()
}

// ParseDate parses a date such as 2024-05-31, 2024-05-31 23:59:59.5 or 2024-05-31T23:59:59+02:00 and returns the
// seconds since 1970 and the nanoseconds. Without a zone it is UTC.
func ParseDate(text string) (seconds int64, nanos int, ok bool) {
	m, ok := parseDate([]byte(text))
	return m.seconds, m.nanos, ok
}

// minEpoch is the least number that DayOfTime reads as a time since 1970: a day in 1973. Smaller ones count
// something else.
const minEpoch = 1e8

// DayOf returns the day of a date in the zone of the table, as 2024-05-31. A date without a zone has the day that is
// written.
func (t *Table) DayOf(text string) (day string, ok bool) {
	m, ok := parseDate([]byte(text))
	return t.dayOf(m), ok
}

// DayOfTime is DayOf for a column of times. A number of seconds, milliseconds, microseconds or nanoseconds since 1970
// also has a day.
func (t *Table) DayOfTime(text string) (day string, ok bool) {
	if day, ok = t.DayOf(text); ok {
		return day, true
	}
	m, ok := parseMoment([]byte(text))
	return t.dayOf(m), ok && m.seconds >= minEpoch
}

func (t *Table) dayOf(m moment) string {
	at := time.Unix(m.seconds, 0).UTC()
	if m.zoned && t.Zone != nil {
		at = at.In(t.Zone)
	}
	return at.Format(time.DateOnly)
}

// loadZone returns a zone by its name, such as Europe/Prague. "" is nil.
func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // another zone on every machine
		return nil, usage("timezone", name, "the name of a zone, such as Europe/Prague or UTC")
	}
	return zone, nil
}

// ParseTime parses a date as ParseDate does, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970.
func ParseTime(text string) (time.Time, bool) {
	m, ok := parseMoment([]byte(text))
	return time.Unix(m.seconds, int64(m.nanos)), ok
}

func daysOf(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysBefore returns the days from 1970-01-01 to a date, by counting years from March on, so that the leap day
// is the last day of a year.
func daysBefore(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400) + (153*(month-3)+2)/5 + day - 1 - 719468
}

// dayOfMonth is the inverse of daysBefore for the day: the year and the month that daysBefore counts are found
// from estimates that are off by at most one.
func dayOfMonth(days int64) int64 {
	days += 719468
	era := floorDiv(days, 146097)
	inEra := days - 146097*era
	year := (inEra - inEra/1460 + inEra/36524 - inEra/146096) / 365
	inYear := inEra - (365*year + year/4 - year/100)
	month := (5*inYear + 2) / 153
	return inYear - (153*month+2)/5 + 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

var weekdays = [7]string{"thu", "fri", "sat", "sun", "mon", "tue", "wed"} // 1970-01-01 was a Thursday

// timeParts and addressParts are the features of a column of times or addresses. The day of the month and the seconds are features only
// if the column is named as a date: later rows have other days, and their scores would follow a trend.
var (
	timeParts    = []schema.Part{schema.Hour, schema.Weekday}
	addressParts = []schema.Part{schema.Net8, schema.Net16, schema.Net24, schema.Range}
)

// TimeParts and AddressParts return the features of a column of times or addresses.
func TimeParts() []schema.Part    { return slices.Clone(timeParts) }
func AddressParts() []schema.Part { return slices.Clone(addressParts) }

// derivation is how the values of a feature come from the fields of its column.
type derivation struct {
	part   schema.Part
	origin float64
	salt   string
	unit   string
}

func derivationOf(c *schema.Column) derivation { return derivation{c.Part, c.Origin, c.Salt, c.Unit} }

// changes reports whether a category differs from its field.
func (d derivation) changes() bool { return d.part != schema.Whole || d.salt != "" }

// category returns the category of a field that is not missing.
func (d derivation) category(field []byte) (string, bool) {
	value, ok := string(field), true
	if d.part != schema.Whole {
		value, ok = d.partOf(field)
	}
	if d.salt != "" {
		value = HashName(d.salt, value)
	}
	return value, ok
}

// numberText returns the text that a number has as a category, from its decimal text: 3 is the category 3, or 3.0 if a model knows only
// that, because programs write columns of doubles so. It may append to decimal.
func (d derivation) numberText(decimal []byte, known func(category []byte) bool) []byte {
	name := func(text []byte) []byte {
		if d.salt == "" {
			return text
		}
		return []byte(HashName(d.salt, string(text)))
	}
	if d.part != schema.Whole || bytes.IndexByte(decimal, '.') >= 0 || known(name(decimal)) {
		return decimal
	}
	if point := append(decimal, ".0"...); known(name(point)) {
		return point
	}
	return decimal
}

// DecimalText returns text.Decimal of a number of JSON. Whole numbers keep all their digits.
func DecimalText(field []byte) []byte {
	if !bytes.ContainsAny(field, ".eE") && string(field) != "-0" {
		return field
	}
	v, what := parseNumber(field)
	if what != number {
		return field
	}
	return text.AppendDecimal(nil, v)
}

// hashBytes is the number of bytes of a hash of a name: two of a million names are equal by chance with
// probability 1e-17.
const hashBytes = 12

// HashName returns a hash of a name for models that do not show their categories, in hexadecimal.
func HashName(salt, name string) string {
	sum := sha256.Sum256([]byte(salt + "\x00" + name))
	return hex.EncodeToString(sum[:hashBytes])
}

// number returns the numeric part of a field that is not missing.
func (d derivation) number(field []byte) (float64, bool) {
	m, ok := parseMoment(field)
	if !ok {
		return 0, false
	}
	local := m.seconds + m.zone
	days := floorDiv(local, 86400)
	switch d.part {
	case schema.Hour:
		return float64((local - 86400*days) / 3600), true
	case schema.Day:
		return float64(dayOfMonth(days)), true
	}
	return float64(m.seconds) - d.origin + float64(m.nanos)/1e9, true
}

// partOf returns the categorical part of a field that is not missing.
func (d derivation) partOf(field []byte) (string, bool) {
	if d.part == schema.Weekday {
		m, ok := parseMoment(field)
		days := floorDiv(m.seconds+m.zone, 86400)
		return weekdays[((days%7)+7)%7], ok
	}
	a, ok := parseAddress(field)
	if !ok {
		return "", false
	}
	four, six := 8, 32
	switch d.part {
	case schema.Range:
		return rangeOfAddress(a), true
	case schema.Net16:
		four, six = 16, 48
	case schema.Net24:
		four, six = 24, 64
	}
	bits := six
	if a.Is4() {
		bits = four
	}
	p, err := a.Prefix(bits)
	return p.String(), err == nil
}

// parseAddress parses an IPv4 or IPv6 address. A zone is dropped, and an IPv4 address within IPv6 is IPv4.
func parseAddress(field []byte) (netip.Addr, bool) {
	field = trimBlanks(field)
	if len(field) > 60 {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(string(field))
	return a.Unmap().WithZone(""), err == nil
}

func rangeOfAddress(a netip.Addr) string {
	switch {
	case a.IsPrivate():
		return "private"
	case a.IsLoopback():
		return "loopback"
	case a.IsLinkLocalUnicast():
		return "link-local"
	case a.IsMulticast():
		return "multicast"
	}
	return "public"
}

// looksDate and looksAddress are quick tests before a field is parsed.
func looksDate(b []byte) bool {
	return len(b) >= 10 && (b[4] == '-' && b[7] == '-' || b[2] == '.' && b[5] == '.')
}

func looksAddress(b []byte) bool {
	dots, colons := 0, 0
	for _, c := range b {
		switch {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case c-'0' > 9 && c|0x20-'a' > 5:
			return false
		}
	}
	return dots == 3 || colons >= 2
}

// epochNames are the names, or the last words of names, of columns whose numbers may be times.
var epochNames = []string{"time", "timestamp", "ts", "epoch", "datetime", "date", "at"}

// namesEpoch reports whether a column may have times as numbers, by its name.
func namesEpoch(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '_' || c == '-' || c == '.' || c == ' ' })
	if len(words) == 0 {
		return false
	}
	for _, known := range epochNames {
		if words[len(words)-1] == known {
			return true
		}
	}
	return false
}

// isEpoch reports whether a number may be seconds or milliseconds since 1970, from September 2001 to 2033.
func isEpoch(b []byte) bool {
	v, what := parseNumber(b)
	return what == number && (v >= 1e9 && v < 2e9 || v >= 1e12 && v < 2e12)
}

// DeriveText returns the text of a feature's value from the text of its column: decimal for a number, "" for a
// missing value. missing reports whether a text is a missing value.
//
// Errors: diag.Data if the text is not a time or an address.
func DeriveText(c *schema.Column, field string, missing func(string) bool) (string, error) {
	d := derivationOf(c)
	if !d.changes() {
		return field, nil
	}
	if missing(field) {
		return "", nil
	}
	value, ok := "", false
	if c.Kind == schema.Numeric {
		var v float64
		v, ok = d.number([]byte(field))
		value = strconv.FormatFloat(v, 'g', -1, 64)
	} else {
		value, ok = d.category(trimField([]byte(field)))
	}
	if !ok {
		return "", &diag.Error{Kind: diag.Data, Column: c.Source, Found: diag.Quote(field), Expected: d.expected()}
	}
	return value, nil
}

// expected describes what a field should be.
func (d derivation) expected() string {
	switch d.part {
	case schema.Hour, schema.Weekday, schema.Day, schema.Seconds:
		return "a time such as 2024-05-31 23:59:59, or seconds since 1970"
	}
	return "an IP address"
}
