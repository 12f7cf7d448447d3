"""The API against its own description: every answer is one that the description tells of."""

import json
import os
from contextlib import closing, suppress
from http.client import HTTPConnection
from shutil import copytree

import pytest
import requests
import schemathesis
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
    unsupported_method,
)

from tests.web.running import running

pytestmark = pytest.mark.service

EXAMPLES = int(os.environ.get("ZSHASH_EXAMPLES", "12"))  # for each route; more find more
TOKEN = "0123456789abcdef"
SHOWN = {"Authorization": f"Bearer {TOKEN}"}
EXCLUDED = [positive_data_acceptance]  # a description can not tell which names and codes there are
TEXTS = [negative_data_rejection]  # all that is in a form is a text


@pytest.fixture(scope="module")
def reading(digits):
    with running(digits) as address:
        yield address


@pytest.fixture(scope="module")
def writing(digits, tmp_path_factory):
    folder = copytree(digits, tmp_path_factory.mktemp("changing") / "digits")
    with running(folder, writable=True, token=TOKEN) as address:
        yield address


def described(address):
    generation = GenerationConfig(max_examples=EXAMPLES, deterministic=True)
    projects = ProjectsConfig(default=ProjectConfig(generation=generation))
    config = SchemathesisConfig(seed=0, projects=projects)
    return schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json", config=config)


@pytest.fixture(scope="module")
def reading_schema(reading):
    return described(reading)


@pytest.fixture(scope="module")
def writing_schema(writing):
    return described(writing)


@pytest.fixture(scope="module")
def knowing_schema(knower):
    return described(knower.address)


@pytest.fixture(scope="module")
def session():
    with requests.Session() as opened:
        yield opened


OPERATIONS = [
    "GET /healthz",
    "GET /metrics",
    "GET /api/v1/info",
    "POST /api/v1/session",
    "DELETE /api/v1/session",
    "DELETE /api/v1/sessions",
    "GET /api/v1/search",
    "POST /api/v1/search",
    "POST /api/v1/search/batch",
    "GET /api/v1/names",
    "GET /api/v1/why",
    "GET /api/v1/facets",
    "GET /api/v1/items",
    "POST /api/v1/items",
    "POST /api/v1/items/remove",
    "POST /api/v1/items/restore",
    "POST /api/v1/items/label",
    "POST /api/v1/items/export",
    "GET /api/v1/items/{id}",
    "DELETE /api/v1/items/{id}",
    "GET /api/v1/items/{id}/thumbnail",
    "GET /api/v1/items/{id}/picture",
    "GET /api/v1/duplicates",
    "POST /api/v1/duplicates/keep",
    "POST /api/v1/duplicates/forget",
    "GET /api/v1/refit",
    "POST /api/v1/refit",
    "GET /api/v1/map",
    "GET /api/v1/map/points",
]


def check_answer(case, session, headers, excluded):
    """That the answer to a case is as described, unless HTTP itself has no room for its address."""
    answer = case.call(session=session, headers=headers)
    n_bytes, beside = len(answer.request.url), 1024  # address and headers share 64 KiB
    if answer.status_code in (414, 431):
        assert n_bytes > 2**16 - beside
    else:
        assert n_bytes <= 2**16
        case.validate_response(answer, excluded_checks=excluded, headers=headers)


def try_all(schema, operation, check):
    """Call `check` with cases of an operation: drawn ones, and those at every boundary."""
    tests = get_all_tests(
        schema=schema.include(name=operation), test_func=check, settings=None, given_kwargs=None
    )
    for found in tests:
        _, test = found.ok()
        test()


def test_all_operations_are_tried(reading_schema):
    found = [result.ok().label for result in reading_schema.get_all_operations()]
    assert sorted(found) == sorted(OPERATIONS)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_reading_server_answers_as_described(reading_schema, operation, session):
    def check(case):
        check_answer(case, session, {}, [*EXCLUDED, unsupported_method])

    try_all(reading_schema, operation, check)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_writing_server_answers_as_described(writing_schema, operation, session):
    def check(case):
        check_answer(case, session, SHOWN, excluded)

    excluded = [*EXCLUDED, *(TEXTS if operation == "POST /api/v1/items" else [])]
    try_all(writing_schema, operation, check)


@pytest.mark.parametrize(
    "operation",
    ["GET /api/v1/info", *(own for own in OPERATIONS if "search" in own or "why" in own)],
)
def test_a_server_that_knows_names_answers_as_described(knowing_schema, operation, session):
    def check(case):
        check_answer(case, session, {}, [*EXCLUDED, unsupported_method])

    try_all(knowing_schema, operation, check)


STRANGE = {
    "empty": "",
    "nul": "%00",
    "nul inside": "cat%00dog",
    "no UTF-8": "%ff%fe",
    "half of a pair": "%ed%a0%80",
    "half an escape": "%",
    "quotes": "%27%22%60%3b--",
    "right to left": "%e2%80%ae%d8%b4",
    "accents": "e" + "%cc%81" * 300,
    "emoji": "%f0%9f%91%a9%e2%80%8d%f0%9f%91%a9",
    "many letters": "a" * 9_000,
    "negative": "-1",
    "beyond 64 bits": "18446744073709551616",
    "many digits": "9" * 8_000,
    "power": "1e400",
    "not a number": "nan",
    "other digits": "%d9%a3",
    "brackets": "%28" * 3_000,
    "nested": "not%20" * 1_000 + "id=1",
    "sums": "id=1%20or%20" * 700 + "id=1",
    "list": "[1,2]",
    "object": "{}",
    "path": "..%2f..%2fetc%2fpasswd",
}
TARGETS = [
    *(f"/api/v1/search?id=5&{name}={{}}" for name in ("k", "radius", "label", "where", "offset")),
    *(
        f"/api/v1/search?{name}={{}}"
        for name in ("name", "id", "code", "values", "limit", "name=zero&name")
    ),
    "/api/v1/search?id=5&id={}",
    "/api/v1/search?{}=1",
    *(f"/api/v1/why?{name}={{}}" for name in ("name", "id", "code")),
    *(f"/api/v1/items?{name}={{}}" for name in ("label", "where", "offset", "limit")),
    "/api/v1/items/{}",
    "/api/v1/items/{}/thumbnail",
    "/api/v1/items/{}/picture",
    "/api/v1/{}",
    "/static/{}",
]


