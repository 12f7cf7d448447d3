"""The client in JavaScript, run in Node against the collection that the server serves."""

import json
import shutil
import subprocess
import urllib.request
from importlib.resources import files

import numpy as np
import pytest

import zshash
from tests.client.canned import BUSY, GOOD, canned
from tests.web.browser.album import make_album, png
from tests.web.running import running

__all__ = ["canned"]

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")
TOKEN = "a-token-of-these-tests"
SCRIPT = """
import { readFileSync } from "node:fs";
const { Client, ServerError } = await import(process.argv[1]);
const album = new Client(process.argv[2], { token: process.argv[3], retries: 2 });
const bytes = (path) => new Uint8Array(readFileSync(path));
const refused = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return { ...error, name: error.name, text: error.message };
  }
};
const answer = await (async () => { %s })();
const plain = (_, own) => (own instanceof Float32Array ? Array.from(own) : own);
console.log(JSON.stringify(answer, plain));
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A collection, and the address of a server over it."""
    folder = make_album(tmp_path_factory.mktemp("javascript"))
    with running(folder) as address, zshash.Collection.open(folder) as album:
        yield album, address


def node(address, body, token=""):
    """What the body of an asynchronous function returns, in which `album` is a client."""
    script = files("zshash.web") / "static" / "zshash.js"
    command = [NODE, "--input-type=module", "-e", SCRIPT % body]
    told = subprocess.run(
        [*command, f"file://{script}", address, token], capture_output=True, timeout=120, text=True
    )
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


def rows(n):
    return np.random.RandomState(n).randint(0, 12, (n, 64)).astype(np.float32)


def assert_same(answer, found):
    assert [own["id"] for own in answer["results"]] == [match.id for match in found]
    scores = [match.score for match in found]
    assert [own["score"] for own in answer["results"]] == pytest.approx(scores, abs=1e-5)
    assert answer["all"] == found.total


def test_the_server_sends_the_client(both):
    _, address = both
    with urllib.request.urlopen(f"{address}/static/zshash.js") as answer:
        assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert answer.read() == (files("zshash.web") / "static" / "zshash.js").read_bytes()


def test_searches(both, tmp_path):
    album, address = both
    (tmp_path / "cat.png").write_bytes(png("cat", 99))
    row = rows(1)[0].tolist()
    code, values = album.index.get([5])[0], album.model.project(rows(1))[0]
    asked = {
        "picture: bytes(PATH)": {"query": png("cat", 99)},
        "picture: new Blob([bytes(PATH)])": {"query": png("cat", 99)},
        "features: new Float32Array(ROW)": {"query": rows(1)[0]},
        "features: ROW, k: 3": {"query": rows(1)[0], "k": 3},
        "item: 33, offset: 2": {"item": 33, "offset": 2},
        "item: 3, k: 300": {"item": 3, "k": 300},
        "item: 3, k: 150, offset: 100": {"item": 3, "k": 150, "offset": 100},
        "item: 3, radius: 8": {"item": 3, "radius": 8},
        "item: 3, where: 'year > 2010', label: 'cat'": {
            "item": 3,
            "where": "year > 2010 and label = 'cat'",
        },
        "name: 'truck', k: 25": {"name": "truck", "k": 25},
        "code: new Uint8Array(CODE)": {"code": code.tobytes()},
        f"code: '{code.tobytes().hex()}', distance: 'bits'": {"code": code.tobytes()},
        "values: VALUES": {"values": values},
    }
    texts = {"PATH": str(tmp_path / "cat.png"), "ROW": row}
    texts |= {"CODE": code.tolist(), "VALUES": values.astype(float).tolist()}
    known = "".join(f"const {name} = {json.dumps(own)};" for name, own in texts.items())
    searches = ", ".join(f"await album.search({{ {query} }})" for query in asked)
    answers = node(address, f"{known} return [{searches}];")
    for answer, query in zip(answers, asked.values(), strict=True):
        assert_same(answer, album.search(**query))


