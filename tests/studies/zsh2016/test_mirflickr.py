"""Folders of pictures as MIRFlickr and ILSVRC lay them out, through the real network."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from zshash.cli import main

TAGS = ("animals", "car", "dog", "sky")
OVERLAPPING = {
    "n02084071": (200, 60, 60),  # dog, a tag
    "n02123045": (60, 200, 60),  # tabby, below animals
    "n03100240": (60, 60, 200),  # convertible, below car
}
APART = {
    "n03001627": (200, 200, 60),  # chair
    "n04398044": (60, 200, 200),  # teapot
    "n04507155": (200, 60, 200),  # umbrella
}
TRANSFER = """
[parameters.ZSH]
n_anchors = 10
[[parts]]
task = "transfer"
data = "mirflickr25k"
training = "imagenet"
labels = ["wordnet"]
n_train = 12
n_queries = 10
k = 20
shared = 2
[parts.vary]
method = ["ZSH", "KSH"]
bits = [32]
"""
RETRIEVAL = """
[parameters.ZSH]
n_anchors = 10
[[parts]]
task = "retrieval"
data = "imagenet"
categories = 3
labels = ["wordnet"]
unseen = 1
n_queries = 2
k = 5
related_hops = 5
bits = 16
"""


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """The network is built once for this module, and nothing is in the folder of data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZSHASH_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("ZSHASH_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def draw(path, colour, seed):
    """A small picture in shades of a colour."""
    noise = np.random.RandomState(seed).randint(-40, 40, size=(24, 24, 3))
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)).save(path)


@pytest.fixture(scope="module")
def mirflickr(tmp_path_factory):
    """Forty pictures, of which every one has two tags or three."""
    folder = tmp_path_factory.mktemp("flickr") / "mirflickr"
    colours = [*OVERLAPPING.values(), (120, 120, 120)]
    for number in range(1, 41):
        draw(folder / f"im{number}.jpg", colours[number % 4], number)
    (folder / "annotations").mkdir()
    for column, tag in enumerate(TAGS):
        chosen = [n for n in range(1, 41) if (n + column) % 4 < 2 or (n + column) % 7 == 0]
        (folder / "annotations" / f"{tag}.txt").write_text("\n".join(map(str, chosen)))
    return folder


@pytest.fixture(scope="module")
def imagenet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imagenet") / "train"
    for number, (wnid, colour) in enumerate((OVERLAPPING | APART).items()):
        for i in range(6):
            draw(folder / wnid / f"{wnid}_{i}.JPEG", colour, 100 * number + i)
    return folder


def reproduce(text, *arguments):
    """The runs, by the method and bits of their file."""
    Path("mine.toml").write_text(text)
    command = ["reproduce", "mine.toml", "--jobs", "1", "--seeds", "1", *map(str, arguments)]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert Path("reproduction.html").is_file()
    contents = [json.loads(path.read_text()) for path in Path("reproduction").rglob("*.json")]
    return {(c["task"]["method"], c["task"]["bits"]): c for c in contents}


def test_mirflickr(mirflickr, imagenet):
    found = reproduce(
        TRANSFER,
        *("--data", mirflickr, "--training", imagenet),
        *("--method", "ZSH", "--method", "LSH", "--bits", 16),
    )
    assert found.keys() == {("ZSH", 16), ("LSH", 16)}
    for content in found.values():
        assert (content["task"]["data"], content["task"]["training"]) == ("mirflickr", "train")
        (run,) = content["runs"]
        assert "error" not in run
        assert [name.split(",")[0] for name in run["seen"]] == ["chair", "teapot", "umbrella"]
        assert (run["n_train"], run["n_queries"], run["n_database"]) == (12, 10, 30)
        assert 0 < run["chance"] < 1
        assert 0 < run["map"] <= 1


def fails(name, data, training):
    command = ["reproduce", name, "--data", str(data), "--training", str(training)]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 2, done.output
    return done.stderr


def test_tags_that_overlap_everything(mirflickr, imagenet, inside):
    (inside / "dogs").mkdir()
    (inside / "dogs" / "n02084071").symlink_to(imagenet / "n02084071")
    Path("mine.toml").write_text(TRANSFER)
    message = "Error: mine can not be run: no category of the data can be trained on\n"
    assert fails("mine.toml", mirflickr, "dogs") == message


def test_the_included_configuration_takes_both_folders(mirflickr, imagenet):
    message = "Error: mirflickr can not be run: 1000 queries of 40 samples to draw from"
    assert fails("mirflickr", mirflickr, imagenet).startswith(message)


def test_some_categories_of_imagenet(imagenet):
    found = reproduce(RETRIEVAL, "--data", imagenet)
    (run,) = found["ZSH", 16]["runs"]
    assert run["n_categories"] == 3
    assert (run["n_train"], run["n_queries"], run["n_database"]) == (12, 2, 16)
    assert {"map", "precision", "map_related", "similarity"} <= run.keys()
    again = reproduce(RETRIEVAL, "--data", imagenet, "--fresh")
    (other,) = again["ZSH", 16]["runs"]
    assert {**other, "fit_seconds": 0} == {**run, "fit_seconds": 0}
