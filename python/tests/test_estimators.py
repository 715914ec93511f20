"""Tests of the estimators: python -m pytest python/tests. They need scikit-learn, pytest and, in TOPTAU or installed, the program. What
needs pandas, polars, pyarrow, xgboost or LightGBM is skipped without them."""

import inspect
import json
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn", "1.6")
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(PACKAGE)  # after an installed wheel
from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import toptau  # noqa: E402
from toptau import Error, GuaranteedThreshold, TopTauClassifier, TopTauWarning, calibration, command, estimators, frames, parquet  # noqa: E402

QUICK = dict(max_fpr="5%", method="logistic", encoding="raw", n_jobs=1, verbose=False)


@pytest.fixture(autouse=True)
def expected_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=TopTauWarning)
        yield


def drawn(n=400, columns=4, seed=1):
    r = np.random.default_rng(seed)
    y = (r.random(n) < 0.2).astype(int)
    X = r.normal(size=(n, columns))
    X[:, 0] += 2 * y
    return X, y


def mixed(n=400):
    """Returns columns of every kind, by name, and labels."""
    pandas = pytest.importorskip("pandas")
    r = np.random.default_rng(3)
    X, y = drawn(n)
    number = X[:, 0].copy()
    number[5] = np.nan
    return pandas.DataFrame({
        "number": number, "single": X[:, 1].astype("f4").astype("f8"), "whole": r.integers(-9, 9, n), "unsigned": r.integers(0, 9, n).astype("u8"),
        "truth": r.random(n) < 0.5, "text": r.choice(["http", "smtp", "ü, \"x\""], n), "absent": [None if i % 7 == 0 else "ab"[i % 2] for i in range(n)],
        "kind": pandas.Categorical(r.choice(["x", "y"], n)), "at": pandas.date_range("2024-01-01", periods=n, freq="h"),
        "nullable": pandas.array([None if i % 5 == 0 else int(i % 3) for i in range(n)], dtype="Int64"),
        "maybe": pandas.array([None if i % 9 == 0 else i % 2 == 0 for i in range(n)], dtype="boolean"),
    }), y


def toptau_command(*args):
    return subprocess.run([command.executable(), *args], capture_output=True, text=True, check=True).stdout


def without_file(model):
    """Returns a model without what names its training file: format and digest."""
    m = json.loads(model)
    del m["schema"]["format"], m["training"]["digest"], m["checksum"]
    return m


def test_every_option_of_train_is_a_keyword():
    options = set(re.findall(r"^(?:  |  -[a-z], |      )--([a-z-]+)", toptau_command("train", "--help-all"), re.M))
    keywords = {command.option(name) for name in inspect.signature(TopTauClassifier).parameters}
    excluded = {name.replace("_", "-") for name in estimators.NOT_KEYWORDS}
    assert len(options) > 50
    assert keywords & excluded == set()
    assert keywords | excluded == options | {"pos-label"}


def test_goals_of_precision_and_recall():
    X, _ = drawn(400)
    y = np.where(X[:, 0] > np.quantile(X[:, 0], 0.8), "yes", "no")
    for goal in (dict(min_precision="80%"), dict(min_recall="90%"), dict(min_precision="60%", min_recall="60%")):
        alerts, real = TopTauClassifier(**{**QUICK, "max_fpr": None, **goal}).fit(X, y).predict(X) == "yes", y == "yes"
        assert (alerts & real).sum() >= 0.55 * alerts.sum() > 0 and (alerts & real).sum() >= 0.55 * real.sum()


def test_a_frame_trains_the_model_of_its_file(tmp_path):
    X, y = mixed()
    options = dict(QUICK, encoding="raw,scorecard", impute="indicator")
    model = TopTauClassifier(**options).fit(X, y)
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    toptau_command("train", str(tmp_path / "rows.csv"), "--label", "label", "--max-fpr", "5%", "--method", "logistic", "--encoding", "raw,scorecard",
                   "--impute", "indicator", "-q", "-o", str(tmp_path / "m.json"))
    assert without_file(model.model_.to_bytes()) == without_file((tmp_path / "m.json").read_bytes())
    model.save(tmp_path / "saved.json")
    lines = toptau_command("score", str(tmp_path / "saved.json"), str(tmp_path / "rows.csv")).split()[1:]
    assert [float(line.split(",")[1]) for line in lines] == model.score_samples(X).tolist()
    assert [int(line.split(",")[2]) for line in lines] == model.predict(X).tolist()


