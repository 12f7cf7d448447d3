"""Where pictures were taken leaves a server only if it was started to show places."""

import io
import json
from urllib.parse import quote

import pillow_heif
import pytest
from PIL import Image

from tests.web.conftest import JSON, Client
from tests.web.running import running
from zshash import LSH, Collection
from zshash.web.errors import ApiError
from zshash.web.private import check_condition, shown
from zshash.web.settings import Settings

SECRETS = ("48.123456", "11.654321", "519.75", "33.987654")
METADATA = {
    "year": 2021,
    "latitude": 48.123456,
    "longitude": 11.654321,
    "altitude": 519.75,
    "trip": {"name": "south", "Latitude": 33.987654, "stops": [{"longitude": 33.987654}, 7]},
}
SHOWN = {"year": 2021, "trip": {"name": "south", "stops": [{}, 7]}}


@pytest.fixture(scope="module")
def placed(tmp_path_factory, X):
    folder = tmp_path_factory.mktemp("placed") / "album"
    with Collection.create(folder, LSH(n_bits=20, random_state=0).fit(X)) as collection:
        collection.add(X, metadata=[METADATA] * len(X))
    return folder


def answers(client, X):
    """Every answer of a server that tells of items."""
    body = json.dumps({"features": X[3].tolist(), "k": 5})
    yield client.ask("POST", "/api/v1/search", body, JSON)
    for path in (
        "/api/v1/items",
        "/api/v1/items/3",
        "/api/v1/search?id=3",
        f"/api/v1/items?where={quote('year = 2021')}",
        f"/api/v1/search?id=3&where={quote('trip.name = ' + repr('south'))}",
        "/api/v1/info",
        "/api/v1/map",
        "/api/v1/items/999999",
        f"/api/v1/items?where={quote('latitude >')}",
        f"/api/v1/items?where={quote('latitude = 48.1')}",
    ):
        yield client.ask("GET", path)


def test_nothing_tells_the_place(placed, X):
    with running(placed) as address:
        given = list(answers(Client(address), X))
    assert [each.status for each in given[:6]] == [200] * 6
    for each in given:
        assert not [secret for secret in SECRETS if secret in each.body.decode()]
    assert given[2].json["metadata"] == SHOWN
    assert given[0].json["results"][0]["metadata"] == SHOWN


def test_places_are_told_where_the_server_was_told_to(placed, X):
    with running(placed, places=True) as address:
        given = list(answers(Client(address), X))
    assert given[2].json["metadata"] == METADATA
    assert given[-1].status == 200


CONDITIONS = [
    "latitude > 48",
    "year = 2021 and not (longitude < 11)",
    "metadata.altitude = null",
    '"latitude" in (1, 2)',
    'metadata."longitude" != 3',
    "trip.Latitude > 33",
    "LATITUDE = 1",
]


@pytest.mark.parametrize("where", CONDITIONS)
def test_conditions_can_not_ask_where_pictures_were_taken(where):
    with pytest.raises(ApiError) as caught:
        check_condition(where, Settings())
    assert caught.value.status == 422
    assert caught.value.detail.endswith(
        "itude can not be used: this server was not started to show places"
    )
    check_condition(where, Settings(places=True))


def test_conditions_on_other_fields():
    for where in ("label = 'latitude'", "year = 2021", "lat > 1", "camera = 'longitude'"):
        check_condition(where, Settings())
    with pytest.raises(ApiError, match="path can not be used"):
        check_condition("path = 'a' and latitude = 1", Settings(places=True))


def test_what_is_stored_stays_as_it_is():
    before = json.dumps(METADATA)
    assert shown(METADATA, Settings()) == SHOWN
    assert json.dumps(METADATA) == before
    assert shown(METADATA, Settings(places=True)) == METADATA


def test_pictures_of_phones_are_given_out_without_their_place(serving, copied, tmp_path):
    path = tmp_path / "a.heic"
    notes = Image.Exif()
    notes[0x010F] = "Maker of the camera"
    notes.get_ifd(0x8825).update({1: "N", 2: (47.0, 22.0, 7.5), 3: "E", 4: (11.0, 1.0, 2.0)})
    whole = pillow_heif.from_pillow(Image.new("RGB", (200, 100), (9, 99, 200)))
    whole.save(path, exif=notes.tobytes())
    assert b"Maker of the camera" in path.read_bytes()
    with Collection.open(copied) as collection:
        (number,) = collection.add(str(path)).ids.tolist()
        assert collection[number].metadata["latitude"] == 47.36875
    client = serving()
    for what, kind in (("picture", "JPEG"), ("thumbnail", "WEBP")):
        given = client.get(f"/api/v1/items/{number}/{what}").body
        image = Image.open(io.BytesIO(given))
        assert (image.format, bool(image.getexif())) == (kind, False)
        assert b"Maker of the camera" not in given
    told = client.get(f"/api/v1/items/{number}").json["metadata"]
    assert told["maker"] == "Maker of the camera"
    assert not {"latitude", "longitude"} & told.keys()
