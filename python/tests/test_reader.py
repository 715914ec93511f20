"""Tests of reader.py: python3 -m unittest, with the standard library alone. What needs numpy, pandas or scikit-learn is skipped
without them. integration/readers_test.go compares scores with toptau's own on many models."""

import copy
import datetime
import decimal
import hashlib
import json
import math
import os
import pickle
import random
import re
import sys
import time
import tracemalloc
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))  # after an installed wheel
from toptau import reader as toptau  # noqa: E402

TESTDATA = os.path.join(HERE, "..", "..", "model", "testdata")
try:
    import pandas
except ImportError:
    pandas = None
try:
    import sklearn
except ImportError:
    sklearn = None


def content(name):
    with open(os.path.join(TESTDATA, name + ".json"), "rb") as f:
        return f.read()


def model(name="complete"):
    return toptau.Model(os.path.join(TESTDATA, name + ".json"))


def sealed(text):
    """Returns a model file with a new digest and a new checksum."""
    text = text.encode("utf-8", "surrogatepass")
    found = re.search(rb'(?s)(.*\n)"digest": "sha256:([0-9a-f]*)"', text)
    return resummed(text[:found.start(2)] + hashlib.sha256(found[1]).hexdigest().encode() + text[found.end(2):] if found else text)


def resummed(text):
    """Returns a model file with a new checksum alone."""
    text = text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
    body = text[: text.rindex('"checksum"')].encode("utf-8", "surrogatepass")
    return body + b'"checksum": "sha256:' + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'


def changed(name, old, new):
    text = content(name).decode()
    assert old in text, old
    return sealed(text.replace(old, new, 1))


