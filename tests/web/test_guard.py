"""Who may ask for what."""

import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, TOKEN, Client, as_form
from zshash.web.origins import HEADERS
from zshash.web.served import ServedCollection

API = ["/api/v1/info", "/api/v1/search?id=1", "/api/v1/why?id=1", "/api/v1/items",
       "/api/v1/items/1",
       "/api/v1/items/1/thumbnail", "/api/v1/items/1/picture", "/api/v1/map", "/api/v1/map/points",
       "/metrics", "/api/v1/openapi.json"]  # fmt: skip
OPEN = ["/", "/healthz", "/static/app.js"]
OWN, FOREIGN = "http://127.0.0.1:{port}", "http://evil.example"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example",
     "evil.example@127.0.0.1.evil.example", "192.168.0.1:{port}", "[::1", "0.0.0.0", "", "@"],
)  # fmt: skip
def test_names_that_are_not_those_of_this_machine(client, host):
    for path in [*OPEN, *API]:
        answer = client.ask("GET", path, headers={"Host": host.format(port=client.port)})
        assert answer.status == 403, path
        assert "does not answer to that host name" in answer.json["detail"]
    kind, body = as_form([("picture", "a.png", png("cat", 1))])
    headers = {"Host": host.format(port=client.port), "Content-Type": kind}
    assert client.ask("POST", "/api/v1/search", body, headers).status == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1", "127.8.8.8", "[::1]:9"])
def test_names_of_this_machine(client, host):
    assert client.ask("GET", "/api/v1/info", headers={"Host": host}).status == 200


def test_names_that_were_allowed(serving):
    client = serving(hosts=("Photos.Example", "second.example"), token=TOKEN)
    for host in ("photos.example", "PHOTOS.example:443", "second.example"):
        assert client.ask("GET", "/api/v1/info", headers={"Host": host} | BEARER).status == 200
    for host in ("third.example", "a.photos.example"):
        assert client.ask("GET", "/api/v1/info", headers={"Host": host} | BEARER).status == 403


def test_whoever_comes_by_way_of_a_proxy_needs_the_token(serving):
    client = serving(hosts=("photos.example",))
    assert client.get("/api/v1/search", id=1).status == 401
    assert client.ask("GET", "/api/v1/info", headers={"Host": "photos.example"}).status == 401


def test_a_token_that_is_not_for_writing_is_for_reading(serving):
    client = serving(token=TOKEN)
    assert client.get("/api/v1/search", id=1).status == 401
    assert client.ask("GET", "/api/v1/search?id=1", headers=BEARER).status == 200
    assert client.logged_in().get("/api/v1/search", id=1).status == 200


