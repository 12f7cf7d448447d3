"""Folders of feature tables and Dask clusters on the command line, wrong words included."""

import json
import socket
import sys
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import zshash
from tests.cli.terminals import interrupt
from tests.scale.comparing import assert_same_codes
from zshash.cli import main
from zshash.datasets import digits
from zshash.datasets.tables import read_numpy
from zshash.learning.sharding import open_sharded
from zshash.scale import ShardError
from zshash.scale.cluster import connect

DATA = digits()
NAMES = np.array(DATA.names)
PARTS = np.array_split(np.arange(len(DATA)), 4)
SMALL = ("--method", "ZSH", "--set", "n_anchors=50", "--bits", 16)
NO_PORT = "127.0.0.1:0"  # any that is free, for nobody looks at it


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Shards of digits, the same digits as one table, and a model of each."""
    home = tmp_path_factory.mktemp("home")
    (home / "shards").mkdir()
    for number, rows in enumerate(PARTS):
        known = {"y": DATA.labels[rows], "names": NAMES}
        np.savez(home / "shards" / f"{number}.npz", X=DATA.X[rows], **known)
    np.savez(home / "table.npz", X=DATA.X, y=DATA.labels, names=NAMES)
    return home


@pytest.fixture(scope="module")
def model(home):
    done = call("fit", home / "shards", "-o", home / "model", "--unseen", "four", *SMALL)
    assert done.exit_code == 0, done.output
    assert "ZSH, 16 bits, 1616 samples of 9 seen categories" in done.output
    assert "never seen: four" in done.output
    assert "graph: anchor (knn, the default elsewhere, needs all rows in memory)" in done.output
    assert done.stderr == ""  # no bar where nobody looks
    return home / "model"


@pytest.fixture(scope="module")
def scheduler():
    """The address of a cluster of two workers that nobody else can reach."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        protocol="tcp://",
        dashboard_address=NO_PORT,
        worker_dashboard_address=NO_PORT,
        silence_logs="CRITICAL",
    ) as cluster:
        yield cluster.scheduler_address


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def fails(*arguments):
    """One line on the standard error, exit status 2, no traceback."""
    done = call(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.strip()


def test_the_model_is_that_of_one_table(home, model, tmp_path):
    flags = ("--unseen", "four", "--set", "graph=anchor", *SMALL)
    assert call("fit", home / "table.npz", "-o", tmp_path / "other", *flags).exit_code == 0
    ours, theirs = zshash.load(model).hasher, zshash.load(tmp_path / "other").hasher
    assert_same_codes(ours.encode(DATA.X), theirs.encode(DATA.X), ours, DATA.X)


def test_notes(home, tmp_path):
    flags = ("--train", 300, "--seed", 2, "--meanings", "onehot", "--set", "graph=None", "--json")
    done = call("fit", home / "shards", "-o", tmp_path / "model", *flags, *SMALL)
    notes = json.loads(done.stdout)
    assert notes.pop("fit_seconds") > 0
    assert len(notes.pop("meanings")) == len(DATA.names)
    assert notes == {
        "features": "shards",
        "labels": ["onehot"],
        "seen": list(DATA.names),
        "unseen": [],
        "n_train": 300,
        "graph": None,
        "shards": 4,
    }


def test_a_collection_searches_by_name(home, model, tmp_path):
    album = tmp_path / "album"
    assert call("create", album, "-m", model).exit_code == 0
    assert call("add", album, home / "table.npz").exit_code == 0
    done = call("search", album, "--name", "four", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)


@pytest.mark.parametrize("name", ["codes.npy", "codes.npz"])
def test_encode(name, home, model, tmp_path):
    done = call("encode", home / "shards", "-m", model, "-o", tmp_path / name)
    assert done.exit_code == 0, done.output
    assert "1797 codes of 16 bits, 3594 bytes" in done.output
    found = read_numpy(tmp_path / name)
    codes = found["codes"] if name == "codes.npz" else found["X"]
    loaded = zshash.load(model).hasher
    assert_same_codes(codes, loaded.encode(DATA.X), loaded, DATA.X)
    if name == "codes.npz":
        np.testing.assert_array_equal(found["y"], DATA.labels)


@pytest.mark.filterwarnings("default")
def test_pictures_stay_pictures(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(4):
            pixels = np.full((8, 8), 30 * number + ord(name[0]), dtype=np.uint8)
            pixels[number] = 0
            Image.fromarray(pixels).save(tmp_path / "photos" / name / f"{number}.png")
    np.save(tmp_path / "photos" / "features.npy", DATA.X)
    flags = ("--method", "LSH", "--extractor", "pixels:4", "--bits", 8)
    done = call("fit", tmp_path / "photos", "-o", tmp_path / "model", *flags)
    assert "8 samples of 2 seen categories" in done.output
    assert "it holds pictures and tables of features, and only the pictures are read" in done.stderr


def test_info(home):
    done = call("info", home / "shards", "--json")
    assert done.exit_code == 0, done.output
    facts, table = (
        json.loads(done.output),
        json.loads(call("info", home / "table.npz", "--json").output),
    )
    assert facts == table | {"shards": 4}
    assert "samples:           1797" in call("info", home / "shards").output


def test_info_without_labels(tmp_path):
    np.save(tmp_path / "a.npy", DATA.X)
    facts = json.loads(call("info", tmp_path, "--json").output)
    assert facts == {"samples": 1797, "dimension": 64, "shards": 1}


def test_info_of_a_collection_with_its_codes_beside_it(model, tmp_path):
    album = tmp_path / "album"
    assert call("create", album, "-m", model).exit_code == 0
    np.save(album / "codes.npy", DATA.X)
    assert json.loads(call("info", album, "--json").output)["method"] == "ZSH"


class TestMistakes:
    """Each ends with one line; no file is left behind, and an old one stays."""

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            (("--method", "KSH"), "KSH needs all rows in memory: fit it to a sample of them, or"),
            (("--set", "graph=knn"), 'graph="knn" compares all samples with each other: set'),
            (("--method", "ITQ", "--meanings", "onehot"), "ITQ does not look at labels: it takes"),
            (("--unseen", "fuor"), "the data has no category 'fuor' (did you mean 'four'"),
            (("--extractor", "pixels:8"), "features need no extractor: leave out pixels:8"),
            (("--meanings", "onehot", "--meanings", "wordnet"), "onehot can not be combined with"),
            (("--labels", "none"), "labels of tables that are read in blocks are those in"),
        ],
    )
    def test_options(self, flags, message, home, model, tmp_path):
        old = Path(model).read_bytes()
        (tmp_path / "model").write_bytes(old)
        assert message in fails("fit", home / "shards", "-o", tmp_path / "model", *flags)
        assert (tmp_path / "model").read_bytes() == old
        assert names_in(tmp_path) == ["model"]

    def test_damaged_shards(self, model, tmp_path):
        folder = tmp_path / "shards"
        folder.mkdir()
        np.save(folder / "a.npy", DATA.X)
        np.save(folder / "a.labels.npy", DATA.labels)
        (folder / "._a.npy").write_text("of another system, and no shard")
        whole = (folder / "a.npy").read_bytes()
        (folder / "b.npy").write_bytes(whole[:-100])
        for command in (("fit",), ("encode", "-m", model)):
            message = fails(*command, folder, "-o", tmp_path / "out")
            assert f"{folder / 'b.npy'}: it can not be read: it is no whole .npy file" in message
        (folder / "b.npy").write_text("no numbers")
        message = fails("fit", folder, "-o", tmp_path / "out")
        assert "it is no whole .npy file (no array of numbers): copy it again" in message
        np.save(folder / "b.npy", DATA.X[:, 1:])
        assert "all shards must have the same width" in fails("fit", folder, "-o", tmp_path / "out")
        assert names_in(tmp_path) == ["shards"]

    def test_another_width(self, model, tmp_path):
        (tmp_path / "shards").mkdir()
        np.save(tmp_path / "shards" / "a.npy", DATA.X[:, 1:])
        message = fails("encode", tmp_path / "shards", "-m", model, "-o", tmp_path / "codes.npy")
        assert f"63 features for each sample, but {model} was trained on 64 (shards)" in message
        assert names_in(tmp_path) == ["shards"]

    def test_commands_for_one_table(self, home, tmp_path):
        done = call("extract", home / "shards", "-o", tmp_path / "features.npz")
        assert done.exit_code == 2
        assert "but tables: give one of them, or the folder to zshash fit, encode or" in done.output
        (tmp_path / "empty").mkdir()
        done = call("info", tmp_path / "empty")
        assert done.output.endswith("empty: there are no pictures in this folder\n")

    def test_codes_among_the_shards(self, home, model):
        folder = home / "shards"
        message = fails("encode", folder, "-m", model, "-o", folder / "codes.npy")
        assert "would lie among the tables of DATA: choose another folder" in message
        assert "codes.npy" not in names_in(folder)


