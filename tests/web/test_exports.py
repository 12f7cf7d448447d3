"""Exports over HTTP: tables, JSON and archives."""

import csv
import io
import json
import zipfile

import pytest
from PIL import Image

from tests.web.conftest import BEARER, JSON, TOKEN
from zshash import LSH, Collection


def export(client, headers=(), **order):
    body = json.dumps(order).encode()
    return client.ask("POST", "/api/v1/items/export", body, JSON | dict(headers))


def table(text):
    return list(csv.DictReader(io.StringIO(text.decode(), newline="")))


def test_a_table_of_some_items(client, photos):
    answer = export(client, form="csv", ids=[7, 3, 7])
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="items.csv"'
    rows = table(answer.body)
    assert [row["id"] for row in rows] == ["3", "7"]
    for row in rows:
        item = photos[int(row["id"])]
        assert row["labels"] == "; ".join(item.labels)
        assert row["file"] == item.source.rpartition("/")[2]
        assert json.loads(row["metadata"]) == item.metadata
        assert set(row) == {"id", "file", "labels", "metadata"}


def test_all_items_and_those_that_meet_a_condition(client, photos):
    answer = export(client, form="json")
    assert answer.headers["content-type"] == "application/json"
    assert [item["id"] for item in answer.json] == photos.ids.tolist()
    assert answer.json[5] == client.get("/api/v1/items/5").json
    label = answer.json[5]["labels"][0]
    some = export(client, form="json", label=[label], where="id < 100").json
    assert [item["id"] for item in some] == photos.find(f"label = '{label}' and id < 100").tolist()
    assert export(client, form="json", where="id > 1000").json == []
    assert table(export(client, form="csv", where="id > 1000").body) == []


def test_an_archive_of_pictures(client):
    answer = export(client, form="zip", ids=[3, 4])
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.body)) as packed:
        assert packed.testzip() is None
        rows = table(packed.read("items.csv"))
        assert packed.namelist() == [*(row["picture"] for row in rows), "items.csv"]
        for row in rows:
            content = packed.read(row["picture"])
            assert content == client.get(f"/api/v1/items/{row['id']}/picture").body
            assert Image.open(io.BytesIO(content)).format == "JPEG"
    assert answer.body == export(client, form="zip", ids=[3, 4]).body


NAMES = ["../../etc/passwd", "/etc/passwd.png", "..", "C:\\a.png", "a.jpg", "A.JPG", "a.png",
         "con", "=1+1.png", "dog \u202egpj.exe", "a\nb.png", "x" * 300 + ".png", "items.csv",
         "ü.png"]  # fmt: skip


@pytest.fixture
def odd(tmp_path, X):
    """A collection whose files have odd names."""
    folder = tmp_path / "odd"
    with Collection.create(folder, LSH(n_bits=20, random_state=0).fit(X)) as album:
        n = len(NAMES)
        facts = [{"file": name} for name in NAMES]
        labels = ['=HYPERLINK("http://evil.example")', "-1", "@a", "+a", "\ta", *["a"] * (n - 5)]
        album.add(X[:n], sources=[f"/f/{i}" for i in range(n)], metadata=facts, labels=labels)
    return folder


def test_no_cell_begins_like_a_formula(serving, odd):
    rows = table(export(serving(folder=odd), form="csv").body)
    assert rows[0]["labels"] == '\'=HYPERLINK("http://evil.example")'
    assert rows[8]["file"] == "'=1+1.png"
    assert not [cell for row in rows for cell in row.values() if cell[:1] in {*"=+-@\t\r"}]


def test_names_in_an_archive_are_safe_and_their_own(serving, odd, monkeypatch):
    from zshash.web.pictures import Pictures

    monkeypatch.setattr(Pictures, "get", lambda _, number, *__: b"%d" % number)
    answer = export(serving(folder=odd), form="zip")
    with zipfile.ZipFile(io.BytesIO(answer.body)) as packed:
        names = packed.namelist()
        rows = table(packed.read("items.csv"))
        for row in rows:
            name = row["picture"].removeprefix("'")
            assert packed.read(name) == row["id"].encode()
    assert len({name.casefold() for name in names}) == len(NAMES) + 1
    assert names[:8] == ["passwd.jpg", "passwd (2).jpg", "item-2.jpg", "a.jpg", "a (2).jpg",
                         "A (3).jpg", "a (4).jpg", "_con.jpg"]  # fmt: skip
    for name in names:
        assert name.isprintable()
        assert len(name.encode()) < 200
        assert not {*'/\\:<>"|?*'} & {*name}


def test_pictures_that_are_not_there_are_told_in_the_table(serving, tables):
    answer = export(serving(folder=tables), form="zip", ids=[0, 1])
    with zipfile.ZipFile(io.BytesIO(answer.body)) as packed:
        assert packed.namelist() == ["items.csv"]
        assert [row["picture"] for row in table(packed.read("items.csv"))] == ["", ""]


@pytest.mark.parametrize(
    ("order", "status", "part"),
    [
        ({}, 422, "form: field required"),
        ({"form": "pdf"}, 422, "form: "),
        ({"form": "csv", "ids": [999]}, 404, "there is no item 999"),
        ({"form": "csv", "ids": [1], "where": "id = 1"}, 422, "ids: give them alone"),
        ({"form": "csv", "where": "id ="}, 422, "id ="),
        ({"form": "csv", "where": "path = 'a'"}, 422, "where: path can not be used"),
        ({"form": "csv", "where": "latitude > 1"}, 422, "where: latitude can not be used"),
        ({"form": "csv", "label": "dog"}, 422, "label: "),
    ],
)
def test_wrong_orders_are_refused_in_a_sentence(client, order, status, part):
    answer = export(client, **order)
    assert answer.status == status
    assert part in answer.json["detail"]


def test_an_archive_has_a_limit(serving, digits):
    client = serving(folder=digits)
    answer = export(client, form="zip")
    assert answer.status == 422
    assert answer.json["detail"] == (
        "an archive holds at most 500 pictures, and these are 1797: export fewer at a time"
    )
    assert len(table(export(client, form="csv").body)) == 1797


def test_exporting_is_reading(serving):
    with_token = serving(token=TOKEN)
    assert export(with_token, form="csv", ids=[1]).status == 401
    assert export(with_token, BEARER, form="csv", ids=[1]).status == 200
    assert export(with_token.logged_in(), form="csv", ids=[1]).status == 200
    writable = serving(writable=True, token=TOKEN)
    assert export(writable, form="csv", ids=[1]).status == 200


def test_paths_are_told_only_where_the_server_shows_them(client, serving):
    assert b"/pictures/" not in export(client, form="csv", ids=[1]).body
    shown = table(export(serving(paths=True), form="csv", ids=[1]).body)
    assert shown[0]["path"].startswith("/")
