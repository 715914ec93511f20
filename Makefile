.PHONY: test check demo fuzz bench quality thresholds

test: ## the README's test command
	go test ./...

check: ## everything that decides whether a change lands
	bash .ci/run

demo:
	go run ./cmd/toptau demo

fuzz: ## half a minute for each fuzz target
	bash .ci/fuzz 30s

bench: ## ratios against the machine's limits and other programs, into docs/performance.md: five minutes, a quiet machine
	go run -C bench . -o ../docs/performance.md

quality: ## what the default reaches beside logistic regression and boosting, into docs/quality.md: within the hour on two cores
	go run -C bench -buildvcs=false ./quality -o ../docs/quality.md

thresholds: ## how plain thresholds keep their budget on untouched rows, into docs/thresholds.md: an hour or two on two cores
	go run -C bench -buildvcs=false ./quality -thresholds -o ../docs/thresholds.md
