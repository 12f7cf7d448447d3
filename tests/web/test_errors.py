"""What a server says when its index is on another one, and that one is gone."""

import time

import numpy as np

from zshash import LSH, Collection, CollectionError
from zshash.index.milvus import MilvusError
from zshash.web.errors import describe


def test_what_is_wrong_with_another_server_is_not_told(tmp_path):
    error = MilvusError("milvus://inside.example:19530/album: see that it runs (refused)")
    safe = CollectionError(f"{tmp_path}: what was written so far is safe: {error}")
    safe.__cause__ = error
    for each, text in ((error, "does not answer: try again later"), (safe, "is safe, but")):
        answer = describe(each, [tmp_path])
        assert answer.status == 503
        assert answer.headers == {"Retry-After": "5"}
        assert text in answer.detail
        assert "inside" not in answer.detail


def test_a_search_while_milvus_is_gone(milvus, tmp_path, X, serving):
    address = f"milvus://{milvus.address}/served?timeout=2"
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    with Collection.create(tmp_path / "photos", hasher, index=address) as photos:
        photos.add(X)
        code = photos.items([0])[0].code.hex()
    client = serving(folder=tmp_path / "photos")
    found = client.get("/api/v1/search", code=code, k=5)
    assert found.status == 200
    milvus.stop()
    try:
        for question in ({"code": code}, {"id": 3}, {"code": code, "where": "id < 9"}):
            answer = client.get("/api/v1/search", k=5, **question)
            assert answer.status == 503
            assert answer.json == {
                "detail": "the index of this collection does not answer: try again later"
            }
        assert client.get("/api/v1/items").status == 200
    finally:
        milvus.start()
    end = time.monotonic() + 30  # until the server has loaded it again
    while (again := client.get("/api/v1/search", code=code, k=5)).status == 503:
        assert time.monotonic() < end
        time.sleep(0.2)
    assert again.status == 200
    assert again.json["results"] == found.json["results"]
    assert np.all(np.diff([match["bits"] for match in again.json["results"]]) >= 0)
