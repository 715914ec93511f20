package provenance

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
)

// A Probe is a digest of a few results of a page, computed in small form from generated data. A page has the probe of the build that
// measured it, so a page whose probe is not that of the code of today has results that may have changed.
type Probe struct{ text []byte }

// Add adds a line of results. Numbers with decimals have six digits: the last bits of a result are on no page.
func (p *Probe) Add(results ...any) {
	for i, r := range results {
		if i > 0 {
			p.text = append(p.text, ' ')
		}
		if x, decimal := r.(float64); decimal {
			p.text = fmt.Appendf(p.text, "%.6g", x)
			continue
		}
		text, err := json.Marshal(r) // no addresses
		if err != nil {
			panic(err) // a test adds what is no result
		}
		p.text = append(p.text, text...)
	}
	p.text = append(p.text, '\n')
}

// String returns the results, to see which of them differ between two builds.
func (p *Probe) String() string { return string(p.text) }

// Digest returns the probe as pages have it.
func (p *Probe) Digest() string { return fmt.Sprintf("%x", sha256.Sum256(p.text))[:8] }

// Check compares the probe with that of a page. The page is marked if and only if they differ. With update the mark is written or
// removed, and a page that was measured just now gets its first probe. A page that was measured before it had a probe keeps its mark.
func (p *Probe) Check(page, command string, update bool) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	changed, problem := check(text, p.Digest())
	switch {
	case problem == "":
		return nil
	case update && changed != nil:
		return os.WriteFile(page, changed, 0o644)
	}
	return fmt.Errorf("%s: %s. Measure the page again, as its third line says, or run %s -update", page, problem, command)
}

// check returns what is wrong with the line of a page, and the page with another line.
func check(page []byte, digest string) (changed []byte, problem string) {
	at := Line.FindSubmatchIndex(page)
	if at == nil {
		return nil, "it has no line of package provenance below the title"
	}
	run := Line.FindSubmatch(page)
	marked, probe := len(run[4]) > 0, string(run[5])
	switch {
	case probe == "" && marked, probe != "" && marked == (probe != digest):
		return nil, ""
	case probe == "":
		problem, probe = "it has no probe", digest
	case marked:
		problem = "it is marked, but the code has the results of its probe " + probe
	default:
		problem = "its probe is " + probe + ", and that of the code is " + digest + ": the results may have changed"
	}
	mark := ""
	if probe != digest {
		mark = Older
	}
	line := fmt.Appendf(nil, "%s%s; probe %s.", page[at[0]:at[7]], mark, probe)
	return append(append(append([]byte{}, page[:at[0]]...), line...), page[at[1]:]...), problem
}
