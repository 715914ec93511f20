"""Runs statements in an embedded database: python run_statements.py duckdb|chdb|spark SETTING=VALUE...

Reads one statement a line from standard input, as a JSON string, and answers each with a line of JSON: {"rows": lists of
texts, NULL as null} or {"error": message}. The statements are written by Go; this program only passes them on.
"""

import json
import sys
import tempfile


def cell(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)  # the shortest digits that give the same double


def duckdb():
    import duckdb

    connection = duckdb.connect()

    def run(statement):
        return [[cell(value) for value in row] for row in connection.execute(statement).fetchall()]

    return run


def chdb(directory):
    from chdb import session

    database = session.Session(directory)

    database.query("SET output_format_json_quote_denormals = 1, output_format_json_quote_64bit_integers = 1")
    # as package engine sets them
    database.query("SET max_query_size = 67108864, max_ast_elements = 5000000, max_expanded_ast_elements = 10000000, max_ast_depth = 100000")

    def run(statement):
        answer = database.query(statement, "JSONCompactEachRow")
        lines = answer.data().splitlines() if answer is not None else []
        return [[cell(value) for value in json.loads(line)] for line in lines if line]

    return run


def spark(directory, settings):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    for setting in settings:
        builder = builder.config(*setting.split("=", 1))
    session = builder.config("spark.sql.warehouse.dir", directory).getOrCreate()
    # Its sessions see the same tables.
    thrift = session.sparkContext._jvm.org.apache.spark.sql.hive.thriftserver
    thrift.HiveThriftServer2.startWithContext(session._jsparkSession.sqlContext())

    def run(statement):
        return [[cell(value) for value in row] for row in session.sql(statement).collect()]

    return run


def main():
    with tempfile.TemporaryDirectory() as directory:
        if sys.argv[1] == "spark":
            run = spark(directory, sys.argv[2:])
        else:
            run = duckdb() if sys.argv[1] == "duckdb" else chdb(directory)
        for line in sys.stdin:
            try:
                answer = {"rows": run(json.loads(line))}
            except Exception as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)


main()
