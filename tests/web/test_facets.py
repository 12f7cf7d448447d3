"""Years, months, cameras and places over HTTP, each with a condition that finds its items."""

import numpy as np
import pytest

from tests.web.conftest import Client
from tests.web.running import running
from zshash import LSH, Collection

CAMERA = "O'Hara's \"X100\""
METADATA = [
    {"year": 2021, "month": 8, "camera": CAMERA, "latitude": 48.137, "longitude": 11.575},
    {"year": 2021, "month": 8, "camera": CAMERA, "latitude": 48.11, "longitude": 11.55},
    {"year": 2021, "month": 3, "camera": "Z", "latitude": -33.86, "longitude": 151.2},
    {"year": 2019, "camera": ""},
    {"year": "2018", "month": True, "camera": 7, "latitude": "north", "longitude": None},
    {"month": 5, "latitude": 1.5},
    {},
]


def album(folder, metadata):
    X = np.random.RandomState(0).randn(len(metadata), 12).astype(np.float32)
    with Collection.create(folder, LSH(n_bits=16, random_state=0).fit(X)) as collection:
        collection.add(X, metadata=metadata)
    return folder


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    return album(tmp_path_factory.mktemp("facets") / "dated", METADATA)


@pytest.fixture(scope="module")
def shown(dated):
    with running(dated, places=True) as address:
        yield Client(address).get("/api/v1/facets").json, Client(address)


def test_counts(shown):
    told, _ = shown
    assert [(one["year"], one["items"]) for one in told["years"]] == [(2021, 3), (2019, 1)]
    months = [(one["year"], one["month"], one["items"]) for one in told["months"]]
    assert months == [(2021, 8, 2), (2021, 3, 1)]
    assert [(one["camera"], one["items"]) for one in told["cameras"]] == [(CAMERA, 2), ("Z", 1)]
    places = [(one["latitude"], one["longitude"], one["items"]) for one in told["places"]]
    assert places == [(48.1, 11.6, 2), (-33.9, 151.2, 1)]


@pytest.mark.parametrize("facet", ["years", "months", "cameras", "places"])
def test_each_condition_finds_as_many_items_as_it_says(shown, facet):
    told, client = shown
    assert told[facet]
    for one in told[facet]:
        assert client.get("/api/v1/items", where=one["where"]).json["total"] == one["items"]


def test_places_are_told_only_if_they_are_shown(dated):
    with running(dated) as address:
        told = Client(address).get("/api/v1/facets").json
    assert told["places"] == []
    assert told["years"]


def test_of_many_places_the_grid_is_coarse(tmp_path):
    places = [{"latitude": i / 10, "longitude": i / 10} for i in range(-300, 300)]
    with running(album(tmp_path / "far", places), places=True) as address:
        client = Client(address)
        told = client.get("/api/v1/facets").json["places"]
        assert 50 <= len(told) <= 100
        assert max(one["items"] for one in told) == 10
        one = told[0]
        assert client.get("/api/v1/items", where=one["where"]).json["total"] == one["items"]


def test_facets_follow_changes(tmp_path):
    folder = album(tmp_path / "changing", METADATA)
    with running(folder) as address:
        client = Client(address)
        assert client.get("/api/v1/facets").json["years"][0]["items"] == 3
        with Collection.open(folder) as collection:
            collection.remove([0])
        assert client.get("/api/v1/facets").json["years"][0]["items"] == 2


def test_an_album_without_facts(client):
    told = client.get("/api/v1/facets").json
    assert (told["cameras"], told["places"], told["months"]) == ([], [], [])
    assert len(told["years"]) == 20
    assert client.get("/api/v1/facets").headers["etag"]
