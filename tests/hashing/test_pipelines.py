"""Every method with its default parameters as the last step of a scikit-learn pipeline."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import zshash
from tests.every_method import each
from zshash.datasets import PseudoUnseenSplit
from zshash.evaluation import RetrievalScorer


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("name", each())
@pytest.mark.filterwarnings("ignore:n_anchors=.* is larger:UserWarning")
def test_a_pipeline_does_its_steps(name, digits):
    X, y = digits[0][:130], digits[1][:130]
    pipeline = make_pipeline(StandardScaler(), getattr(zshash, name)(random_state=0))
    bits = clone(pipeline).fit_transform(X, y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(bits, pipeline[-1].fit(scaled, y).transform(scaled))
    assert bits.shape == (130, 64)
    assert bits.dtype == np.uint8
    names = pipeline[-1].get_feature_names_out()
    assert (names[0], names[-1]) == (f"{name.lower()}0", f"{name.lower()}63")


def test_a_function_before_a_method(digits):
    X, _ = digits
    pipeline = make_pipeline(FunctionTransformer(np.sqrt), zshash.ITQ(16, random_state=0)).fit(X)
    np.testing.assert_array_equal(pipeline.transform(X), pipeline[-1].transform(np.sqrt(X)))


@pytest.mark.parametrize("before", [[], [StandardScaler()]])
def test_parameters_are_chosen_inside_a_pipeline(before, digits):
    X, y = digits
    cv = PseudoUnseenSplit(n_splits=2, n_queries=50, random_state=0)
    pipeline = make_pipeline(*before, zshash.ITQ(random_state=0))
    bits = {"itq__n_bits": [8, 32]}
    found = GridSearchCV(pipeline, bits, cv=cv, scoring=RetrievalScorer(cv), error_score="raise")
    found.fit(X, y)
    assert found.best_params_ == {"itq__n_bits": 32}
    train, test = next(iter(cv.split(X, y)))
    best = clone(pipeline).set_params(itq__n_bits=32).fit(X[train], y[train])
    rows = best[:-1].transform(X[test]) if before else X[test]
    alone = RetrievalScorer(cv)(best[-1], rows, y[test])
    assert found.cv_results_["split0_test_score"][1] == pytest.approx(alone)
