package cli

import (
	"reflect"

	"github.com/alecthomas/kong"

	"toptau/diag"
)

// checkEmpty refuses flags and arguments with an empty value, often from a shell variable that is not set.
// Most verbs would treat them as flags that were left out. --missing may be empty, because an empty field may
// be a missing value.
func checkEmpty(parsed *kong.Context) error {
	for _, p := range parsed.Path {
		switch {
		case p.Flag != nil && p.Flag.Name != "missing" && isEmpty(p.Flag.Target):
			return &diag.Error{Kind: diag.Usage, Found: "--" + p.Flag.Name + " ''", Expected: "a value",
				Hint: "leave the flag out, or check the variable that should hold its value"}
		case p.Positional != nil && isEmpty(p.Positional.Target):
			return &diag.Error{Kind: diag.Usage, Found: "'' for " + p.Positional.Summary(), Expected: "a value"}
		}
	}
	return nil
}

// isEmpty reports whether a value is empty text, an empty list, or a list with an empty text.
func isEmpty(v reflect.Value) bool {
	switch {
	case v.Kind() == reflect.String:
		return v.Len() == 0
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		for i := range v.Len() {
			if v.Index(i).Len() == 0 {
				return true
			}
		}
		return v.Len() == 0
	}
	return false
}
