"""zshash select as a user types it."""

import json
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

import zshash
from zshash.cli import main
from zshash.datasets import digits

SMALL = ("--bits", 16, "--train", 300, "--queries", 30, "--k", 100, "--splits", 2)


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    data = digits()
    path = tmp_path_factory.mktemp("data") / "my digits.npz"
    np.savez(path, X=data.X, y=data.labels, names=list(data.names))
    return path


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def fails(*arguments):
    """One line on the standard error, exit status 2, no traceback."""
    done = call(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.strip()


def test_the_printed_command_fits_what_was_chosen(features, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(
        *(
            "select",
            features,
            "--method",
            "sdh",
            "--grid",
            "nu=1e-5,1e-3",
            "--grid",
            "loss=l2,hinge",
        ),
        *("--set", "n_anchors=60", "--unseen", "four", "--unseen", "seven", "--meanings", "onehot"),
        *("--no-normalize", "--seed", 3, "-o", tmp_path / "scores.json", *SMALL),
    )
    assert done.exit_code == 0, done.output
    assert "SDH, 4 candidates, 2 folds. Held out, one fold after the other: " in done.stdout
    assert "| loss | nu | MAP@100 | to the best | seen queries | seconds |" in done.stdout
    found = json.loads((tmp_path / "scores.json").read_text())
    assert len(found["candidates"]) == 4
    assert not {"four", "seven"} & {name for fold in found["folds"] for name in fold["unseen"]}
    command = shlex.split(done.stdout.splitlines()[-1])
    assert command[:3] == ["zshash", "fit", str(features)]
    assert "--train" not in command
    assert call(*command[1:]).exit_code == 0
    parameters = zshash.load(tmp_path / "model.zshash").hasher.get_params()
    chosen = found["best"] | {"n_bits": 16, "n_anchors": 60, "normalize": False, "random_state": 3}
    assert parameters == parameters | chosen
    again = call("fit", features, "-o", tmp_path / "same", *command[3:-2], "--json")
    assert json.loads(again.stdout)["unseen"] == ["four", "seven"]
    assert json.loads(again.stdout)["labels"] == ["onehot"]


def test_json_and_processes(features):
    arguments = ("select", features, "--method", "CCAITQ", "--json", *SMALL)
    one, two = (json.loads(call(*arguments, "--jobs", jobs).stdout) for jobs in (1, 2))
    assert one.pop("seconds")
    assert two.pop("seconds")
    assert one == two
    tried = [row["parameters"]["regularization"] for row in one["candidates"]]
    assert tried == list(zshash.methods()["CCAITQ"].grid["regularization"])


def test_the_default_grid_without_what_is_set(features):
    done = call(
        *("select", features, "--method", "SSH", "--set", "eta=1", "--score", "precision"),
        *("--json", "--hold-out", 2, "--candidates", 1, *SMALL),
    )
    found = json.loads(done.stdout)
    assert found["parameters"]["eta"] == 1
    assert [list(row["parameters"]) for row in found["candidates"]] == [["alpha"]]
    assert found["title"] == "precision, radius 2"
    assert {len(fold["unseen"]) for fold in found["folds"]} == {2}


def test_names_that_go_out_together(features):
    done = call(
        *("select", features, "--method", "ITQ", "--grid", "n_iter=1,none", "--json", *SMALL),
        *("--splits", 9, "--together", "one; seven"),
    )
    found = json.loads(done.stdout)
    assert ["one", "seven"] in [fold["unseen"] for fold in found["folds"]]
    assert found["best"] == {"n_iter": 1}
    assert "n_iter must be a whole number" in found["candidates"][1]["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grid", "nuu=1,2"], "'nuu=1,2': write NAME=VALUE,VALUE with one of anchors, "),
        (["--grid", "nu="], "'nu=': write NAME=VALUE,VALUE"),
        (["--grid", "n_bits=8,16"], "'n_bits=8,16': write NAME=VALUE,VALUE"),
        (
            ["--grid", "nu=1,2", "--set", "nu=1"],
            "nu is in both --set and --grid: leave one of them out",
        ),
        (["--grid", "nu=-1,0"], "every candidate failed, nu=-1 because: nu must be a number above"),
        (["--method", "ITQ"], "ITQ has no grid of its own: write --grid NAME=VALUE,VALUE"),
        (["--unseen", "fuor"], "the data has no category 'fuor' (did you mean 'four'?)"),
        (["--hold-out", 9], "with 9 held out, fewer than two categories are left to learn from"),
        (["--queries", 5000], "5000 queries of "),
        (["--together", "one"], "'one': write two names or more, with semicolons between them"),
        (
            ["--together", "one;two", "--together", "two;six"],
            "'two' is in two groups: name it in one",
        ),
        (["--together", "one;tow"], "the data has no category 'tow' (did you mean 'two'?)"),
        (["--jobs", 0], "give 1 or more, or -1 for one process on each core"),
        (["--score", "accuracy"], "'accuracy' is not one of 'map', 'precision', 'real'"),
        (
            ["--method", "ITQ", "--grid", "n_iter=1", "--meanings", "onehot"],
            "it takes no source of their meanings (--meanings)",
        ),
        (["-o", "/nowhere/at/all.json"], "there is no folder '/nowhere/at'"),
    ],
)
def test_mistakes(features, arguments, message):
    given = ["--method", "SDH", *SMALL, *arguments]
    assert message in fails("select", features, *given)


def test_data_without_labels_and_inputs_to_keep(features, tmp_path):
    np.savez(tmp_path / "bare.npz", X=digits().X)
    line = fails("select", tmp_path / "bare.npz", "--method", "SDH", *SMALL)
    assert "it has no labels, so no category of it can be held out" in line
    line = fails("select", features, "--method", "SDH", *SMALL, "-o", features)
    assert "is no JSON file: choose another name, or --force" in line
    line = fails("select", features, "--method", "SDH", *SMALL, "--force", "-o", features)
    assert "is also an input of this command: choose another name" in line


@pytest.mark.filterwarnings("default:5 of 1797")
def test_several_labels_each(tmp_path):
    data = digits()
    matrix = np.eye(10, dtype=bool)[data.labels]
    matrix[data.labels == 8, 0] = True
    matrix[:5] = False
    np.savez(tmp_path / "several.npz", X=data.X, y=matrix, names=list(data.names))
    done = call(
        *("select", tmp_path / "several.npz", "--method", "CCAITQ", "--unseen", "nine"),
        *("--json", *SMALL),
    )
    assert "5 of 1797 samples have no label and are not trained on" in done.stderr
    found = json.loads(done.stdout)
    n_samples = len(data) - 5 - int((data.labels[5:] == 9).sum())
    assert {fold["n_database"] + 30 for fold in found["folds"]} == {n_samples}
