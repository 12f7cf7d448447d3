"""Pictures on demand: their sizes, their kinds, what is kept of them, and which files are read."""

import io
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.images.scenes import scene
from tests.web.conftest import BEARER, TOKEN
from zshash import Collection

WEBP = {"Accept": "image/avif,image/webp,image/*,*/*;q=0.8"}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The cache folder of the user."""
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pictures"


@pytest.fixture
def large(copied, tmp_path):
    """A large picture that lies upright only once it is turned; its id and its file."""
    path = tmp_path / "originals" / "Kätzchen am See.jpg"
    path.parent.mkdir()
    turned = Image.Exif()
    turned[274] = 6
    scene(1).resize((3000, 2000)).save(path, exif=turned, comment=b"a remark")
    return add(copied, path), path


def add(folder, path):
    with Collection.open(folder) as collection:
        (number,) = collection.add(str(path)).ids.tolist()
    return number


def address(number, **asked):
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return f"/api/v1/items/{number}/picture?{query}"


def size(answer):
    return Image.open(io.BytesIO(answer.body)).size


@pytest.mark.parametrize(
    ("side", "longer"),
    [(1, 640), (640, 640), (641, 1280), (1600, 1600), (1601, 2560), (2561, 3000), (4096, 3000)],
)
def test_the_next_larger_side_is_taken(serving, large, side, longer):
    answer = serving().get(address(large[0], side=side))
    assert answer.status == 200
    assert size(answer) == (round(longer / 1.5), longer)


def test_kinds_of_pictures(serving, large):
    client = serving()
    plain, web = client.get(address(large[0])), client.ask("GET", address(large[0]), headers=WEBP)
    assert plain.headers["content-type"] == "image/jpeg"
    assert web.headers["content-type"] == "image/webp"
    assert size(plain) == size(web) == (1067, 1600)
    assert len(web.body) < len(plain.body)
    assert {plain.headers["vary"], web.headers["vary"]} == {"Accept, Accept-Encoding"}
    assert b"a remark" not in plain.body + web.body


def test_downloads_have_the_name_of_the_file(serving, large):
    answer = serving().ask("GET", address(large[0], side=4096, download=1), headers=WEBP)
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["content-disposition"] == (
        'attachment; filename="K_tzchen am See.jpg"; '
        "filename*=UTF-8''K%C3%A4tzchen%20am%20See.jpg"
    )
    assert size(answer) == (2000, 3000)


def test_names_of_files_can_not_break_headers(serving, copied, tmp_path):
    path = tmp_path / 'a"b\r\nSet-Cookie: x=y\udcff%.png'
    scene(2).save(path.with_name("plain.png"))
    path.with_name("plain.png").rename(path)
    answer = serving().get(address(add(copied, path), download=1))
    assert answer.status == 200
    assert "set-cookie" not in answer.headers
    assert answer.headers["content-disposition"].isascii()


@pytest.mark.parametrize(
    "asked", [{"side": 0}, {"side": -1}, {"side": 4097}, {"side": "x"}, {"download": "x"}, {"a": 1}]
)
def test_sides_that_make_no_sense(client, asked):
    assert client.get(address(0, **asked)).status == 422


def test_a_picture_is_made_once(serving, large, cache):
    client = serving()
    first = client.get(address(large[0], side=640))
    (file,) = cache.iterdir()
    assert cache.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    os.utime(file, (0, 0))
    again = client.get(address(large[0], side=640))
    assert again.body == first.body
    assert file.stat().st_mtime > 0  # it was read
    tag = {"If-None-Match": first.headers["etag"]}
    known = client.ask("GET", address(large[0], side=640), headers=tag)
    assert (known.status, known.body, known.headers["etag"]) == (304, b"", tag["If-None-Match"])
    assert client.ask("GET", address(large[0], side=1280), headers=tag).status == 200


def test_what_is_kept_follows_the_file(serving, large):
    client, (number, path) = serving(), large
    before = client.get(address(number, side=640))
    scene(5).resize((700, 700)).save(path)
    after = client.get(address(number, side=640))
    assert (size(before), size(after)) == ((427, 640), (640, 640))
    assert before.headers["etag"] != after.headers["etag"]
    path.unlink()
    assert client.get(address(number, side=640)).status == 404


def test_damaged_files_of_the_cache_are_made_again(serving, large, cache):
    client = serving()
    first = client.get(address(large[0], side=640))
    (file,) = cache.iterdir()
    for wrong in (b"", file.read_bytes()[:-5], b"something else"):
        file.write_bytes(wrong)
        assert client.get(address(large[0], side=640)).body == first.body


def test_pictures_of_items_that_are_removed_for_good_go(serving, cache):
    client = serving(BEARER, writable=True, token=TOKEN)
    for number, side in ((0, 640), (0, 1280), (1, 640)):
        assert client.get(f"/api/v1/items/{number}/picture", side=side).status == 200
    assert client.ask("DELETE", "/api/v1/items/0?for_good=true").status == 204
    assert len(list(cache.iterdir())) == 1
    assert client.ask("DELETE", "/api/v1/items/1").status == 204
    assert len(list(cache.iterdir())) == 1  # it can be restored


def test_nothing_is_kept_where_nothing_may_be(serving, large, cache):
    assert serving(picture_cache=0).get(address(large[0])).status == 200
    assert not cache.exists()
    cache.parent.mkdir(exist_ok=True)
    cache.symlink_to("/tmp")
    assert serving().get(address(large[0])).status == 200
    assert not list(Path("/tmp").glob("*.kept"))


def test_thumbnails_have_tags_and_types(serving, copied):
    old = io.BytesIO()
    Image.new("RGB", (128, 90)).save(old, "JPEG")
    with (
        Collection.open(copied) as album,
        album._store.writing(),
        album._store.changing() as change,
    ):
        change.put("thumbnails", {1: old.getvalue()})
    client = serving()
    for number, kind in ((0, "image/webp"), (1, "image/jpeg")):
        small = client.get(f"/api/v1/items/{number}/thumbnail")
        assert small.headers["content-type"] == kind
        tag = {"If-None-Match": f'W/{small.headers["etag"]}, "other"'}
        assert client.ask("GET", f"/api/v1/items/{number}/thumbnail", headers=tag).status == 304


@pytest.fixture
def secret(tmp_path):
    """A picture that is not in the album."""
    path = tmp_path / "private" / "secret.png"
    path.parent.mkdir()
    Image.new("RGB", (300, 200), (200, 0, 0)).save(path)
    return path


def test_a_file_that_became_a_link_is_not_followed(serving, large, secret):
    client, (number, path) = serving(), large
    assert client.get(address(number)).status == 200
    path.unlink()
    path.symlink_to(secret)
    assert client.get(address(number)).status == 404
    assert client.get(address(number, download=1)).status == 404


def test_a_folder_that_became_a_link_is_not_followed(serving, large, secret):
    client, (number, path) = serving(), large
    shutil.move(path.parent, path.parent.with_name("moved"))
    secret.rename(secret.with_name(path.name))
    path.parent.symlink_to(secret.parent)
    assert client.get(address(number)).status == 404


def test_albums_of_links_work(serving, copied, large, secret, tmp_path):
    """Pictures that are links, and pictures below a link to a folder, are what was added."""
    link = tmp_path / "links" / "a.png"
    link.parent.mkdir()
    link.symlink_to(secret)
    below = tmp_path / "folder"
    below.symlink_to(tmp_path / "others")
    (tmp_path / "others").mkdir()
    scene(3).save(below / "b.png")
    numbers = add(copied, link), add(copied, below / "b.png")
    client = serving()
    for number in numbers:
        assert client.get(address(number)).status == 200
    scene(4).save(secret)  # by now something else, behind a link
    assert client.get(address(numbers[0])).status == 404
    scene(4).save(large[1])  # changed, but no link is on the way
    assert client.get(address(large[0])).status == 200


def test_sizes_are_told(serving, copied, large):
    client = serving()
    assert client.get(f"/api/v1/items/{large[0]}").json["size"] == [2000, 3000]
    found = client.get("/api/v1/search", id=large[0], k=3).json["results"]
    assert next(one for one in found if one["id"] == large[0])["size"] == [2000, 3000]
    with Collection.open(copied) as album:
        (bare,) = album.add_codes(album.index.codes[:1]).ids.tolist()
    assert client.get(f"/api/v1/items/{bare}").json["size"] is None
