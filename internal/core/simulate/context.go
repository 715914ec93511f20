package simulate

import (
	"math"
	"strconv"
	"time"

	"toptau/internal/core/detmath"
)

// The context of a simulated row: columns that are no features. A row arrives every minute. Benign traffic
// comes from hosts 0 to 199, attacks from hosts 0 to 39. Amounts are log-normal with a median of 100 and a
// standard deviation of 1.5 on the logarithmic scale, the same for both classes. They depend on the seed and
// the row's number alone, so that a file with them has the same other columns as one without.
var contextStart = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

const (
	contextNames = "flow,time,host,amount,"
	benignHosts  = 200
	attackHosts  = 40
)

func appendContext(b []byte, seed uint64, index int, row *Row) []byte {
	r := newSource(seed, 0, mix(uint64(index)))
	b = strconv.AppendInt(append(b, 'f'), int64(index)+1, 10)
	b = append(b, ',')
	b = contextStart.Add(time.Duration(index)*time.Minute).AppendFormat(b, "2006-01-02T15:04:05")
	hosts := benignHosts
	if row.Attack != "" {
		hosts = attackHosts
	}
	b = append(b, ",h"...)
	b = strconv.AppendInt(b, int64(r.below(hosts)), 10)
	amount := 100 * detmath.Exp(float64(1.5*r.normal()))
	b = append(b, ',')
	b = strconv.AppendFloat(b, math.Round(100*amount)/100, 'f', 2, 64)
	return append(b, ',')
}
