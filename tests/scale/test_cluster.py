"""A Dask cluster against one process: the same to the last bit, also if workers die."""

import os
import signal
import time
from contextlib import suppress
from threading import Thread

import numpy as np
import pytest
from sklearn.base import clone

from tests.scale.comparing import Term, assert_same_fit, before, cut, neighbours_first
from zshash import ITQ, LSH, SDH, SSH, ZSH, scale
from zshash.hashing.steps.dcc import Sums
from zshash.scale import ClusterError, ShardError
from zshash.scale.cluster import OnDask, aligned, connect
from zshash.scale.fitting import look
from zshash.scale.samples import ShardedSamples
from zshash.scale.shards import open_shards

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster

NO_PORT = "127.0.0.1:0"  # any that is free, for nobody looks at it
SIZES = [1, 300, 1100, 7, 1, 991, 600, 400, 300, 200, 100]
METHODS = [
    ZSH(37, n_anchors=100, graph="anchor", normalize=True, max_iter=2, random_state=0),
    ZSH(9, n_anchors=40, anchors="kmeans", graph=None, max_iter=2, random_state=1),
    SDH(37, n_anchors=100, max_iter=2, random_state=0),
    LSH(37, normalize=True, random_state=0),
    SSH(9, n_labeled=200, random_state=0),
    ITQ(37, n_iter=4, normalize=True, random_state=0),
]


def start(n_workers, **named):
    """A cluster that nobody else can reach."""
    return distributed.LocalCluster(
        n_workers=n_workers,
        host="127.0.0.1",
        protocol="tcp://",
        dashboard_address=NO_PORT,
        worker_dashboard_address=NO_PORT,
        silence_logs="CRITICAL",
        **named,
    )


@pytest.fixture(scope="module")
def cluster():
    with start(2, threads_per_worker=1) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def connection(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def client(connection):
    """Two workers, which may have been started anew."""
    connection.wait_for_workers(2, timeout=60)
    return connection


@pytest.fixture(scope="module")
def shards(clusters):
    return cut(clusters[0], SIZES)


def quick(**parameters):
    return ZSH(37, n_anchors=60, graph="anchor", random_state=0, **{"max_iter": 2} | parameters)


@pytest.mark.parametrize("hasher", METHODS)
def test_a_cluster_learns_the_very_same(hasher, client, clusters, shards):
    X, y, _ = clusters
    here = scale.fit(clone(hasher), shards, y)
    there = scale.fit(clone(hasher), shards, y, client=client)
    assert_same_fit(here, there)
    assert np.array_equal(scale.encode(there, shards, client=client), here.encode(X))


def test_files_that_workers_read(client, clusters, shards, tmp_path):
    for number, (part, own) in enumerate(zip(shards, cut(clusters[1], SIZES), strict=True)):
        np.save(tmp_path / f"{number:02}.npy", part.astype(np.float64))
        np.save(tmp_path / f"{number:02}.labels.npy", own)
    here = scale.fit(quick(), tmp_path)
    assert_same_fit(here, scale.fit(quick(), tmp_path, client=client))
    path = tmp_path / "codes"
    codes = scale.encode(here, tmp_path, output=path, client=client)
    assert np.array_equal(codes, here.encode(clusters[0]))
    assert np.array_equal(np.load(path), codes)


def several(y):
    matrix = np.eye(12, dtype=int)[y]
    matrix[::3, 0] = 1
    return matrix


@pytest.mark.parametrize("form", ["matrix", "files", "vectors of their own", "numbers of vectors"])
def test_every_kind_of_targets(form, client, clusters, shards, tmp_path):
    y, rng, named = clusters[1], np.random.RandomState(0), {}
    targets = several(y)
    if form == "files":
        targets = [tmp_path / f"{number}.npy" for number in range(len(shards))]
        for path, part in zip(targets, cut(several(y), SIZES), strict=True):
            np.save(path, part)
    if form == "vectors of their own":
        targets = rng.standard_normal((len(y), 5))
    if form == "numbers of vectors":
        targets, named = y, {"vectors": rng.standard_normal((12, 5))}
    here = scale.fit(quick(), shards, targets, **named)
    assert_same_fit(here, scale.fit(quick(), shards, targets, client=client, **named))


def test_arrays_of_other_layouts(client, clusters, shards):
    odd = [np.asfortranarray(part) for part in shards[:3]]
    odd += [np.repeat(part, 2, axis=1)[:, ::2] for part in shards[3:6]]
    odd += [np.asfortranarray(np.repeat(part, 2, axis=0))[::2] for part in shards[6:]]
    here = scale.fit(quick(normalize=True), odd, clusters[1])
    assert_same_fit(here, scale.fit(quick(normalize=True), odd, clusters[1], client=client))
    assert_same_fit(here, scale.fit(quick(normalize=True), shards, clusters[1]))


def test_threads_of_one_process(clusters, shards):
    with (
        start(1, threads_per_worker=3, processes=False) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = scale.fit(quick(), shards, clusters[1], client=client)
    assert_same_fit(scale.fit(quick(), shards, clusters[1]), there)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 70])
