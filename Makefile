.PHONY: build dist dist-check wheel wheels python-test site site-test apidiff test check nightly demo docs fuzz fuzz-long hostile measure integration ui-test pictures paper paper-stability sql sql-duckdb sql-test databases duckdb trino spark

BUILD = CGO_ENABLED=0 go build -trimpath

build: ## a static binary, bin/toptau
	$(BUILD) -o bin/toptau ./cmd/toptau

RELEASE = go run -C release . -version '$(VERSION)' $(if $(URL),-url '$(URL)') $(if $(MAINTAINER),-maintainer '$(MAINTAINER)')

dist: ## the files of a release for six platforms, in dist: make dist VERSION=v0.2.0, or at a tag; needs Python for the wheels
	rm -rf dist
	$(RELEASE) -o ../dist

dist-check: ## builds the release again in another directory and compares all checksums; needs dist of a committed source
	rm -rf dist/again && mkdir -p dist/again && git archive HEAD | tar xf - -C dist/again
	cd dist/again && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(RELEASE) -o ../../again-dist
	cmp dist/SHA256SUMS dist/again-dist/SHA256SUMS && rm -rf dist/again dist/again-dist

wheel: ## the Python package for this machine, in dist/wheel: make wheel && pip install dist/wheel/*.whl
	rm -rf dist/wheel
	python3 python/wheels.py --only "$$(go env GOOS)-$$(go env GOARCH)" -o dist/wheel

wheels: ## wheels of the Python package for six platforms, in dist: make wheels VERSION=v0.2.0; without VERSION a development version
	python3 python/wheels.py --version '$(VERSION)' -o dist

python-test: ## the Python package from its wheel, in fresh environments with several versions and frames: ten minutes; needs pip
	bash python/tests/run all

site: ## the documentation as a site with search, in dist/site; needs Python with venv and pip
	bash site/build

site-test: site ## the site in a real browser: links, a phone, dark mode, the search; needs Chromium and npm
	bash integration/ui/run site

test: ## the README's test command
	go test ./...

apidiff: ## what changed in the public Go API since a tag: make apidiff BASE=v0.2.0; needs a network once
	bash .ci/apidiff '$(BASE)'

check: ## everything that decides whether a change lands: ten minutes
	bash .ci/run

nightly: ## all other checks, with databases, browsers apart: an hour; continues where it was interrupted; its table is printed
	bash .ci/nightly

demo:
	go run ./cmd/toptau demo

docs: ## write the outputs in README.md and docs/guide, and docs/reference/cli.md and json.md again; needs TOPTAU_DATA
	go test ./cmd/toptau -count 1 -timeout 30m -run 'README|CommandReference' -update
	go test ./internal/tests/repository -count 1 -run JSONReference -update

fuzz: ## half a minute for each fuzz target
	bash .ci/fuzz 30s

fuzz-long: ## ten minutes for each fuzz target; continues where it was interrupted; the table is in .campaigns/fuzz/table.md
	bash .ci/fuzz 10m .campaigns/fuzz

hostile: ## the long campaigns: forged certificates, edited models, hostile files, kills; continues where it was interrupted
	TOPTAU_HOSTILE=long TOPTAU_HOSTILE_DIR=$(CURDIR)/.campaigns/hostile \
		go test -count 1 -p 1 -timeout 0 -v -run 'Hostile|Forged|Edited|Kill' ./...

integration: ## exports in all the programs that read them, with 20,000 rows, NSL-KDD and 400 random models: an hour; writes docs/results/exports.csv
	bash integration/scripts/install.sh
	TOPTAU_INTEGRATION=all TOPTAU_MODELS=400 go test -C integration -count 1 -timeout 3h -v ./... -results ../docs/results/exports.csv

ui-test: ## the page of toptau ui in a real browser: a million rows, by keyboard, narrow and wide, light and dark; needs Chromium and npm
	bash integration/ui/run

pictures: ## the pictures of the report and of toptau ui in docs/pictures, of the demo's data; needs Chromium and npm
	bash integration/ui/run pictures

sql: ## bin/toptau-sql, the command for rows in PostgreSQL, ClickHouse, Trino and Spark
	CGO_ENABLED=0 go build -C sql -trimpath -o ../bin/toptau-sql ./cmd/toptau-sql

sql-duckdb: ## bin/toptau-sql with DuckDB as well, for files of that database and for Parquet files; needs gcc and downloads 130 MB
	CGO_ENABLED=1 go build -C sql -trimpath -tags duckdb -o ../bin/toptau-sql ./cmd/toptau-sql

sql-test: ## toptau-sql with real servers, which are installed where that is possible
	bash sql/scripts/install.sh
	go vet -C sql ./...
	go test -C sql -count 1 -timeout 30m ./...

measure: ## a measurement, or their list: make measure WHAT=quality
	bash bench/measure $(WHAT)

PAPER = bin/toptau-paper

.PHONY: $(PAPER)
$(PAPER):
	CGO_ENABLED=0 go build -C repro -trimpath -o ../$(PAPER) ./cmd/toptau-paper

paper: $(PAPER) ## all tables and figures of the paper, into repro/pages: an hour on two cores; continues where it was interrupted, and then says so
	$(PAPER) all -o .campaigns/paper --stability repro/pages/stability-cells.csv
	find repro/pages -type f ! -name stability-cells.csv -delete
	find .campaigns/paper -maxdepth 1 -type f -exec cp {} repro/pages/ \;

paper-stability: $(PAPER) ## which cells rounding, the order of rows and the gap can change, into repro/pages/stability-cells.csv: half an hour; continues where it was interrupted
	$(PAPER) stability -o .campaigns/paper
	cp .campaigns/paper/stability-cells.csv repro/pages/

databases: ## the SQL sources in PostgreSQL, ClickHouse 18.16 and, in Python, DuckDB and the newest ClickHouse: ten minutes
	bash sql/scripts/install.sh
	bash integration/scripts/install.sh
	TOPTAU_EMBEDDED=1 go test -C sql -count 1 -timeout 30m ./...

duckdb: ## the SQL sources in the DuckDB that is linked into the tests: two minutes; needs gcc and downloads 130 MB
	@command -v gcc >/dev/null || { echo "gcc is missing: apt-get install -y gcc g++"; exit 1; }
	go vet -C sql -tags duckdb ./...
	CGO_ENABLED=1 go test -C sql -tags duckdb -count 1 -timeout 20m -v \
		-run 'TestDuckDB|TestAnswers/duckdb|TestOddNumbers//duckdb|TestOtherDatabases/DuckDB_file' ./engine ./cmd/toptau-sql

trino: ## the SQL sources in Trino 435, a coordinator and two workers of 1 GB each; needs Java 17 and Maven: ten minutes
	bash sql/scripts/trino.sh
	TOPTAU_TRINO=1 go test -C sql -count 1 -timeout 60m -v \
		-run 'TestTrino|TestRandomModelsInTrino|InTheirDatabases/Trino|OtherDatabases/Trino' ./dialect ./engine ./servers

spark: ## the SQL sources in Spark 3.5 with its Thrift server, in 1 GB; needs Java 17 and Python, downloads 320 MB: ten minutes
	bash sql/scripts/spark.sh
	TOPTAU_SPARK=1 go test -C sql -count 1 -timeout 60m -v \
		-run 'TestSpark|TestRandomModelsInSpark|InTheirDatabases/Spark|OtherDatabases/Spark|TestAnswers/spark|TestOddNumbers//spark|TestKDD/spark' \
		./dialect ./engine ./servers ./cmd/toptau-sql

