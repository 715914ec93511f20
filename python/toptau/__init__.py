"""Classification at the top: as many positives as possible within a budget of alerts.

    from toptau import TopTauClassifier

    model = TopTauClassifier(max_fpr="1%", delta="5%").fit(X, y)
    model.predict(X_new)        # score > threshold
    model.guarantee_            # what is certified, from which rows

``TopTauClassifier`` trains with the command ``toptau``, which the package contains. ``GuaranteedThreshold`` gives any
classifier of scikit-learn a threshold with a guarantee. Both need scikit-learn. ``Model`` scores with a model file and
needs nothing but Python; with numpy it is faster.
"""

from .reader import Error, Explanation, Model, Point, Reason, __version__

__all__ = ["Error", "Explanation", "GuaranteedThreshold", "Model", "Point", "Reason", "TopTauClassifier", "TopTauWarning", "__version__"]


_ESTIMATORS = ("GuaranteedThreshold", "TopTauClassifier", "TopTauWarning")


def __dir__():
    return sorted({*globals(), *_ESTIMATORS})  # for completion


def __getattr__(name: str):
    # scikit-learn is imported only if an estimator is used: it takes a second.
    if name in _ESTIMATORS:
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