def test_every_kind_of_table_trains_the_same_model():
    X, y = mixed()
    options = dict(QUICK, impute="indicator")
    want = TopTauClassifier(**options).fit(X, y).model_.to_bytes()
    tables = {"records": X.astype(object).where(X.notna(), None).to_dict("records")}
    try:
        import polars

        tables["polars"] = polars.DataFrame({c: X[c].astype(object).where(X[c].notna(), None).tolist() for c in X.columns})
    except ImportError:
        pass
    try:
        import pyarrow

        tables["pyarrow"] = pyarrow.Table.from_pandas(X)
        tables["a reader"] = pyarrow.Table.from_pandas(X).to_reader()
    except ImportError:
        pass
    for name, table in tables.items():
        model = TopTauClassifier(**options).fit(table, y)
        assert model.model_.to_bytes() == want or without_file(model.model_.to_bytes()) == without_file(want), name
        if name != "a reader":
            assert (model.predict(table) == TopTauClassifier(**options).fit(X, y).predict(X)).all(), name
    numbers = X[["single", "whole"]].to_numpy()
    array = TopTauClassifier(**QUICK).fit(numbers, y)
    assert TopTauClassifier(**QUICK).fit(numbers.tolist(), y).model_.to_bytes() == array.model_.to_bytes()
    assert TopTauClassifier(**QUICK).fit(X[["single", "whole"]].set_axis([0, 1], axis=1), y).model_.columns == ["x0", "x1"]


def test_labels_of_every_kind():
    X, y = drawn()
    want = TopTauClassifier(**QUICK).fit(X, y)
    for classes in (["ham", "spam"], [False, True], [-1, 1], [2.0, 7.0], ["!a", "b"]):
        model = TopTauClassifier(**QUICK).fit(X, np.array(classes)[y])
        assert list(model.classes_) == classes
        assert (model.predict(X) == np.array(classes)[want.predict(X)]).all()
        assert (model.decision_function(X) == want.decision_function(X)).all()
    for bad in (np.zeros(len(y)), np.arange(len(y)) % 3, None, y[1:]):
        with pytest.raises(ValueError):
            TopTauClassifier(**QUICK).fit(X, bad)


@pytest.mark.parametrize("classes", [["fraud", "legit"], [-1, 1], [1, 2], [2.0, 7.0], [False, True]], ids=str)
def test_a_rare_class_that_is_first_must_be_named(classes, tmp_path):
    X, y = drawn()
    rare, other = classes
    labels = np.where(y, rare, other)
    for make in (lambda **o: TopTauClassifier(**QUICK, **o), lambda **o: GuaranteedThreshold(GaussianNB(), max_fpr="5%", **o)):
        if classes == [0, 1]:
            with pytest.warns(TopTauWarning, match="pos_label=False"):
                make().fit(X, labels)
        else:
            with pytest.raises(Error) as e:
                make().fit(X, labels)
            assert str(int(y.sum())) in str(e.value) and str(int((1 - y).sum())) in str(e.value) and "pos_label=" in str(e.value)
        want, model = make().fit(X, y), make(pos_label=rare).fit(X, labels)
        assert list(model.classes_) == classes
        assert (model.predict(X) == np.where(want.predict(X), rare, other)).all() and 0 < (model.predict(X) == rare).sum() < 200
        # scikit-learn's scorers expect the sign and the columns of classes_.
        assert np.allclose(model.decision_function(X), -want.decision_function(X))
        assert np.allclose(model.predict_proba(X), want.predict_proba(X)[:, ::-1])
        assert cross_val_score(make(pos_label=rare), X, labels, cv=2, scoring="roc_auc").mean() > 0.7
        assert (make(pos_label=other).fit(X, labels).predict(X) == other).any()  # if somebody means it
        with pytest.raises(Error, match="pos_label='spam', expected one of the classes"):
            make(pos_label="spam").fit(X, labels)
    model = TopTauClassifier(**QUICK, pos_label=rare).fit(X, labels)
    model.save(tmp_path / "m.json")
    header = ",".join(model.model_.columns) + ",label\n"
    texts = [str(v).lower() if isinstance(v, (bool, np.bool_)) else str(v) for v in labels]
    (tmp_path / "rows.csv").write_text(header + "".join(",".join(map(repr, x)) + f",{t}\n" for x, t in zip(X.tolist(), texts)))
    assert f"400 rows, {y.sum()} positive" in toptau_command("evaluate", str(tmp_path / "m.json"), str(tmp_path / "rows.csv"))  # the file's labels


