#!/usr/bin/env bash
# Runs a handful of small benchmarks and compares them with bench/baseline.txt. Nothing passes or fails by its speed.
#   bash bench/smoke.sh             compare with the baseline
#   bash bench/smoke.sh baseline    write the baseline: run this on the commit to compare with, on the same machine
set -euo pipefail
cd "$(dirname "$0")/.."
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
count=${COUNT:-6}

run() {
	go test -C bench -run '^$' -bench '^BenchmarkSmoke' -benchtime 100ms -count "$count" .
	go test -run '^$' -bench '^Benchmark(Matrix|Scores)$' -benchtime 100ms -count "$count" ./internal/models/feature
}

if [[ ${1:-} == baseline ]]; then
	run | grep -v '^\(PASS\|ok\|cpu:\)' >bench/baseline.txt
	exit
fi
new=$(mktemp)
run | grep -v '^\(PASS\|ok\|cpu:\)' >"$new"
if ! go run "$benchstat" bench/baseline.txt "$new"; then
	echo "smoke: skipped the comparison: $benchstat cannot be installed without a network. The results are in $new."
fi
