from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from zshash import MTH, metrics
from zshash.datasets import digits
from zshash.evaluation.protocol import Protocol, kinds
from zshash.evaluation.protocol import score as score_hasher
from zshash.hashing.steps.rows import unit_rows
from zshash.studies.rivals2026 import scoring
from zshash.studies.rivals2026.preparations import Preparation, Prepared
from zshash.studies.rivals2026.quantisers import PQ, PCASigns

DATA = digits()
PROTOCOL = Protocol([1, 7], n_train=600, n_queries=40, k=50, n_seen_queries=30)
SPLIT = PROTOCOL.split(DATA, 0)
KINDS = ("", "_alone", "_seen")


def rival(quantiser):
    return Prepared(Preparation(), quantiser).fit(
        DATA.X[SPLIT.train], DATA.labels[SPLIT.train], seed=0
    )


class OfHasher:
    """A fitted hash function with the face of a quantiser."""

    is_binary = True

    def __init__(self, hasher):
        self.hasher = hasher
        self.encode = hasher.encode

    def similarities(self, queries, stored):
        # float64 adds up few bits almost exactly: equal codes tie, others differ
        signs = np.unpackbits(stored, axis=1) * 2.0 - 1
        different, places = np.unique(signs, axis=0, return_inverse=True)
        return (self.hasher.project(queries).astype(float) @ different.T)[:, places.ravel()]


def test_scores_are_those_of_hash_functions():
    hasher = MTH(16, effort="fast", n_steps=5, random_state=0)
    hasher.fit(DATA.X[SPLIT.train], DATA.labels[SPLIT.train])
    found = scoring.score(DATA, OfHasher(hasher), SPLIT, PROTOCOL)
    expected = score_hasher(DATA, hasher, SPLIT, PROTOCOL)
    assert found.pop("ties") == expected.pop("ties")
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("block", [7, 1000])
def test_scores_of_a_quantiser_by_brute_force(block, monkeypatch):
    monkeypatch.setattr(scoring, "BLOCK_QUERIES", block)
    ranker = rival(PQ(8))
    found = scoring.score(DATA, ranker, SPLIT, replace(PROTOCOL, k=len(DATA.X)))
    for suffix, own in kinds(DATA, SPLIT).items():
        scores = []
        near = ranker.similarities(DATA.X[own.queries], ranker.encode(DATA.X[own.database]))
        for row, query in zip(near, own.queries, strict=True):
            others = own.database != query
            relevant = DATA.labels[own.database] == DATA.labels[query]
            scores.append(average_precision_score(relevant[others], row[others]))
        # scikit-learn takes the last place of a tie, and hardly any codes tie
        assert found[f"map_real{suffix}"] == pytest.approx(np.mean(scores), abs=2e-3)


def test_ties_are_averaged_and_cut_at_the_last_rank():
    def similarities(queries, database):
        return np.round(3 * unit_rows(DATA.X)[queries] @ unit_rows(DATA.X)[database].T)

    found = scoring.score_similarities(DATA, similarities, SPLIT, PROTOCOL)
    for suffix, own in kinds(DATA, SPLIT).items():
        near = similarities(own.queries, own.database)
        if own.finds_itself:
            near[own.queries[:, None] == own.database] = np.inf
        relevance = metrics.same_label(DATA.labels[own.queries], DATA.labels[own.database])
        histograms = metrics.real_histograms(near, relevance)
        if own.finds_itself:
            histograms = metrics.without_itself(*histograms)
        expected = metrics.mean_average_precision(*histograms, PROTOCOL.k)
        assert found[f"map_real{suffix}"] == pytest.approx(expected)


def test_only_binary_codes_have_scores_by_distance():
    facts = {"k", "n_queries", "n_database", "n_seen_queries", *(f"map_real{s}" for s in KINDS)}
    assert set(scoring.score(DATA, rival(PQ(8)), SPLIT, PROTOCOL)) == facts
    by_bits = {"radius", "ties", *(f"map{s}" for s in KINDS), *(f"precision{s}" for s in KINDS)}
    assert set(scoring.score(DATA, rival(PCASigns(8)), SPLIT, PROTOCOL)) == facts | by_bits