def test_a_more_frequent_positive_class():
    X, y = drawn()
    even = np.where(np.arange(len(y)) % 9 < 5, "yes", "no")
    for make in (lambda **o: TopTauClassifier(**QUICK, **o), lambda **o: GuaranteedThreshold(GaussianNB(), max_fpr="5%", **o)):
        with pytest.warns(TopTauWarning, match='"yes" .224 rows. as the positive class') as found:
            make().fit(X, even)
        assert found[0].message.code == "positive-class" and found[0].filename == __file__
        for quiet in (make(pos_label="yes"), make(pos_label="no")):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                quiet.fit(X, even)
            assert not [w for w in found if getattr(w.message, "code", "") == "positive-class"]


def test_texts_that_are_numbers():
    pandas = pytest.importorskip("pandas")
    X, y = drawn()
    numbers = pandas.DataFrame({"a": X[:, 0].round(3), "b": X[:, 1].round(1)})
    texts = numbers.astype({"a": str})
    want = TopTauClassifier(**QUICK).fit(numbers, y)
    with pytest.warns(TopTauWarning, match='column "a" has texts that are numbers, and is read as numeric .set categorical="a"'):
        model = TopTauClassifier(**QUICK).fit(texts, y)
    assert (model.score_samples(texts) == want.score_samples(numbers)).all() and (model.score_samples(numbers) == want.score_samples(numbers)).all()
    codes = texts.assign(a=[f"{i % 7}" for i in range(len(y))])
    for options, frame in ((dict(categorical="a"), codes), ({}, codes.astype({"a": "category"}))):
        assert not TopTauClassifier(**QUICK, **options).fit(frame, y).model_._schema[0].numeric


def test_names_without_blanks_at_their_ends():
    pandas = pytest.importorskip("pandas")
    X, y = drawn()
    plain = pandas.DataFrame(X, columns=list("abcd"))
    padded = plain.rename(columns={"a": " a", "d": "d\t"})
    want = TopTauClassifier(**QUICK).fit(plain, y)
    for fitted in (plain, padded, padded.to_dict("records")):
        model = TopTauClassifier(**QUICK).fit(fitted, y)
        assert model.model_.to_bytes() == want.model_.to_bytes() and list(model.feature_names_in_) == list("abcd")
        for rows in (plain, padded, padded.to_dict("records")):
            assert (model.decision_function(rows) == want.decision_function(plain)).all()
    with pytest.warns(UserWarning, match="does not have valid feature names"):  # an array has none: its columns are in order
        assert (want.decision_function(X) == want.decision_function(plain)).all()
    with pytest.raises(Error, match='column "a": two columns of this name'):
        TopTauClassifier(**QUICK).fit(padded.assign(a=0), y)
    with pytest.raises(ValueError, match="feature names should match"):
        want.predict(padded.rename(columns={" a": "e"}))


