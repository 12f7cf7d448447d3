"""``zshash search --rerank``."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from zshash import LSH, Collection
from zshash.cli import main


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def X(tmp_path, monkeypatch):
    """Features, in a file, in a collection that keeps them, and in one that does not."""
    monkeypatch.chdir(tmp_path)
    X = np.random.RandomState(0).randn(50, 12).astype(np.float32)
    np.savez("queries.npz", X=X[:2])
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    for name in ("kept", "bare"):
        with Collection.create(name, hasher, keep_features=name == "kept") as album:
            album.add(X)
    return X


def test_rerank(X):
    told = json.loads(run("search", "kept", "queries.npz", "--k", 5, "--rerank", 20, "--json"))
    with Collection.open("kept") as album:
        expected = album.search(X[:2], k=5, rerank=20)
    found = [[(one["id"], one["score"]) for one in own["neighbours"]] for own in told]
    assert found == [[(match.id, match.score) for match in own] for own in expected]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bare", "queries.npz", "--rerank", 9), "keeps no features, so matches can not be ranked"),
        (("bare", "queries.npz", "--rerank", 9), "(zshash create --keep-features)"),
        (("kept", "queries.npz", "--rerank", 9, "--radius", 2), "with --radius"),
        (("kept", "--name", "dog", "--rerank", 9), "with --rerank: names have scores"),
        (("kept", "queries.npz", "--rerank", 0), "--rerank"),
        (("queries.npz", "queries.npz", "--rerank", 9), "for a file of codes"),
    ],
)
@pytest.mark.usefixtures("X")
def test_what_can_not_be_ranked_again(arguments, message):
    output = run("search", *arguments, code=2)
    assert message in output
    assert output.count("\n") == 1
