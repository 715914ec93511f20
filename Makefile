.PHONY: test check demo fuzz bench

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
