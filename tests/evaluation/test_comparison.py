import json

import numpy as np
import pytest

from zshash.datasets import DataError, digits, downloads
from zshash.evaluation import comparison, runs
from zshash.evaluation.comparison import compare, compare_into, make_contest, make_setups
from zshash.evaluation.protocol import with_deviation
from zshash.evaluation.standard import STANDARD
from zshash.evaluation.tables import summary, to_json, to_markdown

METHODS = {"ITQ": {"n_iter": 5}, "LSH": {}}


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    data = digits()
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    np.savez(path, X=data.X, y=data.labels, names=list(data.names))
    return path


@pytest.fixture(scope="module")
def task(features):
    sizes = {"n_train": 500, "n_queries": 40, "k": 100, "radius": 2}
    return make_contest(str(features), METHODS, [16, 32], [], unseen=("four",), **sizes)


@pytest.fixture(scope="module")
def records(task):
    return list(compare([task], range(2)))


def test_every_method_length_and_seed_once(records):
    found = [(r["method"], r["parameters"]["n_bits"], r["seed"]) for r in records]
    assert found == [
        (method, bits, seed) for seed in (0, 1) for method in ("ITQ", "LSH") for bits in (16, 32)
    ]
    assert {record["data"] for record in records} == {"digits"}


def test_summary_and_tables(records):
    rows = summary(records)
    assert [(row["method"], row["bits"]) for row in rows][:2] == [("ITQ", 16), ("ITQ", 32)]
    pair = [record["map"] for record in records if record["name"] == "ITQ, 16 bits"]
    assert rows[0]["map"] == pytest.approx(np.mean(pair))
    assert rows[0]["map_deviation"] == pytest.approx(np.std(pair, ddof=1))
    text = to_markdown(records)
    assert "## digits\n\nHidden: four; 500 training samples, 40 queries, 1757 samples" in text
    assert "2 seeds. ITQ: n_iter=5." in text
    header = "|  | learns from | 16 bits, 2 bytes | 32 bits, 4 bytes |"
    header = f"{header}\n| --- | --- | --- | --- |\n| ITQ | features | "
    assert f"### MAP@100\n\n{header}" in text
    real_valued = "### MAP@100, real-valued queries"
    assert f"{real_valued}\n\n{header}" in text
    assert text.count("**") == 12  # the best of two columns in three tables
    values = [record["map_real"] for record in records if record["name"] == "ITQ, 16 bits"]
    assert rows[0]["map_real"] == pytest.approx(np.mean(values))
    assert with_deviation(rows[0], "map_real") in text.partition(real_valued)[2]
    assert f"{rows[0]['map']:.3f} ± {rows[0]['map_deviation']:.3f}" in text
    read = json.loads(to_json(records))
    assert read["summary"] == rows
    assert read["runs"] == records


def without_real(record):
    """A record as earlier versions left it."""
    return {key: value for key, value in record.items() if key != "map_real"}


def test_records_of_earlier_versions_know_no_real_valued_queries(records):
    old = [without_real(record) for record in records]
    text = to_markdown(old)
    assert "real-valued" not in text
    assert text.count("**") == 8
    mixed = [
        without_real(record) if record["name"] == "ITQ, 16 bits" else record for record in records
    ]
    part = to_markdown(mixed).partition("real-valued queries")[2].partition("###")[0]
    assert "| ITQ | features | – | " in part
    assert part.count("**") == 4
    (row,) = (row for row in summary(mixed) if row["name"] == "ITQ, 16 bits")
    assert (row["map_real"], row["map_real_deviation"]) == (None, None)
    one_of_two = [without_real(records[0]), *records[1:]]
    assert summary(one_of_two)[0]["map_real"] is None  # a mean of other seeds than the MAP's
    assert json.loads(to_json(mixed))["summary"] == summary(mixed)


def test_a_finished_run_of_an_earlier_version_stays_finished(task, records, tmp_path, monkeypatch):
    old = [without_real(record) for record in records]
    (tmp_path / "t.json").write_text(to_json(old))
    monkeypatch.setattr(comparison, "run_setup", lambda *_: pytest.fail("it ran"))
    assert list(compare_into(tmp_path / "t", [task], range(2))) == old
    assert json.loads((tmp_path / "t.json").read_text())["runs"] == old


def test_label_vectors_go_to_the_semantic_method_alone():
    setups = make_setups({"ZSH": {}, "CCAITQ": {}, "LSH": {}}, [16], ["onehot"])
    assert [setup.labels for setup in setups] == [("onehot",), (), ()]
    assert all(setup.hasher.normalize for setup in setups)


