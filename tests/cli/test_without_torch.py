"""Commands that run methods where PyTorch is not installed."""

import json
import sys

import pytest
from click.testing import CliRunner

import zshash
from zshash.cli import main, options
from zshash.datasets import digits

FEW = ("CSQ", "ITQ", "DPN", "LSH")
SENTENCE = "torch is not installed: pip install 'zshash[torch]'"


@pytest.fixture(autouse=True)
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.fixture(name="features")
def file_of_features(tmp_path):
    import numpy as np

    data = digits()
    np.savez(tmp_path / "digits.npz", X=data.X, y=data.labels, names=data.names)
    return tmp_path / "digits.npz"


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_a_comparison_of_all_methods_leaves_some_out(features, tmp_path, monkeypatch):
    monkeypatch.setattr(options, "METHODS", {name: zshash.methods()[name] for name in FEW})
    done = call(
        *("compare", features, "--unseen", "four", "--train", 200, "--queries", 20, "--k", 50),
        *("--bits", 16, "--seeds", 1, "--json", "-o", tmp_path / "table"),
    )
    assert done.exit_code == 0, done.output
    assert f"CSQ, DPN left out: {SENTENCE}\n" in done.stderr
    assert [run["method"] for run in json.loads(done.stdout)["runs"]] == ["ITQ", "LSH"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "{features}", "--unseen", "four", "--method", "csq", "-o", "{out}"),
        ("eval", "{features}", "--unseen", "four", "--method", "csq"),
        ("select", "{features}", "--method", "csq"),
        ("fit", "{features}", "--method", "csq", "-o", "{out}"),
        ("reproduce", "cifar10", "--quick", "--method", "csq", "-o", "{out}"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_method_asked_for_by_name_is_refused(arguments, features, tmp_path):
    names = {"features": features, "out": tmp_path / "out"}
    done = call(*(word.format(**names) for word in arguments))
    assert done.exit_code == 2
    assert done.stderr == f"Error: {SENTENCE}\n"
    assert list(tmp_path.iterdir()) == [features]


def test_all_methods_of_a_reproduction(tmp_path):
    done = call(
        "reproduce",
        "cifar10",
        "--quick",
        "--method",
        "all",
        "--bits",
        16,
        "--seeds",
        1,
        "--report-only",
        "-o",
        tmp_path / "out",
    )
    heads = [name for name, method in zshash.methods().items() if method.extra]
    assert f"{', '.join(heads)} left out: {SENTENCE}\n" in done.stderr


def test_methods_say_what_they_need():
    text = call("info", "--methods").output
    assert text.count("a fit needs pip install 'zshash[torch]'") == sum(
        bool(method.extra) for method in zshash.methods().values()
    )
    facts = json.loads(call("info", "--methods", "--json").stdout)
    assert (facts["CSQ"]["extra"], facts["ITQ"]["extra"]) == ("torch", "")
