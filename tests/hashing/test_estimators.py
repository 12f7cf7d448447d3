"""What scikit-learn asks of every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from zshash import LSH, ZSH

ESTIMATORS = [
    ZSH(n_bits=8, n_anchors=10, sigma="auto", random_state=0),
    ZSH(n_bits=8, n_anchors=10, graph="anchor", anchors="kmeans", rotation=None, random_state=0),
    ZSH(n_bits=8, n_anchors=10, graph=None, normalize=True, rotation="cayley", random_state=0),
    LSH(n_bits=8),
]


@pytest.mark.filterwarnings("ignore:n_anchors=10 is larger:UserWarning")
@pytest.mark.filterwarnings("ignore:all training samples have the same label:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
