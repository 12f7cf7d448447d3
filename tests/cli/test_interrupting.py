"""Ctrl-C while a command is learning."""

import numpy as np
import pytest
from PIL import Image

from tests.cli.terminals import interrupt
from zshash.datasets import digits

DATA = digits()
FOREVER = ("--set", "n_steps=1000000")


@pytest.fixture
def features(tmp_path):
    np.savez(tmp_path / "digits.npz", X=DATA.X[:300], y=DATA.labels[:300])
    return tmp_path / "digits.npz"


def last_line(shown):
    """The last line on a terminal, and whether nothing but bars came before it."""
    *before, line = shown.decode().replace("\r\n", "\n").strip().split("\n")
    assert not any(word in "".join(before) for word in ("Traceback", "Aborted", "Interrupted"))
    return line


def test_a_fit_that_is_interrupted_says_that_no_model_was_written(features, tmp_path):
    model = tmp_path / "model.zshash"
    status, out, shown = interrupt(
        "fit", features, "-o", model, *FOREVER, at=b"learning: ", until=b"written."
    )
    assert (status, out) == (130, b"")
    assert last_line(shown) == f"Interrupted. {model} was not written."
    assert [path.name for path in tmp_path.iterdir()] == ["digits.npz"]


def test_a_model_that_was_there_before_stays_as_it_is(features, tmp_path):
    model = tmp_path / "model.zshash"
    model.write_bytes(b"another model")
    status, _, shown = interrupt(
        "fit", features, "-o", model, "--force", *FOREVER, at=b"learning: ", until=b"before."
    )
    assert status == 130
    assert last_line(shown) == f"Interrupted. {model} is the same as before."
    assert model.read_bytes() == b"another model"


def test_features_of_pictures_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "photos").mkdir()
    for number, row in enumerate(DATA.X[:40]):
        pixels = (row.reshape(8, 8) * 16).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{number}.png")
    model = tmp_path / "model.zshash"
    status, _, shown = interrupt(
        *("fit", tmp_path / "photos", "-o", model, "--extractor", "pixels:8", *FOREVER),
        at=b"learning: ",
        until=b"next time.",
    )
    assert status == 130
    kept = "features of pictures are kept for the next time"
    assert last_line(shown) == f"Interrupted. {model} was not written; {kept}."
    assert list((tmp_path / "cache" / "features").rglob("*.shard"))
    assert not model.exists()
