package cli

import (
	"github.com/alecthomas/kong"

	"toptau/diag"
)

// checkNeeds refuses a flag without the flag that its tag needs names. Kong itself knows flags that exclude each other (xor)
// and flags that must come together (and).
func (a *App) checkNeeds(parsed *kong.Context) error {
	given := map[string]bool{}
	for _, p := range parsed.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = true
		}
	}
	for _, p := range parsed.Path {
		if p.Flag == nil {
			continue
		}
		needed := a.needs[p.Flag]
		if needed == "" || given[needed] {
			continue
		}
		fix := diag.Fix{Param: needed}
		for _, f := range parsed.Flags() {
			if f.Name == needed && !f.IsBool() {
				fix.Value = f.FormatPlaceHolder()
			}
		}
		return &diag.Error{Kind: diag.Usage, Param: p.Flag.Name, Found: "without " + Spell(needed), Fixes: []diag.Fix{fix}}
	}
	return nil
}
