"""The rules that the experiment compares; a new rule is one line of `RULES`."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import softmax

from zshash.datasets import Dataset
from zshash.images import Categories
from zshash.studies.names2026 import shipped
from zshash.studies.names2026.baselines import CMT, DAP, ESZSL, Baseline, ConSE, DeViSE, ZeroData
from zshash.studies.names2026.baselines.conse import combined, cosines
from zshash.studies.names2026.cases import Answer, Case, Rule
from zshash.studies.names2026.choosing import choose
from zshash.studies.names2026.features import prepared
from zshash.studies.names2026.vectors import known_to, name_vectors, says_yes

__all__ = ["RULES"]


def learned(method: type[Baseline]) -> Callable[[Case], Answer]:
    """The rule of a baseline: prepare features, choose parameters, learn, score."""

    def rank(case: Case) -> Answer:
        X = prepared(case.dataset.X, case.labelled)
        own, y = np.ascontiguousarray(X[case.labelled]), case.y
        seen, names = case.vectors()
        given = _given(method, case)

        def make(**parameters: float) -> Baseline:
            return method(**given, **parameters)

        chosen = choose(make, method.grid, own, y, seen, k=case.k, seed=case.seed)
        return Answer(make(**chosen).fit(own, y, seen).scores(X, names), chosen)

    return rank


def _given(method: type[Baseline], case: Case) -> dict[str, object]:
    """Parameters of a baseline that the case decides."""
    if method is DAP:
        return {"says_yes": says_yes(case.dataset, case.sources, case.seen)}
    return {"random_state": case.seed} if method in (CMT, DeViSE) else {}


def rank_by_network(case: Case) -> Answer:
    """ConSE with the network's own classifier; labelled pictures are not used.

    Known categories are those of the network, less the hidden ones, that the sources know.
    """
    known = shipped.known_besides(case)
    both = _side_by_side(known, case)
    rows = np.setdiff1d(known_to(both, case.sources), np.arange(len(known), len(both)))
    vectors = name_vectors(both, rows, case.sources)
    names = name_vectors(both, np.arange(len(known), len(both)), case.sources, rows)
    outputs = case.dataset.X @ known.directions[rows].T + known.biases[rows]
    places = combined(softmax(outputs, axis=1), vectors)
    return Answer(cosines(names, places), {"known": len(rows)})


def _side_by_side(known: Categories, case: Case) -> Dataset:
    """The network's categories, and the hidden ones behind them, so that they share a space."""
    names = tuple(case.dataset.names[number] for number in case.hidden)
    own = shipped.synsets(case.dataset)
    synsets = tuple(own[number] for number in case.hidden)
    X = np.zeros((len(known) + len(names), 1), dtype=np.float32)
    return replace(Dataset(X), names=(*known.names, *names), synsets=(*known.ids, *synsets))


RULES = {
    "dap": Rule("DAP (Lampert 2009, Farhadi 2009)", learned(DAP)),
    "zero-data": Rule("zero-data learning (Larochelle 2008)", learned(ZeroData)),
    "cmt": Rule("CMT (Socher 2013)", learned(CMT)),
    "devise": Rule("DeViSE (Frome 2013)", learned(DeViSE)),
    "conse": Rule("ConSE (Norouzi 2014)", learned(ConSE)),
    "eszsl": Rule("ESZSL (Romera-Paredes 2015)", learned(ESZSL)),
    "conse-network": Rule("ConSE, the network’s own classifier", rank_by_network),
    "zshash-features": Rule("zshash, features", shipped.rank_features),
    "zshash": Rule("zshash, 64-bit codes", shipped.rank_codes, uses_codes=True),
}
"""Rules by the name that a configuration gives them, in the order of the tables."""