class Scores(unittest.TestCase):
    def test_by_hand(self):
        m = model()

        def scaled(x):
            return toptau.struct.unpack("f", toptau.struct.pack("f", (x - 5) / math.sqrt(5)))[0] * (1 / 3)

        for bytes_, service, want in [
            ("5", "http", 0.125 - 0.25), ("7.5", "http", scaled(7.5) + 0.125 - 0.25), (" +1e1\t", "http", scaled(10) + 0.125 - 0.25),
            (7.5, "http", scaled(7.5) + 0.125 - 0.25), (5, "unheard of", -0.25), ("", "http", -2 + 0.125 - 0.25), (" NA ", "http", -2 + 0.125 - 0.25),
            (None, "http", -2 + 0.125 - 0.25), (math.nan, "http", -2 + 0.125 - 0.25), (5.0, None, 0.5 - 0.25), ("5", " NA ", 0.5 - 0.25),
            ("NaN", " http\t", -2 + 0.125 - 0.25), (" True", "http ", scaled(1) + 0.125 - 0.25), ("f", "http", scaled(0) + 0.125 - 0.25),
            ("5", 'f<t>p "ü"', 1e-17 - 0.25), (True, "http", scaled(1) + 0.125 - 0.25),
        ]:
            record = {"bytes": bytes_, "service": service, "zero": 0, "label": "normal"}
            self.assertEqual(m.score(record), want, record)
            self.assertEqual(m.score([bytes_, service, "0"]), want, record)
            del record["zero"]  # constant in training
            self.assertEqual(m.score(record), want, record)
            for rows in ([record], record, iter([record] * 70), [[bytes_, service, 0]] * 70):
                self.assertEqual(set(m.decision_function(rows)), {want}, record)

    def test_every_file(self):
        for name in ("plain", "complete", "columns", "redacted"):
            m = model(name)
            self.assertEqual(len(m.columns), 3, name)
            self.assertEqual(m.digest, "sha256:" + re.search(rb'sha256:([0-9a-f]+)"\n}\n$', content(name))[1].decode())

    def test_errors_name_row_column_and_remedy(self):
        m, row = model(), {"bytes": "5", "service": "http", "zero": "0"}
        for rows, want in [
            ([row, {"service": "x"}], 'row 2: rows without "bytes", expected the 2 columns that the model needs'),
            ([row, {**row, "bytes": "many"}], 'row 2: column "bytes": "many", expected a number'),
            ([{**row, "bytes": "inf"}], 'column "bytes": "inf", expected a number'),
            ([{**row, "bytes": "0x10"}], "expected a number"), ([{**row, "bytes": "1_0"}], "expected a number"),
            ([{**row, "bytes": "٣"}], "expected a number"), ([{**row, "bytes": "1\n"}], "expected a number"),
            ([{**row, "bytes": "5" + ".0".ljust(4096, "0")}], "expected a number"),
            ([{**row, "bytes": "1e999"}], "expected a number"), ([{**row, "bytes": math.inf}], "expected a finite number"),
            ([{**row, "bytes": 10**400}], "expected a number"), ([{**row, "bytes": [1]}], "expected a number"),
            ([{**row, "service": b"http"}], "expected a text or a number"), ([{**row, "bytes": 1e300}], "too large to be scored"),
            ([{**row, "zero": "x"}], 'column "zero": "x"'), ([[1, 2]], "rows of 2 values, expected 3"), ([1, 2], "rows of type int"),
            (["ab"], "rows of type str"), ([[1, 2, 3], [1]], "rows of different lengths"),
        ]:
            for many in (rows, [row] * 70 + rows if rows[0].__class__ is dict else rows):
                with self.assertRaises(toptau.Error) as e:
                    m.decision_function(many)
                self.assertIn(want[7:] if want.startswith("row 2") else want, str(e.exception))
                if isinstance(many[0], dict):
                    self.assertEqual(e.exception.row, len(many), rows)
        self.assertEqual(m.score({**row, "bytes": " 5" + ".0".ljust(4095, "0") + " "}), m.score(row))  # the longest number, and blanks
        with self.assertRaises(toptau.Error) as e:
            model("columns").score({"at": "2024-05-31", "src": "10.0.0.1", "agent": ""})
        self.assertIn("a missing value, expected a category (train with --impute", str(e.exception))
        self.assertIsInstance(pickle.loads(pickle.dumps(e.exception)), toptau.Error)

    def test_points_and_segments(self):
        m = model()
        self.assertEqual(list(m.points), ["default", "per id"])
        self.assertEqual(m.points["per id"].segments, {"a": 2.0, "b": 3.0})
        self.assertEqual(m.point().guarantee["delta"], "0.05")
        rows = [{"bytes": b, "service": "http", "zero": 0, "id": i} for b, i in [(30, "a"), (20, "a"), (30, "b"), (20, "c"), (0, None)]]
        self.assertEqual(list(m.predict(rows)), [True, True, True, True, False])
        self.assertEqual(list(m.predict(rows, at="per id")), [True, True, True, True, False])
        rows = [{**r, "bytes": 12} for r in rows]
        self.assertEqual(list(m.predict(rows, at="per id")), [s > t for s, t in zip(m.decision_function(rows), [2, 2, 3, 1, 1])])
        for call, want in [(lambda: m.predict(rows, at="none"), '"none", expected one of its operating points: "default", "per id"'),
                           (lambda: m.predict([{k: v for k, v in rows[0].items() if k != "id"}], at="per id"), 'rows without "id"')]:
            with self.assertRaisesRegex(toptau.Error, re.escape(want)):
                call()

    def test_probabilities(self):
        m = model()
        rows = [{"bytes": b, "service": "http", "zero": 0} for b in (-100, 5, 10, 100)]
        p = [pair[1] for pair in m.predict_proba(rows)]
        self.assertEqual((round(p[0], 12), round(p[3], 12)), (0.01, 0.75))
        self.assertTrue(p[0] < p[1] < p[2] < p[3])
        self.assertTrue(all(a < b for a, b in zip([q[1] for q in m.predict_proba(rows, prevalence=0.01)], p)))
        for bad in (0, 1, -1):
            self.assertRaises(toptau.Error, m.predict_proba, rows, bad)
        self.assertFalse(model("columns").has_probability)
        self.assertRaises(toptau.Error, model("columns").predict_proba, [])

    @unittest.skipUnless(toptau.np, "numpy is not installed")
    def test_trees_of_any_size_in_batches(self):
        """Many rows have the leaves that each has alone: in trees of 1 to 300 leaves, with missing values, ties and more than 256 thresholds."""
        np, draw = toptau.np, random.Random(3)

        def tree(leaves):
            ask, at, open_leaves = [], [], [leaves]
            while open_leaves:
                n = open_leaves.pop()
                ask.append(-1 if n == 1 else draw.randrange(3))
                if n > 1:
                    at.append(draw.choice([0, 1, -0.5, draw.gauss(0, 1)]))
                    left = draw.randrange(1, n)
                    open_leaves += [n - left, left]
            return {"ask": ask, "at": at, "missing_left": draw.sample(range(len(at)), len(at) // 3), "mass": [1] * leaves,
                    "weights": [draw.gauss(0, 1) for _ in range(leaves)]}

        program = types.SimpleNamespace(columns=[0, 1, 2], derived=[], texts={2: {"categories": ["a", "b"]}})
        term = toptau._Trees({"inputs": [0, 1, 2], "codes": [{"input": 2, "values": [0.5, 2], "unknown": 0}],
                              "trees": [tree(leaves) for leaves in [1, 2, 3, 16, 64, 256, 257, 300] for _ in range(3)]}, program)
        values = [[draw.choice([0.0, 1.0, toptau.NAN, toptau.INF, draw.gauss(0, 1)]) for _ in range(500)] for _ in range(2)]
        codes = [draw.choice([0, 1, -1, -2]) for _ in range(500)]
        many = term.add_rows([np.array(values[0]), np.array(values[1]), np.array(codes)], np.zeros(500))
        for row in range(500):
            one = 0.0
            for product in term.products([values[0][row], values[1][row], codes[row]]):
                one += product
            self.assertEqual(many[row], one)

    def test_explanation(self):
        e = model().explain({"bytes": "7.5", "service": None, "zero": 0})
        self.assertEqual(sorted(r.column for r in e.reasons), ["bytes", "service"])
        self.assertGreaterEqual(abs(e.reasons[0].above_average), abs(e.reasons[1].above_average))
        self.assertEqual((e.missing, e.unknown, e.offset), (["service"], [], -0.25))
        self.assertEqual(sum(r.adds for r in e.reasons) + e.offset + e.rounding, e.score)
        self.assertEqual(model().explain({"bytes": 5, "service": "?", "zero": 0}).unknown, ["service"])

    def test_units(self):
        kind = '"number":1,"kind":"numeric"'
        m = toptau.Model.from_bytes(sealed(content("complete").decode().replace(kind, kind + ',"unit":"$"')))
        for value in ("$ 7.5", "7.5$", "+$7.5", 7.5):
            self.assertEqual(m.score({"bytes": value, "service": "http", "zero": 0}), model().score({"bytes": 7.5, "service": "http", "zero": 0}))
        with self.assertRaisesRegex(toptau.Error, "with or without [$]"):
            m.score({"bytes": "7.5 €", "service": "http", "zero": 0})
        with self.assertRaisesRegex(toptau.Error, 'column "bytes"'):
            toptau.Model.from_bytes(sealed(content("complete").decode().replace(kind, kind + ',"unit":"x"')))

    def test_nested_names_as_in_json_lines(self):
        text = content("complete").decode().replace('"name":"bytes"', '"name":"flow.bytes"')
        m = toptau.Model.from_bytes(sealed(text))
        record = {"flow": {"bytes": 7.5}, "service": "http", "zero": 0}
        self.assertEqual(m.score(record), model().score({"bytes": 7.5, "service": "http", "zero": 0}))
        self.assertEqual(set(m.decision_function([record] * 70)), {m.score(record)})
        for padded in ({" flow": {"bytes ": 7.5}, "\tservice": "http"}, {" flow.bytes ": 7.5, "service": "http", " zero": 0}):
            self.assertEqual(m.score(padded), m.score(record))
            self.assertEqual(set(m.decision_function([padded] * 70)), {m.score(record)})
        with self.assertRaisesRegex(toptau.Error, 'rows without "flow.bytes"'):
            m.score({" flow": {" bytes": 7.5}, "service": "http"})


class Values(unittest.TestCase):
    def test_numbers_as_categories(self):
        for x, want in [(80.0, "80"), (-1.5, "-1.5"), (1e22, "1" + "0" * 22), (1e-7, "0.0000001"), (-0.0, "0"), (1e6, "1000000"), (123456789.25, "123456789.25"), (0.1, "0.1")]:
            self.assertEqual(toptau._plain(x), want)
        self.assertEqual([toptau._text(v) for v in (80, 2**70, True, None, math.nan, "x")], ["80", str(2**70), "true", "", "", "x"])

    def test_a_number_is_one_category_however_it_is_written(self):
        for known, unknown in (("3", "3.0"), ("3.0", "3")):
            m = toptau.Model.from_bytes(sealed(content("complete").decode().replace('"http"', f'"{known}"').replace('http', known)))
            want = m.score({"bytes": 5, "service": known, "zero": 0})
            for value in (3, 3.0, decimal.Decimal("3"), decimal.Decimal("3.00")):
                self.assertEqual(m.score({"bytes": 5, "service": value, "zero": 0}), want, (known, value))
            self.assertNotEqual(m.score({"bytes": 5, "service": unknown, "zero": 0}), want)  # a text is what is written
            self.assertEqual(m.score({"bytes": 5, "service": 4.0, "zero": 0}), m.score({"bytes": 5, "service": "4", "zero": 0}))

    def test_times(self):
        hour, day, seconds = (lambda text, p=p: toptau._time_part(p, 0, toptau._parse_time(text)) for p in ("hour", "day", "seconds"))
        self.assertEqual((hour("2024-02-29T23:59:59.5+02:00"), day("2024-02-29 23:59"), seconds("1970-01-01 00:00:01.25")), (23, 29, 1.25))
        self.assertEqual(seconds("2024-05-31T01:00:00+02:00"), seconds("2024-05-30 23:00:00Z"))
        self.assertEqual(seconds("1717113600000"), seconds("2024-05-31"))
        for text in ("2023-02-29", "2024-13-01", "2024-01-01T24:00:00", "2024-01-01 10:00Z", "2024-01-01 10:00:00.", "2024-01-01 10:00:00+24:00",
                     "x", "", "1e30", "2024-1-1", "2024-01-01\n"):
            self.assertIsNone(toptau._parse_time(text), text)
        for moment in (datetime.datetime(1999, 12, 31, 5, 6, 7), datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)):
            self.assertEqual(day(str(moment)), moment.day)
            self.assertEqual(seconds(str(moment)), moment.replace(tzinfo=datetime.timezone.utc).timestamp())

    def test_addresses(self):
        for part, text, want in [("/8", "10.1.2.3", "10.0.0.0/8"), ("/16", " 10.1.2.3 ", "10.1.0.0/16"), ("/24", "2001:db8::1", "2001:db8::/64"),
                                 ("/8", "::ffff:1.2.3.4", "1.0.0.0/8"), ("range", "fe80::1%eth0", "link-local"), ("range", "172.31.0.1", "private"),
                                 ("range", "172.32.0.1", "public"), ("range", "::1", "loopback"), ("range", "ff02::1", "multicast"), ("range", "100.64.0.1", "public"),
                                 ("/8", "1.2.3", None), ("/8", "01.2.3.4", None), ("/8", "1.2.3.4%e", None), ("/8", "::1%", None), ("/8", "x", None)]:
            self.assertEqual(toptau._address_part(part, text), want, text)

    def test_parts_of_columns(self):
        m = model("columns")
        self.assertEqual(m.columns, ["at", "src", "agent"])
        record = {"at": "2024-05-31 13:00:00", "src": "10.1.2.3", "agent": "agent 0"}
        want = m.score(record)
        moment = datetime.datetime(2024, 5, 31, 13)
        for at in (moment, "2024-05-31T13:00:00Z", 1717160400, 1717160400e3, "1717160400"):
            self.assertEqual(m.score({**record, "at": at}), want, at)
            self.assertEqual(set(m.decision_function([{**record, "at": at}] * 70)), {want}, at)
        for bad, text in [({"at": "noon"}, "expected a time such as"), ({"src": "host"}, "expected an IP address")]:
            with self.assertRaisesRegex(toptau.Error, text):
                m.score({**record, **bad})

    def test_bools_are_categories_in_the_spelling_of_training(self):
        for spelling in ("True", "TRUE", "true"):
            m = toptau.Model.from_bytes(sealed(content("complete").decode().replace('"http"', f'"{spelling}"')))
            row = {"bytes": 5, "service": spelling, "zero": 0}
            self.assertEqual(m.score({**row, "service": True}), m.score(row))
            self.assertNotEqual(m.score({**row, "service": False}), m.score(row))
        m = toptau.Model.from_bytes(sealed(content("complete").decode().replace('"http","f<t>p \\"ü\\""', '"True","true"').replace("http", "True").replace('f<t>p \\"ü\\"', "true")))
        with self.assertRaisesRegex(toptau.Error, "several spellings"):
            m.score({"bytes": 5, "service": True, "zero": 0})


