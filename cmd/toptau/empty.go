package main

import (
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"toptau/diag"
)

// checkEmpty refuses flags and arguments that were given as empty text, often a shell variable that is not set: most verbs would
// take them for flags that were not given, and do something else than was asked for. --missing may be empty: it is how a missing
// value may be written.
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

// isEmpty reports whether a value is empty text, or a list of no texts or with an empty one.
func isEmpty(v reflect.Value) bool {
	switch {
	case v.Kind() == reflect.String:
		return v.Len() == 0
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		return v.Len() == 0 || slices.ContainsFunc(v.Interface().([]string), func(s string) bool { return s == "" })
	}
	return false
}
