"""The client that the guide shows, against a real server."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.web.browser.album import png
from zshash import Collection

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


@pytest.fixture(scope="module")
def ask():
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (block,) = (block for block in blocks if "def ask(" in block)
    names = {}
    exec(compile(block, str(GUIDE), "exec"), names)
    return names["ask"]


def test_the_client_of_the_guide(ask, client, folder):
    at = client.address
    with Collection.open(folder) as photos:
        best = photos.search(name="truck", k=5)
        features = np.random.RandomState(0).rand(photos.model.hasher.n_features_in_).astype("<f4")
        nearest = photos.search(features, k=60, distance="bits")
    found = ask("/api/v1/search", name="truck", k=5, at=at)["results"]
    assert [item["id"] for item in found] == [match.id for match in best]
    picture = png("cat", 0)
    own = ask("/api/v1/search", picture, "image/png", label=["cat", "dog"], at=at)["results"]
    assert own
    assert {label for item in own for label in item["labels"]} <= {"cat", "dog"}
    body = features.tobytes()
    near = ask("/api/v1/search", body, "application/octet-stream", radius=20, at=at)["results"]
    assert [item["id"] for item in near] == [m.id for m in nearest if m.bits <= 20]
    assert ask("/api/v1/why", name="truck", at=at)["forecast"]["verdict"] in (
        "close",
        "usual",
        "far",
    )
