"""Runs statements in an embedded database: python run_statements.py duckdb|chdb

Reads one statement a line from standard input, as a JSON string, and answers each with a line of JSON: {"out": rows as lines of
fields separated by tabs, NULL as nothing} or {"error": message}. The statements are written by Go; this program only passes them on.
"""

import json
import sys
import tempfile


def duckdb():
    import duckdb

    connection = duckdb.connect()

    def cell(value):
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        return str(value)  # the shortest digits that give the same double

    def run(statement):
        rows = connection.execute(statement).fetchall()
        return "\n".join("\t".join(cell(value) for value in row) for row in rows)

    return run


def chdb(directory):
    from chdb import session

    database = session.Session(directory)

    def run(statement):
        answer = database.query(statement, "TabSeparated")
        return answer.data().rstrip("\n").replace("\\N", "") if answer is not None else ""

    return run


def main():
    with tempfile.TemporaryDirectory() as directory:
        run = duckdb() if sys.argv[1] == "duckdb" else chdb(directory)
        for line in sys.stdin:
            try:
                answer = {"out": run(json.loads(line))}
            except Exception as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)


main()
