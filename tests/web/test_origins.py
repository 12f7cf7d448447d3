"""What pages of other origins may do."""

import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, JSON, TOKEN
from zshash.web import Settings
from zshash.web.settings import as_origin

APP, EVIL = "https://app.example.org", "https://evil.example"
ASKS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}


def allowing(headers):
    return {k: v for k, v in headers.items() if k.startswith("access-control")}


def search(client, **headers):
    return client.ask("POST", "/api/v1/search", b'{"id": 1}', JSON | headers).status


def test_foreign_pages_may_not_send(client, serving):
    own = {"Origin": f"http://127.0.0.1:{client.port}"}
    assert search(client) == 200
    assert search(client, **own) == 200
    assert search(client, **{"Sec-Fetch-Site": "same-origin"}) == 200
    for headers in (
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": EVIL, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": f"http://127.0.0.1:{client.port}.evil.example"},
    ):
        assert search(client, **headers) == 403, headers
        for method in ("POST", "DELETE"):
            assert client.ask(method, "/api/v1/session", headers=headers).status == 403
    image = {"Origin": EVIL, "Content-Type": "image/png"}
    assert client.ask("POST", "/api/v1/search", png("cat", 1), image).status == 403
    member = serving(writable=True, token=TOKEN)
    assert member.ask("POST", "/api/v1/session", headers=BEARER | {"Origin": EVIL}).status == 403


def test_the_own_page_behind_a_proxy_that_changes_the_host(serving):
    client = serving(BEARER, hosts=("photos.example",), token=TOKEN)
    assert search(client, Origin="https://photos.example") == 200
    assert search(client, Origin="https://photos.example.evil.example") == 403


def test_without_allowed_origins_nothing_is_told(client):
    answer = client.ask("OPTIONS", "/api/v1/search", headers={"Origin": APP} | ASKS)
    assert answer.status == 405
    for each in (answer, client.ask("GET", "/api/v1/items/1", headers={"Origin": APP})):
        assert allowing(each.headers) == {}
        assert each.headers["cross-origin-resource-policy"] == "same-origin"


def test_allowed_origins(serving):
    client = serving(token=TOKEN, writable=True, origins=(APP, "http://localhost:3000"))
    asked = client.ask("OPTIONS", "/api/v1/items", headers={"Origin": APP} | ASKS)
    assert (asked.status, asked.body) == (204, b"")
    assert asked.headers["access-control-allow-origin"] == APP
    assert "Authorization" in asked.headers["access-control-allow-headers"]
    assert "DELETE" in asked.headers["access-control-allow-methods"]
    assert "access-control-allow-private-network" not in asked.headers
    answer = client.ask("GET", "/api/v1/items/1", headers={"Origin": APP})
    assert answer.headers["access-control-allow-origin"] == APP
    assert "ETag" in answer.headers["access-control-expose-headers"]
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "Origin" in answer.headers["vary"]
    assert "access-control-allow-credentials" not in answer.headers
    assert search(client, Origin=APP) == 200
    foreign = client.ask("GET", "/api/v1/items/1", headers={"Origin": EVIL})
    assert allowing(foreign.headers) == {}
    assert "Origin" in foreign.headers["vary"]
    assert search(client, Origin=EVIL) == 403
    assert client.ask("OPTIONS", "/api/v1/items", headers={"Origin": EVIL} | ASKS).status == 405


def test_pages_of_allowed_origins_need_the_token_and_not_a_cookie(serving):
    client = serving(token=TOKEN, writable=True, origins=(APP,))
    origin = {"Origin": APP}
    assert client.ask("DELETE", "/api/v1/items/9999", headers=origin).status == 401
    assert client.ask("DELETE", "/api/v1/items/9999", headers=origin | BEARER).status == 404
    assert client.logged_in().ask("DELETE", "/api/v1/items/9999", headers=origin).status == 403
    refused = client.ask("DELETE", "/api/v1/items/9999", headers=origin)
    assert refused.headers["access-control-allow-origin"] == APP  # so the page can read why


def test_a_preflight_needs_no_token_but_the_right_host(serving):
    client = serving(token=TOKEN, origins=(APP,))
    asks = {"Origin": APP, "Access-Control-Request-Private-Network": "true"} | ASKS
    answer = client.ask("OPTIONS", "/api/v1/search", headers=asks)
    assert answer.status == 204
    assert answer.headers["access-control-allow-private-network"] == "true"
    foreign = asks | {"Host": "evil.example"}
    assert client.ask("OPTIONS", "/api/v1/search", headers=foreign).status == 403


def test_all_origins(serving):
    client = serving(origins=("*",))
    answer = client.ask("GET", "/api/v1/items/1", headers={"Origin": EVIL})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    assert search(client, Origin=EVIL) == 200
    assert search(client, Origin="null") == 200
    assert client.get("/api/v1/items/1").headers["cross-origin-resource-policy"] == "cross-origin"


@pytest.mark.parametrize(
    "text",
    ["app.example.org", "https://app.example.org/", "https://", "ftp://a.example", "https://*.a",
     "null", "https://a.example:999999", "https://a b", "https://u@a.example", ""],
)  # fmt: skip
def test_origins_that_are_none(text):
    with pytest.raises(ValueError, match="is no origin, such as"):
        Settings(origins=(text,))


def test_origins_are_written_as_browsers_send_them():
    assert as_origin("HTTP://A.Example:80") == "http://a.example"
    assert as_origin("http://[::1]:8080") == "http://[::1]:8080"
