"""Processes that ask a collection while its model changes: in Python, by command line, by HTTP."""

import http.client
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
from click.testing import CliRunner

from crashing.racing import FIXED, NAMES, QUERIES, Got, Truth, number_in, open_album
from crashing.tally import Tally
from crashing.world import N_BITS
from zshash import Collection
from zshash.cli import main
from zshash.collection import CollectionError, OtherModel

__all__ = ["ask_by_command", "ask_by_http", "ask_in_python"]

K, RADIUS = 12, 10
PATIENCE = 30.0  # seconds for an answer over HTTP
GoesOn = Callable[[], bool]


def _got(found: Any) -> list[Got]:
    return [Got(m.id, number_in(m.path), m.score, m.bits, m.code.hex()) for m in found]


def ask_in_python(folder: Path, truth: Truth, seed: int, goes_on: GoesOn) -> Tally:
    """Ask in all ways that Python has; half of the time through an object that stays open."""
    tally, rng = Tally(), random.Random(seed)
    while goes_on():
        with open_album(folder) as album:
            for _ in range(100 if seed % 2 else 5):
                if not goes_on():
                    break
                kind = rng.choice(sorted(ASKS))
                tally.attempts[f"Python: {kind}"] += 1
                try:
                    wrong = ASKS[kind](album, truth, rng)
                except OtherModel:
                    tally.attempts["Python: refused as of another model"] += 1
                except CollectionError as error:
                    tally.violate(f"Python: {kind} failed", error)
                else:
                    if wrong:
                        tally.violate(f"Python: {kind}", wrong)
    return tally


def _model_of(found: Any, truth: Truth) -> int:
    return truth.pool.checksums.index(found.model)


def _features(album: Collection, truth: Truth, rng: random.Random, distance: str) -> str:
    query = rng.choice(QUERIES)
    found: Any = album.search(truth.pool.X[query], k=K, distance=distance)
    return _wrong_features(truth, query, found, distance)


def _wrong_features(truth: Truth, query: int, found: Any, distance: str = "real") -> str:
    model = _model_of(found, truth)
    bits = truth.bits[model][query]
    scores = truth.real[model][query] if distance == "real" else 1 - 2 * bits / N_BITS
    return truth.wrong_top(model, scores, bits, _got(found), K)


def _real(album: Collection, truth: Truth, rng: random.Random) -> str:
    return _features(album, truth, rng, "real")


def _bits(album: Collection, truth: Truth, rng: random.Random) -> str:
    return _features(album, truth, rng, "bits")


def _radius(album: Collection, truth: Truth, rng: random.Random) -> str:
    query = rng.choice(QUERIES)
    found: Any = album.search(truth.pool.X[query], radius=RADIUS)
    model = _model_of(found, truth)
    return truth.wrong_ball(model, truth.bits[model][query], _got(found), RADIUS)


def _name(album: Collection, truth: Truth, rng: random.Random) -> str:
    name = rng.choice(NAMES)
    found: Any = album.search(name=name, k=K)
    model = _model_of(found, truth)
    return truth.wrong_top(model, truth.names[model][name], None, _got(found), K)


def _item(album: Collection, truth: Truth, rng: random.Random) -> str:
    place = rng.randrange(len(FIXED))
    found: Any = album.search(item=place, k=K)
    model = _model_of(found, truth)
    scores, bits = truth.real[model][FIXED[place]], truth.bits[model][FIXED[place]]
    return truth.wrong_top(model, scores, bits, _got(found), K)


def _many(album: Collection, truth: Truth, _: random.Random) -> str:
    found: Any = album.search(truth.pool.X[list(QUERIES)], k=K)
    if len({own.model for own in found}) > 1:
        return "answers by two models"
    wrong = [_wrong_features(truth, q, own) for q, own in zip(QUERIES, found, strict=True)]
    return next(filter(None, wrong), "")


def _where(album: Collection, truth: Truth, rng: random.Random) -> str:
    query = rng.choice(QUERIES)
    found: Any = album.search(truth.pool.X[query], k=K, where="album = 'fixed'")
    return _wrong_features(truth, query, found)


def _code(album: Collection, truth: Truth, rng: random.Random) -> str:
    query, model = rng.choice(QUERIES), rng.randrange(2)
    code = truth.pool.codes[model][query]
    found: Any = album.search(code=code, k=K, model=truth.pool.checksums[model])
    bits = truth.bits[model][query]
    return truth.wrong_top(model, 1 - 2 * bits / N_BITS, bits, _got(found), K)


def _items(album: Collection, truth: Truth, _: random.Random) -> str:
    return truth.wrong_codes((number_in(own.source), own.code.hex()) for own in album.items())


def _explain(album: Collection, truth: Truth, rng: random.Random) -> str:
    place = rng.randrange(len(FIXED))
    names = [near.name for near in album.explain_code(item=place)]
    return "" if names in [own[place] for own in truth.near] else f"other names: {names}"


ASKS: dict[str, Callable[[Collection, Truth, random.Random], str]] = {
    "features": _real,
    "bits": _bits,
    "radius": _radius,
    "name": _name,
    "item": _item,
    "many queries": _many,
    "condition": _where,
    "code of a model": _code,
    "items": _items,
    "names of a code": _explain,
}


