"""Tests of what people see in a notebook, and of sparse matrices. The notebook is executed if nbclient and ipykernel are installed."""

import base64
import json
import os
import re
import sys
import warnings
import xml.etree.ElementTree as xml

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn", "1.6")
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(PACKAGE)  # after an installed wheel
from scipy import sparse  # noqa: E402
from sklearn import config_context  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from test_estimators import QUICK, drawn  # noqa: E402

import toptau  # noqa: E402
from toptau import Error, GuaranteedThreshold, TopTauClassifier, TopTauWarning, calibration, command, estimators  # noqa: E402


@pytest.fixture(autouse=True)
def expected_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=TopTauWarning)
        yield


def html_of(model):
    return model._repr_mimebundle_()["text/html"]


def test_completion_finds_the_classifiers():
    assert {"GuaranteedThreshold", "TopTauClassifier", "TopTauWarning", "Model", "Error"} <= set(dir(toptau))


def test_a_notebook_shows_the_answer():
    X, y = drawn()
    model = TopTauClassifier(**QUICK)
    before = html_of(model)
    assert "sk-" in before and "positives found" not in before  # scikit-learn's diagram
    model.fit(X, y)
    page = html_of(model)
    assert page == model._repr_html_() and len(page) < 20_000
    for word in ("of the positives found", "of 1,000 alerts real", "false alarms expected", "budget 5 %", "No guarantee"):
        assert word in page, word
    assert not re.search(r"<(script|style|svg|iframe)|\son\w+=|href=|url\(", page)  # nothing that an untrusted notebook drops
    image = base64.b64decode(re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)[1])
    assert xml.fromstring(image).tag.endswith("svg")
    assert b"budget 5 %" in image and b"<circle" in image
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"] and not hasattr(model, "_repr_html_")


def test_goals_without_a_budget_have_a_page():
    X, y = drawn(900)
    for goal in (dict(top="10%"), dict(alerts="50/1000"), dict(absolute_top=True), dict(min_recall="40%"), dict(max_fpr="2%", test_fraction="30%")):
        model = TopTauClassifier(**{**QUICK, "max_fpr": None, **goal}).fit(X, y)
        assert "data:image/svg" in html_of(model), goal
        assert ("test part" in html_of(model)) == ("test_fraction" in goal)


def test_the_report_shows_itself(tmp_path):
    X, y = drawn()
    report = TopTauClassifier(**QUICK).fit(X, y).report()
    assert report.startswith("<!") and len(repr(report)) < 100 and "<iframe" in report._repr_html_()
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report


def test_guarantees_have_the_same_names_and_three_lines():
    X, y = drawn(1500)
    for goal in (dict(max_fpr="5%"), dict(top="10%"), dict(absolute_top=True)):
        pair = [TopTauClassifier(**{**QUICK, "max_fpr": None, **goal, "delta": "5%"}).fit(X, y), GuaranteedThreshold(GaussianNB(), **goal, delta="5%").fit(X, y)]
        assert set(pair[0].guarantee_) == set(pair[1].guarantee_)
        for model in pair:
            g = model.guarantee_
            assert isinstance(g, dict) and json.loads(json.dumps(g)) == g
            assert len(repr(g).split("\n")) == 3 and "95 % confidence" in repr(g) and f"From {g['n']:,} " in repr(g)
            assert g["n"] >= g["n_negatives"] > 0 and (g["n"] == g["n_negatives"]) == ("top" not in goal)
    both = TopTauClassifier(**{**QUICK, "max_fpr": None, "min_precision": "50%", "min_recall": "30%", "delta": "20%"}).fit(X, y).guarantee_
    assert len(repr(both).split("\n")) == 3 and "at least 50 % of the alerts are real, and at least 30 % of the positives are found" in repr(both)


def test_importances():
    X, y = drawn()
    X[:, 3] = 0
    model = TopTauClassifier(**QUICK).fit(X, y)
    numbers, spread = model.model_._program.terms[0], X[:, :3].std(axis=0)
    want = np.abs(numbers.weights) * spread / np.array([scale for _, _, scale in numbers.parts])
    assert np.allclose(model.feature_importances_[:3], want / want.sum(), rtol=1e-6) and model.feature_importances_[3] == 0
    trees = TopTauClassifier(max_fpr="5%", method="boosting", encoding="boosted", n_jobs=1, verbose=False).fit(X, y)
    assert np.argmax(trees.feature_importances_) == 0 and np.isclose(trees.feature_importances_.sum(), 1)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"when": pandas.date_range("2024-01-01", periods=len(y), freq="h"), "unused": X[:, 1], "a": X[:, 0]})
    dated = TopTauClassifier(**QUICK, drop="unused").fit(frame, y).feature_importances_
    assert dated.shape == (3,) and dated[1] == 0 and dated[0] > 0 and dated[2] > 0.5