class Files(unittest.TestCase):
    def refused(self, data, text="edited or damaged"):
        started = time.process_time()
        with self.assertRaises(toptau.Error) as e:
            toptau.Model.from_bytes(data, "m.json")
        self.assertIn(text, str(e.exception))
        self.assertTrue(str(e.exception).startswith("m.json: "))
        self.assertLess(time.process_time() - started, 60)

    def test_other_files(self):
        self.refused(b"", "an empty file, not a toptau model")
        self.refused(b"{}", "not a toptau model")
        self.refused(b'{\n"toptau_model": 3,\n', "format 3, this reader reads format 1")
        with self.assertRaisesRegex(toptau.Error, "no-such-file: the model cannot be read"):
            toptau.Model("no-such-file")
        with self.assertRaisesRegex(toptau.Error, "not a toptau model"):
            toptau.Model(os.devnull if not os.path.exists("/dev/zero") else "/dev/zero")

    def test_every_damaged_byte(self):
        data, r = content("complete"), random.Random(1)
        for i in range(0, len(data), 7):
            damaged = bytearray(data)
            damaged[i] ^= 1 << r.randrange(8)
            self.refused(bytes(damaged), "m.json: ")
        for n in range(0, len(data), 97):
            self.refused(data[:n], "m.json: ")
        self.refused(data + b"\n")

    def test_edits_with_a_new_checksum(self):
        for old, new in [
            ("[0.3333333333333333]", "[0.3333333333333334]"),  # a weight: a probe row differs
            ('"offset":-0.25', '"offset":-0.5'), ('"shift":[5]', '"shift":[5.0]'), ('"shift":[5]', '"shift":[ 5]'), ('"shift":[5]', '"shift":[5,6]'),
            ('"shift":[5]', '"shift":[1e999]'), ('"shift":[5]', '"shift":[NaN]'), ('"shift":[5]', '"shift":["5"]'), ('"shift":[5]', '"shift":[true]'),
            ('"scale":[2.23606797749979]', '"scale":[0]'), ('"scale":[2.23606797749979]', '"scale":[-1]'), ('"inputs":[0]', '"inputs":[1]'),
            ('"inputs":[0]', '"inputs":[9]'), ('"inputs":[0]', '"inputs":[-1]'), ('"input":1', '"input":7'), ('"missing":true', '"missing":1'),
            ('{"levels":', '{"future":'), ('"missing":"indicator"', '"missing":"guess"'), ('"texts"', '"text"'), ('{"input":1', '{"input":1,"input":1'),
            ('"weights":[-2]', '"weights":[-2,1]'), ('"weights":[-2]', '"weights":[]'), ('{"levels":', '{"cards":[],"levels":'), ('"toptau_model": 1', '"toptau_model": 2'), ('"points": [', '"point": ['),
            ('"score":-0.125', '"score":-0.126'), ('"http"', '"ht\\u0074p"'), ('"http"', '"ht\\/tp"'), ('"threshold":0.1', '"threshold":1e-1'),
            ('"schema": {', '"schema":  {'), ('"program": {', '"extra": 1,\n"program": {'),
            (re.search('"program": .*\n', content("complete").decode())[0], ""), ('"offset":-0.25', '"offset":-0.25,"extra":1'), ('"name":"per id"', '"name":"default"'),
        ]:
            with self.subTest(new):
                self.refused(changed("complete", old, new), "m.json: ")
        for old, new in [("1e-17", "1.0001e-17"), ('"name":"bytes"', '"name":"octets"'), ('"dropped":[{"column":2', '"dropped":[{"column":1')]:
            self.refused(resummed(content("complete").decode().replace(old, new)), "edited or damaged")
            toptau.Model.from_bytes(changed("complete", old, new))  # another model

    def test_escapes(self):
        for code in ("007f", "009b", "061c", "200e", "202e", "2069"):  # toptau escapes what controls a terminal
            m = toptau.Model.from_bytes(sealed(content("complete").decode().replace('"http"', f'"\\u{code}"')))
            self.assertEqual(m.score({"bytes": 5.0, "service": chr(int(code, 16))}), model().score({"bytes": 5.0, "service": "http"}))

    def test_hostile_files(self):
        text = content("complete").decode()
        start, rest = text.split('"program": ')[0] + '"program": ', "\n" + text.split("\n", 5)[5]
        many = 1 << 18
        for features in ("[" * many + "]" * many, '{"a":' * many + "1" + "}" * many, "9" * many, '"' + "\\\\" * many + '"', "[" + "[]," * many + "[]]",
                         "{" + ",".join(f'"{i}":0' for i in range(many)) + "}", "-" * many, '"' * (many + 1)):
            self.refused(sealed(start + features + "," + rest), "m.json: ")
        self.refused(sealed(re.sub(r'"probes": \[\n', '"probes": [\n' + '{"fields":["5","http","0"],"score":-0.125},\n' * 100, text)), "probe rows")
        deep = {"ask": [0] * 50000 + [-1] * 50001, "at": list(range(50000)), "mass": [1] * 50001, "weights": [1] * 50001}
        trees = {"missing": "indicator", "columns": [0], "terms": [{"trees": {"inputs": [0], "trees": [deep]}}], "offset": 0}
        self.refused(sealed(re.sub('"averages": .*\n', "", start + json.dumps(trees, separators=(",", ":")) + "," + rest)), "probe row 1 scores")

    def test_memory_is_bounded(self):
        text = content("complete").decode()
        line = "[" + ",".join(['{"a":1}'] * 100000) + "]"
        data = sealed(text.replace('"weights":[-2]', '"weights":' + line))
        tracemalloc.start()
        try:
            self.refused(data, "not a list of numbers")
            self.assertLess(tracemalloc.get_traced_memory()[1], 40 * len(data))
        finally:
            tracemalloc.stop()

    def test_the_limit(self):
        before, toptau.MAX_BYTES = toptau.MAX_BYTES, 1000
        try:
            with self.assertRaisesRegex(toptau.Error, "more than 1,000 bytes"):
                model()
        finally:
            toptau.MAX_BYTES = before