def test_errors_have_the_row_and_the_keyword():
    X, y = drawn()
    bad = X.copy()
    bad[7, 1] = np.nan
    cases = [(QUICK, bad, r'row 8: column "x1": a missing value \(NaN\), expected a number \(set impute="median"'),
             ({**QUICK, "max_fpr": "5"}, X, r'max_fpr "5", expected a rate .*did you mean 5%'),
             ({**QUICK, "max_fpr": None}, X, r'no goal, expected a goal \(max_fpr="0.1%", top="1%"'),
             ({**QUICK, "drop": "x9"}, X, r'drop "x9", expected'), ({**QUICK, "delta": "1e-9"}, X, "no guarantee: .*405 negatives"),
             ({**QUICK, "monotone": {"x1": 2}}, X, "monotone"), ({**QUICK, "group": "x1"}, X, None)]
    for options, rows, want in cases:
        if want is not None:
            with pytest.raises(Error, match=want) as e:
                TopTauClassifier(**options).fit(rows, y)
            assert "--" not in str(e.value).replace("train --help", "") and "parquet" not in str(e.value)
    whole = np.array([[2**53 + 1 + i, i] for i in range(len(y))])
    with pytest.raises(Error, match=r'row 1: column "x0": the whole number 9007199254740993'):
        TopTauClassifier(**QUICK).fit(whole, y)
    model = TopTauClassifier(**QUICK).fit(X, y)
    with pytest.raises(Error, match=r'row 8: column "x1": a missing value'):
        model.predict(bad)
    with pytest.raises(Error, match="2D array"):
        model.predict(X[0])
    with pytest.raises(Error, match="group='x1' and group of fit"):
        TopTauClassifier(**{**QUICK, "group": "x1"}).fit(X, y, groups=y)


def test_names_that_cannot_be():
    pandas = pytest.importorskip("pandas")
    X, y = drawn()
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "a"])
    with pytest.raises(Error, match='column "a": two columns of this name'):
        TopTauClassifier(**QUICK).fit(frame, y)
    with pytest.raises(TypeError, match="string names"):
        TopTauClassifier(**QUICK).fit(frame.set_axis(["a", "b", "c", 3], axis=1), y)
    named = pandas.DataFrame(X, columns=["label", "weight", "group", "time"])  # as the added columns
    model = TopTauClassifier(**QUICK).fit(named, y, sample_weight=np.ones(len(y)), time=range(len(y)))
    assert model.model_.columns == list(named.columns)
    nullable = named.astype({"label": "Float64"}).assign(label=pandas.array([2**53 + 2, None] * 200, dtype="Int64"))
    with pytest.raises(Error, match='row 1: column "label": 9007199254740994'):
        frames.Frame(nullable)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(named[["weight", "label", "group", "time"]])


def test_warnings_are_those_of_python():
    X, y = drawn()
    with pytest.warns(TopTauWarning, match="copies the label") as found:
        TopTauClassifier(**QUICK).fit(np.column_stack([X, y]), y)
    assert any(w.message.code and 'drop="x4"' in str(w.message) for w in found)