def ask_by_command(folder: Path, truth: Truth, seed: int, goes_on: GoesOn) -> Tally:
    """Ask by `zshash search` with several queries and a name; all answers must be by one model."""
    tally, rng, runner = Tally(), random.Random(seed), CliRunner()
    path = folder.with_name(f"queries {seed}.npy")
    while goes_on():
        queries, name = rng.sample(list(QUERIES), 4), rng.choice(NAMES)
        np.save(path, truth.pool.X[queries])
        command = ["search", str(folder), str(path), "--name", name, "--k", str(K), "--json"]
        tally.attempts["command line: several queries"] += 1
        done = runner.invoke(main, command)
        if done.exit_code:
            tally.violate("command line: it failed", done.output or repr(done.exception))
            continue
        told = [own["neighbours"] for own in json.loads(done.stdout)]
        wrong = [_wrong_told(truth, model, queries, name, told) for model in range(2)]
        if all(wrong):
            tally.violate("command line: a wrong answer", wrong)
    return tally


def _wrong_told(truth: Truth, model: int, queries: list[int], name: str, told: Any) -> str:
    """What is wrong with all answers of one command under a model."""
    found = [
        [Got(own["id"], number_in(own["path"]), own["score"], own.get("bits")) for own in part]
        for part in told
    ]
    wrong = [truth.wrong_top(model, truth.names[model][name], None, found[-1], K)]
    for query, got in zip(queries, found[:-1], strict=True):
        scores, bits = truth.real[model][query], truth.bits[model][query]
        wrong.append(truth.wrong_top(model, scores, bits, got, K))
    return next(filter(None, wrong), "")


def ask_by_http(address: str, truth: Truth, seed: int, goes_on: GoesOn) -> Tally:
    """Ask a server: searches, why, items and the map."""
    tally, rng, parts = Tally(), random.Random(seed), urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    while goes_on():
        for kind, request, check in _requests(truth, rng):
            tally.attempts[f"HTTP: {kind}"] += 1
            try:
                status, body = _send(connection, request)
            except (OSError, http.client.HTTPException) as error:
                tally.violate(f"HTTP: {kind}: no answer", repr(error))
                connection.close()
                time.sleep(0.1)
                continue
            if status in (409, 429):
                tally.attempts[f"HTTP: refused with {status}"] += 1
            elif status == 404 and kind == "map":
                tally.attempts["HTTP: no map yet"] += 1
            elif status != 200:
                tally.violate(f"HTTP: {kind}: status {status}", body[:200])
            elif wrong := check(body):
                tally.violate(f"HTTP: {kind}", wrong)
    connection.close()
    return tally


def _send(connection: http.client.HTTPConnection, request: Any) -> tuple[int, bytes]:
    path, body = request
    headers = {"Content-Type": "application/json"} if body else {}
    connection.request("POST" if body else "GET", path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


Request = tuple[str, tuple[str, bytes | None], Callable[[bytes], str]]


def _requests(truth: Truth, rng: random.Random) -> Iterator[Request]:
    """A request of each kind, and the function that checks its answer."""
    query, place, name = rng.choice(QUERIES), rng.randrange(len(FIXED)), rng.choice(NAMES)

    def found(kind: str) -> Callable[[bytes], str]:
        return lambda body: _wrong_page(truth, kind, (query, place, name), json.loads(body))

    page = {"k": K, "limit": K}
    for kind in ("features", "bits"):
        more = {"distance": "bits"} if kind == "bits" else {}
        body = json.dumps({"features": truth.pool.X[query].tolist()} | page | more).encode()
        yield f"search by {kind}", ("/api/v1/search", body), found(kind)
    yield "search by id", (f"/api/v1/search?{urlencode({'id': place} | page)}", None), found("id")
    yield (
        "search by name",
        (f"/api/v1/search?{urlencode({'name': name} | page)}", None),
        found("name"),
    )
    model = rng.randrange(2)
    code = {"code": truth.codes[model][query], "model": truth.pool.checksums[model]}
    yield "search by code", (f"/api/v1/search?{urlencode(code | page)}", None), found("bits")
    yield "why", (f"/api/v1/why?id={place}", None), lambda body: _wrong_why(truth, place, body)
    yield "items", ("/api/v1/items?limit=200", None), lambda body: _wrong_list(truth, body)
    yield "map", ("/api/v1/map", None), lambda body: "" if b"state" in body else "no state"
    yield "map", ("/api/v1/map/points", None), _wrong_points


def _wrong_page(truth: Truth, kind: str, asked: tuple[int, int, str], answer: Any) -> str:
    query, place, name = asked
    known = [own.startswith(answer["query"]["model"]) for own in truth.pool.checksums]
    model = known.index(True)
    got = [
        Got(own["id"], number_in(own["file"]), own["score"], own["bits"], own["code"])
        for own in answer["results"]
    ]
    if kind == "name":
        return truth.wrong_top(model, truth.names[model][name], None, got, K)
    number = FIXED[place] if kind == "id" else query
    bits = truth.bits[model][number]
    scores = 1 - 2 * bits / N_BITS if kind == "bits" else truth.real[model][number]
    return truth.wrong_top(model, scores, bits, got, K)


def _wrong_why(truth: Truth, place: int, body: bytes) -> str:
    names = [near["name"] for near in json.loads(body)["nearest"]]
    return "" if names in [own[place] for own in truth.near] else f"other names: {names}"


def _wrong_list(truth: Truth, body: bytes) -> str:
    items = json.loads(body)["items"]
    return truth.wrong_codes((number_in(own["file"]), own["code"]) for own in items)


def _wrong_points(body: bytes) -> str:
    n = int.from_bytes(body[:4], "little")
    ids = set(np.frombuffer(body, "<f8", n, 8).astype(int).tolist())
    return "" if ids.issuperset(range(len(FIXED))) else "items are missing on the map"
