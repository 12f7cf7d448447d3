"""The command line as a user types it, wrong words included."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import zshash
from tests.every_method import each
from zshash.cli import COMMANDS, main
from zshash.datasets import digits

ROOT = Path(__file__).parents[2]
SMALL = ["--method", "ZSH", "--set", "n_anchors=50", "--bits", "16"]


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    data = digits()
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    np.savez(path, X=data.X, y=data.labels, names=list(data.names))
    return str(path)


@pytest.fixture(scope="module")
def model(features, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("models") / "digits.zshash")
    done = call("fit", features, "-o", path, "--unseen", "four", "--unseen", "seven", *SMALL)
    assert done.exit_code == 0
    assert "16 bits, 1437 samples of 8 seen categories" in done.output
    assert "never seen: four; seven" in done.output
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


def test_encode(features, model, tmp_path):
    done = call("encode", features, "-m", model, "-o", tmp_path / "codes.npy")
    assert done.exit_code == 0
    assert "1797 codes of 16 bits, 3594 bytes" in done.output
    codes = np.load(tmp_path / "codes.npy")
    np.testing.assert_array_equal(codes, zshash.load(model).encode(digits().X))


def test_eval_of_a_method(features):
    done = call(
        *("eval", features, "--unseen", "four", "--meanings", "onehot", "--train", 500),
        *("--queries", 50, "--k", 100, "--seeds", 2, "--json", *SMALL),
    )
    found = json.loads(done.stdout)
    assert found["summary"][0]["n_seeds"] == 2
    assert 0.1 < found["summary"][0]["map"] <= 1
    assert found["runs"][0]["unseen"] == ["four"]
    assert found["runs"][0]["features"] == "digits.npz"
    done = call("eval", features, "--unseen", 3, "--seeds", 1, "--method", "lsh", "--bits", 16)
    assert "LSH, 16 bits" in done.output
    assert "MAP@5000" in done.output


def test_eval_of_a_model(features, model):
    found = json.loads(call("eval", features, "-m", model, "--k", 100, "--json").stdout)
    assert found["runs"][0]["unseen"] == ["four", "seven"]
    assert len(found["runs"]) == 5
    assert found["summary"][0]["map"] > 0.15


def test_nothing_hidden(features):
    done = call(
        *("eval", features, "--all-seen", "--method", "ksh", "--train", 500, "--queries", 50),
        *("--k", 100, "--seeds", 1, "--json", "--bits", 16, "--set", "n_anchors=50"),
    )
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["method"], run["unseen"], run["labels"]) == ("KSH", [], ["onehot"])
    assert run["map"] > 0.8


@pytest.mark.parametrize("method", each())
def test_fit_by_every_method(method, features, tmp_path):
    small = {"n_anchors": 60, "n_steps": 20}
    flags = [
        word
        for name, size in small.items()
        if name in zshash.methods()[method].parameters
        for word in ("--set", f"{name}={size}")
    ]
    path = tmp_path / "model"
    done = call(
        *("fit", features, "-o", path, "--method", method.lower(), "--unseen", "four"),
        *("--train", 300, "--bits", 16, *flags),
    )
    assert done.exit_code == 0, done.output
    assert f"{method}, 16 bits, 300 samples of 9 seen categories" in done.output
    assert zshash.load(path).encode(digits().X).shape == (1797, 2)


def test_compare(features, tmp_path):
    arguments = [
        *("compare", features, "--unseen", "four", "--train", 300, "--queries", 30, "--k", 50),
        *("--method", "ksh", "--method", "lsh", "--bits", 32, "--bits", 16, "--seeds", 2),
        *("--set", "KSH.n_anchors=40", "-o", tmp_path / "table"),
    ]
    done = call(*arguments)
    assert done.exit_code == 0, done.output
    assert "Hidden: four; 300 training samples, 30 queries" in done.output
    assert "2 seeds. KSH: n_anchors=40." in done.output
    assert "|  | learns from | 16 bits, 2 bytes | 32 bits, 4 bytes |" in done.output
    assert (tmp_path / "table.md").read_text() == done.stdout
    found = json.loads(call(*arguments, "--json").stdout)
    assert found == json.loads((tmp_path / "table.json").read_text())
    assert len(found["runs"]) == 8
    assert len(found["summary"]) == 4


def test_a_comparison_in_which_nothing_can_run(features, tmp_path):
    line = fails(
        *("compare", features, "--all-seen", "--method", "itq", "--bits", 96, "--seeds", 1),
        *("-o", tmp_path / "t"),
    )
    assert "ITQ, 96 bits: n_bits=96 is more than the dimension of X" in line


@pytest.mark.filterwarnings("default")
def test_a_warning_is_shown_once(features, tmp_path):
    done = call(
        *("compare", features, "--all-seen", "--method", "ksh", "--bits", 16, "--seeds", 2),
        *("--train", 100, "--queries", 20, "-o", tmp_path / "t"),
    )
    assert done.exit_code == 0
    assert done.stderr.count("n_anchors=300 is larger than the number of samples") == 1


def test_an_interrupted_comparison_says_how_to_go_on(features, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("zshash.evaluation.comparison.run_setup", stop)
    done = call("compare", features, "--all-seen", "-o", tmp_path / "t")
    assert done.exit_code == 130
    assert (
        f"Interrupted. The same command goes on from the runs in {tmp_path / 't.json'}"
        in done.stderr
    )
    assert list(tmp_path.iterdir()) == []


def test_methods():
    text = call("info", "--methods").output
    assert "KSH (2012, pairwise)\n  W. Liu, J. Wang" in text
    assert "n_anchors=300" in text
    assert "pairwise: learns from which samples share a label" in text
    facts = json.loads(call("info", "--methods", "--json").stdout)
    assert set(facts) == set(zshash.methods())
    assert facts["ZSH"]["kind"] == "semantic"
    assert 1e-5 in facts["ZSH"]["grid"]["alpha"]


def test_info(features, model):
    assert f"zshash:            {zshash.__version__}" in call("info").output
    facts = json.loads(call("info", model, "--json").stdout)
    assert (facts["method"], facts["bits"], facts["dimension"]) == ("ZSH", 16, 64)
    assert facts["unseen"] == ["four", "seven"]
    facts = json.loads(call("info", features, "--json").stdout)
    assert facts["samples"] == 1797
    assert facts["samples each"]["zero"] == 178


def test_similarity(features):
    values = json.loads(call("info", features, "--similarity", "--json").stdout)
    assert set(values) == set(digits().names)
    words = ("--name", "cat", "--name", "dog", "--name", "truck")
    lines = call("info", "--similarity", *words).output.split()
    assert lines[::2] == ["cat", "dog", "truck"]
    assert float(lines[1]) > float(lines[5])


def test_similarities_of_the_paper(data_folder):
    words = data_folder / "words" / "huang2012_50d.txt"
    table = data_folder / "features" / "cifar10_lite0_pca256.npz"
    done = call("info", table, "--similarity", "--meanings", words)
    assert dict(line.split() for line in done.output.splitlines()) == {
        "airplane": "0.2191",
        "automobile": "0.1567",
        "bird": "0.3565",
        "cat": "0.3661",
        "deer": "0.2981",
        "dog": "0.3826",
        "frog": "0.3485",
        "horse": "0.3015",
        "ship": "0.1663",
        "truck": "0.3358",
    }


def test_parameters_by_name(features, tmp_path):
    path = tmp_path / "m.zshash"
    settings = ["graph=none", "anchors=kmeans", "alpha=1e-4", "n_anchors=20", "rotation=cayley"]
    flags = [part for setting in settings for part in ("--set", setting)]
    flags += ["--method", "ZSH", "--no-normalize"]
    done = call("fit", features, "-o", path, "--train", 300, *flags)
    assert done.exit_code == 0
    hasher = zshash.load(path).hasher
    assert (hasher.graph, hasher.anchors, hasher.alpha) == (None, "kmeans", 1e-4)
    assert hasher.normalize is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nothing.npz", "-o", "m"], "nothing.npz: there is no such file or folder"),
        (["fit", "{features}", "-o", "no/such/folder/m"], "there is no folder 'no/such/folder'"),
        (["fit", "{features}", "-o", "{tmp}/m", "--bits", "7"], "7 is not in the range 8<=x<=1024"),
        (["fit", "{features}", "-o", "{tmp}/m", "--unseen", "fuor"], "(did you mean 'four'?)"),
        (
            ["fit", "{features}", "-o", "{tmp}/m", "--meanings", "wrodnet"],
            "no label source 'wrodnet'",
        ),
        (["fit", "{features}", "-o", "{tmp}/m", "--set", "anchor=1"], "NAME=VALUE with one of"),
        (
            ["fit", "{features}", "-o", "{tmp}/m", "--method", "ZSH", "--set", "alpha=-1"],
            "alpha must be a number above",
        ),
        (["fit", "{features}", "-o", "{tmp}/m", "--method", "DPSH"], "'DPSH' is not one of"),
        (["fit", "{model}", "-o", "{tmp}/m"], "not a kind of file that is read here"),
        (["encode", "{features}", "-m", "{features}", "-o", "{tmp}/c"], "not a zshash model"),
        (["encode", "{narrow}", "-m", "{model}", "-o", "{tmp}/c"], "3 features for each"),
        (["eval", "{features}"], "say which category to hide"),
        (["eval", "{features}", "--unseen", "four", "--all-seen"], "exclude each other"),
        (
            ["fit", "{features}", "-o", "{tmp}/m", "--method", "ksh", "--meanings", "wordnet"],
            "KSH learns which samples share a category",
        ),
        (
            ["fit", "{features}", "-o", "{tmp}/m", "--method", "lsh", "--meanings", "wordnet"],
            "LSH does not look at labels",
        ),
        (
            ["fit", "{features}", "-o", "{tmp}/m", "--method", "itq", "--bits", "96"],
            "n_bits=96 is more than the dimension of X (n_features=64)",
        ),
        (["fit", "{narrow}", "-o", "{tmp}/m", "--method", "sdh"], "no labels to learn from"),
        (["compare", "{features}", "-o", "{tmp}/t"], "say which category to hide"),
        (["compare", "cifar", "--all-seen", "-o", "{tmp}/t"], "neither a folder or file of"),
        (["compare", "cifar10", "--k", "9", "-o", "{tmp}/t"], "--k has no meaning with a standard"),
        (
            ["compare", "{features}", "--all-seen", "--set", "n_anchors=9", "-o", "{tmp}/t"],
            "write METHOD.NAME=VALUE with one of ZSH, ",
        ),
        (
            ["compare", "{features}", "--all-seen", "--set", "KSH.anchors", "-o", "{tmp}/t"],
            "'anchors': write KSH.NAME=VALUE with one of anchors, ",
        ),
        (
            ["compare", "{features}", "--all-seen", "--set", "KSH.n_anchors=-4", "-o", "{tmp}/t"],
            "n_anchors must be a whole number of at least 1, got -4",
        ),
        (
            [
                *("compare", "{features}", "--all-seen", "--method", "lsh", "-o", "{tmp}/t"),
                *("--set", "KSH.n_anchors=4"),
            ],
            "write METHOD.NAME=VALUE with one of LSH",
        ),
        (
            ["compare", "cifar10", "{features}", "--all-seen", "-o", "{tmp}/t"],
            "compare standard protocols and feature files in two commands",
        ),
        (
            ["compare", "{features}", "{features}", "--all-seen", "-o", "{tmp}/t"],
            "two DATA have the same name",
        ),
        (
            [
                *("compare", "{features}", "--all-seen", "--method", "lsh", "-o", "{tmp}/t"),
                *("--meanings", "wordnet"),
            ],
            "--meanings are for methods that learn from names",
        ),
        (
            ["compare", "{features}", "--all-seen", "--meanings", "wrodnet", "-o", "{tmp}/t"],
            "no label source 'wrodnet'",
        ),
        (
            ["fit", "{features}", "-o", "{tmp}/m", "--method", "spectralhashing", "--set", "x=1"],
            "'x=1': SpectralHashing has no parameters",
        ),
        (
            [
                *("fit", "{features}", "-o", "{tmp}/m", "--method", "ZSH"),
                *("--set", "sigma=1e300", "--train", "1200"),
            ],
            "a number went out of range",
        ),
        (["info", "{features}", "--methods"], "PATH has no meaning with --methods"),
        (["info", "--methods", "--similarity"], "--similarity has no meaning with --methods"),
        (["eval", "{features}", "--unseen", "10"], "10 of 10 categories can not be unseen"),
        (["eval", "{narrow}", "--unseen", "cat"], "the data has no labels"),
        (["eval", "{features}", "--unseen", "four", "--queries", "9999"], "9999 queries of 181"),
        (["info", "{broken}"], "not a zshash model, or damaged"),
        (["info", "--similarity"], "similarity needs two categories: give a PATH, or --name twice"),
        (
            ["info", "--similarity", "--meanings", "onehot"],
            "all equally far apart: write wordnet or the name of a file",
        ),
        (["info", "--similarity", "--name", "cat", "--name", "dgo"], "does not know 'dgo'"),
        (
            ["info", "{features}", "--similarity", "--name", "a"],
            "--name has no meaning with a PATH",
        ),
        (["info", "--name", "cat"], "--name has no meaning without --similarity"),
        (
            ["eval", "{features}", "-m", "{model}", "--bits", "8"],
            "--bits has no meaning with --model",
        ),
        (["eval", "{features}", "-m", "{model}", "--unseen", "one"], "it was trained on one"),
        (
            ["fit", "{features}", "-o", "{tmp}/m", "--set", "n_bits=8"],
            "NAME=VALUE with one of alignment",
        ),
        (["fit", "{features}", "-o", "{tmp}/m", "--unseen", ""], "the data has no category ''"),
        (["--wrong"], "No such option"),
        (["find"], "No such command 'find': zshash --help lists the commands"),
        (["serch", "album"], "No such command 'serch': did you mean 'search'?"),
        (["FIT"], "No such command 'FIT': did you mean 'fit'?"),
        (["fit", "", "-o", "{tmp}/m"], "'DATA': it is empty: give a value"),
        (["fit", "{album}", "-o", "{tmp}/m"], "is a collection: give the pictures or features"),
        (["fit", "{features}", "-o", "{tmp}/m", "--extractor", ""], "or leave the option out"),
        (["fit", "{features}", "-o", "{tmp}/m", "--seed", "-1"], "-1 is not in the range 0<=x"),
        (["fit", "{features}", "-o", "{tmp}/m", "--bits", "few"], "'few' is not a valid integer"),
        (["encode", "{features}", "-m", "{album}", "-o", "{tmp}/c"], "is a folder: give a model"),
        (["encode", "{features}", "-m", "{broken}", "-o", "{tmp}/c"], "or damaged: give a file"),
        (["search", "{album}", ""], "'QUERIES': it is empty: give a value"),
        (["info", ""], "'PATH': it is empty: give a value"),
    ],
)
def test_mistakes(arguments, message, features, model, tmp_path):
    np.save(tmp_path / "narrow.npy", np.ones((4, 3)))
    (tmp_path / "broken.zshash").write_bytes(Path(model).read_bytes()[:500])
    zshash.Collection.create(tmp_path / "album", model).close()
    names = {"features": features, "model": model, "tmp": tmp_path, "album": tmp_path / "album"}
    names |= {"narrow": tmp_path / "narrow.npy", "broken": tmp_path / "broken.zshash"}
    before = sorted(tmp_path.iterdir())
    assert message in fails(*(argument.format(**names) for argument in arguments))
    assert sorted(tmp_path.iterdir()) == before


def test_data_without_permission_to_read(features, tmp_path, monkeypatch):
    monkeypatch.setattr("zshash.cli.parameters.os.access", lambda *_: False)
    assert "can not be read: check its perm" in fails("fit", features, "-o", tmp_path / "new")


def test_a_method_without_labels_needs_none(tmp_path):
    np.save(tmp_path / "x.npy", np.random.RandomState(0).standard_normal((30, 5)))
    done = call("fit", tmp_path / "x.npy", "-o", tmp_path / "m", "--method", "lsh", "--bits", 16)
    assert done.exit_code == 0
    assert "LSH, 16 bits, 30 samples, " in done.output
    assert zshash.load(tmp_path / "m").n_bits == 16


def test_notes_that_others_wrote(features, tmp_path):
    hasher = zshash.LSH(16, random_state=0).fit(digits().X)
    zshash.hashing.save(hasher, tmp_path / "m", notes={"unseen": [4, 7], "seen": 3})
    assert "no category '4'" in fails("eval", features, "-m", tmp_path / "m")
    assert call("eval", features, "-m", tmp_path / "m", "--unseen", "four").exit_code == 0


def test_one_run_has_no_deviation(features):
    done = call("eval", features, "--unseen", "four", "--seeds", 1, "--method", "lsh")
    assert "±" not in done.output


def test_every_category_unseen(features, tmp_path):
    hide_all = [part for name in digits().names for part in ("--unseen", name)]
    assert "nothing is left to train on" in fails("fit", features, "-o", tmp_path / "m", *hide_all)


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line(features, tmp_path):
    flags = ["--train", 100, "--bits", 16, "--method", "ZSH"]
    done = call("fit", features, "-o", tmp_path / "m", *flags)
    assert done.exit_code == 0
    assert (
        done.stderr
        == "Warning: n_anchors=1000 is larger than the number of samples: using 100 anchors\n"
    )


def test_full_disk(features, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "m.zshash")

    monkeypatch.setattr("os.fsync", full)
    line = fails("fit", features, "-o", tmp_path / "m.zshash", "--train", 200, *SMALL)
    assert line == f"Error: {tmp_path / 'm.zshash'}: No space left on device"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", main.list_commands(None))
def test_the_list_of_commands_has_their_first_sentences(name):
    (text,) = (part[name][1] for part in COMMANDS.values() if name in part)
    assert main.get_command(None, name).get_short_help_str(200) == text


def test_help_of_every_command_is_in_the_docs():
    from tools.write_cli_docs import render

    assert (ROOT / "docs" / "cli.md").read_text() == render(), "run: python tools/write_cli_docs.py"


def test_files_of_others_are_replaced_by_force_only(features, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    album = tmp_path / "album"
    assert call("create", album, "-m", model).exit_code == 0
    commands = {
        "model": ("fit", features, "--method", "LSH", "-o"),
        "NumPy file": ("encode", features, "-m", model, "-o"),
        "file of codes": ("export", album),
        "HTML page": ("demo", "--digits", "--bits", 8, "--seeds", 1, "-o"),
    }
    for what, command in commands.items():
        notes = tmp_path / "notes.npy"
        notes.write_text("buy milk")
        line = fails(*command, "notes.npy")
        assert f"'notes.npy' is there and is no {what}: choose another name, or --force" in line
        assert notes.read_text() == "buy milk"
        assert call(*command, "notes.npy", "--force").exit_code == 0
        written = notes.read_bytes()
        assert written != b"buy milk"
        assert call(*command, "notes.npy").exit_code == 0  # of the kind that is to be written
        notes.write_bytes(b"")
        assert call(*command, "notes.npy").exit_code == 0


def test_force_never_writes_over_a_folder(features, tmp_path):
    assert "is a directory" in fails("fit", features, "--force", "-o", tmp_path)


def test_statistics(features, tmp_path):
    path = tmp_path / "s.safetensors"
    done = call("statistics", features, "-o", path)
    assert done.exit_code == 0, done.output
    assert done.output == f"{path}: statistics of 64 features over 1797 pictures\n"
    model = tmp_path / "m"
    quick = ["--set", "n_steps=5", "--bits", 16, "--train", 60]
    assert call("fit", features, "-o", model, "--set", f"prior={path}", *quick).exit_code == 0
    assert json.loads(call("info", model, "--json").output)["prior"] == "a file"
    (tmp_path / "notes.txt").write_text("mine")
    line = fails("statistics", features, "-o", tmp_path / "notes.txt")
    assert "is no file of statistics: choose another name, or --force" in line
    line = fails("fit", features, "-o", model, "--set", "prior=nothing", *quick)
    assert "neither a file of statistics nor a network" in line


def test_few_pictures_give_no_statistics(tmp_path):
    np.savez(tmp_path / "few.npz", X=np.random.RandomState(0).rand(20, 8))
    line = fails("statistics", tmp_path / "few.npz", "-o", tmp_path / "s")
    assert "20 samples are too few for statistics: give 100 or more" in line


def test_fit_without_labels(tmp_path):
    np.savez(tmp_path / "f.npz", X=np.random.RandomState(0).rand(120, 16))
    flags = ["--set", "n_steps=5", "--bits", 16]
    done = call("fit", tmp_path / "f.npz", "-o", tmp_path / "m", *flags)
    assert done.exit_code == 0, done.output
    assert "MTH, 16 bits, 120 samples" in done.output
    assert "without labels: all; the model has learned from these, too" in done.output
    facts = json.loads(call("info", tmp_path / "m", "--json").output)
    assert (facts["averaging"], facts["n_unlabelled"]) == (1.0, 120)
    assert facts["shrinkage"] > 1
