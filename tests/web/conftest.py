"""Servers over a small collection, and a client that asks them."""

import http.client
import json
import shutil
import threading
from contextlib import ExitStack, suppress
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest

from tests.web.browser.album import make_album
from tests.web.browser.knowing import make_knowing
from tests.web.browser.visiting import WIDE, Visit
from tests.web.running import running
from zshash import LSH, Collection
from zshash.studies.demo import make_collection

TOKEN = "a-token-of-these-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}
SECONDS = 60
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
USUAL = WIDE | {"reduced_motion": "reduce"}


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """Asks one server; the same headers with each request."""

    def __init__(self, address, headers=()):
        self.address, self.headers = address, dict(headers)
        self.port = urlsplit(address).port

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def ask(self, method, path, body=None, headers=()):
        connection = self.connect()
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # answered before all was sent
                connection.request(method, path, body, self.headers | dict(headers))
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path, **parameters):
        return self.ask("GET", with_query(path, parameters))

    def post(self, path, body, kind, **parameters):
        return self.ask("POST", with_query(path, parameters), body, {"Content-Type": kind})

    def form(self, path, files=(), fields=(), **parameters):
        kind, body = as_form(files, fields)
        return self.post(path, body, kind, **parameters)

    def logged_in(self):
        """A client with the cookie that the server gives for the token."""
        given = self.ask("POST", "/api/v1/session", headers=BEARER)
        assert given.status == 204
        cookie = given.headers["set-cookie"].partition(";")[0]
        return Client(self.address, {"Cookie": cookie})


def with_query(path, parameters):
    return f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path


def as_form(files=(), fields=()):
    """Content type and body of a form; files are (field, name, content)."""
    mark, parts = "a-mark-that-nothing-else-has", []
    for name, value in fields:
        parts.append(f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode())
    for field, name, content in files:
        head = f'Content-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
        parts.append(head.encode() + content)
    body = b"".join(f"--{mark}\r\n".encode() + part + b"\r\n" for part in parts)
    return f"multipart/form-data; boundary={mark}", body + f"--{mark}--\r\n".encode()


def told(match):
    """A match as the API tells it, of an item that has a thumbnail."""
    item = match.item
    return {
        "id": item.id,
        "score": match.score,
        "bits": match.bits,
        "code": item.code.hex(),
        "labels": list(item.labels),
        "file": item.source.rpartition("/")[2],
        "metadata": item.metadata,
        "thumbnail": True,
        "size": [item.metadata["width"], item.metadata["height"]],
    }


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A collection of 180 pictures, which no test changes."""
    return make_album(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def photos(folder):
    with Collection.open(folder) as collection:
        yield collection


@pytest.fixture(scope="session")
def client(folder):
    """Of a server that reads."""
    with running(folder) as address:
        yield Client(address)


@pytest.fixture(scope="session")
def knowing(tmp_path_factory):
    """A collection whose network knows names, which no test changes."""
    return make_knowing(tmp_path_factory.mktemp("knowing"))


@pytest.fixture(scope="session")
def pets(knowing):
    with Collection.open(knowing) as collection:
        yield collection


@pytest.fixture(scope="session")
def knower(knowing):
    """Of a server over a collection whose network knows names."""
    with running(knowing) as address:
        yield Client(address)


@pytest.fixture
def copied(folder, tmp_path):
    """A collection that a test may change."""
    return shutil.copytree(folder, tmp_path / "album")


@pytest.fixture
def serving(copied):
    """Starts servers over a collection that a test may change; they end with the test."""
    with ExitStack() as stack:
        yield lambda headers=(), folder=copied, **settings: Client(
            stack.enter_context(running(folder, **settings)), headers
        )


@pytest.fixture
def writer(serving):
    """With the token of a server that writes."""
    return serving(BEARER, writable=True, token=TOKEN)


@pytest.fixture(scope="session")
def tables(tmp_path_factory, X):
    """A collection of features, whose model knows neither names nor pictures."""
    place = tmp_path_factory.mktemp("tables") / "tables"
    with Collection.create(place, LSH(n_bits=20, random_state=0).fit(X)) as collection:
        collection.add(X, labels=[["odd", "it's"] if i % 2 else None for i in range(60)])
    return place


@pytest.fixture(scope="session")
def X():
    return np.random.RandomState(0).randn(60, 12).astype(np.float32)


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """A collection of 1797 digits, which no test changes."""
    folder = tmp_path_factory.mktemp("digits") / "digits"
    make_collection(folder).close()
    return folder


@pytest.fixture
def gate():
    """What work waits for; it is open in the end, so that no thread stays."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def context(browser):
    """Where most pages are opened; a context of one's own costs time."""
    with browser.new_context(**USUAL) as context:
        yield context


@pytest.fixture
def visit(browser, context):
    """Opens pages, and fails the test if one of them did what no page may do."""
    visits, own = [], []

    def open_page(address, **options):
        if options:
            own.append(browser.new_context(**(USUAL | options)))
        visits.append(Visit(own[-1] if options else context, address))
        return visits[-1]

    yield open_page
    for one in visits:
        one.page.close()
    for one in own:
        one.close()
    assert [wrong for one in visits for wrong in one.wrong] == []