def test_roles():
    X, y = drawn()
    n = len(y)
    for values in ({"groups": np.arange(n) // 2}, {"time": np.arange(n)}, {"entity": [f"e{i // 2}" for i in range(n)]},
                   {"sample_weight": np.where(y, 2.0, 1.0)},
                   {"time": np.arange(n).astype("M8[h]"), "entity": np.arange(n) % 9}):
        model = TopTauClassifier(**QUICK).fit(X, y, **values)
        assert model.model_.columns == ["x0", "x1", "x2", "x3"]
        assert len(model.predict(X)) == n
    with pytest.raises(ValueError, match="group has 3 values"):
        TopTauClassifier(**QUICK).fit(X, y, groups=[1, 2, 3])
    table = [{"a": float(x), "site": "pq"[i % 2], "key": i} for i, x in enumerate(X[:, 0])]
    model = TopTauClassifier(**QUICK, id="key", segment="site").fit(table, y)
    assert model.model_.columns == ["a"]
    assert (model.predict(table) == (model.decision_function(table) > 0)).all()


def test_parts_are_pairs():
    X, y = drawn()
    more, labels = drawn(300, seed=2)
    model = TopTauClassifier(**{**QUICK, "delta": "5%", "calibration": (more, labels), "test": drawn(200, seed=3)}).fit(X, y)
    assert model.guarantee_["certified"] and model.guarantee_["n_negatives"] == int((labels == 0).sum())
    assert model.result_["test"]["n"] == 200
    assert model.threshold_ == calibration.threshold(model.score_samples(more)[labels == 0], calibration.goal_of("5%"), calibration.rate_of("5%", ""))[0]


def test_what_a_fitted_model_offers(tmp_path):
    X, y = drawn()
    model = TopTauClassifier(**QUICK).fit(X, y)
    assert (model.predict(X) == (model.score_samples(X) > model.threshold_)).all()
    assert model.report(tmp_path / "page.html") == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "SELECT" in model.to_sql(table="flows") and "flows" in model.to_sql(table="flows", dialect="duckdb")
    model.to_onnx(tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").stat().st_size > 100
    reasons = model.explain(X[:2])
    if hasattr(reasons, "iloc"):
        assert list(reasons.columns) == ["column", "value", "adds", "above_average", "score"]
        assert reasons.score.groupby(level="row").first().tolist() == model.score_samples(X[:2]).tolist()
        assert reasons.loc[1].column.tolist() == [r.column for r in model.model_.explain(X[1]).reasons]
    else:
        assert [r.score for r in reasons] == model.score_samples(X[:2]).tolist()
    p = model.predict_proba(X)
    assert p.shape == (len(y), 2) and np.allclose(p.sum(axis=1), 1)


def test_in_the_tools_of_scikit_learn():
    X, y = drawn()
    model = TopTauClassifier(**QUICK)
    honest = cross_val_score(model, X, y, cv=3, scoring="roc_auc")
    assert 0.7 < honest.mean() < 0.99
    assert (cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3) > 0.5).all()
    for backend in ("loky", "threading"):
        import joblib

        with joblib.parallel_backend(backend):
            search = GridSearchCV(model, {"class_weight": [1, "balanced"]}, n_jobs=2, cv=2, scoring="average_precision").fit(X, y)
        assert search.best_estimator_.predict(X).shape == (len(y),)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    piped = make_pipeline(StandardScaler(), model).set_output(transform="pandas").fit(frame, y)
    assert list(piped[-1].feature_names_in_) == list("abcd")


def test_pickle_in_another_process(tmp_path):
    X, y = drawn()
    for model in (TopTauClassifier(**QUICK).fit(X, y), GuaranteedThreshold(GaussianNB(), max_fpr="5%").fit(X, y)):
        with open(tmp_path / "m.pickle", "wb") as f:
            pickle.dump((model, X), f)
        code = "import pickle, sys; m, X = pickle.load(open(sys.argv[1], 'rb')); print(m.decision_function(X).tolist())"
        env = {**os.environ, "PYTHONPATH": PACKAGE}
        out = subprocess.run([sys.executable, "-c", code, tmp_path / "m.pickle"], env=env, capture_output=True, text=True, check=True).stdout
        assert json.loads(out) == model.decision_function(X).tolist()
        assert type(clone(model)) is type(model)


@pytest.mark.skipif(sys.platform == "win32", reason="needs scripts and signals")
def test_the_end_of_the_program(tmp_path, monkeypatch):
    X, y = drawn()

    def program(script):
        path = tmp_path / "toptau"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        monkeypatch.setenv("TOPTAU", str(path))

    for script, want in (("kill -9 $$", "ended by signal 9.*lack of memory"), ("echo broken >&2; exit 1", "broken"), ("echo '{\"a\"'; exit 2", "exit code 2")):
        program(script)
        with pytest.raises(Error, match=want):
            TopTauClassifier(**QUICK).fit(X, y)
    monkeypatch.setenv("TOPTAU", str(tmp_path / "none"))
    with pytest.raises(Error, match="cannot be run"):
        TopTauClassifier(**QUICK).fit(X, y)
    program(f"echo $$ >{tmp_path}/pid; exec sleep 60")
    pressed = []

    def press():  # Ctrl-C once the program runs
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            time.sleep(0.05)
        time.sleep(0.5)  # an interruption just before the wait for the program is noticed only when that ends
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C
    try:
        threading.Thread(target=press, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            TopTauClassifier(**QUICK).fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - pressed[0] < 10
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on files")
def test_a_full_disk():
    code = ("import resource, sys; import numpy as np; from toptau import TopTauClassifier; resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))\n"
            "TopTauClassifier(max_fpr='5%').fit(np.random.rand(5000, 4), np.arange(5000) % 2)")
    out = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True)
    assert "the rows cannot be written to" in out.stderr and "TMPDIR" in out.stderr


def test_progress(monkeypatch):
    X, y = drawn()
    seen = []
    monkeypatch.setattr(command, "_bar", lambda: seen.append)
    TopTauClassifier(**{**QUICK, "verbose": True}).fit(X, y)
    assert seen[-1] is None and all(0 <= line["progress"] <= 1 and line["text"] for line in seen[:-1])


def test_import_is_light():
    code = "import sys, toptau; assert not {'sklearn', 'numpy.random'} & set(sys.modules) and toptau.Model"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": PACKAGE}, check=True)


# ---- Parquet ----


def test_parquet_over_many_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "GROUP_ROWS", 100)
    pq = pytest.importorskip("pyarrow.parquet")
    X, _ = mixed(1234)
    X.loc[17, "at"] = None
    X["wide"] = [f"value {i}" for i in range(len(X))]
    with open(tmp_path / "x.parquet", "wb") as f:
        frames.Frame(X).write(f)
    table = pq.read_table(tmp_path / "x.parquet").to_pandas()
    for name in X.columns:
        want = X[name].astype(object).where(X[name].notna(), "" if table[name].dtype.kind in "OTS" or str(table[name].dtype) in ("str", "string") else None)
        got = table[name].astype(object).where(table[name].notna(), None)
        assert [None if v is None else v for v in got] == want.tolist(), name
    assert "1,234 rows of 12 columns" in toptau_command("pack", str(tmp_path / "x.parquet"), "-o", str(tmp_path / "x.ttp"))