class Neighbours(unittest.TestCase):
    rows = [{"bytes": float(i % 50), "service": ["http", "smtp", None][i % 3], "zero": i % 2, "id": "ab"[i % 2]} for i in range(500)]

    def test_pickle_and_copy(self):
        m = model()
        for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), copy.copy(m)):
            self.assertEqual(other.digest, m.digest)
            self.assertEqual(list(other.decision_function(self.rows)), list(m.decision_function(self.rows)))
        self.assertIn("3 columns", repr(m))

    def test_without_numpy(self):
        want, np, toptau.np = list(model().decision_function(self.rows)), toptau.np, None
        try:
            m = model()
            self.assertEqual(m.decision_function(self.rows), want)
            self.assertEqual(m.predict(self.rows, at="per id"), [z > {"a": 2, "b": 3}[r["id"]] for z, r in zip(want, self.rows)])
            self.assertEqual(len(m.predict_proba(self.rows)[0]), 2)
        finally:
            toptau.np = np

    @unittest.skipUnless(toptau.np, "numpy is not installed")
    def test_arrays(self):
        import numpy as np

        m, want = model(), list(model().decision_function(self.rows))
        table = np.array([[r[c] for c in m.columns] for r in self.rows], dtype=object)
        self.assertEqual(list(m.decision_function(table)), want)
        self.assertEqual(m.decision_function(table[:0]).shape, (0,))
        numbers = np.array([[i % 9, 80, 0] for i in range(200)], dtype=np.int64)
        for kind in (np.int64, np.uint8, np.float32, np.float64, object):
            self.assertEqual(list(m.decision_function(numbers.astype(kind))), [m.score([float(x) for x in row]) for row in numbers], kind)
        with self.assertRaisesRegex(toptau.Error, "an array of 1 dimensions, expected 2"):
            m.decision_function(np.zeros(3))
        with self.assertRaisesRegex(toptau.Error, "row 101: column \"bytes\": inf"):
            bad = numbers.astype(float)
            bad[100, 0] = math.inf
            m.decision_function(bad)

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_frames(self):
        m, want = model(), list(model().decision_function(self.rows))
        frame = pandas.DataFrame(self.rows)
        for f in (frame, frame.astype({"bytes": "Float64", "zero": "Int8", "service": "string"}), frame.astype({"service": "category"}),
                  frame[["zero", "id", "service", "bytes"]], frame.astype({"bytes": "float32"}), frame.astype({"zero": bool})):
            self.assertEqual(list(m.decision_function(f)), want)
            self.assertEqual(list(m.decision_function(f[:10])), want[:10])
        self.assertEqual(m.score(frame.iloc[0]), want[0])
        self.assertEqual(len(frame[m.predict(frame)]), sum(z > 0.1 for z in want))
        self.assertEqual(list(m.decision_function(frame.rename(columns={"bytes": " bytes", "service": "service\t"}))), want)
        with self.assertRaisesRegex(toptau.Error, "two columns of this name"):
            m.decision_function(frame.assign(**{" bytes": 0}))
        with self.assertRaisesRegex(toptau.Error, 'rows without "bytes"'):
            m.decision_function(frame[["service", "zero"]])
        with self.assertRaisesRegex(toptau.Error, "two columns of this name"):
            m.decision_function(pandas.concat([frame, frame], axis=1))
        times = pandas.DataFrame({"at": pandas.date_range("2024-05-31 13:00", periods=100, freq="h"), "src": "10.0.0.1", "agent": "agent 0"})
        want = [model("columns").score({**r, "at": str(r["at"])}) for r in times.to_dict("records")]
        for f in (times, times.assign(at=times["at"].dt.tz_localize("UTC"))):
            self.assertEqual(list(model("columns").decision_function(f)), want)

    @unittest.skipUnless(sklearn and pandas, "scikit-learn is not installed")
    def test_scikit_learn(self):
        from sklearn.base import clone
        from sklearn.frozen import FrozenEstimator
        from sklearn.metrics import get_scorer
        from sklearn.model_selection import cross_validate
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer

        m, frame = model(), pandas.DataFrame(self.rows)
        y = [int(r["bytes"] > 20) for r in self.rows]
        self.assertEqual(clone(m).digest, m.digest)
        with self.assertRaisesRegex(toptau.Error, "TopTauClassifier"):
            m.fit(frame, y)
        pipeline = make_pipeline(FunctionTransformer(lambda f: f.assign(bytes=f["bytes"] + 0)), FrozenEstimator(m)).fit(frame, y)
        self.assertEqual(list(pipeline.decision_function(frame)), list(m.decision_function(frame)))
        self.assertEqual(pipeline.predict_proba(frame).shape, (500, 2))
        for name in ("roc_auc", "average_precision", "f1", "neg_log_loss"):
            self.assertTrue(math.isfinite(get_scorer(name)(pipeline, frame, y)), name)
        self.assertEqual(len(cross_validate(pipeline, frame, y, scoring="roc_auc", cv=3)["test_score"]), 3)


if __name__ == "__main__":
    unittest.main()