def test_a_method_that_can_not_says_why(features):
    sizes = {"n_train": 500, "n_queries": 40, "k": 100, "radius": 2}
    wide = make_contest(
        str(features), {"ITQ": {}, "LSH": {}}, [32, 96], [], unseen=("four",), **sizes
    )
    text = to_markdown(list(compare([wide], [0])))
    assert "| ITQ | features | **" in text
    assert "one seed." in text
    assert " | – |\n| LSH | " in text
    assert "- ITQ, 96 bits: n_bits=96 is more than the dimension of X (n_features=64)" in text


def test_nothing_hidden(features):
    task = make_contest(str(features), {"LSH": {}}, [16], [], unseen=None, n_queries=30, k=100)
    (record,) = compare([task], [0])
    assert record["unseen"] == []
    assert "No category hidden; 1767 training samples, 30 queries" in to_markdown([record])


def test_finished_runs_are_not_run_again(task, records, tmp_path, monkeypatch):
    stem = tmp_path / "table"
    first = list(compare_into(stem, [task], range(2)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.json", "table.md"]
    assert [r["map"] for r in first] == [r["map"] for r in records]

    def never(*_):
        raise AssertionError("ran again")

    monkeypatch.setattr(comparison, "run_setup", never)
    assert list(compare_into(tmp_path / "table.md", [task], range(2))) == first
    with pytest.raises(AssertionError, match="ran again"):
        list(compare_into(stem, [task], range(3)))


def test_another_version_of_the_program_runs_again(task, tmp_path, monkeypatch):
    list(compare_into(tmp_path / "t", [task], range(1)))
    ran = []
    real = comparison.run_setup
    monkeypatch.setattr(comparison, "run_setup", lambda *a: ran.append(a) or real(*a))
    monkeypatch.setattr(comparison, "versions", lambda: {"zshash": "99"})
    list(compare_into(tmp_path / "t", [task], range(1)))
    assert len(ran) == 4


def test_runs_are_written_while_others_run(task, tmp_path, monkeypatch):
    """So that a process that is killed loses seconds of work, also with a new file."""
    monkeypatch.setattr(runs, "SECONDS_BETWEEN_SAVES", 0)
    found = compare_into(tmp_path / "t", [task], range(2))
    first = next(found)
    written = json.loads((tmp_path / "t.json").read_text())["runs"]
    assert [record["name"] for record in written] == [first["name"]]


def test_tables_of_three_kinds_of_queries(features):
    sizes = {"n_train": 500, "n_queries": 40, "n_seen_queries": 30, "k": 100, "radius": 2}
    contest = make_contest(str(features), METHODS, [16], [], unseen=("four", "six"), **sizes)
    text = to_markdown(list(compare([contest], range(2))))
    for title in ("among hidden categories alone", "of seen queries"):
        assert f"### MAP@100 {title}\n\n|  | learns from | 16 bits, 2 bytes |" in text
    assert "1757 samples in the database, 30 seen queries; mean" in text
    assert "With unlabelled pictures" not in text
    pooled = make_contest(
        str(features), METHODS, [16], [], unseen=("four", "six"), unlabelled=True, **sizes
    )
    assert "With unlabelled pictures: methods that are able to" in to_markdown(
        list(compare([pooled], [0]))
    )


def test_an_interrupted_run_goes_on_where_it_ended(task, tmp_path, monkeypatch):
    runs = compare_into(tmp_path / "t", [task], range(2))
    begun = [next(runs) for _ in range(3)]
    runs.close()
    assert json.loads((tmp_path / "t.json").read_text())["runs"] == begun
    ran = []
    real = comparison.run_setup
    monkeypatch.setattr(comparison, "run_setup", lambda *a: ran.append(a) or real(*a))
    assert list(compare_into(tmp_path / "t", [task], range(2)))[:3] == begun
    assert len(ran) == 5


def test_an_interruption_keeps_what_was_not_reached(task, tmp_path):
    first = list(compare_into(tmp_path / "t", [task], range(1)))
    runs = compare_into(tmp_path / "t", [task], range(1))
    next(runs)
    runs.close()
    left = json.loads((tmp_path / "t.json").read_text())
    assert left["runs"] == first[:1]
    assert left["others"] == first[1:]


def test_runs_not_asked_for_stay_in_the_file_but_not_in_the_tables(features, task, tmp_path):
    first = list(compare_into(tmp_path / "t", [task], range(1)))
    sizes = {"n_train": 500, "n_queries": 40, "k": 100, "radius": 2}
    other = make_contest(str(features), {"LSH": {"center": False}}, [16], [], unseen=None, **sizes)
    (record,) = compare_into(tmp_path / "t", [other], range(1))
    content = json.loads((tmp_path / "t.json").read_text())
    assert content["runs"] == [record]
    assert content["others"] == first
    assert [row["method"] for row in content["summary"]] == ["LSH"]
    assert "ITQ" not in (tmp_path / "t.md").read_text()


def test_other_data_of_the_same_name_is_other_data(features, tmp_path):
    data = digits()
    np.savez(tmp_path / "digits.npz", X=-data.X[::-1], y=data.labels, names=list(data.names))
    (tmp_path / "words.txt").write_text(
        "".join(f"{name} 1 {i}\n" for i, name in enumerate(data.names))
    )
    sizes = {"unseen": ("four",), "n_queries": 40, "k": 100}
    own = make_contest(str(features), {"LSH": {}}, [16], [], **sizes)
    other = make_contest(str(tmp_path / "digits.npz"), {"LSH": {}}, [16], [], **sizes)
    worded = make_contest(str(features), {"LSH": {}}, [16], [str(tmp_path / "words.txt")], **sizes)
    assert own.name == other.name
    assert len({own.checksum, other.checksum, worded.checksum}) == 3
    (first,) = compare_into(tmp_path / "t", [own], [0])
    (second,) = compare_into(tmp_path / "t", [other], [0])
    assert first["map"] != second["map"]


def test_mistakes_are_found_before_the_work(features, task, tmp_path, monkeypatch):
    hungry = make_contest(str(features), {"LSH": {}}, [16], [], unseen=("four",), n_queries=9999)
    monkeypatch.setattr(comparison, "run_setup", lambda *_: pytest.fail("it ran"))
    with pytest.raises(ValueError, match="9999 queries"):
        next(compare_into(tmp_path / "t", [task, hungry], [0]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "runs",
    [
        '{"runs": [1, 2], "others": []}',
        '{"runs": [{"parameters": {}, "map": 1.0}], "others": []}',
        '{"others": [], "runs": [{"parameters": {}, "map": "high"}]}',
        '{"others": [], "runs": [{"parameters": {}, "versions": {"zshash": "1"}, "map": 1, '
        '"precision": 1, "fit_seconds": 1, "map_real": "high"}]}',
        '{"runs": []}',
        "[]",
        "{",
    ],
)
def test_a_file_that_is_no_comparison(runs, tmp_path):
    (tmp_path / "t.json").write_text(runs)
    with pytest.raises(DataError, match=r"t\.json: not a comparison; remove it or choose another"):
        next(compare_into(tmp_path / "t.json", [], [0]))


def test_standard_protocols(data_folder, monkeypatch):
    monkeypatch.setenv("ZSHASH_DATA", str(data_folder))
    methods = {"ZSH": {}, "KSH": {}, "ITQ": {"n_iter": 7}}
    task = make_contest("cifar10", methods, [64], [])
    assert task.protocol.facts() == {
        "unseen": [9],
        "n_train": 10_000,
        "n_queries": 1000,
        "k": 5000,
        "radius": 2,
        "n_seen_queries": 1000,
    }
    assert make_contest("cifar10", methods, [64], [], unlabelled=True).protocol.unlabelled
    zsh, ksh, itq = task.setups
    assert zsh.labels == (str(data_folder / "words" / "huang2012_50d.txt"),)
    assert ksh.hasher.n_anchors == 1000  # as in the paper's comparison
    assert itq.hasher.n_iter == 7
    assert make_contest("cifar10-seen", methods, [64], []).protocol.unseen is None
    tiny = make_contest("tiny100", methods, [64], [])
    assert (tiny.protocol.unseen, tiny.protocol.k) == (10, 1000)
    assert tiny.setups[0].labels == ("wordnet",)


def test_what_is_no_data(tmp_path, monkeypatch):
    with pytest.raises(
        DataError, match=r"neither a folder or file of data nor a standard protocol \(cif"
    ):
        make_contest("cifar", METHODS, [16], [])
    monkeypatch.setenv("ZSHASH_DATA", str(tmp_path))
    monkeypatch.setattr(downloads, "INSTALLED", {})
    for name in STANDARD:
        with pytest.raises(DataError, match=f"{name} needs .*set ZSHASH_DATA to the folder"):
            make_contest(name, METHODS, [16], [])