def test_sums_are_added_in_the_same_order(n, client):
    names = [f"{number}." for number in range(n)]
    wanted = neighbours_first([Term(name) for name in names])
    on_dask = OnDask(client)
    assert on_dask.fold(Term, names) == wanted
    total, kept = on_dask.fold_and_keep(term_and_name, names)
    assert total == wanted
    assert list(on_dask.map(str.upper, kept)) == names


def unaligned(values):
    """An array at an unaligned address, as it may come out of a message."""
    array = np.frombuffer(b" " + np.asarray(values, dtype=np.float64).tobytes(), offset=1)
    assert not array.flags.aligned
    return array.reshape(np.shape(values))


def test_sums_are_brought_to_where_all_memory_is_aligned():
    given = Sums(*(unaligned(np.full((2, n), n)) for n in (1, 2, 3)), n=7, flips=5)
    found = aligned(given)
    for name in ("BtB", "YtB", "PhitB"):
        assert np.array_equal(getattr(found, name), getattr(given, name))
        assert getattr(found, name).flags.aligned
    assert (found.n, found.flips) == (7, 5)
    assert aligned(unaligned([1.0, 2.0])).flags.aligned
    assert aligned(Term("a")) == Term("a")


def term_and_name(name):
    return Term(name), name


def vanish(path):
    path.unlink()


def shorten(path):
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    ("change", "words"), [(vanish, "there is no such file"), (shorten, "copy it again")]
)
def test_a_file_that_changes_between_passes(
    change, words, client, clusters, shards, tmp_path, monkeypatch
):
    path = tmp_path / "x.npy"
    np.save(path, shards[2])
    files = [*shards[:2], path, *shards[3:]]
    with (
        before(monkeypatch, ShardedSamples, "update", 2, lambda: change(path)),
        pytest.raises(ShardError, match=f"x.npy: .*{words}"),
    ):
        scale.fit(quick(), files, clusters[1], client=client)


def test_bad_rows_are_named(client, clusters, shards):
    bad = shards[2].copy()
    bad[1050, 3] = np.nan
    with pytest.raises(ShardError, match=r"shard 2: .* the first is row 1050: remove"):
        scale.fit(quick(), [*shards[:2], bad, *shards[3:]], clusters[1], client=client)


def test_shards_of_different_widths(client, shards):
    with pytest.raises(ShardError, match=r"shard 1: 9 features .*, but shard 0 has 37"):
        scale.fit(LSH(9), [shards[0], shards[1][:, :9]], client=client)


def test_no_half_of_a_file(client, clusters, shards, tmp_path):
    hasher = LSH(9, random_state=0).fit(clusters[0])
    bad = shards[-1].copy()
    bad[7] = np.inf
    with pytest.raises(ShardError, match=r"shard 10: .* row 7"):
        scale.encode(hasher, [*shards[:-1], bad], output=tmp_path / "codes.npy", client=client)
    assert list(tmp_path.iterdir()) == []


def test_few_codes_wait_to_be_fetched(client, clusters, monkeypatch):
    """For any number of shards: results that have been fetched are released."""
    X = clusters[0]
    hasher = LSH(16, random_state=0).fit(X)
    most = []
    submit = OnDask._map

    def counting(self, *args, **named):
        waiting = [key for keys in client.has_what().values() for key in keys]
        most.append(sum(str(key).startswith("encode_shard") for key in waiting))
        return submit(self, *args, **named)

    monkeypatch.setattr(OnDask, "_map", counting)
    shards = cut(X, [20] * 200)
    assert np.array_equal(scale.encode(hasher, shards, client=client), hasher.encode(X))
    assert 0 < max(most) < 30


