"""Small albums of pictures for tests of the command line."""

import json

import numpy as np
from click.testing import CliRunner
from PIL import Image

import zshash
from zshash import Collection
from zshash.cli import main
from zshash.images import PictureReader


def run(*arguments, code=0, given=None):
    """What a command prints, warnings included."""
    done = CliRunner().invoke(main, list(map(str, arguments)), input=given)
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


def read(*arguments):
    """The JSON that a command prints."""
    return json.loads(run(*arguments, "--json"))


def raw(*arguments):
    """Bytes that a command prints."""
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


def refused(*arguments, given=None):
    """The one line that says what is wrong."""
    output = run(*arguments, code=2, given=given)
    assert output.count("\n") == 1
    return output


def draw(path, seed):
    """A picture of noise; the same seed gives the same bytes."""
    pixels = np.random.RandomState(seed).randint(0, 256, size=(8, 8, 3), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def make_album(folder):
    """Six pictures of cats and dogs in `folder`/photos, and an album of them."""
    for number, name in enumerate(["cat", "dog"]):
        for i in range(3):
            draw(folder / "photos" / name / f"{i}.png", 10 * number + i)
    reader = PictureReader(extractor="pixels:4", cache=False)
    X = np.random.RandomState(0).randn(30, 16).astype(np.float32)
    model = zshash.fit(X, method="LSH", n_bits=16)
    model.notes["extractor"] = reader.facts()
    with Collection.create(folder / "album", model, reader=reader) as album:
        album.add(folder / "photos")
    return folder / "album"
