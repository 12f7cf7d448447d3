import json
import os
import signal
from io import BytesIO

import pytest
from click.testing import CliRunner
from PIL import Image

from tests.images.scenes import scene
from zshash import Collection
from zshash.cli import main
from zshash.collection.operations import remaking


def old_thumbnail(path, side=128):
    """Thumbnail as earlier versions made it."""
    image = Image.open(path).convert("RGB")
    image.thumbnail((side, side))
    file = BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


@pytest.fixture
def folder(tmp_path):
    """Seven pictures, the last one small."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(6):
        scene(number).resize((500, 400)).save(folder / f"{number}.png")
    Image.new("RGB", (64, 64), "red").save(folder / "tiny.png")
    return folder


@pytest.fixture
def old(tmp_path, hasher, reader, folder):
    """An album with thumbnails of an earlier version."""
    with Collection.create(tmp_path / "old", hasher, reader=reader, thumbnails=128) as album:
        album.add(folder)
        make_old(album)
        yield album


def make_old(album):
    small = {item.id: old_thumbnail(item.source) for item in album.items()}
    with album._store.writing(), album._store.changing() as change:
        change.put("thumbnails", small)


def kinds(album):
    images = [Image.open(BytesIO(album.thumbnail(number))) for number in album.ids.tolist()]
    return [(image.format, max(image.size)) for image in images]


NEW = [("WEBP", 320)] * 6 + [("WEBP", 64)]


def test_old_thumbnails_are_made_again(old, tmp_path):
    before = old.duplicates()
    assert kinds(old) == [("JPEG", 128)] * 6 + [("JPEG", 64)]
    assert old.remake_thumbnails() == (7, 0, ())
    assert kinds(old) == NEW
    assert old.remake_thumbnails() == (0, 7, ())
    assert old.duplicates() == before
    assert old.verify() == []
    scene(9).resize((400, 500)).save(tmp_path / "photos" / "later.png")
    old.add(tmp_path / "photos" / "later.png")
    assert kinds(old)[-1] == ("WEBP", 320)
    with Collection.open(old.path) as again:
        assert again.remake_thumbnails(100).made == 7
        assert kinds(again)[0] == ("WEBP", 100)


def test_without_facts_on_sizes(tmp_path, hasher, reader, folder):
    album = tmp_path / "bare"
    with Collection.create(album, hasher, reader=reader, thumbnails=128, exif=False) as bare:
        bare.add(folder)
        assert kinds(bare)[0] == ("WEBP", 128)
        assert bare.remake_thumbnails() == (6, 1, ())
        assert kinds(bare) == NEW
        assert bare.remake_thumbnails() == (0, 7, ())


def test_pictures_that_are_gone_keep_theirs(old, folder, X):
    (folder / "0.png").unlink()
    scene(77).save(folder / "1.png")
    (folder / "2.png").write_bytes(b"no picture")
    (folder / "3.png").unlink()
    os.mkfifo(folder / "3.png")
    old.add(X[:1])
    before = [old.thumbnail(number) for number in range(4)]
    done = old.remake_thumbnails()
    assert (done.made, done.fine) == (3, 0)
    assert [old.thumbnail(number) for number in range(4)] == before
    assert old.thumbnail(7) is None
    assert "0.png: No such file" in done.failures[0]
    assert "1.png: changed since it was added" in done.failures[1]
    assert "3.png: not a file" in done.failures[3]
    assert "item 7: no picture is known" in done.failures[4]
    assert len(done.failures) == 5


def test_an_album_without_thumbnails_gets_them(tmp_path, hasher, reader, folder):
    with Collection.create(tmp_path / "none", hasher, reader=reader, thumbnails=0) as album:
        album.add(folder)
        assert album.remake_thumbnails().made == 7
        assert kinds(album) == NEW
        assert album.verify() == []


def test_an_interruption_keeps_what_was_made(old, monkeypatch):
    monkeypatch.setattr(remaking, "AT_ONCE", 2)
    calls, made = [], remaking._made

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return made(*args)

    monkeypatch.setattr(remaking, "_made", interrupted)
    with pytest.raises(KeyboardInterrupt):
        old.remake_thumbnails()
    assert [kind for kind, _ in kinds(old)].count("WEBP") == 4
    assert old.verify() == []
    assert old._store.about["thumbnails"] == 128
    monkeypatch.setattr(remaking, "_made", made)
    assert old.remake_thumbnails() == (3, 4, ())
    assert kinds(old) == NEW


def test_damaged_thumbnails_are_made_again(old):
    old._store.catalogue.connection.execute("UPDATE thumbnails SET value = x'00' WHERE id = 3")
    assert old.remake_thumbnails().made == 7
    assert kinds(old) == NEW
    assert old.verify() == []


@pytest.mark.parametrize("side", [0, -1, 1025, True, "320", None])
def test_sides_that_make_no_sense(old, side):
    with pytest.raises(ValueError, match="thumbnails"):
        old.remake_thumbnails(side)


def test_the_command(old, tmp_path):
    (tmp_path / "photos" / "0.png").unlink()
    old.close()
    run = CliRunner().invoke(main, ["thumbnails", str(old.path)])
    assert run.exit_code == 0, run.output
    assert "0.png: No such file or directory\n" in run.output
    assert run.output.endswith("old: 6 thumbnails made, 1 kept as before\n")
    run = CliRunner().invoke(main, ["thumbnails", str(old.path), "--json"])
    facts = json.loads(run.output)
    assert (facts["made"], facts["fine"], facts["kept"]) == (0, 6, 1)
    assert CliRunner().invoke(main, ["thumbnails", str(old.path), "--side", "0"]).exit_code == 2


def test_sizes_of_pictures_as_they_are_seen(tmp_path, hasher, reader, X):
    turned = Image.Exif()
    turned[274] = 6
    scene(1).resize((500, 400)).save(tmp_path / "turned.jpg", exif=turned)
    scene(2).resize((200, 100)).save(tmp_path / "plain.jpg")
    for name, exif in (("told", True), ("untold", False)):
        with Collection.create(tmp_path / name, hasher, reader=reader, exif=exif) as album:
            album.add([str(tmp_path / "turned.jpg"), str(tmp_path / "plain.jpg")])
            album.add(X[:1])
            wanted = {0: (400, 500) if exif else (256, 320), 1: (200, 100)}
            assert album.sizes(album.items()) == wanted