def test_other_machines_need_the_token_for_everything(serving):
    client = serving(host="0.0.0.0", token=TOKEN)
    for path in OPEN:
        assert client.get(path).status == 200
    wrong = [
        {},
        {"Authorization": "Bearer another-token-of-these-tests"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer"},
        {"Cookie": f"zshash-{client.port}={TOKEN}"},
        {"Cookie": f"zshash-{client.port}="},
        {"Authorization": f"Bearer {TOKEN}".encode() + b"\xff"},
    ]
    for headers in wrong:
        for path in API:
            answer = client.ask("GET", path, headers=headers)
            assert answer.status == 401, (path, headers)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json["detail"] == "this server asks for a token"
        assert client.ask("POST", "/api/v1/search", b"{}", headers).status == 401
        assert client.ask("POST", "/api/v1/session", headers=headers).status == 401
    known = [Client(client.address, BEARER), client.logged_in()]
    for one in known:
        assert [one.get(path).status for path in API[:-3]] == [200] * len(API[:-3])
        assert one.get("/api/v1/info").json["authorised"]
        assert one.ask("GET", "/api/v1/info", headers={"Host": "photos.example"}).status == 200
        assert one.ask("DELETE", "/api/v1/items/1").status == 403  # it only reads


def test_reading_on_this_machine_needs_no_token(serving):
    client = serving(writable=True, token=TOKEN)
    assert [client.get(path).status for path in API[:7]] == [200] * 7
    assert client.get("/api/v1/info").json["authorised"] is False
    assert Client(client.address, BEARER).get("/api/v1/info").json["authorised"] is True


def changes(client, headers=()):
    """Statuses of adding a picture that is none, and of removing an item that is none."""
    kind, body = as_form([("picture", "a.png", b"x")])
    added = client.ask("POST", "/api/v1/items", body, dict(headers) | {"Content-Type": kind})
    removed = client.ask("DELETE", "/api/v1/items/9999", headers=headers)
    return added.status, removed.status


def test_who_may_write(serving):
    client = serving(writable=True, token=TOKEN)
    own = OWN.format(port=client.port)
    assert changes(client) == (401, 401)
    assert changes(client, {"Authorization": "Bearer a-wrong-token-of-these"}) == (401, 401)
    assert changes(client, {"Origin": own}) == (401, 401)
    assert changes(client, BEARER) == (201, 404)
    assert changes(client, {"Authorization": f"bearer  {TOKEN} "}) == (201, 404)

    member = client.logged_in()
    assert changes(member, {"Origin": own}) == (201, 404)
    assert changes(member, {"Sec-Fetch-Site": "same-origin"}) == (201, 404)
    for headers in [
        {},
        {"Origin": FOREIGN},
        {"Origin": "null"},
        {"Origin": own + "0"},
        {"Origin": f"http://localhost:{client.port}"},
        {"Origin": FOREIGN, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
    ]:
        assert changes(member, headers) == (403, 403), headers
    assert member.ask("GET", "/api/v1/info", headers={"Origin": FOREIGN}).json["authorised"]


def test_a_server_that_only_reads(client, serving):
    assert changes(client) == (403, 403)
    with_token = serving(token=TOKEN)
    assert changes(with_token, BEARER) == (403, 403)
    kind, body = as_form([("picture", "a.png", png("cat", 1))])
    answer = with_token.ask("POST", "/api/v1/items", body, {"Content-Type": kind} | BEARER)
    assert answer.json["detail"].startswith("this server only")


def test_a_cookie_is_that_of_one_server(serving):
    one, other = serving(writable=True, token=TOKEN), serving(writable=True, token=TOKEN + "!")
    cookie = one.logged_in().headers["Cookie"]
    value = cookie.partition("=")[2]
    for text in (cookie, f"zshash-{other.port}={value}"):
        assert not other.ask("GET", "/api/v1/info", headers={"Cookie": text}).json["authorised"]
    for text in (f"zshash-{other.port}={value}", f"zshash={value}", f"{cookie}0", "a=b; c"):
        assert not one.ask("GET", "/api/v1/info", headers={"Cookie": text}).json["authorised"]


@pytest.mark.parametrize("other", ['{"a": [1, "x"]}', "a[b]", '"unfinished', "x y z"])
def test_cookies_of_other_servers_of_this_machine(serving, other):
    client = serving(writable=True, token=TOKEN)
    own = client.logged_in().headers["Cookie"]
    for text in (f"odd={other}; {own}", f"{own}; odd={other}", f"{other}=1; {own}"):
        answer = client.ask("GET", "/api/v1/info", headers={"Cookie": text})
        assert answer.json["authorised"] is True


def test_logging_in_and_out(serving):
    client = serving(writable=True, token=TOKEN)
    assert client.ask("POST", "/api/v1/session").status == 401
    given = client.ask("POST", "/api/v1/session", headers=BEARER)
    flags = [flag.strip().lower() for flag in given.headers["set-cookie"].split(";")]
    assert {"httponly", "samesite=strict", "path=/"} <= set(flags)
    assert TOKEN not in given.headers["set-cookie"]
    member = client.logged_in()
    assert member.ask("POST", "/api/v1/session").status == 401  # a cookie does not make another
    gone = member.ask("DELETE", "/api/v1/session")
    assert gone.status == 204
    assert gone.headers["set-cookie"].startswith(f'zshash-{client.port}=""')
    assert "max-age=0" in gone.headers["set-cookie"].lower()


def test_no_cookie_where_none_is_needed(client):
    given = client.ask("POST", "/api/v1/session")
    assert given.status == 204
    assert "set-cookie" not in given.headers


def test_every_answer_has_the_headers_that_restrain_browsers(serving, monkeypatch):
    def fail(*_):
        raise RuntimeError("a secret of the server")

    client = serving(writable=True, token=TOKEN, bytes=1000)
    monkeypatch.setattr(ServedCollection, "item", fail)
    monkeypatch.setattr(ServedCollection, "prepare", fail)
    tag = client.get("/static/app.js").headers["etag"]
    answers = {
        200: client.get("/"),
        204: client.ask("POST", "/api/v1/session", headers=BEARER),
        304: client.ask("GET", "/static/app.js", headers={"If-None-Match": tag}),
        401: client.ask("DELETE", "/api/v1/items/1"),
        403: client.ask("GET", "/", headers={"Host": "evil.example"}),
        404: client.get("/nothing"),
        405: client.ask("PUT", "/"),
        413: client.post("/api/v1/search", b"x" * 2000, "image/png"),
        415: client.post("/api/v1/search", b"x", "text/plain"),
        422: client.get("/api/v1/search"),
        500: client.get("/api/v1/items/1"),
    }
    short = client.post("/api/v1/search", b"x", "image/png")
    number = short.headers["x-request-id"]
    text = f"something is wrong with the server: its log tells more of {number}"
    assert short.json == {"detail": text}
    for status, answer in [*answers.items(), (500, short)]:
        assert answer.status == status
        for name, value in HEADERS.items():
            assert answer.headers[name.lower()] == value, (status, name)
        assert b"secret" not in answer.body
    policy = answers[200].headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not [name for name in answers[200].headers if name.startswith("access-control")]