def ask(address, target, method="GET", body=None, headers=()):
    """Status and body of an answer; the address is sent as it is."""
    host, _, port = address.removeprefix("http://").partition(":")
    with closing(HTTPConnection(host, int(port), timeout=30)) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # answered before all was sent
            connection.request(method, target, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read()


def check_problem(status, content, folder):
    """That an answer is one of the API's, and tells nothing of the disk."""
    assert status in {200, 400, 404, 413, 415, 422}
    assert str(folder.parent).encode() not in content
    if status != 200:
        assert list(json.loads(content)) in (["detail"], ["detail", "suggestions"])


@pytest.mark.parametrize("value", STRANGE.values(), ids=STRANGE)
def test_strange_values_are_refused_in_a_sentence(reading, digits, value):
    for target in TARGETS:
        status, content = ask(reading, target.format(value))
        check_problem(status, content, digits)


NAMED = [
    *(f"/api/v1/{route}?name={{}}" for route in ("search", "why")),
    *(f"/api/v1/search?name=dog&{name}={{}}" for name in ("name", "without", "label", "where")),
    *(f"/api/v1/search?name=dog{letter}{{}}" for letter in (":", "%20", "(", ".n.", "%20-")),
    "/api/v1/search?without={}",
    "/api/v1/search?name[]={}",
]


@pytest.mark.parametrize("value", STRANGE.values(), ids=STRANGE)
def test_strange_names_are_refused_in_a_sentence(knower, knowing, value):
    for target in NAMED:
        status, content = ask(knower.address, target.format(value))
        check_problem(status, content, knowing)


BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "nul": b'{"name": "\\u0000"}',
    "half of a pair": b'{"name": "\\ud800"}',
    "no UTF-8": b'{"name": "\xff"}',
    "nested": b'{"features": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "not a number": b'{"features": [NaN]}',
    "infinite": b'{"features": [' + b",".join([b"1e999"] * 64) + b"]}",
    "beyond float32": b'{"features": [' + b",".join([b"1e300"] * 64) + b"]}",
    "many digits": b'{"id": ' + b"9" * 100_000 + b"}",
    "a fraction": b'{"id": 1.5}',
    "too few": b'{"features": [1]}',
    "too many": b'{"features": [' + b"1," * 200_000 + b"1]}",
    "no list": b'{"features": {"0": 1}}',
    "a key twice": b'{"id": 1, "id": -2}',
    "many keys": b"{" + b",".join(b'"%d": 1' % i for i in range(50_000)) + b"}",
    "a long key": b'{"' + b"a" * 1_000_000 + b'": 1}',
    "a long name": b'{"name": "' + b"a" * 1_000_000 + b'"}',
    "a list": b"[]",
    "null": b"null",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_strange_json_is_refused_in_a_sentence(reading, digits, body):
    headers = {"Content-Type": "application/json"}
    for target, given in (
        ("", body),
        ("/batch", body),
        ("/batch", b'{"queries": [' + body + b"]}"),
    ):
        status, content = ask(reading, f"/api/v1/search{target}", "POST", given, headers)
        assert status == 422
        check_problem(status, content, digits)
        assert len(content) < 10_000


def form(label):
    """A form with a label and an empty file."""
    field = b'--x\r\nContent-Disposition: form-data; name="label"\r\n\r\n'
    file = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="\xff\0a"\r\n\r\n'
    return field + label + b"\r\n" + file + b"\r\n--x--\r\n"


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-7", "unicode_escape", "hex", '"\0"'])
def test_forms_are_in_utf_8(reading, charset):
    body = form(b"a" * 500_000 + b"-" + b"b" * 500_000)  # would take a minute in Punycode
    headers = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
    status, _ = ask(reading, "/api/v1/search", "POST", body, headers)
    assert status in {400, 415}


@pytest.mark.parametrize("label", [b"a\0b", b"a" * 2000, b"a" * 2_000_000], ids=len)
def test_labels_that_can_not_be_stored_are_refused(writing, digits, label):
    headers = SHOWN | {"Content-Type": "multipart/form-data; boundary=x"}
    status, content = ask(writing, "/api/v1/items", "POST", form(label), headers)
    assert status == 422
    check_problem(status, content, digits)


@pytest.mark.parametrize("target", ["/api/v1/search", "/api/v1/items"])
@pytest.mark.parametrize("length", [10**9, 2**64 - 1, 10**30])
def test_bodies_that_announce_too_much_are_not_waited_for(writing, target, length):
    for kind in ("image/png", "application/json", "multipart/form-data; boundary=x"):
        headers = SHOWN | {"Content-Type": kind, "Content-Length": str(length)}
        status, _ = ask(writing, target, "POST", None, headers)
        assert status in {400, 413, 415}
