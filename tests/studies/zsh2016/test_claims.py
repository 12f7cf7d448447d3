"""Verdicts follow the results: worlds in which all that the paper claims holds, and none of it."""

import math

import pytest

from zshash.evaluation.report.document import (
    NOT,
    NOT_RUN,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
)
from zshash.evaluation.runs import Result, RunFolder
from zshash.studies import claims
from zshash.studies.experiments import Changes
from zshash.studies.findings import Findings
from zshash.studies.zsh2016 import STUDY
from zshash.studies.zsh2016.alignment import ROTATIONS
from zshash.studies.zsh2016.unseen_category import SIMILARITY_AND_MAP

read_experiment = STUDY.read
CLAIMS = {name: own for name in STUDY.names if (own := STUDY.read(name).about.claims)}

ORDER = ["ZSH", "COSDISH", "IMH", "LFH", "SDH", "KSH"]
RANKING = {16: 0.2, 32: 0.3, 64: 0.4, 96: 0.42, 128: 0.43}
LOOKUP = {16: 0.2, 32: 0.35, 64: 0.4, 96: 0.3, 128: 0.2}


def noise(seed):
    return 0.001 * math.sin(seed)


def methods(task, seed):
    place = ORDER.index(task.method) if task.method in ORDER else -5  # newcomers are far ahead
    lead = -0.08 * place + noise(seed)
    ranking, lookup = RANKING[task.bits] + lead, LOOKUP[task.bits] + lead
    scores = {"map": ranking, "precision": lookup}
    return scores | {"map_related": ranking, "precision_related": lookup}


def convergence(_, seed):
    return {"objective": [30_000.0, 9000.0, 7000.0, 6900.0 + seed]}


def categories(task, seed):
    similarity, score = SIMILARITY_AND_MAP[task.unseen[0]]
    if task.labels == ("onehot",):
        return {"map": score - 0.05, "precision": score - 0.05}
    return {"map": score + noise(seed), "precision": score, "similarity": similarity}


def seen_ratio(task, seed):
    score = {9: 0.1, 8: 0.25}.get(task.unseen, 0.4 - 0.01 * task.unseen) + noise(seed)
    return {"map": score, "precision": score, "n_categories": 10}


def training_size(task, seed):
    return {"precision": (0.5 if task.n_train >= 10_000 else 0.3) + noise(seed * task.n_train)}


def exemplars(task, _):
    return {"precision_at": 0.9 - 0.1 * ([*ORDER, "ITQ"].index(task.method))}


def structure(task, seed):
    score = (0.3 if task.parameters == {"graph": None} else 0.4) + noise(seed)
    return {"map": score, "precision": score}


WORLDS = {
    "cifar10": methods,
    "imagenet": methods,
    "related": methods,
    "mirflickr": methods,
    "convergence": convergence,
    "unseen-category": categories,
    "seen-ratio": seen_ratio,
    "training-size": training_size,
    "exemplars": exemplars,
    "structure": structure,
}


def world(name, make, changes=None):
    """Findings in a world in which `make` makes the record of a task and a seed."""
    experiment = read_experiment(name, changes)
    results = [
        Result(task, [{"seed": seed} | make(task, seed) for seed in range(experiment.seeds)])
        for task in experiment.tasks
    ]
    return Findings(experiment, results)


def judge(name, make, changes=None):
    found = world(name, make, changes)
    return {claim.statement: claim.verdict for claim in claims.judge(found)}


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_as_claimed(name):
    assert set(judge(name, WORLDS[name]).values()) == {REPRODUCED}


@pytest.mark.parametrize("name", WORLDS)
def test_the_opposite_world(name):
    def turned(task, seed):
        record = WORLDS[name](task, seed)
        return {
            key: value if key in ("n_categories", "similarity") else _minus(value)
            for key, value in record.items()
        }

    found = judge(name, turned)
    found.pop(
        "The average cosine similarities of the ten names are those of its table.", None
    )  # are not turned
    lead = [claim for claim in found if claim.startswith("MAP of each method")]
    for claim in lead:  # a ratio of negative scores is one of positive ones
        assert found.pop(claim) != REPRODUCED
    assert set(found.values()) == {NOT}


