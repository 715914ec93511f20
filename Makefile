.PHONY: test check demo fuzz

test: ## the README's test command
	go test ./...

check: ## everything that decides whether a change lands
	bash .ci/run

demo:
	go run ./cmd/toptau demo

fuzz: ## half a minute for each fuzz target
	bash .ci/fuzz 30s