def test_a_scheduler_that_does_not_answer():
    start = time.monotonic()
    with (
        pytest.raises(ClusterError, match=r"tcp://127.0.0.1:1: no Dask scheduler answers there"),
        connect("tcp://127.0.0.1:1", timeout=2),
    ):
        pass
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("address", ["nowhere", "tcp://", "", "morse://127.0.0.1:8786"])
def test_what_is_no_address(address):
    with pytest.raises(ClusterError, match="no Dask scheduler answers there"), connect(address, 2):
        pass


def test_a_connection_is_closed_after_use(cluster, shards):
    with connect(cluster.scheduler_address) as client:
        there = scale.fit(LSH(9, random_state=0), shards, client=client)
    assert client.status == "closed"
    assert_same_fit(there, scale.fit(LSH(9, random_state=0), shards))
    with pytest.raises(ClusterError, match=r"is gone .*connect and start again"):
        scale.fit(LSH(9), shards, client=client)
    with pytest.raises(ClusterError, match="is gone"):
        scale.encode(there, shards, client=client)


def test_a_cluster_without_workers(shards):
    with (
        start(0) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(ClusterError, match="the Dask cluster has no workers: start some"),
    ):
        scale.fit(LSH(9), shards, client=client)


def test_a_scheduler_that_goes_away(clusters, shards, monkeypatch):
    with (
        start(1, threads_per_worker=1, processes=False) as cluster,
        distributed.Client(cluster) as client,
        before(monkeypatch, ShardedSamples, "update", 2, cluster.close),
        pytest.raises(ClusterError, match="the Dask scheduler is gone"),
    ):
        scale.fit(quick(), shards, clusters[1], client=client)


def kill(client):
    """End a worker as the kernel does where memory runs out: without a last word."""
    by_address = client.run(os.getpid)
    held = client.has_what()
    pid = by_address[max(by_address, key=lambda address: len(held[address]))]
    os.kill(pid, signal.SIGKILL)
    for _ in range(600):
        if pid not in client.run(os.getpid, on_error="ignore").values():
            return
        time.sleep(0.05)
    raise AssertionError("the worker lives on")


@pytest.mark.parametrize(
    ("step", "call"),
    [("update", 4), ("codes", 1)],
)
def test_a_worker_that_dies_is_not_missed(
    step, call, client, clusters, shards, monkeypatch, tmp_path
):
    y = clusters[1]
    here = scale.fit(quick(max_iter=5), shards, y)
    assert here.n_iter_ == 5  # its codes still change then
    paths = [tmp_path / f"{number:02}.npy" for number in range(len(shards))]
    for path, part in zip(paths, shards, strict=True):
        np.save(path, part)
    killed = []
    with before(monkeypatch, ShardedSamples, step, call, lambda: killed.append(kill(client))):
        there = scale.fit(quick(max_iter=5), paths, y, client=client)
    assert killed
    assert_same_fit(here, there)


def sum_or_wait(block, folder):
    """The sum of a block; the first worker that is asked for one waits to be killed instead."""
    with suppress(FileExistsError):
        folder.mkdir()
        (folder / str(os.getpid())).touch()
        time.sleep(60)
    return block.sum(axis=0, dtype=np.float64)


def kill_who_waits(folder):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for path in folder.glob("*"):
            os.kill(int(path.name), signal.SIGKILL)
            return
        time.sleep(0.02)


def test_a_worker_that_dies_at_work_is_not_missed(client, shards, tmp_path):
    folder, workers = tmp_path / "waiting", OnDask(client)
    samples = ShardedSamples(look(open_shards(shards), workers), workers)
    killer = Thread(target=kill_who_waits, args=(folder,))
    start = time.monotonic()
    killer.start()
    total = samples.total(sum_or_wait, folder)
    killer.join()
    assert time.monotonic() - start < 30
    assert len(list(folder.iterdir())) == 1
    assert np.array_equal(total, samples.total(sum_or_wait, folder))
    np.testing.assert_allclose(total, np.concatenate(shards).sum(axis=0), rtol=1e-3, atol=0.5)


class Deadly(LSH):
    """A method that no worker survives."""

    def learn(self, samples):
        samples.total(die)


def die(block):  # noqa: ARG001
    os.kill(os.getpid(), signal.SIGKILL)


def test_workers_that_die_again_and_again(client, cluster, shards, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
    with pytest.raises(ClusterError, match="workers died again and again over the same shard"):
        scale.fit(Deadly(9), shards[:3], client=client)