def test_parquet_is_reproducible():
    import io

    X, _ = drawn()
    a, b = io.BytesIO(), io.BytesIO()
    frames.Frame(X).write(a)
    frames.Frame(np.asfortranarray(X)).write(b)
    assert a.getvalue() == b.getvalue()


# ---- Thresholds ----


@pytest.mark.parametrize("seed", range(12))
def test_thresholds_are_those_of_the_program(tmp_path, seed):
    r = np.random.default_rng(seed)
    n = int(r.choice([70, 500, 3000, 5000]))
    kind = ["max-fpr", "top", "alerts", "absolute-top"][seed % 4]
    delta, rate = str(r.choice(["5%", "0.1", "1/3", "1e-3"])), str(r.choice(["5%", "1%", "1/7", "10%"]))
    scores, y = r.normal(size=n).round(1 + 16 * (seed % 2)), r.random(n) < 0.2
    (tmp_path / "s.csv").write_text("score,y\n" + "".join(f"{s!r},{int(t)}\n" for s, t in zip(scores.tolist(), y)))
    flags = {"alerts": ["--alerts", "30/1000"], "absolute-top": ["--absolute-top"]}.get(kind, ["--" + kind, rate])
    goal = calibration.goal_of(**{"max-fpr": dict(max_fpr=rate), "top": dict(top=rate), "alerts": dict(alerts="30/1000"),
                                  "absolute-top": dict(absolute_top=True)}[kind])
    counted = scores if goal.counts_all else scores[~y]
    for with_delta in (False, True):
        out = subprocess.run([command.executable(), "threshold", str(tmp_path / "s.csv"), "--label", "y", "--json", *flags, *(["--delta", delta] * with_delta)],
                             capture_output=True, text=True)
        want = json.loads(out.stdout)
        try:
            at, guarantee = calibration.threshold(counted, goal, calibration.rate_of(delta, "delta") if with_delta else None)
        except Error as e:
            assert not want["certified"] and str(e).split(" (")[0] in want["reason"]
            continue
        assert at == want["threshold"]
        assert (guarantee or {}).get("bound") == want.get("bound") and (guarantee or {}).get("order") == want.get("order")


def test_the_fewest_scores():
    assert [calibration.needed(calibration.rate_of(a, ""), calibration.rate_of("5%", "")) for a in ("5%", "1%", "0.1%", "0.01%")] == [59, 299, 2995, 29956]
    assert calibration.needed(calibration.rate_of("10%", ""), calibration.rate_of("81/100", "")) == 2  # 0.9^2 = 0.81: only decimals decide


