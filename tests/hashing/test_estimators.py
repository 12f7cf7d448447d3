"""scikit-learn's checks of every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import zshash
from zshash import codes

VARIANTS = {
    "ZSH": [
        {"sigma": "auto"},
        {"graph": "anchor", "anchors": "kmeans", "rotation": None},
        {"graph": None, "normalize": True, "rotation": "cayley"},
    ],
    "COSDISH": [{}, {"solver": "exact"}],
    "SDH": [{}, {"loss": "hinge"}],
    "DGH": [{}, {"init": "rotated"}],
    "LFH": [{}, {"variant": "full", "max_iter": 3}],
    "IMH": [{"perplexity": 2}, {"embedding": "le", "perplexity": 2}],
    "AGH": [{}, {"n_layers": 1}],
    "GreedyHash": [{}, {"supervised": False, "n_units": 4}],
    "SSH": [{}, {"variant": "orthogonal"}, {"variant": "nonorthogonal", "n_labeled": None}],
}


def estimators(extra):
    """Every method that needs this extra, with small parameters, and its variants."""
    for name, method in zshash.methods().items():
        if method.extra != extra:
            continue
        sizes = {"n_anchors": 10, "n_steps": 20}
        small = {key: size for key, size in sizes.items() if key in method.parameters}
        for variant in VARIANTS.get(name, [{}]):
            yield method.estimator(2, **small, **variant, random_state=0)


@pytest.fixture
def _few_bits(monkeypatch):
    """Allow two bits: the checks use few features, and some methods need one for each bit."""
    monkeypatch.setattr(codes, "MIN_BITS", 2)


pytestmark = [
    pytest.mark.usefixtures("_few_bits"),
    pytest.mark.filterwarnings("ignore:n_anchors=10 is larger:UserWarning"),
    pytest.mark.filterwarnings("ignore:all training samples have the same label:UserWarning"),
    pytest.mark.filterwarnings("ignore:.* needs 16 different samples:UserWarning"),
]


@parametrize_with_checks(list(estimators("")))
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.torch
@parametrize_with_checks(list(estimators("torch")))
def test_scikit_learn_with_pytorch(estimator, check):
    pytest.importorskip("torch")
    check(estimator)