def _minus(value):
    """The other sign; and in place of a curve that falls, one that rises for long."""
    return [1e5 * step for step in range(30)] if isinstance(value, list) else -value


@pytest.mark.parametrize("name", CLAIMS)
def test_nothing_run(name):
    experiment = read_experiment(name)
    empty = Findings(experiment, [Result(task) for task in experiment.tasks])
    judged = claims.judge(empty)
    assert {claim.verdict for claim in judged} == {NOT_RUN}
    assert [claim.statement for claim in judged] == list(CLAIMS[name])


@pytest.mark.parametrize("name", ["cifar10", "imagenet", "related", "mirflickr"])
def test_a_rival_that_was_not_run(name):
    def make(task, seed):
        return {} if (task.method, task.bits) == ("KSH", 64) else methods(task, seed)

    assert set(judge(name, make).values()) == {NOT_RUN}


@pytest.mark.parametrize("name", ["structure", "training-size"])
def test_one_seed_is_too_few_for_an_interval(name):
    found = judge(name, WORLDS[name], Changes(seeds=1))
    assert set(found.values()) == {UNDECIDED}


def test_runs_are_paired_by_seed_and_not_by_place():
    """A large effect of the seed hides nothing, and a failed run takes its partner along."""

    def make(task, seed):
        plain = task.parameters == {"graph": None}
        if seed == (1 if plain else 3):
            return {"error": "out of memory"}
        return {key: value + 10 * seed for key, value in structure(task, seed).items()}

    found = world("structure", make)
    lead = found.gain(
        "map", {"parameters": {}}, {"parameters": {"graph": None}}, data=found.along("data")[0]
    )
    assert lead.n == found.experiment.seeds - 2
    assert lead.mean == pytest.approx(0.1)
    assert set(judge("structure", make).values()) == {REPRODUCED}


def test_seeds_of_other_experiments_do_not_count(tmp_path):
    few, many = (read_experiment("structure", Changes(seeds=n)) for n in (2, 4))
    results = RunFolder(tmp_path)
    for seed in range(4):
        for task in many.tasks:
            results.add(task, "sum", {"seed": seed} | structure(task, seed))
    assert {len(result.runs) for result in Findings.read(few, results).results} == {2}
    assert {len(result.runs) for result in Findings.read(many, results).results} == {4}


def test_small_versions_and_ones_own_judge_nothing(tmp_path):
    assert judge("cifar10", lambda *_: {}, Changes(quick=True)) == {}
    own = tmp_path / "cifar10.toml"
    own.write_text('like = "cifar10"')
    assert judge(str(own), methods) == {}


def test_one_length_short_is_partly():
    def make(task, seed):
        worse = 0.1 if (task.method, task.bits) == ("ZSH", 32) else 0.0
        return {key: value - worse for key, value in methods(task, seed).items()}

    assert judge("cifar10", make)["ZSH has the best MAP at all code lengths."] == PARTLY


def test_an_interval_that_reaches_zero_is_not_enough():
    def make(task, seed):
        wide = 0.5 * math.cos(3 * seed) if task.parameters == {} else 0.0
        return {key: value + wide for key, value in structure(task, seed).items()}

    assert set(judge("structure", make).values()) == {NOT}


@pytest.mark.parametrize(("share", "verdict"), [(1.0, NOT), (0.7, REPRODUCED)])
def test_a_rotation_that_changes_codes(share, verdict):
    def make(_, seed):
        with_r = {"map": 0.5 + noise(seed), "precision": 0.5, "same_bits": 1.0}
        without = {"map": 0.5 - (0.1 if share < 1 else 0) + noise(seed), "same_bits": share}
        return {name: with_r | (without if name == "none" else {}) for name in ROTATIONS}

    assert set(judge("alignment", make).values()) == {verdict}
