"""Lists of items, and searches, for people and for other programs."""

import csv
import io
import json
import os
import subprocess

import numpy as np
import pytest

from tests.cli.albums import draw, make_album, raw, read, refused, run
from tests.cli.terminals import ZSHASH, terminal, wait_for
from zshash import Collection
from zshash.datasets import read_manifest


@pytest.fixture(autouse=True)
def album(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_album(tmp_path)
    return tmp_path


def paths(folder):
    return [str(path) for path in sorted((folder / "photos").rglob("*.png"))]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_items_in_the_order_of_ids(album):
    lines = run("list", "album").splitlines()
    assert [line.split() for line in lines[:-1]] == [
        [str(number), path, path.split("/")[-2]] for number, path in enumerate(paths(album))
    ]
    assert lines[-1] == "6 items"
    assert [item["id"] for item in read("list", "album", "--offset", 2, "--limit", 3)] == [2, 3, 4]
    assert read("list", "album", "--offset", 6) == []
    assert run("list", "album", "--limit", 1).splitlines()[-1] == "1 item"


def test_only_some_items():
    run("label", "album", 0, 1, "--none")
    run("label", "album", 2, "Rock 'n' Roll")

    def listed(*options):
        return [item["id"] for item in read("list", "album", *options)]

    assert listed("--label", "dog") == [3, 4, 5]
    assert listed("--label", "Rock 'n' Roll") == [2]
    assert listed("--unlabelled") == [0, 1]
    assert listed("--unlabelled", "--where", "id = 1 or id = 5") == [1]
    assert listed("--where", "path like '%/dog/%'", "--label", "dog", "--limit", 1) == [3]


def test_paths_and_nothing_else(album):
    assert raw("list", "album", "--paths").decode().splitlines() == paths(album)
    assert raw("list", "album", "-0") == "".join(f"{path}\0" for path in paths(album)).encode()
    assert raw("list", "album", "--null", "--paths") == raw("list", "album", "-0")


def test_names_that_are_no_unicode_come_out_as_on_the_disk(album):
    name = os.fsencode(album) + b"/odd/caf\xe9\n.png"
    try:
        draw(album / "odd" / os.fsdecode(b"caf\xe9\n.png"), 99)
    except OSError:
        pytest.skip("the file system takes no such names")
    run("add", "album", "odd")
    assert raw("list", "album", "-0", "--where", "id = 6") == name + b"\0"
    assert raw("list", "album", "--paths", "--where", "id = 6") == name + b"\n"
    assert json.loads(run("list", "album", "--json"))[6]["path"] == os.fsdecode(name)
    again = raw("list", "album", "-0").split(b"\0")[:-1]
    assert all(map(os.path.exists, again))
    assert (
        subprocess.run(
            ["xargs", "-0", "ls"], input=raw("list", "album", "-0"), capture_output=True, check=True
        ).stdout.count(b"\n")
        >= 7
    )


@pytest.mark.filterwarnings("default")
def test_a_table_that_no_list_is_read_from_is_told(album):
    run("label", "album", 0, "a;b")
    assert "1 row has a label with ; or | in it" in run("list", "album", "--csv")
    try:
        draw(album / "odd" / os.fsdecode(b"caf\xe9.png"), 99)
    except OSError:
        pytest.skip("the file system takes no such names")
    run("add", "album", "odd")
    assert b"1 row has a path that is not UTF-8" in raw("list", "album", "--csv") + run(
        "list", "album", "--csv", "--where", "id = 6"
    ).encode("utf-8", "replace")


@pytest.mark.filterwarnings("default")
def test_a_table_is_read_again_as_a_list_of_pictures(album):
    with Collection.open("album") as opened:
        opened.label([1], ["cat", "sofa, red"])
        opened.label([2], None)
        features = np.random.RandomState(1).randn(1, 16).astype(np.float32)
        facts = {"Year": 2024, "year": 1, "path": 'a "b"\nc', "wnid": None, "who": ["Ann"], "": 0}
        opened.add(features, sources=["/x, y.png"], metadata=[facts])
    text = run("list", "album", "--csv", "--where", "id < 6")
    (album / "list.csv").write_text(text)
    pictures = read_manifest(album / "list.csv")
    assert list(pictures.paths) == paths(album)
    own = [[pictures.names[c] for c in np.flatnonzero(row)] for row in pictures.labels]
    assert own == [["cat"], ["cat", "sofa, red"], [], ["dog"], ["dog"], ["dog"]]
    last = rows(run("list", "album", "--csv"))[-1]
    assert last["path"] == "/x, y.png"
    assert (last["Year"], last["metadata.year"], last["metadata.path"]) == ("2024", "1", 'a "b"\nc')
    assert (last["metadata.wnid"], last["who"], last["metadata."]) == ("", '["Ann"]', "0")
    (album / "all.csv").write_text(run("list", "album", "--csv"))
    assert len(read_manifest(album / "all.csv")) == 7


@pytest.mark.filterwarnings("default")
def test_items_without_a_path(album):
    with Collection.open("album") as opened:
        opened.add(np.ones((1, 16), dtype=np.float32))
    output = run("list", "album", "--paths")
    assert output.splitlines() == [*paths(album), "Warning: 1 item has no path"]
    assert rows(run("list", "album", "--csv"))[-1]["path"] == ""


def test_pictures_that_came_as_bytes(album):
    data = draw(album / "new.png", 50).read_bytes()
    with Collection.open("album") as opened:
        opened.add_files([data])
    (album / "album").rename(album / "moved")
    (path,) = raw("list", "moved", "--paths", "--where", "id = 6").splitlines()
    with open(path, "rb") as file:  # noqa: PTH123, the path is bytes
        assert file.read() == data


def test_a_terminal_shows_no_control_characters(album):
    draw(album / "odd" / "red\x1b[31m.png", 99)
    run("add", "album", "odd")
    with terminal() as (ours, theirs):
        subprocess.run([ZSHASH, "list", "album", "--paths"], stdout=theirs, check=True)
        shown = wait_for(b"31m.png", ours)
    assert b"odd/red\\x1b[31m.png" in shown


def test_a_reader_that_stops_early_is_no_error():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([ZSHASH, "list", "album", "--json"], **pipes) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.filterwarnings("default")
def test_mistakes():
    assert "--json and --csv exclude each other" in refused("list", "album", "--json", "--csv")
    assert "--paths" in refused("search", "album", "photos", "--csv", "--paths")
    assert "--label and --unlabelled" in refused("list", "album", "--label", "x", "--unlabelled")
    assert "year >" in refused("list", "album", "--where", "year >")
    assert "zshash create makes one" in refused("list", "photos")
    assert "no item has yaer; there are" in run("list", "album", "--where", "yaer = 1")


def test_searches_for_other_programs(album):
    query = album / "photos" / "cat" / "1.png"
    best = read("search", "album", query, "--k", 4)[0]["neighbours"]
    wanted = [match["path"] for match in best]
    assert raw("search", "album", query, "--k", 4, "--paths").decode().splitlines() == wanted
    assert raw("search", "album", query, "--k", 4, "-0").decode().split("\0")[:-1] == wanted
    table = rows(run("search", "album", query, "--k", 4, "--csv"))
    assert [row["path"] for row in table] == wanted
    assert [float(row["score"]) for row in table] == [match["score"] for match in best]
    assert {row["query"] for row in table} == {str(query)}
    assert len(raw("search", "album", "photos", "--k", 6, "--paths").splitlines()) == 6
    assert len(rows(run("search", "album", "photos", "--k", 2, "--csv"))) == 12


@pytest.mark.filterwarnings("default")
def test_several_pictures_of_which_one_can_not_be_read(album):
    (album / "bad.png").write_bytes(b"half")
    good = [album / "photos" / "cat" / "0.png", album / "photos" / "dog" / "2.png"]
    output = run("search", "album", good[0], "bad.png", good[1], "--k", 1)
    assert "Warning: bad.png: " in output
    assert [line for line in output.splitlines() if line.endswith(": 1 neighbour")] == [
        f"{path}: 1 neighbour" for path in good
    ]


def test_a_picture_from_standard_input(album):
    query = album / "photos" / "dog" / "1.png"
    done = run("search", "album", "-", "--k", 2, "--json", given=query.read_bytes())
    (piped,) = json.loads(done)
    assert piped["neighbours"] == read("search", "album", query, "--k", 2)[0]["neighbours"]
    assert piped["query"] == "standard input"
    both = run("search", "album", query, "-", "--k", 1, given=query.read_bytes())
    assert both.count(": 1 neighbour") == 2


def test_what_standard_input_may_not_be(album):
    picture = (album / "photos" / "dog" / "1.png").read_bytes()
    assert "standard input is empty" in refused("search", "album", "-", given=b"")
    assert "standard input: not a picture" in refused("search", "album", "-", given=b"half a pict")
    small = refused("search", "album", "-", "--max-bytes", 20, given=picture)
    assert "standard input: more than the limit of 20 bytes (--max-bytes)" in small
    assert "write - once" in refused("search", "album", "-", "-", given=picture)


def test_a_terminal_is_no_picture():
    with terminal() as (_, theirs):
        done = subprocess.run(
            [ZSHASH, "search", "album", "-"], stdin=theirs, capture_output=True, check=False
        )
    assert done.returncode == 2
    assert b"standard input, and that is a terminal here" in done.stderr