@pytest.mark.cluster
class TestScheduler:
    """The same with a Dask cluster."""

    def test_the_same_model_and_codes(self, scheduler, home, model, tmp_path):
        ours, codes = tmp_path / "model", tmp_path / "codes.npy"
        flags = ("--unseen", "four", "--scheduler", scheduler, *SMALL)
        done = call("fit", home / "shards", "-o", ours, *flags)
        assert done.exit_code == 0, done.output
        assert done.stderr == ""
        tensors = [vars(zshash.load(path).hasher) for path in (ours, model)]
        for name in ("projection_", "mapping_", "rotation_", "anchors_"):
            np.testing.assert_array_equal(tensors[0][name], tensors[1][name])
        done = call("encode", home / "shards", "-m", ours, "-o", codes, "--scheduler", scheduler)
        assert done.exit_code == 0, done.output
        loaded = zshash.load(model).hasher
        assert_same_codes(np.load(codes), loaded.encode(DATA.X), loaded, DATA.X)

    def test_one_table(self, scheduler, home, tmp_path):
        flags = ("--method", "ITQ", "--bits", 16, "--scheduler", scheduler, "--json")
        done = call("fit", home / "table.npz", "-o", tmp_path / "model", *flags)
        assert json.loads(done.stdout)["shards"] == 1

    def test_a_shard_that_workers_can_not_read(self, scheduler, tmp_path):
        (tmp_path / "shards").mkdir()
        X = DATA.X.copy()
        X[7] = np.inf
        np.save(tmp_path / "shards" / "a.npy", X)
        flags = ("--method", "ITQ", "--bits", 16, "--scheduler", scheduler)
        message = fails("fit", tmp_path / "shards", "-o", tmp_path / "model", *flags)
        assert f"{tmp_path / 'shards' / 'a.npy'}: it can not be read: X contains NaN" in message
        assert names_in(tmp_path) == ["shards"]

    def test_a_shard_that_workers_do_not_see(self, scheduler, tmp_path):
        message = r"no such file \(any more\): all workers must see it under this path"
        with connect(scheduler) as client, pytest.raises(ShardError, match=message):
            open_sharded(str(tmp_path / "absent.npy"), client)

    def test_a_worker_in_place_of_the_scheduler(self, scheduler, home, model, tmp_path):
        with connect(scheduler) as client:
            worker = next(iter(client.nthreads()))
        flags = ("-m", model, "-o", tmp_path / "codes.npy", "--scheduler", worker)
        message = fails("encode", home / "shards", *flags)
        assert f"{worker}: it is a Worker of Dask: give the address of its scheduler" in message

    def test_another_kind_of_server(self, home, model, tmp_path):
        pytest.importorskip("distributed")
        with socket.create_server(("127.0.0.1", 0)) as server:
            Thread(target=answer_as_a_web_server, args=(server,), daemon=True).start()
            address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            flags = ("-m", model, "-o", tmp_path / "codes.npy", "--scheduler", address)
            message = fails("encode", home / "shards", *flags)
        assert f"{address}: no Dask scheduler answers there" in message
        assert names_in(tmp_path) == []

    @pytest.mark.parametrize("name", ["photos", "cifar10", "picture.png"])
    def test_pictures_are_refused(self, name, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "photos" / "cat").mkdir(parents=True)
        Image.new("L", (8, 8)).save("photos/cat/1.png")
        Image.new("L", (8, 8)).save("picture.png")
        message = fails("fit", name, "-o", "model", "--scheduler", "tcp://127.0.0.1:1")
        assert "a Dask cluster works on tables of features, a folder of them or one" in message

    @pytest.mark.parametrize(
        ("address", "message"),
        [
            ("", "Invalid value for --scheduler: the address is missing"),
            ("nowhere", "nowhere: no Dask scheduler answers there (missing port number"),
            ("http://127.0.0.1:1", "no Dask scheduler answers there (unknown address scheme"),
        ],
    )
    def test_addresses(self, address, message, home, model, tmp_path):
        pytest.importorskip("distributed")
        flags = ("-m", model, "-o", tmp_path / "codes.npy", "--scheduler", address)
        assert message in fails("encode", home / "shards", *flags)
        assert names_in(tmp_path) == []

    def test_nobody_answers(self, home, model, tmp_path):
        pytest.importorskip("distributed")
        start = time.monotonic()
        flags = ("-m", model, "-o", tmp_path / "codes.npy", "--scheduler", "tcp://127.0.0.1:1")
        message = fails("encode", home / "shards", *flags)
        assert "tcp://127.0.0.1:1: no Dask scheduler answers there (not within 10 s)" in message
        assert time.monotonic() - start < 20

    def test_no_dask(self, home, model, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        flags = ("-m", model, "-o", tmp_path / "codes.npy", "--scheduler", "tcp://127.0.0.1:1")
        message = fails("encode", home / "shards", *flags)
        assert "distributed is not installed: pip install 'zshash[dask]'" in message


@pytest.mark.crash
def test_a_terminal_shows_passes_and_an_interrupt_ends_quietly(tmp_path):
    folder, output = tmp_path / "shards", tmp_path / "model"
    folder.mkdir()
    for number in range(20):
        np.save(folder / f"{number}.npy", np.tile(DATA.X, (5, 1)))
        np.save(folder / f"{number}.labels.npy", np.tile(NAMES[DATA.labels], 5))
    status, out, shown = interrupt(
        *("fit", folder, "-o", output, "--set", "n_anchors=500", "--set", "max_iter=1000"),
        at=b"pass 5: ",
        until=b"was not written.",
    )
    assert b"/20 [" in shown
    assert b"Traceback" not in shown
    assert (status, out) == (130, b"")
    assert not output.exists()


def answer_as_a_web_server(server):
    """Say what a web server says to what it does not understand."""
    connection, _ = server.accept()
    with connection:
        connection.recv(64)
        connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
