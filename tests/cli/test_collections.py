"""A collection's life on the command line."""

import json

import faiss
import numpy as np
import pytest
from click.testing import CliRunner

import zshash
from zshash import Collection
from zshash.cli import main
from zshash.collection import Added
from zshash.collection.operations import filtering
from zshash.semantics import WordNet

NAMES = ["cat", "dog", "ship", "truck"]


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


def read(*arguments):
    return json.loads(run(*arguments, "--json"))


def refused(*arguments):
    """The one line that says what is wrong."""
    output = run(*arguments, code=2)
    assert output.count("\n") == 1
    return output


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    """Features around four centres, of which the last is never trained on, and a model."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    centres = rng.randn(4, 20) * 4
    labels = np.repeat(np.arange(4), 25)
    X = (centres[labels] + rng.randn(100, 20)).astype(np.float32)
    np.savez("data.npz", X=X, y=labels, names=np.array(NAMES))
    run(
        *("fit", "data.npz", "--unseen", "truck", "--bits", 32, "-o", "model"),
        *("--method", "ZSH", "--set", "n_anchors=40"),
    )
    run("create", "col", "-m", "model", "--keep-features")
    return tmp_path


def test_a_life():
    assert "100 added, 100 in all" in run("add", "col", "data.npz")
    assert "0 added, 100 already there, 100 in all" in run("add", "col", "data.npz")
    facts = read("info", "col")
    assert (facts["items"], facts["bits"], facts["method"]) == (100, 32, "ZSH")
    assert "8 bits" not in run("info", "col")
    answers = read("search", "col", "data.npz", "--k", 3)
    assert len(answers) == 100
    assert all(answer["neighbours"][0]["bits"] == 0 for answer in answers)
    assert "25 removed, 75 left" in run("remove", "col", "--where", "label = 'dog'")
    assert "1 removed, 74 left" in run("remove", "col", 0)
    found = read("search", "col", "data.npz", "--k", 200)
    assert {n["id"] for n in found[0]["neighbours"]} == set(range(1, 25)) | set(range(50, 100))
    assert "74 items, all as they were written" in run("verify", "col")
    run("compact", "col")
    assert "26 added" in run("add", "col", "data.npz")
    assert "100 items have codes of 16 bits now" in _reencoded()
    assert read("verify", "col") == {"items": 100, "problems": []}
    deep = read("verify", "col", "--deep")
    assert deep == {"items": 100, "problems": [], "encoded": 100, "not encoded": 0}
    assert "100 items encoded again to compare the codes" in run("verify", "col", "--deep")


def _reencoded():
    run("fit", "data.npz", "--bits", 16, "--method", "ITQ", "-o", "other")
    return run("reencode", "col", "-m", "other")


def test_labels_and_metadata_can_be_asked_for():
    np.save("some.npy", np.random.RandomState(1).randn(5, 20).astype(np.float32))
    run("add", "col", "data.npz", "--meta", "year=1999")
    run("add", "col", "some.npy", "--label", "new", "--label", "odd", "--meta", "year=2024")
    assert len(read("search", "col", "some.npy", "--where", "year > 2000")[0]["neighbours"]) == 5
    where = "label = 'odd' and not year < 2000"
    best = read("search", "col", "some.npy", "--where", where)[0]["neighbours"]
    assert {tuple(match["labels"]) for match in best} == {("new", "odd")}
    assert all(match["metadata"] == {"year": 2024} for match in best)
    assert "cat" in run("search", "col", "data.npz", "--radius", 3, "--where", "label = 'cat'")


def by_value(hasher, X, query):
    """Scores of all rows by a sum over all bits, and the bits that differ."""
    signs = 2.0 * hasher.transform(X) - 1
    values = hasher.project(X[query : query + 1]).astype(np.float64)[0]
    scores = (signs * values).sum(axis=1) / (np.linalg.norm(values) * np.sqrt(len(values)))
    return scores, (signs != np.where(values >= 0, 1, -1)).sum(axis=1)


def test_real_values():
    run("add", "col", "data.npz")
    run("encode", "data.npz", "-m", "model", "-o", "codes.npz")
    hasher, X = zshash.load("model").hasher, np.load("data.npz")["X"]
    options = ("data.npz", "--k", 9, "--distance", "real")
    answers = read("search", "col", *options)
    in_file = read("search", "codes.npz", *options, "-m", "model")
    assert len(answers) == len(in_file) == 100
    for query in (0, 42, 99):
        scores, bits = by_value(hasher, X, query)
        order = np.lexsort((np.arange(100), -scores.round(9)))[:9]
        for found, key in ((answers, "id"), (in_file, "row")):
            near = found[query]["neighbours"]
            assert [one[key] for one in near] == order.tolist()
            np.testing.assert_allclose([one["score"] for one in near], scores[order], rtol=1e-6)
            assert [one["bits"] for one in near] == bits[order].tolist()
    lines = run("search", "col", *options, "--where", "label = 'truck'").splitlines()
    assert all(line.split()[-1] == "truck" for line in lines if line.startswith(" "))
    assert all(0 <= int(line.split()[1]) <= 32 for line in lines if line.startswith(" "))
    assert read("search", "col", "data.npz", "--distance", "real") == read(
        "search", "col", "data.npz"
    )
    for answer in read("search", "col", "data.npz", "--distance", "bits"):
        near = [(one["bits"], one["id"]) for one in answer["neighbours"]]
        assert near == sorted(near)
        assert all(one["score"] == 1 - one["bits"] / 16 for one in answer["neighbours"])


def test_a_name_that_nobody_labelled():
    run("add", "col", "data.npz")
    hasher = zshash.load("model").hasher
    seen = NAMES[:3]
    vectors = WordNet(basis=seen).embed(["truck", *seen]).astype(np.float64)
    signs = 2.0 * hasher.transform(np.load("data.npz")["X"]) - 1
    meanings = signs @ hasher.mapping_ @ hasher.rotation_.T
    cosines = meanings @ vectors.T / np.linalg.norm(meanings, axis=1, keepdims=True)
    fits = cosines[:, 0] - 0.6 * cosines[:, 1:].max(axis=1)
    (answer,) = read("search", "col", "--name", "truck", "--k", 7)
    scores = [match["score"] for match in answer["neighbours"]]
    assert scores == sorted(scores, reverse=True)
    np.testing.assert_allclose(scores, np.sort(fits)[::-1][:7], rtol=1e-4, atol=1e-6)
    assert "7 neighbours" in run("search", "col", "--name", "truck", "--k", 7)
    assert "did you mean" in refused("search", "col", "--name", "trukc")


def test_a_model_that_knows_no_names():
    run("fit", "data.npz", "--bits", 16, "--method", "ITQ", "-o", "other")
    run("create", "plain", "-m", "other")
    run("add", "plain", "data.npz")
    assert "ITQ does not learn what names mean" in refused("search", "plain", "--name", "cat")


def test_there_and_back():
    run("add", "col", "data.npz", "--meta", "year=2024")
    for name in ("codes.npz", "codes.parquet", "codes.faiss", "codes.npy"):
        assert "100 codes of 32 bits" in run("export", "col", name)
        run("create", f"from-{name}", "-m", "model")
        assert "100 added" in run("import", f"from-{name}", name)
        with Collection.open("col") as one, Collection.open(f"from-{name}") as other:
            np.testing.assert_array_equal(one.index.codes, other.index.codes)
            same = [item.metadata for item in one.items()] == [i.metadata for i in other.items()]
            assert same == (name.endswith(("npz", "parquet")))
    index = faiss.read_index_binary("codes.faiss")
    assert (index.ntotal, index.d) == (100, 32)
    run("encode", "data.npz", "-m", "model", "-o", "encoded.npz")
    run("create", "encoded", "-m", "model")
    run("import", "encoded", "encoded.npz")
    assert len(read("search", "encoded", "data.npz", "--where", "label = 'ship'")) == 100


def test_duplicates():
    X = np.load("data.npz")["X"]
    np.save("twice.npy", np.concatenate([X[:3], X[:3] * 1.0001]))
    run(
        "fit", "data.npz", "--bits", 64, "--method", "ITQ", "--set", "max_iter=5", "-o", "m", code=2
    )
    run("fit", "data.npz", "--bits", 16, "--method", "LSH", "-o", "lsh")
    run("create", "twins", "-m", "lsh")
    run("add", "twins", "twice.npy")
    alike = ("duplicates", "twins", "--level", "alike", "--radius", 0)
    found = read(*alike)
    ids = {tuple(item["id"] for item in group["items"]) for group in found["groups"]}
    assert (ids, found["unknown"]) == ({(0, 3), (1, 4), (2, 5)}, 0)
    assert "3 groups: 3 of look-alikes" in run(*alike)


def test_items_without_a_path_have_a_label():
    run("add", "col", "data.npz")
    lines = run("duplicates", "col", "--level", "alike", "--radius", 32).splitlines()
    assert lines[:2] == ["look-alikes:", "       0  cat"]
    run("export", "col", "codes.npz")
    assert "row 0" in run("search", "codes.npz", "data.npz", "-m", "model", "--k", 1)


@pytest.mark.filterwarnings("default")
def test_a_field_that_nobody_has_is_told():
    run("add", "col", "data.npz", "--meta", "year=1999", "--meta", "a.b=1")
    told = "Warning: no item has yaer; there are label, path, id, a.b, year"
    assert told in run("search", "col", "data.npz", "--where", "yaer = 1999")
    assert told in run("search", "col", "--name", "cat", "--where", "yaer in (1)")
    assert told in run("remove", "col", "--where", "label = 'x = 1' and yaer like 'a'")
    for right in ("not year < 5 and year = 3", '"a.b" > 1', "label = 'no = 1'"):
        assert "Warning" not in run("search", "col", "data.npz", "--where", right)
    wrong = refused("remove", "col", "--where", "not yaer > 2000 and label != 'dog'")
    assert "no item has yaer; there are" in wrong
    assert "nothing was removed" in wrong


def test_many_queries_share_one_look_at_the_condition(monkeypatch):
    run("add", "col", "data.npz")
    search = ("search", "col", "data.npz", "--where", "label = 'ship'")
    together = read(*search)
    assert len(together) == 100
    found, looks = filtering._found, []
    monkeypatch.setattr(filtering, "_found", lambda *args: looks.append(args[1]) or found(*args))
    assert read(*search) == together
    assert looks == ["label = 'ship'"]


def test_metadata_keeps_its_case():
    settings = ["camera=Canon", 'lens="Wide"', "flash=True", "gps=none", 'who={"A": 1}', "x=NaN"]
    run("add", "col", "data.npz", *(word for setting in settings for word in ("--meta", setting)))
    best = read("search", "col", "data.npz", "--k", 1)[0]["neighbours"][0]["metadata"]
    wanted = {"camera": "Canon", "lens": "Wide", "flash": True, "gps": None, "who": {"A": 1}}
    assert best == wanted | {"x": "NaN"}


def test_the_same_model_again():
    run("add", "col", "data.npz")
    assert "the collection has this model already" in run("reencode", "col", "-m", "model")


def test_what_compact_gives_back():
    run("add", "col", "data.npz")
    run("remove", "col", "--where", "id >= 0")
    assert " less" in run("compact", "col")
    assert "nothing to give back" in run("compact", "col")


def test_nothing_that_can_be_read(monkeypatch):
    none = np.empty(0, dtype=np.int64)
    monkeypatch.setattr(Collection, "add", lambda *_, **__: Added(none, none, ("x.png: empty",)))
    assert "nothing was added, because no picture could be read" in refused(
        "add", "col", "data.npz"
    )


def test_a_catalogue_of_somebody_else(work):
    (work / "other").mkdir()
    (work / "other" / "catalogue.sqlite").write_bytes(b"something else" * 400)
    assert len(read_problems("other")) == 1
    assert run("verify", "other", code=1).count("\n") == 1
    refused("add", "other", "data.npz")


def test_help_lists_every_command_by_what_it_is_for():
    lines = run("--help").splitlines()
    titles = ["Learning:", "Collections:", "Care of collections:", "Scores and facts:"]
    assert [line for line in lines if line in titles] == titles
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert set(main.commands) <= set(names)


def test_damage_is_told(work):
    run("add", "col", "data.npz")
    catalogue = work / "col" / "catalogue.sqlite"
    content = bytearray(catalogue.read_bytes())
    place = content.find(b'["cat"]')
    content[place + 2] ^= 1
    catalogue.write_bytes(content)
    output = run("verify", "col", code=1)
    assert "its row is damaged" in output
    assert read_problems("col")
    assert "damaged" in refused("search", "col", "data.npz", "--k", 100)


def read_problems(collection):
    done = CliRunner().invoke(main, ["verify", collection, "--json"])
    assert done.exit_code == 1
    return json.loads(done.output)["problems"]


MISTAKES = [
    (("create", "col", "-m", "model"), "there is an album already: zshash add col PICTURES"),
    (("create", "new", "-m", "data.npz"), "not a zshash model"),
    (("add", "col", "nothing"), "nothing"),
    (("add", "missing", "data.npz"), "missing"),
    (("add", "col", "data.npz", "--meta", "year"), "write NAME=VALUE"),
    (("add", "col", "data.npz", "--meta", "label=cat"), "label is a built-in field: use --label"),
    (("add", ".", "data.npz"), "no collection: zshash create makes one"),
    (("add", "model", "data.npz"), "no collection: zshash create makes one"),
    (("verify", "."), "no collection: zshash create makes one"),
    (("remove", "col"), "their IDS, or --where"),
    (("remove", "col", 1, "--where", "id = 1"), "their IDS, or --where"),
    (("remove", "col", 77), "there is no item 77, so nothing was removed"),
    (("remove", "col", 10**30), "IDS"),
    (("remove", "col", "--where", "year >"), "year >"),
    (("search", "col"), "QUERIES, or --name"),
    (("search", "col", "data.npz", "-m", "model"), "--model has no meaning for a collection"),
    (("search", "col", "data.npz", "--where", "label ="), "label ="),
    (("search", "col", "--name", "cat", "--radius", 2), "--name has no meaning with --radius"),
    (
        ("search", "col", "data.npz", "--radius", 2, "--distance", "real"),
        "--radius has no meaning with --distance real",
    ),
    (
        ("search", "col", "--name", "cat", "--distance", "real"),
        "--name has no meaning with --distance",
    ),
    (("search", "col", "data.npz", "--distance", "cosine"), "'real', 'bits'"),
    (("search", ".", "data.npz"), "zshash create makes one"),
    (("search", "data.npz", "data.npz"), "data.npz is no collection"),
    (("search", "model", "data.npz", "-m", "model"), "neither a collection nor codes"),
    (("sync", "col", "missing"), "there is no such folder"),
    (("sync", "col", "data.npz"), "it holds no paths of pictures"),
    (("sync", "col", ""), "it is empty: give a value"),
    (("create", "", "-m", "model"), "name of a folder is missing"),
    (("export", "col", "col/codes.npz"), "inside the collection"),
    (("export", "col", "codes.txt"), ".faiss, .parquet, .npz, .npy"),
    (("import", "col", "data.npz"), "data.npz"),
    (("import", "col", "model"), ".faiss, .parquet, .npz, .npy"),
    (("verify", "missing"), "missing"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(arguments, message):
    assert message in refused(*arguments)
    with Collection.open("col") as collection:
        assert len(collection) == 0
