package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones, also where the system has none

	"toptau/diag"
	"toptau/schema"
)

// Dates are read as package time reads them.
func TestDates(t *testing.T) {
	layouts := []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}
	random := rand.New(rand.NewPCG(11, 12))
	for i := range 20000 {
		at := time.Unix(random.Int64N(8e9)-2e9, 0).In(time.FixedZone("", 60*(random.IntN(1440)-720)))
		layout := layouts[i%len(layouts)]
		if i%3 == 0 {
			layout = strings.Replace(layout, ":05", ":05.999", 1)
			at = at.Add(time.Duration(random.IntN(1000)) * time.Millisecond)
		}
		text := at.Format(layout)
		if i%2 == 1 { // a digit that differs may make it wrong
			b := []byte(text)
			b[random.IntN(len(b))] = "0123456789-Z.+x"[random.IntN(15)]
			text = string(b)
		}
		var want time.Time
		var err error
		for _, layout := range layouts {
			if want, err = time.Parse(layout, text); err == nil {
				break
			}
		}
		m, ok := parseDate([]byte(text))
		if zone := text[max(0, len(text)-5):]; strings.HasSuffix(zone, ":60") || strings.HasPrefix(zone, "24:") {
			continue // package time reads zones that do not exist
		}
		if ok != (err == nil) {
			t.Fatalf("%q: %v, %v", text, ok, err)
		}
		if !ok {
			continue
		}
		if m.seconds != want.Unix() || m.nanos != want.Nanosecond() {
			t.Fatalf("%q: %+v, want %v", text, m, want)
		}
		hour, _ := derivation{part: schema.Hour}.number([]byte(text))
		day, _ := derivation{part: schema.Day}.number([]byte(text))
		weekday, _ := derivation{part: schema.Weekday}.category([]byte(text))
		seconds, _ := derivation{part: schema.Seconds, origin: 1000}.number([]byte(text))
		if int(hour) != want.Hour() || int(day) != want.Day() || weekday != strings.ToLower(want.Weekday().String()[:3]) ||
			math.Abs(seconds-float64(want.UnixMilli())/1000+1000) > 1e-3 {
			t.Fatalf("%q: hour %v, day %v, %s, %v s; want %v", text, hour, day, weekday, seconds, want)
		}
	}
}

func TestEpochs(t *testing.T) {
	want, _ := parseDate([]byte("2024-05-31T12:30:15Z"))
	for _, text := range []string{"1717158615", "1717158615000", "1717158615000000", "1717158615000000000", " 1.717158615e9"} {
		if m, ok := parseMoment([]byte(text)); !ok || m.seconds != want.seconds {
			t.Errorf("%s: %+v %v, want %+v", text, m, ok, want)
		}
	}
	if _, ok := parseMoment([]byte("soon")); ok {
		t.Error("soon is a time")
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"10.1.2.3", "10.0.0.0/8 10.1.0.0/16 10.1.2.0/24 private"},
		{" 8.8.8.8", "8.0.0.0/8 8.8.0.0/16 8.8.8.0/24 public"},
		{"127.0.0.1", "127.0.0.0/8 127.0.0.0/16 127.0.0.0/24 loopback"},
		{"::ffff:192.168.7.9", "192.0.0.0/8 192.168.0.0/16 192.168.7.0/24 private"},
		{"2001:db8:1:2:3::4", "2001:db8::/32 2001:db8:1::/48 2001:db8:1:2::/64 public"},
		{"fe80::1%eth0", "fe80::/32 fe80::/48 fe80::/64 link-local"},
		{"224.0.0.1", "224.0.0.0/8 224.0.0.0/16 224.0.0.0/24 multicast"},
	} {
		var got []string
		for _, part := range addressParts {
			text, ok := derivation{part: part}.category([]byte(c.text))
			if !ok {
				t.Errorf("%s is no address", c.text)
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.text, strings.Join(got, " "), c.want)
		}
	}
	for _, text := range []string{"", "1.2.3", "1.2.3.256", "01.2.3.4", "example.com", "10.0.0.0/8"} {
		if _, ok := parseAddress([]byte(text)); ok {
			t.Errorf("%q is an address", text)
		}
	}
}

