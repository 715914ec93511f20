"""Runs select.sql of each directory on its data.bin, in RowBinary: chdb_score.py DIR..."""
import os
import sys
import time

from chdb import session

connection = session.Session()
connection.query("SET max_threads = 1")
for folder in sys.argv[1:]:
    def read(name):
        with open(os.path.join(folder, name)) as f:
            return f.read()
    structure = read("structure")
    literal = structure.replace("\\", "\\\\").replace("'", "\\'")
    connection.query("DROP TABLE IF EXISTS rows")
    connection.query(f"CREATE TABLE rows ({structure}) ENGINE = Memory")
    connection.query(f"INSERT INTO rows SELECT * FROM file('{os.path.abspath(folder)}/data.bin', 'RowBinary', '{literal}')")
    statement = read("select.sql")
    start = time.process_time()
    result = connection.query(statement, "TSV").bytes()
    seconds = time.process_time() - start
    with open(os.path.join(folder, "answer.tsv"), "wb") as f:
        f.write(f"{seconds}\n".encode())
        f.write(result)
