"""The clip art that comes with the package, and what is found in it."""

import re
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image

from zshash import Collection, CollectionError
from zshash.collection import Found, Item, Match
from zshash.images import PictureReader
from zshash.studies.demo import clipart, make_album, show_clipart
from zshash.studies.demo.clipart import NAMES, PICTURES

ROW = re.compile(r"\| (\d{3}\.webp) \| (\S+\.png) \| .* \| .* \|")
pytestmark = pytest.mark.study
KINDS = {  # words in the paths of the package, which the search never sees
    "bird": "/birds/",
    "dog": "/dogs?[/_]|bored_dog",
    "guitar": "guitar",
    "insect": "/bugs/",
    "telephone": "phone|/mobile",
}


def paths():
    """Path in the package of each file, from the credits."""
    lines = (PICTURES / "CREDITS.md").read_text(encoding="utf-8").splitlines()
    return dict(row.groups() for line in lines if (row := ROW.fullmatch(line)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "album"


@pytest.fixture(scope="module")
def shown(folder):
    return show_clipart(folder, reader=PictureReader(cache=False))


def test_every_picture_has_its_credits():
    files = sorted(path.name for path in PICTURES.glob("*.webp"))
    assert sorted(paths()) == files
    assert len(set(paths().values())) == len(files) > 250
    dedication = " ".join((PICTURES / "LICENSE.openclipart").read_text().split())
    assert "dedicates whatever copyright the dedicators holds" in dedication


def test_pictures_are_small_squares_on_white_paper():
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 3_000_000
    for path in PICTURES.glob("*.webp"):
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"))
        assert pixels.shape == (256, 256, 3)
        edge = np.concatenate([pixels[:8], pixels[-8:], pixels[:, :8].swapaxes(0, 1)])
        assert edge.min() > 240, path.name


def test_file_names_are_in_an_order_that_tells_nothing():
    lots = [sha256(path.encode()).hexdigest() for _, path in sorted(paths().items())]
    assert lots == sorted(lots)


def test_the_album_has_no_label(shown, folder):
    with Collection.open(folder) as album:
        assert shown.n == len(album) == len(paths())
        assert album.labels() == {"": shown.n}
        assert album.model.notes["labels"] in ([], None) or not album.model.notes.get("seen")
        assert shown.n_bits == album.n_bits == 64
        assert shown.n_bytes == len(album.items()[0].code) == 8
        assert album.verify() == []


@pytest.mark.parametrize("name", KINDS)
def test_names_find_their_kind(shown, name):
    origin = paths()
    kind = re.compile(KINDS[name])
    share = np.mean([bool(kind.search(path)) for path in origin.values()])
    right = [
        bool(kind.search(origin[match.path.rpartition("/")[2]])) for match in shown.names[name]
    ]
    assert len(right) == 6
    assert np.mean(right) > max(0.4, 5 * share)


def test_scores_are_probabilities_and_fall(shown):
    assert tuple(shown.names) == NAMES
    for found in shown.names.values():
        scores = [match.score for match in found]
        assert scores == sorted(scores, reverse=True)
        assert 0 <= scores[-1] <= scores[0] <= 1


def test_pictures_find_those_with_the_nearest_codes(shown, folder):
    with Collection.open(folder) as album:
        ids = album.ids
        queries = {item.id: album.search(item=item.id, k=1).values for item, _ in shown.examples}
        codes = np.array([np.frombuffer(item.code, np.uint8) for item in album.items()])
    bits = np.unpackbits(codes, axis=1)
    first = [found[0].id for found in list(shown.names.values())[:4]]
    assert [item.id for item, _ in shown.examples] == first
    for item, found in shown.examples:
        values, own = queries[item.id], bits[ids == item.id]
        away = (bits != own).sum(axis=1)
        assert np.mean((values >= 0) == own) > 0.95  # real values whose signs are the code
        near = ((2.0 * bits - 1) @ values).round(6)
        order = [i for i in np.lexsort((ids, -near)) if ids[i] != item.id][:6]
        assert [match.id for match in found] == ids[order].tolist()
        assert [match.bits for match in found] == away[order].tolist()


def test_what_was_found_as_json(shown):
    told = shown.told()
    assert told["pictures"] == shown.n
    assert told["names"]["guitar"][0]["file"] in paths()
    assert set(told["examples"]) <= set(paths())


def test_a_folder_that_is_taken(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(CollectionError, match=r"letter\.txt"):
        make_album(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_picture_is_never_among_those_it_found():
    items = [Item(number, b"", source=f"{number}.webp") for number in range(9)]
    found = Found(Match(item, 1.0, 0) for item in items)  # codes of few bits are often the same
    assert [match.id for match in clipart._others(items[2], found)] == [0, 1, 3, 4, 5, 6]
    assert [match.id for match in clipart._others(items[8], found)] == [0, 1, 2, 3, 4, 5]
