from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.collection.operations.copied_pictures import write_pictures
from tests.images.scenes import jpeg, saved, scene
from zshash import Collection
from zshash.collection.operations.same_pictures import _stars, same_pictures


@pytest.fixture
def copied(album, tmp_path):
    """An album of pictures and copies of them."""
    album.add(write_pictures(tmp_path / "photos"))
    return album


def names(album, groups):
    paths = {item.id: Path(item.source) for item in album.items()}
    return [{"/".join(paths[n].parts[-2:]) for n in group} for group in groups]


FOUND = [{"photos/0.png", "small/0.jpg"}, {"photos/1.png", "cut/1.png"}]


def test_copies_are_found_and_other_shots_are_not(copied):
    found = same_pictures(copied._store)
    assert sorted(map(sorted, names(copied, found.groups))) == sorted(map(sorted, FOUND))
    assert found.unknown == 0
    assert names(copied, [found.cropped]) == [{"cut/1.png"}]


def test_prints_are_made_where_they_are_missing(copied):
    store = copied._store
    before = same_pictures(store)
    with store.writing(), store.changing() as change:
        change.forget("prints", copied.ids.tolist())
    assert same_pictures(store) == before


def test_without_thumbnails_only_nearly_equal_prints_count(tmp_path, hasher, reader):
    folder = write_pictures(tmp_path / "photos")
    (folder / "copy.png").write_bytes(saved(jpeg(scene(4), 90), "PNG"))
    with Collection.create(tmp_path / "bare", hasher, reader=reader, thumbnails=0) as bare:
        bare.add(folder)
        found = same_pictures(bare._store)
        assert {"photos/4.png", "photos/copy.png"} in names(bare, found.groups)
        assert FOUND[1] not in names(bare, found.groups)


def test_items_that_are_no_pictures_are_counted(copied):
    copied.add_codes(np.zeros((3, 2), dtype=np.uint8))
    assert same_pictures(copied._store).unknown == 3


def test_a_thumbnail_that_is_no_picture_is_left_out(copied):
    store = copied._store
    number = int(copied.ids[0])
    with store.writing(), store.changing() as change:
        change.put("thumbnails", {number: b"no picture"})
        change.forget("prints", [number])
    found = same_pictures(store)
    assert found.unknown == 1
    assert number not in {n for group in found.groups for n in group}


def test_an_empty_album(album):
    assert same_pictures(album._store) == ([], set(), 0)


def test_pictures_of_one_shade_are_no_copies(album, tmp_path):
    for number, shade in enumerate(("white", "black", "#777", "#787878")):
        Image.new("RGB", (40 + number, 30), shade).save(tmp_path / f"{number}.png")
        album.add(tmp_path / f"{number}.png")
    assert same_pictures(album._store) == ([], set(), 0)


def test_many_copies_are_one_group(album, tmp_path):
    for number in range(40):
        (tmp_path / f"{number}.jpg").write_bytes(saved(scene(1), quality=30 + number))
    album.add(sorted(tmp_path.glob("*.jpg")))
    assert [len(group) for group in same_pictures(album._store).groups] == [40]


pairs = st.sets(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda p: p[0] < p[1]))


@given(pairs)
def test_groups_are_stars(found):
    groups = _stars(sorted(found))
    members = [row for group in groups for row in group]
    assert len(members) == len(set(members))
    for group in groups:
        hubs = [
            hub
            for hub in group
            if all(other == hub or (min(hub, other), max(hub, other)) in found for other in group)
        ]
        assert hubs
        assert len(group) > 1
    # whoever is left out has only partners that are in a group
    alone = {row for pair in found for row in pair} - set(members)
    assert all(one not in alone or other not in alone for one, other in found)
