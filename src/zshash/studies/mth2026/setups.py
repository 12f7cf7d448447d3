"""Setups that are compared: methods, variants of MTH, and features without codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zshash.evaluation.standard import SETTINGS
from zshash.hashing.registry import METHODS, SEMANTIC
from zshash.learning.targets import ONE_HOT
from zshash.studies.mth2026.splits import Source

__all__ = ["Pool", "Setup", "best_of", "shorter", "trained_on"]

ALL, WITHIN = "all samples", "within categories"  # the covariance that whitening removes


@dataclass(frozen=True)
class Pool:
    """Samples without a label that a method may learn from, beside the labelled ones.

    Attributes
    ----------
    share : float
        Share of the samples without a label that are in the pool.
    hidden : float
        Share of the samples of hidden categories that are among them.
    n_labelled : int or None
        Number of samples that keep their label; None for all training samples.
    """

    share: float = 1.0
    hidden: float = 1.0
    n_labelled: int | None = None


@dataclass(frozen=True)
class Setup:
    """A method with its parameters and its changes to the data: one row of a table.

    Attributes
    ----------
    name : str
    method : str or None
        None ranks by the cosine of features, without codes.
    parameters : mapping
        Parameters of the method that replace its defaults.
    whitening : {None, "all samples", "within categories"}
        Whiten features before the method sees them.
    shrinkage : float or None
        ε of the whitening, None for that of MTH.
    centred : bool
        Subtract the mean of the training samples from all features first.
    among_hidden : bool
        Search only among samples of hidden categories.
    one_hot : bool
        Learn from one-hot labels instead of the meanings of names.
    n_train : int or None
        Number of training samples, None for that of the study.
    n_fits : int
        Number of fits with successive random states; the lowest final objective counts.
    pool : Pool or None
        What to learn from beside the training samples; None for nothing.
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
    pool: Pool | None = None

    def labels(self, source: Source) -> tuple[str, ...]:
        """Label sources to learn from; none for a method that does not learn from names."""
        if self.method is None or METHODS[self.method].kind != SEMANTIC:
            return ()
        blind = self.method == "MTH" and not self.parameters.get("semantics")
        if blind or self.one_hot:
            return (ONE_HOT,)
        return source.labels

    def hasher(self, bits: int, n_train: int | None, smaller: Mapping[str, Any]) -> Any:
        """The method; `smaller` are parameters of MTH for the small version."""
        assert self.method is not None
        parameters = {**SETTINGS.get(self.method, {}), **self.parameters}
        if self.method == "ZSH" and n_train is None:
            parameters["graph"] = "anchor"  # the graph of neighbours is too large for all samples
        if self.method == "MTH":
            parameters |= smaller
        return METHODS[self.method].estimator(n_bits=bits, normalize=True, **parameters)


BEST, FAST = Setup("MTH best", "MTH"), Setup("MTH fast", "MTH", {"effort": "fast"})
_RIVALS = (  # the methods there were when the study was made
    "ZSH",
    "COSDISH",
    "SDH",
    "DGH",
    "LFH",
    "IMH",
    "KSH",
    "SSH",
    "AGH",
    "ITQ",
    "CCAITQ",
    "MLH",
    "SpectralHashing",
    "LSH",
)
RIVALS = {name: Setup(name, name) for name in _RIVALS}
EXAMPLES = ("ITQ", "SpectralHashing", "SSH", "LSH", "ZSH")  # run with other training data, too


def shorter(change: str, parameters: Mapping[str, Any], *, one_hot: bool = False) -> Setup:
    """A variant of MTH with 1,024 units and 150 training steps."""
    parameters = {"n_steps": 150, "n_units": 1024, **parameters}
    return Setup(f"MTH short{change}", "MTH", parameters, one_hot=one_hot)


def best_of(setup: Setup, n_fits: int) -> Setup:
    """The same setup, fitted several times.

    >>> best_of(BASELINE, 5).name
    'MTH short, best of 5'
    """
    return replace(setup, name=f"{setup.name}, best of {n_fits}", n_fits=n_fits)


def trained_on(setup: Setup, n_train: int) -> Setup:
    """The same setup with this number of training samples.

    >>> trained_on(BASELINE, 3000).name
    'MTH short, 3000 samples'
    """
    return replace(setup, name=f"{setup.name}, {n_train} samples", n_train=n_train)


BASELINE = shorter("", {})