// Times and addresses are recognised, and a later file and both ways to read have the same values.
func TestDerivedColumns(t *testing.T) {
	var text strings.Builder
	text.WriteString("when,src,start_ts,code,y\n")
	random := rand.New(rand.NewPCG(13, 14))
	for i := range 500 {
		at := time.Unix(1.7e9+random.Int64N(1e7), 0).UTC()
		when, src := at.Format("2006-01-02 15:04:05"), fmt.Sprintf("10.%d.0.%d", i%3, random.IntN(256))
		if i > 20 && random.IntN(9) == 0 {
			when, src = "", `"`+src+`"`
		}
		fmt.Fprintf(&text, "%s,%s,%d,%d,%d\n", when, src, at.Unix(), 1_700_000_000+i, i%2)
	}
	o := Options{Format: schema.Format{Label: "y"}}
	x, info := mustRead(t, text.String(), o)
	var names []string
	for _, c := range x.Columns {
		names = append(names, c.Name+":"+string(c.Kind))
	}
	want := "when hour:numeric,when weekday:categorical,src /8:categorical,src /16:categorical,src /24:categorical,src range:categorical," +
		"start_ts hour:numeric,start_ts weekday:categorical,code:numeric"
	if got := strings.Join(names, ","); got != want {
		t.Errorf("columns %s\nwant    %s", got, want)
	}
	if len(info.Warnings) != 3 {
		t.Errorf("warnings %v", info.Warnings)
	}
	for i, want := range map[int]string{
		0: `column "when" is read as times: the hour and the weekday are features (use --time when to order the rows, --drop when to leave it out or --categorical when otherwise)`,
		1: `column "src" is read as IP addresses: their networks and ranges are features (use --categorical src otherwise)`,
		2: `column "start_ts" is read as times: the hour and the weekday are features ` +
			"(use --time start_ts to order the rows, --drop start_ts to leave it out or --numeric start_ts otherwise)",
	} {
		if got := info.Warnings[i].Words(func(param string) string { return "--" + param }); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	r, err := NewReader("t", strings.NewReader(text.String()), o)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	in, err := newInput("t", strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	p := defaultPolicy()
	p.careful = true
	careful, err := newReader(in, o, p)
	if err != nil {
		t.Fatal(err)
	}
	y, _, err := careful.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, x, y)
	s := info.Schema
	z, _ := mustRead(t, text.String(), Options{Schema: &s})
	wantSame(t, x, z)
	_, _, err = readText("when,src,start_ts,code,y\n2024-01-01,10.0.0.1,soon,5,0\n", Options{Schema: &s, Unlabelled: true})
	wantError(t, err, `t:2: column "start_ts": "soon", expected a time such as 2024-05-31 23:59:59, or seconds since 1970 (use --missing soon)`)
	_, _, err = readText("src,code,y\n10.0.0.1,5,0\n", Options{Schema: &s, Unlabelled: true})
	wantError(t, err, `t: missing columns: "when", "start_ts", expected the 9 columns that the model needs`)
	o.Categorical, o.Date, o.Numeric = []string{"src"}, []string{"code"}, []string{"start_ts"}
	x, _ = mustRead(t, text.String(), o)
	names = nil
	for _, c := range x.Columns {
		names = append(names, c.Name)
	}
	if got, want := strings.Join(names, ","), "when hour,when weekday,src,start_ts,code hour,code weekday,code day,code seconds"; got != want {
		t.Errorf("with options %s, want %s", got, want)
	}
}

// Days: as written without a zone, otherwise in the zone of the table. Numbers are times from 1973 on.
func TestDays(t *testing.T) {
	prague, err := loadZone("Europe/Prague")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text, utc, there string
	}{
		{"2024-05-31", "2024-05-31", "2024-05-31"},
		{"2024-05-31 23:30:00", "2024-05-31", "2024-05-31"},
		{"2024-05-31T23:30:00Z", "2024-05-31", "2024-06-01"},
		{"2024-05-31T23:30:00+02:00", "2024-05-31", "2024-05-31"},
		{"2024-06-01T01:30:00+02:00", "2024-05-31", "2024-06-01"},
		{"2024-12-31T23:30:00Z", "2024-12-31", "2025-01-01"},
		{"1717198200", "2024-05-31", "2024-06-01"}, // 23:30 UTC
		{"1717198200000", "2024-05-31", "2024-06-01"},
		{"17", "", ""}, {"", "", ""}, {"yesterday", "", ""}, {"2024-02-30", "", ""},
	} {
		for zone, want := range map[*time.Location]string{nil: test.utc, prague: test.there} {
			day, ok := (&Table{Zone: zone}).DayOfTime(test.text)
			if ok != (want != "") || ok && day != want {
				t.Errorf("%q in %v: %q %v, want %q", test.text, zone, day, ok, want)
			}
		}
	}
	if _, ok := (&Table{}).DayOf("1717198200"); ok {
		t.Error("a number in any column is a day")
	}
	for _, name := range []string{"Local", "Mars/Olympus"} {
		if _, err := loadZone(name); diag.Of(err) == nil || diag.Of(err).Param != "timezone" {
			t.Errorf("zone %s: %v", name, err)
		}
	}
}

// A record's category is hashed as a file's field is: without the blanks around it.
func TestHashesOfPaddedCategories(t *testing.T) {
	c := &schema.Column{Name: "colour", Kind: schema.Categorical, Salt: "salt"}
	for _, field := range []string{"red", " red", "red\t", " \tred  "} {
		got, err := DeriveText(c, field, func(string) bool { return false })
		if want := HashName("salt", "red"); err != nil || got != want {
			t.Errorf("%q: %q, %v; expected %q", field, got, err, want)
		}
	}
}
