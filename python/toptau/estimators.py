"""Classifiers with the conventions of scikit-learn."""

from __future__ import annotations

import os
import tempfile
import warnings
from fractions import Fraction
from numbers import Integral
from typing import Any, Optional

import joblib
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (_check_feature_names, _check_sample_weight, _get_feature_names, _num_samples, check_is_fitted, column_or_1d,
                                      indexable)

from . import calibration, command, notebook
from .calibration import Guarantee
from .frames import EXACT, Frame, Sparse, column_of, frame_of
from .reader import Error, Model, _text

_NO_FILE = "the rows are in memory"
NOT_KEYWORDS = {
    "help": "it is that of Python", "help_all": "it is that of Python", "version": "it is that of the package", "json": "the result is result_", "output": "save writes the model",
    "report": "the method report returns the page", "verbose": "the method report shows it all", "label": "it is y", "labels_file": "it is y", "positive": "it is pos_label",
    "format": _NO_FILE, "delimiter": _NO_FILE, "header": _NO_FILE, "width": _NO_FILE, "file_column": _NO_FILE, "replace_partial": _NO_FILE,
}
"""The options of train that are no keywords of TopTauClassifier, with the reason."""
_COLUMNS = ("value", "weight", "group", "segment", "time", "entity", "drop", "id", "categorical", "date", "address", "numeric", "monotone")  # name columns
_EXPLAINED_ROWS = 20_000  # at most, for feature_importances_: a second for 600 trees


class TopTauWarning(UserWarning):
    """A warning of ``toptau``. ``code`` identifies it and does not change between versions."""

    def __init__(self, text: str, code: str = ""):
        super().__init__(text)
        self.code = code


