package main

import (
	"flag"
	"os"
	"testing"

	"toptau/internal/app/cli/clitest"
)

var update = flag.Bool("update", false, "write docs/reference/sql.md")

// TestCommandReference compares docs/reference/sql.md with the flag parser.
func TestCommandReference(t *testing.T) {
	types, err := os.ReadFile("../../engine/testdata/types.txt") // written by the test TypesOfColumns
	if err != nil {
		t.Fatal(err)
	}
	toptau, err := os.ReadFile("../../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	clitest.CompareReference(t, app(), "../../../docs/reference/sql.md", referenceHead+string(types)+"\n", string(toptau), *update,
		"go test -C sql ./cmd/toptau-sql -run CommandReference")
}

func TestFlagsThatNameFilesHaveATag(t *testing.T) {
	clitest.CheckFileTags(t, app(), "model", "certificate")
}

// referenceHead is what the page has before the verbs.
const referenceHead = `# toptau-sql

` + "`toptau-sql VERB --help`" + ` prints the same. ` + "`make sql`" + ` builds bin/toptau-sql. [The guide](../guide/sql.md) shows it
in PostgreSQL, ClickHouse, Trino, Spark and DuckDB.

**The connection.** DATA is the kind of database alone, except duckdb:FILE, which names a file and needs nothing else. Connection strings come from environment variables (--dsn-env) or from a file that
other users cannot read (--dsn-file), because every user of a machine can read command lines. Several of them name servers that each
have a part of the rows. They appear in no output, model, report or error. A connection without encryption to another host is an
error unless --plain accepts it.

**DuckDB** is in builds by ` + "`make sql-duckdb`" + ` only. Others print statements for it (score --print) and refuse the rest.

**Spark** is reached through its Thrift server, with the protocol of HiveServer2. The connection string is
spark://user:password@host:10000/database. tls=true encrypts the connection, and ca=FILE names the certificates that are trusted. sasl=false is for servers
with NOSASL authentication, http=cliservice for those whose transport is HTTP. Kerberos is not supported.

**What is written.** Nothing, except by score --into, on a connection of its own. PostgreSQL runs all statements in one
read-only transaction and sees one snapshot. ClickHouse has the setting readonly=2. A file of
DuckDB is opened read-only, and no other process can write to it meanwhile. In Trino and Spark every statement is a SELECT, an EXPLAIN or
a question about columns, and the server's access control decides what else a user could do. The right to read the table is enough.

[What leaves the database](../guide/sql.md#what-leaves-the-database) is counted by every verb, and --json has the counts in [database](json.md#database).

**The key** is a column with a different value in every row: whole numbers or texts. NULL is an error. fit, train and verify fail if
rows have the same key. In PostgreSQL a primary key or a unique index of the column answers that from the catalogue. Elsewhere a
statement groups the rows of each server by their keys, 50 million rows at a time. The output and key_check in --json say which it was.
If the database refuses to group, for want of memory for example, the output notes it, and the verb goes on. Rows of different
servers with equal keys are found if a sample has them, and all verbs fail for a column of which a sample has repeated values.

**Parallel statements.** A server runs one statement at a time, and divides it among its own processors: PostgreSQL by its parallel
workers (max_parallel_workers_per_gather), ClickHouse, Trino and Spark always. Sums of doubles are then added in an order that differs from run
to run, so the last digits of a fit do, too. Its bounds hold either way. For equal bytes on one PostgreSQL server, set
max_parallel_workers_per_gather to 0 in the connection string.

**Changes while rows are read.** A snapshot hides them in PostgreSQL; if its session ends early, the checksum of all rows is compared. Elsewhere, also in Parquet files that DuckDB reads, rows with larger keys than at the start are left out,
and counts and checksums are compared at the end. A difference is an error, and nothing is written. Spark keeps a list of a table's files for
a session: files that are added are not read, and a file that is removed meanwhile is Spark's own error.

**Interruptions and lost servers.** A statement whose server was lost is repeated six times with growing pauses,
for three minutes, and every pause is announced. score --into writes the part of such a server again. All servers answer, or the verb fails. In PostgreSQL a shorter statement_timeout of the role stays in force, and the error names it. Ctrl-C cancels the statement. Files appear complete or not at all, and so does the table of --into.

**Scaling and samples.** A search, and the start of a fit, see a sample. Means, deviations, medians of --impute and categories are those of all rows, as
in a fit of a file: fit reads all rows once more for numbers, once for each categorical column, and about three times for each median. The knots of
scorecards come from the sample.

**Types of columns.** The table at the end of this head lists what becomes of each type. Booleans are the numbers 1 and 0, as in files.
An array of numbers is a column for each of its elements, at most 500; the guide has a statement for longer ones. All columns of
other types are refused at once, and --drop takes them as a list: --drop seen,payload.

Exit codes: 0 done; 1 data, database, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 the requested guarantee is
impossible; 130 interrupted.

`

// Every command of toptau-sql that a page names parses.
func TestCommandsInPages(t *testing.T) { clitest.CheckPages(t, "../../..", 15, app) }
