"""scikit-learn's own suite for classifiers. The numbers of checks are asserted, because a check that is left out looks like a pass."""

import importlib.util
import os
import re
import sys
import unittest
import warnings

import pytest

sklearn = pytest.importorskip("sklearn")
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # after an installed wheel
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

from toptau import GuaranteedThreshold, TopTauClassifier  # noqa: E402

VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
# The first two are those that scikit-learn's own FixedThresholdClassifier and TunedThresholdClassifierCV declare. docs/guide/python.md lists them.
DECLARED = {
    "check_classifiers_train": "the threshold is not at probability 0.5",
    "check_sample_weight_equivalence_on_dense_data": "folds and calibration rows are drawn by row, so a weight of 2 differs from a repeated row",
    "check_sample_weight_equivalence_on_sparse_data": "a sparse matrix takes no weights",
    "check_dtype_object": "of 1.6: its labels are 2 and 3, and 3 is three times as frequent",
}
NEWER = VERSION > (1, 6)
PASSED = {  # GaussianNB refuses sparse matrices, and that passes
    "TopTauClassifier": {"check_dtype_object"} if NEWER else set(),
    "GuaranteedThreshold": {"check_sample_weight_equivalence_on_sparse_data"} | ({"check_dtype_object"} if NEWER else set()),
}
NUMBER = {(1, 6): {"TopTauClassifier": 64, "GuaranteedThreshold": 63}, (1, 9): {"TopTauClassifier": 65, "GuaranteedThreshold": 63}}  # of checks that run, by version of scikit-learn
SKIPPED = {"check_array_api_input"}  # SCIPY_ARRAY_API is not set
if importlib.util.find_spec("pandas") is None:
    SKIPPED |= {"check_sample_weights_pandas_series", "check_classifier_data_not_an_array"}
ESTIMATORS = {  # one learner on the raw columns, because a check takes many fits
    "TopTauClassifier": TopTauClassifier(max_fpr="5%", method="logistic", encoding="raw", n_jobs=1),
    "GuaranteedThreshold": GuaranteedThreshold(GaussianNB(), max_fpr="5%"),
}


def function_name(check):
    return getattr(check, "func", check).__name__


def checks():
    for name, estimator in ESTIMATORS.items():
        for e, check in estimator_checks_generator(estimator, legacy=True):
            words = "-".join(f"{v}" for v in getattr(check, "keywords", {}).values())
            yield pytest.param(name, e, check, id=f"{name}-{function_name(check)}" + (f"-{words}" if words else ""))


CHECKS = list(checks())


@pytest.mark.parametrize("name, estimator, check", CHECKS)
def test_scikit_learns_check(name, estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if function_name(check) in set(DECLARED) - PASSED[name]:
            with pytest.raises(Exception):  # noqa: B017 - the data of a check may also be too few for a fold
                check(estimator)
            return
        try:
            check(estimator)
        except unittest.SkipTest:
            assert function_name(check) in SKIPPED


def test_no_check_is_left_out():
    assert {name: sum(p.values[0] == name for p in CHECKS) for name in ESTIMATORS} == NUMBER.get(VERSION, NUMBER[max(NUMBER)])


def test_the_guide_lists_the_checks_that_fail():
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "guide", "python.md"), encoding="utf-8") as f:
        assert set(re.findall(r"`(check_\w+)`", f.read())) - {"check_estimator"} == set(DECLARED)
    assert set(DECLARED) <= {function_name(p.values[2]) for p in CHECKS}
