package main

// orientation is printed if toptau is typed alone.
const orientation = `toptau trains linear classifiers for the top of the list: as many positives as possible within a
review capacity or a false-alarm budget.

  toptau demo                                                      see it work on simulated traffic
  toptau train flows.csv --label attack --max-fpr 0.1% -o m.json   choose and fit a model
  toptau evaluate m.json later.csv --report page.html              measure it on other labelled rows
  toptau score m.json new.csv --best 50                            the rows to look at
  toptau explain m.json new.csv --best 50                          and why

toptau help VERB describes one verb with examples. toptau --help lists all verbs.
`

// examples are command lines for the help of each verb.
var examples = map[string][]string{
	"demo": {"toptau demo", "toptau demo --dir demo"},
	"train": {"toptau train flows.csv --label attack --max-fpr 0.1% -o m.json",
		"toptau train bank.csv --label y --top 1% --id account --group customer --test-fraction 25% -o m.json",
		"toptau train flows.csv --label attack --positive '!normal' --max-fpr 1% --delta 5% --report page.html -o m.json"},
	"fit": {"toptau fit flows.csv --label attack --method topmean-np --tau 1% --certificate c.json -o m.json"},
	"score": {"toptau score m.json new.csv --best 50",
		"toptau score m.json new.csv --id flow --probability --prevalence 0.1% -o scores.csv",
		"tail -f flows.csv | toptau score m.json -"},
	"serve": {"toptau serve m.json --watch 2s", "toptau serve m.json --shadow m=candidate.json --scored-log scored.jsonl",
		"toptau serve m.json --listen 0.0.0.0:8443 --tls-cert c.pem --tls-key k.pem --token-file token"},
	"pack": {"toptau pack flows.csv.zst -o flows.ttp", "toptau pack 'logs/*.csv' --categorical flow -o logs.ttp"},
	"explain": {"toptau explain m.json new.csv --best 50", "toptau explain m.json new.csv --best 50 --csv",
		"toptau explain m.json new.csv --columns"},
	"evaluate": {"toptau evaluate m.json later.csv --by category --report page.html",
		"toptau evaluate m.json later.csv --by category --simultaneous --statements statements.md --report page.html",
		"toptau evaluate m.json later.csv --scores gbdt=gbdt.csv --id flow --max-fpr 1%",
		"toptau evaluate m.json later.csv --entity host --time when --alerts 50/2000",
		"toptau evaluate new.json later.csv --against old.json --gate"},
	"ui": {"toptau ui m.json later.csv", "toptau ui m.json later.csv --held-out held.csv --delta 5% -o m2.json",
		"toptau ui scores.csv --score score --label y"},
	"compare": {"toptau compare flows.csv --label attack --max-fpr 1%",
		"toptau compare flows.csv --label attack --max-fpr 1% --method ramp --encoding raw,leaves"},
	"threshold": {"toptau threshold held.csv --model m.json --max-fpr 0.1% --delta 5% --name sure -o m2.json",
		"toptau threshold week.csv --model m.json --replace goal --note 2026-11-22 -o m2.json",
		"toptau threshold --model m.json --remove sure -o m2.json",
		"toptau threshold scores.csv --score score --label y --max-fpr 1%"},
	"diff":   {"toptau diff old.json new.json"},
	"export": {"toptau export m.json sql --dialect duckdb --table flows -o score.sql", "toptau export m.json onnx -o m.onnx"},
	"monitor": {"toptau monitor m.json today.csv --state m.monitor --report monitor.html",
		"toptau monitor m.json scores.csv --id flow --labels labels.csv --state m.monitor",
		"toptau monitor m.json today.csv --id flow --audit 0.5% --audited audited.csv",
		"toptau monitor m.json week.csv --baseline -o watched.json"},
	"inspect":    {"toptau inspect flows.csv --label attack", "toptau inspect m.json"},
	"diagnose":   {"toptau diagnose flows.csv --label attack"},
	"verify":     {"toptau verify m.json flows.csv c.json"},
	"keygen":     {"toptau keygen team"},
	"generate":   {"toptau generate detectors --rows 10000 --attacks --context -o flows.csv"},
	"version":    {"toptau version", "toptau version --json"},
	"completion": {"source <(toptau completion bash)", "toptau completion fish > ~/.config/fish/completions/toptau.fish"},
}
