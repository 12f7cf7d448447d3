"""The public names as mypy sees them in a strictly typed program of a user."""

import subprocess
import sys
from importlib.resources import files

import pytest

PROGRAM = """
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import zshash
from zshash import Collection, Found, Match, Model

Codes = NDArray[np.uint8]
Either = Found | list[Found]

model = zshash.fit("photos/", unseen=["dog"], n_bits=64)
assert_type(model, Model)
assert_type(zshash.load(Path("model.zshash")), Model)
assert_type(model.encode(["a.jpg"]), Codes)
X = np.eye(4)
hasher = zshash.MTH(n_bits=64, random_state=0).fit(X, [0, 1, 2, 3])
assert_type(hasher, zshash.MTH)
assert_type(hasher.transform(X), Codes)
assert_type(zshash.ITQ().fit(X).project(X), NDArray[np.float32])

with Collection.create("album", model) as album:
    assert_type(album, Collection)
    assert_type(album.add("photos/").ids, NDArray[np.int64])
    assert_type(album.search("a.jpg", k=3, rerank=200), Found)
    assert_type(album.search(Path("a.jpg"), name=["dog", "cat"], without="cat"), Found)
    assert_type(album.search(b"..."), Found)
    assert_type(album.search(["a.jpg", "b.jpg"], where="year > 2000"), list[Found])
    assert_type(album.search([Path("a.jpg")]), list[Found])
    assert_type(album.search(name="dog"), Found)
    assert_type(album.search(name={"dog": 1.0}, without=["cat"]), Found)
    assert_type(album.search(name=["dog", "cat"]), list[Found])
    assert_type(album.search(item=3, offset=20), Found)
    assert_type(album.search(item=[3, 4]), list[Found])
    assert_type(album.search(item=album.ids), list[Found])
    assert_type(album.search(code=b"12345678", radius=2), Found)
    assert_type(album.search(X), Either)  # one row or many
    assert_type(album.search(values=X), Either)
    best = album.search("a.jpg")[0]
    assert_type(best, Match)
    assert_type(best.score, float)
    assert_type((best.bits, best.path, best.labels), tuple[int | None, str | None, tuple[str, ...]])
    assert_type(album.labels(), dict[str, int])
    assert_type(album.info(), dict[str, Any])
    album.search("a.jpg", nearest=3)  # type: ignore[call-overload]
    album.search("a.jpg", k="three")  # type: ignore[call-overload]
    album.search("a.jpg").scores  # type: ignore[attr-defined]
"""


@pytest.mark.types
def test_a_typed_program(tmp_path, request):
    (tmp_path / "program.py").write_text(PROGRAM)
    known = request.config.cache.mkdir("mypy")  # without it, mypy reads all packages again
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", known, "program.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed():
    assert files("zshash").joinpath("py.typed").is_file()
