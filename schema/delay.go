package schema

import (
	"strconv"
	"strings"
	"time"

	"toptau/diag"
)

// Delay is a time span. As text it may have days and weeks: "30d", "2w", "36h".
type Delay time.Duration

// UnmarshalText reads what time.ParseDuration reads, and a number of days or weeks.
func (d *Delay) UnmarshalText(value []byte) error {
	digits, days := string(value), 0.0
	if number, found := strings.CutSuffix(digits, "d"); found {
		digits, days = number, 1
	} else if number, found := strings.CutSuffix(digits, "w"); found {
		digits, days = number, 7
	}
	var span time.Duration
	n, err := strconv.ParseFloat(digits, 64)
	if days == 0 {
		span, err = time.ParseDuration(digits)
	} else if n *= days * 24; err == nil && n < 1e6 {
		span = time.Duration(n * float64(time.Hour))
	}
	if err != nil || span <= 0 {
		return &diag.Error{Kind: diag.Usage, Found: diag.Quote(string(value)), Expected: "a time such as 30d, 2w or 36h"}
	}
	*d = Delay(span)
	return nil
}
