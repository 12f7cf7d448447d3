"""What is compared: methods, variants of MTH, and features without codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zshash.experiments.standard import SETTINGS
from zshash.experiments.training import ONE_HOT
from zshash.experiments.transfer.splits import Source
from zshash.hashing.registry import METHODS, SEMANTIC

__all__ = ["Setup", "best_of", "shorter", "trained_on"]

ALL, WITHIN = "all samples", "within categories"  # what the covariance of a whitening is of


@dataclass(frozen=True)
class Setup:
    """One row of a table.

    Attributes
    ----------
    name : str
    method : str or None
        None ranks by the cosine of features, without codes.
    parameters : mapping
        Of the method, beside its own defaults.
    whitening : {None, "all samples", "within categories"}
        Whiten features before the method sees them.
    shrinkage : float or None
        ε of that whitening, None for that of MTH.
    centred : bool
        Put the origin of the features into the mean of the training samples first.
    among_hidden : bool
        Search among samples of hidden categories alone.
    one_hot : bool
        Names mean nothing to the method: all that it is told of two categories is that they differ.
    n_train : int or None
        Training samples, None for as many as the study says.
    n_fits : int
        Fits with random states that follow each other; the one whose objective ends lowest counts.
    """

    name: str
    method: str | None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    whitening: str | None = None
    shrinkage: float | None = None
    centred: bool = False
    among_hidden: bool = False
    one_hot: bool = False
    n_train: int | None = None
    n_fits: int = 1

    def labels(self, source: Source) -> tuple[str, ...]:
        """Label sources to learn from; none where the method's kind says it all."""
        if self.method is None or METHODS[self.method].kind != SEMANTIC:
            return ()
        blind = self.method == "MTH" and not self.parameters.get("semantics")
        if blind or self.one_hot:
            return (ONE_HOT,)
        return source.labels

    def hasher(self, bits: int, n_train: int | None, smaller: Mapping[str, Any]) -> Any:
        """The method; `smaller` are parameters of MTH for a try."""
        assert self.method is not None
        parameters = {**SETTINGS.get(self.method, {}), **self.parameters}
        if self.method == "ZSH" and n_train is None:
            parameters["graph"] = "anchor"  # that of all neighbours grows with the samples
        if self.method == "MTH":
            parameters |= smaller
        return METHODS[self.method].estimator(n_bits=bits, normalize=True, **parameters)


BEST, FAST = Setup("MTH best", "MTH"), Setup("MTH fast", "MTH", {"effort": "fast"})
LOOKUP = Setup("MTH lookup 1", "MTH", {"lookup": 1.0})
MEANING = Setup("MTH semantics 1", "MTH", {"semantics": 1.0})
RIVALS = {name: Setup(name, name) for name in METHODS if name != "MTH"}
EXAMPLES = ("ITQ", "SpectralHashing", "SSH", "LSH", "ZSH")  # show what other training data do
COSINES = (
    Setup("cosine", None),
    Setup("cosine, whitened", None, whitening=ALL),
    Setup("cosine, whitened within categories", None, whitening=WITHIN),
)
# Of MTH's grid, the best for ITQ at 64 bits on splits 0 to 2 of both data sets: codes of a few axes
# need these to differ, and the whitening of MTH makes them alike.
MILD = 2.0
WHITENABLE = ("ITQ", "SpectralHashing", "SSH")
WHITENED = (
    Setup("ITQ, whitened", "ITQ", whitening=ALL),
    *(Setup(f"{name}, whitened within categories", name, whitening=WITHIN) for name in WHITENABLE),
    *(
        Setup(f"{name}, whitened, shrinkage {MILD:g}", name, whitening=ALL, shrinkage=MILD)
        for name in WHITENABLE
    ),
)
# Features whose origin no hidden picture had a part in.
CENTRED = tuple(
    replace(setup, name=f"{setup.name}, centred", centred=True)
    for setup in (BEST, *(RIVALS[name] for name in EXAMPLES))
)
# A database in which everything is new.
AMONG_HIDDEN = tuple(
    replace(setup, name=f"{setup.name}, among hidden", among_hidden=True)
    for setup in (
        BEST,
        Setup("MTH best, no novelty", "MTH", {"novelty": 0.0}),
        *RIVALS.values(),
    )
)
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "no whitening": {"shrinkage": 1e6},
    "shrinkage 0.2": {"shrinkage": 0.2},
    "shrinkage 2": {"shrinkage": 2.0},
    "no novelty": {"novelty": 0.0},
    "novelty 0.1": {"novelty": 0.1},
    "no imaginary categories": {"imaginary": 0.0},
    "imaginary 0.75": {"imaginary": 0.75},
    "neighborhood 0.01": {"neighborhood": 0.01},
    "neighborhood 0.1": {"neighborhood": 0.1},
    "8 units": {"n_units": 8},
    "256 units": {"n_units": 256},
    "2048 units": {"n_units": 2048},
    "50 steps": {"n_steps": 50},
    "400 steps": {"n_steps": 400},
    "semantics 0.3": {"semantics": 0.3},
}


# What the paper's method has and MTH does not.
ZSH_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "no rotation": {"rotation": None},
    "Cayley rotation": {"rotation": "cayley"},
    "3 sweeps": {"n_sweeps": 3},
    "10 sweeps": {"n_sweeps": 10},
    "300 anchors": {"n_anchors": 300},
    "3000 anchors": {"n_anchors": 3000},
    "anchors by k-means": {"anchors": "kmeans"},
    "bandwidth 0.5": {"bandwidth": 0.5},
    "bandwidth 8": {"bandwidth": 8.0},
    "no graph": {"graph": None},
}


def shorter(change: str, parameters: Mapping[str, Any], *, one_hot: bool = False) -> Setup:
    """A variant of MTH of 1,024 units that is trained for 150 steps."""
    parameters = {"n_steps": 150, "n_units": 1024, **parameters}
    return Setup(f"MTH short{change}", "MTH", parameters, one_hot=one_hot)


def best_of(setup: Setup, n_fits: int) -> Setup:
    """The same, fitted several times.

    >>> best_of(BASELINE, 5).name
    'MTH short, best of 5'
    """
    return replace(setup, name=f"{setup.name}, best of {n_fits}", n_fits=n_fits)


def trained_on(setup: Setup, n_train: int) -> Setup:
    """The same with so many training samples.

    >>> trained_on(BASELINE, 3000).name
    'MTH short, 3000 samples'
    """
    return replace(setup, name=f"{setup.name}, {n_train} samples", n_train=n_train)


BASELINE = shorter("", {})
ABLATIONS = (
    *(shorter(f", {name}", changed) for name, changed in CHANGES.items()),
    *(shorter(f", pull {pull:g}", {"semantics": pull}, one_hot=True) for pull in (0.1, 0.3, 1.0)),
    best_of(BASELINE, 5),
)
ZSH_ABLATIONS = (
    Setup("ZSH, one-hot", "ZSH", one_hot=True),
    *(Setup(f"ZSH, {name}", "ZSH", changed) for name, changed in ZSH_CHANGES.items()),
    best_of(RIVALS["ZSH"], 5),
)
SIZED = (BASELINE, *(RIVALS[name] for name in EXAMPLES))  # trained on fewer and more samples
TRADEOFF = (
    BASELINE,
    *(shorter(f", lookup {value:g}", {"lookup": value}) for value in (0.25, 0.5, 0.75, 1.0)),
)