def test_importances_of_many_rows_are_those_of_some(monkeypatch):
    X, y = drawn()
    monkeypatch.setattr(estimators, "_EXPLAINED_ROWS", 150)
    for rows in (X, sparse.csr_array(X)):
        few = TopTauClassifier(**QUICK).fit(rows, y).feature_importances_
        assert few.shape == (4,) and np.argmax(few) == 0


def test_plot():
    X, y = drawn()
    model = TopTauClassifier(**QUICK).fit(X, y)
    try:
        import matplotlib
    except ImportError:
        with pytest.raises(Error, match="pip install matplotlib"):
            model.plot()
        return
    matplotlib.use("Agg")
    ax = model.plot()
    assert ax.get_xscale() == "log" and [t.get_text() for t in ax.get_legend().get_texts()][1] == "budget 5 %"
    assert model.plot(ax) is ax


# ---- scikit-learn's words ----


def test_fixes_have_scikit_learns_words():
    assert command.spelled("use --seed 5, --threads 2 or --quiet, with --max-fpr 0.1%") == \
        'use random_state=5, n_jobs=2 or verbose=False, with max_fpr="0.1%"'
    assert command.spelled("use --missing 'n/a' or --drop 'it'\\''s', or 'b'") == """use missing="n/a" or drop="it's", or 'b'"""
    assert command.fixes_of({"fixes": [{"param": "drop", "value": "'Source IP'"}, {"param": "drop", "value": "host"}]}) == 'set drop="Source IP" or drop="host"'
    assert command.fixes_of({"fixes": [{"param": "missing", "value": "'n/"}]}) == """set missing="'n/\""""
    assert command.fixes_of({"fixes": [{"param": "threads", "value": "1"}, {"param": "impute", "value": "median"}]}) == 'set n_jobs=1 or impute="median"'


def test_random_states():
    X, y = drawn()
    fit = lambda state: TopTauClassifier(**QUICK, random_state=state).fit(X, y).model_.to_bytes()  # noqa: E731
    assert fit(3) == fit(np.int64(3)) != fit(4)
    assert TopTauClassifier(**QUICK).fit(X, y).model_.to_bytes() == fit(1)
    for make in (np.random.RandomState, np.random.default_rng):
        assert fit(make(5)) == fit(make(5)) != fit(make(6))
        rows = [GuaranteedThreshold(GaussianNB(), max_fpr="5%", random_state=make(s)).fit(X, y).calibration_rows_.tolist() for s in (5, 5, 6)]
        assert rows[0] == rows[1] != rows[2]
    np.random.seed(7)
    first, second = fit(None), fit(None)
    np.random.seed(7)
    assert fit(None) == first != second
    for bad in (-1, "x"):
        with pytest.raises(ValueError):
            fit(bad)
    with pytest.raises(ValueError, match="n_jobs"):
        TopTauClassifier(**{**QUICK, "n_jobs": 0}).fit(X, y)
    assert TopTauClassifier(**{**QUICK, "n_jobs": None}).fit(X, y).model_.to_bytes() == fit(1)


def test_every_keyword_is_documented():
    for cls in (TopTauClassifier, GuaranteedThreshold):
        named = {name for line in re.findall(r"(?m)^    (\w[\w, ]*) : ", cls.__doc__) for name in line.split(", ")}
        assert set(cls(GaussianNB()).get_params(deep=False) if cls is GuaranteedThreshold else cls().get_params()) <= named


# ---- Sparse matrices ----


