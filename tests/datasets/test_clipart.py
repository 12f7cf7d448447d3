import shutil
from collections import Counter

import pytest

from zshash.datasets import DataError, open_data, read_clipart
from zshash.datasets.clipart import FEWEST, FOLDERS, MIXED, MOST
from zshash.datasets.downloads import INSTALLED

BIRDS, FRUIT, CARDS = "animals/birds", "food/fruit", "recreation/games/cards"


@pytest.fixture
def draw(tmp_path):
    """Write drawings, each with its own content unless one is given."""

    def draw(folder, *numbers, content=None):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for number in numbers:
            path = tmp_path / folder / f"{number:04d}.png"
            path.write_text(content or f"{folder} {number}")
        return tmp_path

    return draw


def counts(pictures):
    return dict(Counter(pictures.names[label] for label in pictures.labels.tolist()))


def test_the_nearest_listed_folder_is_the_category(draw):
    draw(BIRDS, *range(10))
    draw(f"{BIRDS}/penguin", *range(10))
    draw("animals", *range(50))
    draw("unsorted", *range(50))
    draw("people", *range(20))
    root = draw("people/smilies", *range(30))
    assert counts(read_clipart(root)) == {"bird": 20, "person": 20, "smiley": 30}
    assert counts(read_clipart(str(root))) == {"bird": 20, "person": 20, "smiley": 30}


def test_copies_count_once_and_not_in_several_categories(draw, tmp_path):
    draw(BIRDS, *range(20))
    draw(f"{BIRDS}/penguin", *range(100, 105), content="a penguin")
    draw("animals", 1, content="a penguin")  # a folder of no category does not matter
    draw(FRUIT, *range(20))
    draw("people", *range(20))
    shutil.copy(tmp_path / FRUIT / "0003.png", tmp_path / BIRDS / "fruit.png")
    (tmp_path / "people" / "apple.png").symlink_to(tmp_path / FRUIT / "0004.png")
    found = read_clipart(tmp_path)
    assert counts(found) == {"bird": 21, "fruit": 18, "person": 20}
    left_out = [f"{FRUIT}/0003.png", f"{FRUIT}/0004.png", f"{BIRDS}/fruit.png", "people/apple.png"]
    assert not {tmp_path / path for path in left_out} & {*found.sources}


def test_small_categories_are_left_out_and_large_ones_thinned(draw):
    draw(BIRDS, *range(FEWEST - 1))
    draw(FRUIT, *range(FEWEST))
    root = draw(CARDS, *range(2 * MOST))
    found = read_clipart(root)
    assert counts(found) == {"fruit": FEWEST, "playing card": MOST}
    cards = [path.name for path in found.sources if "cards" in str(path)]
    assert cards == [f"{2 * number:04d}.png" for number in range(MOST)]


def test_what_is_no_clip_art(draw, tmp_path):
    with pytest.raises(DataError, match="not the drawings of openclipart: folders such as animals"):
        read_clipart(tmp_path)
    with pytest.raises(DataError, match="no category has 15 drawings"):
        read_clipart(draw(BIRDS, 1, 2))


def test_opened_by_name(draw):
    root = draw(BIRDS, *range(20))
    found = open_data("clipart", root)
    assert (found.names, found.root) == (("bird",), root)


@pytest.mark.skipif(not INSTALLED["clipart"].is_dir(), reason="no package openclipart-png")
def test_the_real_drawings():
    root = INSTALLED["clipart"]
    assert [folder for folder in FOLDERS if not (root / folder).is_dir()] == []
    tops = {path.name for path in root.iterdir() if path.is_dir()}
    assert tops <= FOLDERS.keys() | {name.partition("/")[0] for name in FOLDERS}
    found = read_clipart(root)
    assert len(found) == 2251
    assert len(found.names) == 40
    assert MIXED not in found.names
    assert min(counts(found).values()) == 15
    assert len({path.resolve() for path in found.sources}) == 2251