class _Thresholded(ClassifierMixin, BaseEstimator):
    """A binary classifier that gives rows above a threshold its positive class, which is classes_[_positive]."""

    def predict(self, X: Any) -> np.ndarray:
        """Returns the class of each row: the positive one where the score is above the threshold."""
        check_is_fitted(self)
        above = self._above(X) > 0
        return self.classes_[np.where(above, self._positive, 1 - self._positive)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns score - threshold of each row, with the sign that scikit-learn expects: above 0 for ``classes_[1]``.

        So it is threshold - score if ``pos_label`` is ``classes_[0]``.
        """
        check_is_fitted(self)
        above = self._above(X)
        return above if self._positive == 1 else -above

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the accuracy, as every classifier of scikit-learn does. It is no measure of this task.

        With 5 % positives, a classifier that never raises an alarm has an accuracy of 0.95. Look at the budget and at what it finds instead:
        ``recall_score`` and ``precision_score`` of ``predict``, and the mean of ``predict(X)[y == 0]``. In a search set ``scoring``, for
        example ``"average_precision"``, or ``"recall"`` if every candidate has the same budget.
        """
        return super().score(X, y, sample_weight)

    def _set_classes(self, y: Any, rows: int) -> np.ndarray:
        """Sets classes_ and _positive, and returns for each row whether it is of the positive class."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        if len(y) != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[rows, len(y)]}")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            bad = int(np.flatnonzero(~np.isfinite(y))[0])
            raise ValueError(f"Input y contains {'NaN' if np.isnan(y[bad]) else 'infinity'}: row {bad + 1}")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}. "
                             f"Compare y with the class to find, such as y == {classes.tolist()[int(np.argmin(np.bincount(codes.ravel())))]!r}.")
        if len(classes) < 2:
            raise ValueError(f"y has one class, {classes[0]!r}: a classifier needs rows of two classes")
        self.classes_, self._positive = classes, 1
        counts = np.bincount(codes.ravel(), minlength=2)
        if self.pos_label is not None:
            places = [i for i, c in enumerate(classes.tolist()) if c == self.pos_label]
            if not places:
                raise Error(f"pos_label={self.pos_label!r}", f"one of the classes {classes[0]!r} ({counts[0]} rows) and {classes[1]!r} ({counts[1]} rows)")
            self._positive = places[0]
        elif counts[1] > counts[0]:
            self._doubt_positive(classes.tolist(), counts.tolist())
        return codes.ravel() == self._positive

    @staticmethod
    def _doubt_positive(classes: list, counts: list) -> None:
        """Warns of a positive class that was not named and is the more frequent one; above twice as frequent raises Error.

        0 and 1, or False and True, name their positive class, and scikit-learn's suite fits such data: they never raise it. -1 is
        the class to find in scikit-learn's outlier detection, so -1 and 1 may.
        """
        found = f"{classes[1]!r} ({counts[1]} rows) as the positive class, and {classes[0]!r} ({counts[0]} rows) as the negative one"
        fix = f"set pos_label={classes[0]!r}, or pos_label={classes[1]!r} if it is the class to find"
        found, fix = found.replace("'", '"'), fix.replace("'", '"')
        if counts[1] > 2 * counts[0] and classes != [0, 1]:
            raise Error(found, "the class to find, which is usually the rarer one", fix=fix)
        warnings.warn(TopTauWarning(f"{found} ({fix})", "positive-class"), stacklevel=4)


class TopTauClassifier(_Thresholded):
    """A linear classifier for the top of the ranking, which ``toptau train`` chooses, fits and gives a threshold.

    Set one goal. ``delta`` adds a guarantee. Every keyword is the option of ``toptau train`` of the same name with underscores for dashes, except for
    ``random_state``, ``n_jobs`` and ``verbose``, which have scikit-learn's names. A flag is True, and several values are a list.

    X is a data frame (pandas, polars, pyarrow and all others with the Arrow stream), a 2-D array, a sparse matrix of SciPy, a list of dicts or a list of
    lists. A column holds numbers, texts, booleans or times, and a category type of a frame is kept. The columns of arrays and matrices are x0, x1
    and so on. A sparse matrix stays sparse and contains features only: keywords and arguments that name other columns or values need a frame or an array.

    Training runs in another process; memory goes back when it ends. Scoring runs in this process, with the bits of ``toptau score``.

    Parameters
    ----------
    **The positive class**

    pos_label : label, default=None
        The class to find. None is ``classes_[1]``, the last in sorted order. If that one is the more frequent one, ``fit`` warns; if it is more
        than twice as frequent, ``fit`` requires ``pos_label`` (for 0 and 1, or False and True, it warns).

    **The goal: one of these, or both of the last two**

    max_fpr : str or float, default=None
        At most this fraction of the negatives raises a false alarm: "0.1%" or 0.001.
    top : str or float, default=None
        Review the best fraction of all rows: "1%".
    alerts : str, default=None
        N alerts in a period with M rows: "50/2000000".
    absolute_top : bool, default=False
        Find positives above every negative.
    cost_alert : float, default=None
        Earn the most: the amounts found, in the column ``value``, less this cost of each alert.
    min_precision : str or float, default=None
        At least this fraction of the alerts is real: "90%".
    min_recall : str or float, default=None
        At least this fraction of the positives is found.

    **The guarantee**

    delta : str or float, default=None
        Guarantee the goal with confidence 1 - delta, for new rows from the same distribution. Too few rows are an error that names how many are needed.
    out_of_fold : bool, default=False
        Take the threshold from out-of-fold scores: no rows are held out for it, and it is not certified.

    **Rows that are kept apart**: pairs (X, y), or paths

    calibration : pair or path, default=None
        Rows that give the threshold and nothing else.
    validation : pair or path, default=None
        Rows that choose the model, instead of a cross-validation.
    test : pair or path, default=None
        Rows that measure the chosen model.
    test_fraction : str or float, default=None
        Keep this fraction of X as the test part.

    **The search**

    method, encoding : str or list, default=None
        Only these learners and encodings, such as "logistic" and "raw".
    class_weight : float, dict or "balanced", default=None
        The weight of the positives, for logistic and svm.
    folds : int, default=None
        Folds of the cross-validation; 5 by default.
    max_size, max_time : str, default=None
        The largest size of the model ("50kB"), and the time after which the best model so far is taken ("2m").
    learning_curve : bool, default=False
        Also measure what more rows would bring.
    sample_rows, memory : int or str, default=None
        Search on a sample of this many rows if they need more than this memory.

    **Features**

    impute : {"error", "median", "zero", "indicator"}, default=None
        How a missing value is encoded; it is an error by default.
    derive : {"pairs"}, default=None
        Let the boosters also read differences, products and ratios of columns.
    monotone : dict, default=None
        The score only rises or only falls with a column: {"age": "+"}, or 1 and -1.
    drop, id : str or list, default=None
        Columns of X that are no features; ``id`` has identifiers.
    categorical, numeric, date, address : str or list, default=None
        Columns of X that are read as this kind.
    missing : str or list, default=None
        Texts that are missing values, too.
    decimal, timezone : str, default=None
        The decimal mark of numbers in texts, and the zone of days.

    **What is counted**: names of columns of X, which are then no features (``value`` stays one unless it is in ``drop``); ``fit`` takes values instead

    weight : str, default=None
        Importance weights.
    group : str, default=None
        Equal values are never split between folds.
    time : str, default=None
        The order of the rows.
    label_delay : str, default=None
        The time after which labels are known: "30d".
    entity : str, default=None
        One alert per value counts, with ``time`` one a day.
    value : str, default=None
        Amounts of money: the model is chosen by the sum that is found.
    segment : str, default=None
        Values that may have thresholds of their own.
    prevalence : str or float, default=None
        The fraction of positives that the summary and a precision assume.

    **What the model file keeps**

    no_fingerprints, no_profile : bool, default=False
        Keep no hashes of rows, no quantiles of columns.
    sign : path, default=None
        A key that signs the model.

    **The run**

    random_state : int, RandomState, Generator or None, default=1
        The seed of every random choice. The same seed gives the same model. None draws one from numpy's global generator.
    n_jobs : int or None, default=-1
        Threads; -1 is all processors. None is 1, unless joblib's context sets another number. Results do not depend on it.
    verbose : bool, default=True
        Show a progress bar after a second in a terminal or notebook, which needs tqdm.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn; names only if X has some.
    threshold_ : float
        The threshold of ``score_samples``.
    guarantee_ : dict or None
        What is guaranteed, from which rows; ``print`` shows three lines. None without delta.
    feature_importances_ : array
        For each column of X, the standard deviation of what it adds to the score, over the rows of ``fit`` (of more than 20,000 every second, third
        and so on), divided by the sum of these numbers. It is the effect that ``toptau explain --columns`` prints: for a linear model
        the weight times the spread of the column, for trees the changes of the mean score at their splits. 0 is a column without influence.
        Of a time or an address, its features are added up.
    model_ : toptau.Model
        The model file.
    result_ : dict
        The object that ``toptau train --json`` prints.

    Examples
    --------
    >>> model = TopTauClassifier(max_fpr="1%", delta="5%").fit(X, y)  # doctest: +SKIP
    >>> model.predict(X_new)  # doctest: +SKIP
    """

    def __init__(self, *, pos_label=None, max_fpr=None, top=None, alerts=None, absolute_top=False, min_precision=None, min_recall=None,
                 cost_alert=None, delta=None, out_of_fold=False, calibration=None, validation=None, test=None, test_fraction=None,
                 method=None, class_weight=None, folds=None, encoding=None, derive=None, impute=None, monotone=None, max_size=None,
                 prevalence=None, learning_curve=False, max_time=None, entity=None, value=None, weight=None, group=None, segment=None, time=None, timezone=None, label_delay=None, drop=None, id=None, missing=None,
                 categorical=None, date=None, address=None, numeric=None, decimal=None, memory=None, sample_rows=None, no_fingerprints=False, no_profile=False, sign=None,
                 random_state=1, n_jobs=-1, verbose=True):
        vars(self).update((name, value) for name, value in locals().items() if name not in ("self", "__class__"))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None, entity: Any = None) -> TopTauClassifier:
        """Trains on rows X with labels y and returns self.

        sample_weight has importance weights. Rows of one group are never split between folds. time orders the rows. With entity, one alert
        per entity counts, with time one a day. Each has a value per row; the keywords group, time and entity name a column of X instead.

        Raises Error with the row of X, from 1. Warnings are TopTauWarning.
        """
        frame = self._frame(X, reset=True)
        positive = self._set_classes(y, len(frame))
        added = {"weight": None if sample_weight is None else _check_sample_weight(sample_weight, np.empty((len(frame), 0))),
                 "group": groups, "time": time, "entity": entity}
        if isinstance(frame, Sparse):
            called = {"weight": "sample_weight", "group": "groups"}
            self._refuse_columns({called.get(name, name) for name, values in added.items() if values is not None})
        with tempfile.TemporaryDirectory(prefix="toptau-") as folder:
            table = _Table(folder, frame, self.classes_[[1 - self._positive, self._positive]], added)
            options = self._options(frame, {name for name, values in added.items() if values is not None}, table)
            model, report = os.path.join(folder, "model.json"), os.path.join(folder, "report.html")
            path = table.write("rows", frame, positive, added)
            try:
                arguments = ["train", *options, *table.flags, "--output", model, "--report", report, "--", path]
                self.result_ = command.run(arguments, folder, bar=self.verbose)
                with open(model, "rb") as f:
                    self.model_ = Model.from_bytes(f.read(), "model.json")
                self.feature_importances_ = self._importances(model, table, frame, positive)
            except Error as e:
                raise frame.with_row(e) from None
            with open(report, encoding="utf-8") as f:
                self._report = notebook.Report(f.read())
        for w in self.result_["warnings"]:
            fixes = command.fixes_of(w)
            text = w["text"] + (f" ({fixes})" if fixes else "")
            warnings.warn(TopTauWarning(Sparse.spelled(text) if isinstance(frame, Sparse) else text, w["code"]), stacklevel=2)
        return self

    def _refuse_columns(self, given: set) -> None:
        """Raises Error for what needs a table with columns."""
        given = given | {name for name in _COLUMNS if getattr(self, name) is not None}
        if given:
            raise Error(f"{', '.join(sorted(given))} with a sparse X", "a frame or an array: a sparse matrix has no columns but its features",
                        fix="X.toarray()")

    def _importances(self, model: str, table: _Table, frame: Any, positive: np.ndarray) -> np.ndarray:
        """Returns the effects of the columns on the scores of the rows, or of some of them, as ``toptau explain --columns`` computes them."""
        step = -(-len(frame) // _EXPLAINED_ROWS)
        path = table.write("some", frame.every(step), positive[::step], {})
        found = command.run(["explain", model, path, "--columns", *table.form], table.folder)
        effects = {c["column"]: c["effect"] for c in found["columns"]}
        out = np.zeros(frame.width)
        if isinstance(frame, Sparse):
            for name, effect in effects.items():
                out[int(name.rpartition(" ")[2]) - 1] = effect
        else:
            sources = {c.name: c.source for c in self.model_._schema}
            for name, effect in effects.items():
                out[frame.columns.index(sources.get(name, name))] += effect
        return out / out.sum() if out.any() else out

    def _options(self, frame: Frame, taken: set, table: _Table) -> list[str]:
        """Returns the keywords as options of the program."""
        out = [f"--seed={_seed(self.random_state)}"]
        if self.n_jobs != -1:
            out.append(f"--threads={joblib.effective_n_jobs(self.n_jobs)}")
        for name, value in self.get_params(deep=False).items():
            if value is None or value is False or name in ("random_state", "n_jobs", "verbose", "pos_label"):
                continue
            if name in taken:
                raise Error(f"{name}={value!r} and {name} of fit", "one of them")
            if name in ("validation", "calibration", "test") and isinstance(value, tuple):
                value = table.write_part(name, frame, *value)
            if name == "class_weight" and isinstance(value, dict):
                value = float(value[self.classes_[self._positive]] / value[self.classes_[1 - self._positive]])
            if isinstance(value, dict):
                value = [f"{column}={ {1: '+', -1: '-'}.get(sign, sign)}" for column, sign in value.items()]
            flag = "--" + command.option(name)
            if value is True:
                out.append(flag)
            else:
                out += [f"{flag}={v}" for v in (value if isinstance(value, (list, tuple)) else [value])]
        named = {str(c) for c in (self.categorical if isinstance(self.categorical, (list, tuple)) else [self.categorical])}
        roles = {getattr(self, role) for role in ("entity", "weight", "group", "segment", "time")}
        return out + [f"--categorical={name}" for name in frame.categorical if name not in named and name not in roles]

    def _frame(self, X: Any, reset: bool) -> Frame:
        """Returns the columns of X, whose names and number must be those of fit."""
        frame = frame_of(X)
        # Names are compared without blanks. scikit-learn does not know the names of a list of dicts, or of some frames.
        if reset or not (frame.named and frame.columns == list(getattr(self, "feature_names_in_", ()))):
            if not frame.named or _get_feature_names(X) is not None:
                _check_feature_names(self, X, reset=reset)
        if reset and frame.named:
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
        n = frame.width
        if reset:
            self.n_features_in_ = n
        elif n != self.n_features_in_:
            raise ValueError(f"X has {n} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
        if n == 0:
            raise ValueError(f"0 feature(s) (shape=({len(frame)}, 0)) while a minimum of 1 is required.")
        if len(frame) == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape=(0, {n})) while a minimum of 1 is required.")
        if not reset and not frame.named and hasattr(self, "feature_names_in_"):  # an array after a frame; scikit-learn has warned
            frame.rename(self.feature_names_in_.tolist())
        return frame

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        frame = self._frame(X, reset=False)
        if self.model_._sparse and isinstance(frame, Frame):
            frame = Sparse(csr_matrix(np.column_stack([frame[name].astype(np.float64) for name in frame.columns])))
        if isinstance(frame, Sparse):
            return frame
        frame.check_whole(name for name in self.model_.columns if name in frame.values)
        return frame.with_text_times()

    def score_samples(self, X: Any) -> np.ndarray:
        """Returns the score of each row, with the bits of ``toptau score``."""
        return self._scores(self._rows(X))

    def _scores(self, rows: Any) -> np.ndarray:
        first = 0
        try:
            if not isinstance(rows, Sparse):
                return self.model_.decision_function(rows)
            if self.model_._sparse:
                return self.model_.decision_function(rows.matrix)
            parts = []
            for first, part in rows.frames():
                parts.append(self.model_.decision_function(part))
            return np.concatenate(parts)
        except Error as e:
            e.row += first
            e.fix = command.spelled(e.fix)
            raise rows.with_row(e) from None

    def _above(self, X: Any) -> np.ndarray:
        rows = self._rows(X)
        return self._scores(rows) - self._thresholds(rows)

    def _thresholds(self, rows: Any) -> Any:
        point = self.model_.point()
        if not point.segments:
            return point.threshold
        return np.array([point.segments.get(_text(v).strip(" \t"), point.threshold) for v in rows[point.segment].tolist()])

    @available_if(lambda self: not hasattr(self, "model_") or self.model_.has_probability)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the probabilities of both classes, in the order of ``classes_``. ``train`` fits them if there are 20 rows of each class."""
        rows = self._rows(X)
        p = np.array(self.model_.probability_of(self._scores(rows)))
        return np.column_stack([1 - p, p] if self._positive == 1 else [p, 1 - p])

    @property
    def threshold_(self) -> float:
        """The threshold of the model's scores."""
        check_is_fitted(self)
        return self.model_.point().threshold

    @property
    def guarantee_(self) -> Optional[Guarantee]:
        """The guarantee of the threshold, which ``print`` shows in three lines; None without delta."""
        check_is_fitted(self)
        point = self.model_.point()
        if point.guarantee is None:
            return None
        known = {name: value for name, value in point.guarantee.items() if name != "calibration"}  # a summary of the scores, which model_ keeps
        n = point.guarantee.get("calibration", {}).get("rows") or known.pop("rows", 0) or known["n_negatives"]
        g = Guarantee({**known, "n": n})
        if point.entity:
            g.units = ("negative entities", "positive entities", "entities")
        return g

    def explain(self, X: Any) -> Any:
        """Returns what each column adds to the score of each row, as a frame of pandas with the index of X.

        A row of X has a line for each column that adds something: ``column``, ``value``, ``adds``, ``above_average`` (what it adds more than
        in the average training row; the largest first) and the row's ``score``. Without pandas it returns a list with a
        ``toptau.Explanation`` for each row, which ``model_.explain`` returns, too.
        """
        rows = self._rows(X)
        self._scores(rows)  # an error has the row
        record = rows.entries if self.model_._sparse else rows.record
        found = [self.model_.explain(record(i)) for i in range(len(rows))]
        if self.model_._sparse:
            found = [e._replace(reasons=[r._replace(column=Sparse.spelled(r.column)) for r in e.reasons]) for e in found]
        try:
            import pandas
        except ImportError:
            return found
        index = X.index if hasattr(X, "iloc") else range(len(found))
        lines = [(i, *reason, e.score) for i, e in zip(index, found) for reason in e.reasons]
        return pandas.DataFrame(lines, columns=["row", "column", "value", "adds", "above_average", "score"]).set_index("row")

    def report(self, path: Any = None) -> notebook.Report:
        """Returns the page about the training, a text that a notebook shows as a page and ``save(path)`` writes. With path it is also written."""
        check_is_fitted(self)
        if path is not None:
            self._report.save(path)
        return self._report

    def plot(self, ax: Any = None) -> Any:
        """Draws the positives found against the budget, with the budget and the threshold, and returns the axes of matplotlib.

        The rows are those of the test part, if there is one, and otherwise all training rows, each with a score of a model that was not
        fitted to it.
        """
        check_is_fitted(self)
        return notebook.plot(notebook.curve_of(self._report, self.result_["goal"]), ax)

    def save(self, path: Any) -> None:
        """Writes the model file, which ``toptau`` and ``toptau.Model`` read."""
        check_is_fitted(self)
        with open(path, "wb") as f:
            f.write(self.model_.to_bytes())

    def to_onnx(self, path: Any, *, tensor: bool = False) -> None:
        """Writes the model as ONNX. tensor: one input X with all columns instead of one input a column."""
        self._export("onnx", path, ["--tensor"] if tensor else [])

    def to_sql(self, *, dialect: str = "postgres", table: str = "rows", name: Optional[str] = None, keep: Any = ()) -> str:
        """Returns a statement that scores the rows of a table. name: it creates a view of this name; keep: columns to pass through."""
        options = [f"--dialect={dialect}", f"--table={table}"] + ([f"--name={name}"] if name else []) + [f"--keep={c}" for c in keep]
        return self._export("sql", None, options)

    def _export(self, target: str, path: Any, options: list) -> str:
        with tempfile.TemporaryDirectory(prefix="toptau-") as folder:
            model, out = os.path.join(folder, "model.json"), os.path.join(folder, "export")
            self.save(model)
            command.run(["export", model, target, "--output", out if path is None else os.path.abspath(os.fspath(path)), *options], folder)
            if path is not None:
                return ""
            with open(out, encoding="utf-8") as f:
                return f.read()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        """Returns what a notebook shows: the answer and the chart once it is fitted, before that the diagram of scikit-learn."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and hasattr(self, "model_"):
            bundle["text/html"] = notebook.page(self)
        return bundle

    def _repr_html_inner(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.impute not in (None, "error")
        tags.input_tags.string = True
        return tags


def _seed(random_state: Any) -> int:
    """Returns a number itself, and otherwise one that is drawn from the generator: that of numpy for None."""
    if isinstance(random_state, Integral) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 31))
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class _Table:
    """The files of a training: columns of X and, after them, the label and the values of roles."""

    def __init__(self, folder: str, frame: Any, classes: np.ndarray, added: dict):
        self.folder, self.classes = folder, classes  # the negative class and the positive one
        names = list(frame.columns)
        self.names = {}
        for role in ["label", *(role for role, values in added.items() if values is not None)]:
            name = role
            while name in names:
                name += "_"
            names.append(name)
            self.names[role] = name
        self.form = ["--format=libsvm"] if isinstance(frame, Sparse) else []
        self.flags = [*self.form, f"--width={frame.width}"] if self.form else [f"--{role}={name}" for role, name in self.names.items()]
        # Labels stay what they are, so that the model knows them in files. Those that a file cannot have become 0 and 1.
        texts = not self.form and all(isinstance(c, str) and c.strip() == c != "" and not c.startswith("!") for c in classes)
        if not texts and (classes.dtype.kind not in "biuf" or np.abs(classes.astype(np.float64)).max() > EXACT):
            self.labels = np.array([0, 1])
            return
        self.labels = classes.astype(object) if texts else classes
        if texts or tuple(classes.tolist()) not in ((0, 1), (-1, 1)):
            self.flags.append(f"--positive={_text(classes.tolist()[1])}")

    def write(self, name: str, frame: Any, positive: np.ndarray, added: dict) -> str:
        labels = self.labels[positive.astype(int)]
        more = labels if self.form else {self.names["label"]: labels}
        for role, values in added.items():
            if values is not None:
                values = column_of(values)
                if len(values) != len(frame):
                    raise ValueError(f"{role} has {len(values)} values, expected {len(frame)}, one for each row of X")
                more[self.names[role]] = values
        path = os.path.join(self.folder, name + (".libsvm" if self.form else ".parquet"))
        try:
            with open(path, "wb") as f:
                frame.write(f, more)
        except OSError as e:
            raise Error(f"the rows cannot be written to {self.folder}: {e.strerror}", fix="set the variable TMPDIR to a directory with space") from None
        return path

    def write_part(self, name: str, like: Any, X: Any, y: Any) -> str:
        y = np.asarray(y)
        unknown = ~np.isin(y, self.classes)
        if unknown.any():
            raise Error(f"the label {y[unknown][0]!r} of {name}", "one of " + ", ".join(map(repr, self.classes.tolist())),
                        row=int(np.flatnonzero(unknown)[0]) + 1)
        frame = frame_of(X)
        if type(frame) is not type(like):
            raise Error(f"{name} that is {'sparse' if isinstance(frame, Sparse) else 'dense'}", "the form of X", fix="X.toarray(), or a sparse matrix of it")
        return self.write(name, frame, y == self.classes[1], {})


class GuaranteedThreshold(MetaEstimatorMixin, _Thresholded):
    """Gives any binary classifier a threshold that keeps a budget, with a guarantee if delta is set.

    ``fit`` draws calibration rows, fits a clone of the estimator to the others, and takes an order statistic of the calibration scores. The
    estimator is never fitted again to them. The threshold and its bound are those of ``toptau threshold``, to the bit; no program is needed.
    The guarantee holds for new rows from the distribution of the calibration rows, if they are independent.

    Parameters
    ----------
    estimator : classifier
        Any binary classifier with ``decision_function`` or ``predict_proba``.

    **The positive class**

    pos_label : label, default=None
        The class to find, as for TopTauClassifier.

    **The goal: one of these**

    max_fpr : str or float, default=None
        At most this fraction of the negatives raises a false alarm: "0.1%" or 0.001.
    top : str or float, default=None
        Review the best fraction of all rows: "1%".
    alerts : str, default=None
        N alerts in a period with M rows: "50/2000000".
    absolute_top : bool, default=False
        Find positives above every negative.

    **The guarantee and its rows**

    delta : str or float, default=None
        Guarantee the goal with confidence 1 - delta. None keeps the budget on average.
    calibration_fraction : str or float, default=None
        The fraction of X that gives the threshold; by default a quarter, and more if delta needs more.
    prefit : bool, default=False
        The estimator is fitted already, and ``fit`` takes rows that it has never seen: neither its fit nor the choice of its hyperparameters.

    **The run**

    random_state : int, RandomState, Generator or None, default=1
        Draws the calibration rows.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    threshold_ : float
        The threshold of the estimator's scores: its decision function, or else the probability of the positive class. They are turned if that is ``classes_[0]``.
    guarantee_ : dict or None
        As for TopTauClassifier.
    calibration_rows_ : array
        Their places in X.
    """

    def __init__(self, estimator, *, pos_label=None, max_fpr=None, top=None, alerts=None, absolute_top=False, delta=None,
                 calibration_fraction=None, prefit=False, random_state=1):
        vars(self).update((name, value) for name, value in locals().items() if name not in ("self", "__class__"))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> GuaranteedThreshold:
        """Fits the estimator and the threshold, and returns self. sample_weight and fit_params are for the estimator's fit.

        Raises Error if the calibration rows are too few for the guarantee; it names how many are needed.
        """
        goal = calibration.goal_of(self.max_fpr, self.top, self.alerts, self.absolute_top)
        delta = None if self.delta is None else calibration.delta_of(self.delta)
        X, y = indexable(X, y)
        rows = _num_samples(X)
        if rows == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        positive = self._set_classes(y, rows)
        if self.prefit:
            check_is_fitted(self.estimator)
            if list(self.estimator.classes_) != list(self.classes_):
                raise Error(f"the classes {list(self.classes_)}", f"those of the estimator: {list(self.estimator.classes_)}")
            self.estimator_, self.calibration_rows_ = self.estimator, np.arange(rows)
        else:
            self.calibration_rows_, others = self._split(positive, goal, delta)
            if sample_weight is not None:
                fit_params["sample_weight"] = _check_sample_weight(sample_weight, np.empty((rows, 0)))[others]
            self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, others), _safe_indexing(y, others), **fit_params)
        scores = self._scores(X if self.prefit else _safe_indexing(X, self.calibration_rows_))
        negative = ~positive[self.calibration_rows_]
        self.threshold_, self.guarantee_ = calibration.threshold(scores if goal.counts_all else scores[negative], goal, delta, int(negative.sum()))
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        return self

    def _split(self, positive: np.ndarray, goal: calibration.Goal, delta: Optional[Fraction]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the places of the calibration rows and of the others: drawn by class if the goal counts negatives, else from all rows."""
        random = self.random_state if isinstance(self.random_state, np.random.Generator) else check_random_state(self.random_state)
        needed = calibration.needed(goal.alpha, delta) if delta is not None and goal.alpha is not None else 1
        chosen = []
        for places in [np.arange(len(positive))] if goal.counts_all else [np.flatnonzero(~positive), np.flatnonzero(positive)]:
            n = len(places)
            if self.calibration_fraction is not None:
                take = int(calibration.rate_of(self.calibration_fraction, "calibration_fraction") * n)
            else:
                take = max(-(-n // 4), min(needed, n // 2) if not chosen else 0)
            chosen.append(random.permutation(places)[:max(take, 1)])
        drawn = np.sort(np.concatenate(chosen))
        others = np.setdiff1d(np.arange(len(positive)), drawn)
        if len(np.unique(positive[others])) < 2:
            raise Error(f"{len(others)} rows left to fit the estimator, of one class", "rows of both classes", fix="more rows")
        return drawn, others

    def _scores(self, X: Any) -> np.ndarray:
        """Returns scores that are higher for the positive class."""
        if hasattr(self.estimator_, "decision_function"):
            scores = np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
            return scores if self._positive == 1 else -scores
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)[:, self._positive]

    def _above(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "threshold_")
        return self._scores(X) - self.threshold_

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns what the estimator returns."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