def rare(n=500):
    X, y = drawn(n, 6)
    X[np.random.default_rng(2).random(X.shape) < 0.6] = 0
    X[:, 4] = 0  # in no entry of the matrix
    return X, y


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array], ids=lambda m: m.__name__)
def test_a_sparse_matrix_trains_the_model_of_the_array(make):
    X, y = rare()
    for options, same in ((dict(encoding="scorecard"), True), (dict(method="boosting", encoding="boosted"), True), ({}, False)):
        dense, model = (TopTauClassifier(**{**QUICK, **options}).fit(rows, y) for rows in (X, make(X)))
        got, want = model.decision_function(make(X)), dense.decision_function(X)
        assert (got == want).all() if same else np.allclose(got, want, atol=1e-5)  # raw values are not centred
        assert (model.predict(make(X)) == dense.predict(X)).all()
        assert (model.decision_function(X) == got).all() and (dense.decision_function(make(X)) == want).all()
        assert np.allclose(model.feature_importances_, dense.feature_importances_, atol=1e-5) and model.n_features_in_ == 6
        first = model.explain(sparse.csr_array(X[:3]))
        if hasattr(first, "iloc"):
            assert set(first.column) <= {f"x{j}" for j in range(6)} and set(first.score) == set(model.score_samples(X[:3]).tolist())


def test_a_sparse_matrix_stays_sparse(monkeypatch):
    r, n = np.random.default_rng(0), 400
    y = (np.arange(n) % 5 == 0).astype(int)
    rows, columns = np.repeat(np.arange(n), 4), r.integers(1, 1 << 20, 4 * n)
    X = sparse.csr_array((np.ones(5 * n), (np.r_[rows, np.arange(n)], np.r_[columns, np.where(y, 7, 9)])), shape=(n, 1 << 20))  # 3 GB as an array
    before = X.copy()
    model = TopTauClassifier(**QUICK).fit(X, y)
    assert (model.predict(X) == y).all() and np.argmax(model.feature_importances_) in (7, 9)
    assert (before != X).nnz == 0


def test_what_a_sparse_matrix_cannot_have():
    X, y = rare()
    S = sparse.csr_array(X)
    for options, given in ((dict(drop="x1"), {}), (dict(monotone={"x0": "+"}), {}), ({}, dict(sample_weight=np.ones(len(y)))), ({}, dict(groups=y)), ({}, dict(time=y))):
        name = [*options, *given][0]
        with pytest.raises(Error, match=f"{name} with a sparse X"):
            TopTauClassifier(**QUICK, **options).fit(S, y, **given)
    with pytest.raises(Error, match="test that is dense"):
        TopTauClassifier(**QUICK, test=(X, y)).fit(S, y)
    assert TopTauClassifier(**QUICK, test=(S, y)).fit(S, y).result_["test"]["n"] == len(y)
    bad = X.copy()
    bad[7, 3] = np.nan
    for call in (lambda rows: TopTauClassifier(**QUICK).fit(rows, y), TopTauClassifier(**QUICK).fit(S, y).predict, TopTauClassifier(**QUICK).fit(X, y).predict):
        with pytest.raises(Error, match=r'row 8: column "x3": a missing value \(NaN\)'):
            call(sparse.csc_array(bad))
    with pytest.raises(Error, match='row 1: column "x0": 9007199254740993'):
        TopTauClassifier(**QUICK).fit(sparse.csr_array([[2**53 + 1], [1]] * 200), y[:400])
    twice = sparse.coo_array((np.r_[X[:, 0], X[:, 0]], (np.r_[np.arange(len(y)), np.arange(len(y))], np.zeros(2 * len(y), int))), shape=S.shape)  # entries are added up
    assert (TopTauClassifier(**QUICK).fit(S, y).decision_function(twice) == TopTauClassifier(**QUICK).fit(S, y).decision_function(twice.toarray())).all()


# ---- A notebook ----


def test_a_notebook_runs():
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    cells = ["import os, sys; sys.path.append(os.environ['PACKAGE'])\nimport numpy as np\nfrom toptau import TopTauClassifier\n"
             "r = np.random.default_rng(1); y = (r.random(600) < 0.2).astype(int); X = r.normal(size=(600, 3)); X[:, 0] += 2 * y",
             "model = TopTauClassifier(max_fpr='5%', delta='10%', method='logistic', encoding='raw')\nmodel", "model.fit(X, y)", "model.guarantee_", "model.report()",
             "model.explain(X[:2])"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    from nbclient import NotebookClient

    os.environ["PACKAGE"] = PACKAGE
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = [cell.outputs[-1].data if cell.outputs else None for cell in book.cells]
    assert "sk-" in shown[1]["text/html"] and "data:image/svg" in shown[2]["text/html"]
    assert shown[3]["text/plain"].count("\n") == 2 and shown[3]["text/plain"].startswith("Guaranteed: at most 5 %")
    assert "<iframe" in shown[4]["text/html"]
    assert calibration.Guarantee.__name__ == "Guarantee" and ("above_average" in shown[5].get("text/html", "Explanation") or "Explanation" in shown[5]["text/plain"])
