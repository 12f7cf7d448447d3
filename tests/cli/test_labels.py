"""Where labels come from, on the command line: folders, none, a list."""

import json

import pytest
from click.testing import CliRunner
from PIL import Image

from zshash.cli import main

COLOURS = {"2021": "red", "cats": "green", "dogs": "blue"}


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """A tree with a plain folder, a picture beside the folders, a video, and small copies."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))
    for name, colour in COLOURS.items():
        for i in range(3):
            draw(tmp_path / "photos" / name / f"{i}.png", colour, 8 + i)
    draw(tmp_path / "photos" / "stray.png", "white", 9)
    draw(tmp_path / "photos" / "@eaDir" / "copy.png", "white", 9)
    (tmp_path / "photos" / "film.mp4").write_bytes(b"film")
    return tmp_path / "photos"


def draw(path, colour, side):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (side, side), colour).save(path)


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def fit(*arguments, code=0):
    common = ("--extractor", "pixels:4", "--bits", 8, "--set", "effort=fast", "-o", "model")
    return run("fit", "photos", *common, "--json", *arguments, code=code)


@pytest.mark.usefixtures("photos")
@pytest.mark.filterwarnings("default")
def test_folders_that_look_like_categories():
    done = fit()
    notes = json.loads(done.stdout)
    assert notes["seen"] == ["cats", "dogs"]
    assert (notes["n_train"], notes["n_unlabelled"]) == (10, 4)
    assert "photos: videos are left out (1 .mp4)" in done.stderr
    assert "photos: 2021 is no label: the names of dates" in done.stderr
    assert "(--labels folders)" in done.stderr


@pytest.mark.usefixtures("photos")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("labels", "seen"),
    [("folders", ["2021", "cats", "dogs"]), ("none", []), ("auto", ["cats", "dogs"])],
)
def test_words(labels, seen):
    assert json.loads(fit("--labels", labels).stdout)["seen"] == seen
    facts = json.loads(run("info", "photos", "--labels", labels, "--json").stdout)
    assert facts["pictures"] == 10
    assert sorted(facts.get("samples each", {})) == seen


@pytest.mark.filterwarnings("ignore")
def test_a_list(photos):
    rows = ["path,label", "stray.png,paper", "photos/2021/0.png,apple", "cats/1.png,leaf"]
    (photos.parent / "list.csv").write_text("\n".join(rows))
    notes = json.loads(fit("--labels", "list.csv").stdout)
    assert notes["seen"] == ["apple", "leaf", "paper"]
    assert notes["n_unlabelled"] == 7
    run("extract", "photos", "--extractor", "pixels:4", "--labels", "list.csv", "-o", "f.npz")
    facts = json.loads(run("info", "f.npz", "--json").stdout)
    assert facts["samples each"] == {"apple": 1, "leaf": 1, "paper": 1}
    assert json.loads(run("info", "f.npz", "--labels", "none", "--json").stdout)["samples"] == 10
    done = fit("--labels", "list.csv", "-o", "list.csv", "--force", code=2)
    assert "is also an input of this command" in done.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("wordnet", "'wordnet' says what names mean, not which labels there are: use --meanings"),
        ("onehot", "use --meanings"),
        ("words.txt", "use --meanings"),
        ("nothing.csv", "'nothing.csv' is not there: give none, folders, or a list of files with"),
        ("photos", "'photos' is no such list: give none, folders, or a list"),
        ("", "it is empty"),
        ("list.csv", "list.csv: none of its 1 files is in photos"),
        ("bare.csv", "bare.csv: there are no labels: add a column label"),
    ],
)
@pytest.mark.parametrize("verb", ["fit", "info"])
def test_mistakes(photos, verb, value, message):
    (photos.parent / "list.csv").write_text("path,label\nelsewhere.png,cat\n")
    (photos.parent / "bare.csv").write_text("path\nstray.png\n")
    done = (
        fit("--labels", value, code=2)
        if verb == "fit"
        else run("info", "photos", "--labels", value, code=2)
    )
    assert message in done.stderr
    assert len([line for line in done.stderr.splitlines() if "Warning" not in line]) == 1
    assert not (photos.parent / "model").exists()
