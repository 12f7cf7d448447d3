"""Ids that no collection can have: one sentence, wherever an id is taken."""

import numpy as np
import pytest
from click.testing import CliRunner

from zshash import CollectionError, load
from zshash.cli import main
from zshash.collection.exchange.exchange import export_codes
from zshash.collection.exchange.file_search import CodeFile
from zshash.collection.operations.queries import Query

LARGE = [2**63, 2**63 + 1, 2**64 - 1, 2**64, 10**30, -(2**63) - 1, -(10**30)]


@pytest.mark.parametrize("number", LARGE)
@pytest.mark.parametrize("beside", [[], [0]], ids=["alone", "with others"])
def test_python(photos, X, number, beside):
    photos.add(X[:5])
    ids = [*beside, number]
    assert number not in photos
    for work in (
        lambda: photos[number],
        lambda: photos.items(ids),
        lambda: photos.remove(ids),
        lambda: photos.pictured(ids),
        lambda: photos.thumbnail(number),
        lambda: photos.picture(number),
        lambda: photos.search(item=number),
        lambda: photos.search(item=ids),
        lambda: photos.explain_code(item=number),
    ):
        with pytest.raises(CollectionError, match=r"ids are whole numbers|there is no item"):
            work()
    assert photos.find(f"id = {number}").tolist() == []
    assert len(photos) == 5


@pytest.mark.parametrize("number", [2**63 - 1, -1, -(2**63)])
def test_ids_that_fit(photos, X, number):
    photos.add(X[:5])
    for work in (
        lambda: photos[number],
        lambda: photos.remove([0, number]),
        lambda: photos.search(item=number),
    ):
        with pytest.raises(CollectionError, match=f"there is no item {number}"):
            work()


@pytest.mark.parametrize("number", LARGE)
def test_the_command_line(photos, X, number):
    photos.add(X[:5])
    done = CliRunner().invoke(main, ["remove", str(photos.path), "--", str(number)])
    assert done.exit_code == 2
    assert "0<=x<=9223372036854775807" in done.output
    done = CliRunner().invoke(main, ["remove", str(photos.path), "--where", f"id = {number}"])
    assert done.exit_code == 0
    assert "0 removed" in done.output


@pytest.mark.parametrize("number", LARGE)
def test_files_of_codes(photos, X, tmp_path, number):
    photos.add(X[:5])
    export_codes(photos, tmp_path / "codes.npz")
    (path,) = photos.path.glob("model-*")
    codes = CodeFile(tmp_path / "codes.npz", load(path))
    with pytest.raises(ValueError, match="id"):
        codes.search_each([Query(item=number)])


def test_arrays_of_ids(photos, X):
    photos.add(X[:5])
    for ids in (np.array([2**63], dtype=np.uint64), np.array([0.5]), np.array([True])):
        with pytest.raises(CollectionError, match="ids are whole numbers"):
            photos.items(ids)