def test_many_searches(both):
    album, address = both
    text = json.dumps(rows(5).tolist())
    batches, one_by_one, at_once, few = node(
        address,
        f"""const rows = {text}.map((row) => new Float32Array(row));
        const all = new Float32Array(rows.flatMap((row) => Array.from(row)));
        return [
          await album.searchMany(
            [{{ item: 3 }}, {{ name: "cat" }}, {{ features: rows[0] }}], {{ k: 4, offset: 1 }}),
          await album.nearest(rows, {{ k: 6, where: "year > 2010" }}),
          await album.nearest(all, {{ k: 6, where: "year > 2010" }}),
          await album.nearest(rows[0], {{ k: 300 }}),
        ];""",
    )
    for answer, query in zip(
        batches, ({"item": 3}, {"name": "cat"}, {"query": rows(5)[0]}), strict=True
    ):
        assert_same(answer, album.search(**query, k=4, offset=1))
    assert one_by_one == at_once
    for row, own in zip(rows(5), at_once, strict=True):
        found = album.search(row, k=6, where="year > 2010")
        assert own["ids"] == [match.id for match in found]
        assert own["scores"] == pytest.approx([match.score for match in found], abs=1e-5)
    assert len(few[0]["ids"]) == len(few[0]["scores"]) == len(album) == 180


def test_items_names_and_pictures(both):
    album, address = both
    told = node(
        address,
        """const ids = [], cats = [];
        for await (const item of album.items()) ids.push(item.id);
        const some = { where: "year > 2005", label: ["cat"] };
        for await (const item of album.items(some)) cats.push(item.id);
        for await (const item of album.items()) if (item.id === 3) break;
        const { type, size } = await album.thumbnail(3);
        const table = await (await album.export({ form: "csv", ids: [3] })).text();
        const copies = await album.duplicates({ level: "same" });
        return { ids, cats, type, size, table, state: copies.state,
          picture: (await album.picture(3, { side: 640 })).type, items: (await album.info()).items,
          names: await album.names("tr"), small: album.thumbnailAddress(3),
          large: album.pictureAddress(3, { side: 640, download: true }) };""",
    )
    assert told["ids"] == album.ids.tolist()
    assert told["cats"] == album.find("label = 'cat' and year > 2005").tolist()
    assert told["size"] == len(album.thumbnail(3))
    assert told["type"].startswith("image/")
    assert told["picture"].startswith("image/")
    assert len(told["table"].splitlines()) == 2
    assert told["state"] in ("computing", "ready")
    assert (told["items"], told["names"][0]["name"]) == (180, "truck")
    assert told["small"] == f"{address}/api/v1/items/3/thumbnail"
    assert told["large"] == f"{address}/api/v1/items/3/picture?side=640&download=true"


def test_what_a_server_refuses(both):
    _, address = both
    missing, removed, ended, wrong = node(
        address,
        """const stopped = AbortSignal.abort();
        return [
          await refused(album.search({ item: 5000 })), await refused(album.remove([3])),
          await refused(album.info({ signal: stopped })),
          await refused((async () => new Client("photos"))()),
        ];""",
    )
    assert (missing["name"], missing["status"], missing["suggestions"]) == ("ServerError", 404, {})
    assert missing["detail"] == "there is no item 5000"
    assert removed["status"] == 403
    assert ended["name"] == "AbortError"
    assert "is no address such as" in wrong["text"]


def test_changes(tmp_path):
    folder = make_album(tmp_path)
    for number in (1, 2):
        (tmp_path / f"{number}.png").write_bytes(png("cat", 200 + number))
    with running(folder, writable=True, token=TOKEN) as address:
        told = node(
            address,
            f"""const added = await album.add(
              [bytes("{tmp_path}/1.png"), new Blob([bytes("{tmp_path}/2.png")])],
              {{ labels: ["new"] }});
            const labelled = await album.label(180, "truck", {{ how: "also" }});
            const undo = await album.remove([180]);
            const left = (await album.search({{ item: 181, where: "id >= 180" }})).results.length;
            const restored = await album.restore(undo);
            const seen = [];
            const end = await album.refit({{ seen: (state) => seen.push(state.state) }});
            return {{ added, labelled, left, restored, seen, end }};""",
            TOKEN,
        )
    assert told["added"] == {"added": [180, 181], "duplicates": [], "failures": []}
    assert (told["labelled"], told["left"], told["restored"]) == ([180], 1, [180])
    assert told["seen"][0] == "running"
    assert told["end"]["state"] == "done", told["end"]


def test_a_busy_server_is_asked_again(canned):
    assert node(canned([BUSY, BUSY, GOOD]), "return album.info();") == {"items": 3}
    refused = node(canned([BUSY, BUSY, BUSY]), "return refused(album.info());")
    assert (refused["status"], refused["detail"]) == (429, "the server answered without saying why")
