"""The description of the API: complete, and true about who may call what."""

import re

import pytest

from tests.web.conftest import BEARER, TOKEN
from zshash.web.openapi import TAGS

NAME = re.compile(r"[a-z]+([A-Z][a-z0-9]*)*")


@pytest.fixture(scope="module")
def description(client):
    return client.get("/api/v1/openapi.json").json


def operations(description):
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def has_example(operation):
    parts = [
        *operation.get("parameters", ()),
        *operation.get("requestBody", {}).get("content", {}).values(),
    ]
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            parts += answer.get("content", {}).values()
    return any("example" in part or "examples" in part for part in parts)


def test_every_operation_is_described(description):
    names = []
    for method, path, operation in operations(description):
        place = f"{method} {path}"
        assert NAME.fullmatch(operation["operationId"]), place
        names.append(operation["operationId"])
        assert set(operation["tags"]) <= set(TAGS), place
        assert len(operation["tags"]) == 1, place
        summary = operation["summary"]
        assert re.fullmatch(r".{8,}\.", summary), place
        assert "security" in operation, place
        assert not [key for key in operation if key.startswith("x-")], place
        has_file = "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
        has_none = not operation.get("parameters") and "requestBody" not in operation
        answers = [answer for status, answer in operation["responses"].items() if status[0] == "2"]
        is_plain = has_none and not any("application/json" in a.get("content", {}) for a in answers)
        assert has_example(operation) or has_file or is_plain, place
    assert len(set(names)) == len(names)


def test_the_document_tells_of_itself(description):
    assert [tag["name"] for tag in description["tags"]] == list(TAGS)
    assert all(tag["description"] for tag in description["tags"])
    info = description["info"]
    assert info["license"]["identifier"] == "Apache-2.0"
    assert "X-Request-Id" in info["description"]
    assert description["servers"] == [{"url": "/", "description": "This server"}]
    schemes = description["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["session"]["name"].startswith("zshash-")


def test_all_references_lead_somewhere(client):
    text = client.get("/api/v1/openapi.json").body.decode()
    description = client.get("/api/v1/openapi.json").json
    for name in set(re.findall(r'"#/components/schemas/([^"]+)"', text)):
        assert name in description["components"]["schemas"]


@pytest.mark.parametrize("settings", [{}, {"writable": True, "token": TOKEN}, {"token": TOKEN}])
def test_what_it_says_of_tokens_is_true(serving, settings):
    client = serving(**settings)
    description = client.ask("GET", "/api/v1/openapi.json", headers=BEARER).json
    for method, path, operation in operations(description):
        needs = {} not in operation["security"]
        status = client.ask(method, path.replace("{id}", "9999")).status
        if settings.get("writable") or method == "GET":
            is_refused = status in (401, 403)
            assert is_refused == needs or path == "/api/v1/session", (method, path, status)


def test_the_document_has_a_tag_and_is_compressed(client):
    answer = client.ask("GET", "/api/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    tag = answer.headers["etag"]
    again = client.ask("GET", "/api/v1/openapi.json", headers={"If-None-Match": tag})
    assert (again.status, again.body) == (304, b"")