def others():
    yield "HistGradientBoosting", lambda: HistGradientBoostingClassifier(max_iter=20)
    yield "pipeline", lambda: make_pipeline(StandardScaler(), LogisticRegression())
    try:
        from xgboost import XGBClassifier

        yield "xgboost", lambda: XGBClassifier(n_estimators=20, n_jobs=1)
    except ImportError:
        pass
    try:
        from lightgbm import LGBMClassifier

        yield "LightGBM", lambda: LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1)
    except ImportError:
        pass


def allowed(draws, delta):
    return draws * delta + 3 * math.sqrt(draws * delta * (1 - delta))


@pytest.mark.parametrize("name, make", list(others()), ids=lambda v: v if isinstance(v, str) else "")
def test_guarantee_of_other_classifiers(name, make):
    """500 draws of calibration rows, each from rows whose false positive rate is known: of all of them."""
    X, y = drawn(40_000, seed=5)
    fitted = make().fit(X[:2000], y[:2000])
    X, y = X[2000:], y[2000:]
    scores = GuaranteedThreshold(fitted, max_fpr="5%", prefit=True).fit(X, y).decision_function(X)  # score - one number: the same order
    negatives = np.flatnonzero(y == 0)
    r, failures = np.random.default_rng(9), 0

    class Scores(GaussianNB):  # a fitted classifier of one column, which is the score
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return X[:, 0]

    for _ in range(500):
        rows = r.choice(len(y), 400)  # with replacement: from the distribution of these rows
        model = GuaranteedThreshold(Scores().fit(X[:9], [0, 1, 0, 1, 0, 1, 0, 1, 1]), max_fpr="5%", delta="10%", prefit=True)
        model.fit(scores[rows, None], y[rows])
        failures += (scores[negatives] > model.threshold_).mean() > 0.05
    assert failures <= allowed(500, 0.1), failures


def test_guarantee_with_a_fit_in_each_draw():
    r, failures, draws = np.random.default_rng(4), 0, 300
    for seed in range(draws):
        X, y = drawn(500, 2, seed=int(r.integers(1 << 30)))
        model = GuaranteedThreshold(GaussianNB(), max_fpr="10%", delta="20%").fit(X, y)
        X, y = drawn(4000, 2, seed=int(r.integers(1 << 30)))
        failures += model.predict(X)[y == 0].mean() > 0.1
    assert failures <= allowed(draws, 0.2), failures


def test_calibration_rows_are_never_fitted():
    X, y = drawn(600)
    seen = []

    class Spy(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append((X[:, 0].tolist(), sample_weight))
            return super().fit(X, y, sample_weight)

    model = GuaranteedThreshold(Spy(), top="10%", delta="10%").fit(X, y, sample_weight=np.arange(1.0, 601))
    assert len(seen) == 1
    others = np.setdiff1d(np.arange(600), model.calibration_rows_)
    assert seen[0][0] == X[others, 0].tolist() and seen[0][1].tolist() == (others + 1.0).tolist()
    assert model.guarantee_["n"] == len(model.calibration_rows_) == 150
    with pytest.raises(Error, match="expected at least 59 to keep a rate of 0.05 with confidence 1 - 0.05"):
        GuaranteedThreshold(GaussianNB(), max_fpr="5%", delta="5%").fit(X[:60], y[:60])
    with pytest.raises(Error, match="delta='95%', the probability with which the guarantee fails, .*did you mean delta='5%'"):
        GuaranteedThreshold(GaussianNB(), max_fpr="5%", delta="95%").fit(X, y)
    with pytest.raises(Error, match="no goal"):
        GuaranteedThreshold(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match="not fitted"):
        GuaranteedThreshold(GaussianNB(), max_fpr="5%", prefit=True).fit(X, y)


def test_sparse_rows_and_texts_reach_the_classifier():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = drawn()
    model = GuaranteedThreshold(LogisticRegression(), top="10%").fit(sparse.csr_array(X), np.array(["n", "p"])[y])
    assert set(model.predict(sparse.csr_array(X))) == {"n", "p"}
    assert toptau.__version__
