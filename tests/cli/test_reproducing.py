"""The command that runs the paper's experiments again, as a user types it."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from zshash.cli import main
from zshash.evaluation import running
from zshash.evaluation.runs import RunFolder
from zshash.studies.experiments import Changes
from zshash.studies.zsh2016 import STUDY

NAMES, read_experiment = STUDY.names, STUDY.read
RIVALS = ["rivals", "rivals-clipart", "rivals-lite2", "rivals-long"]
OTHERS = ["any-name", "name-baselines", *RIVALS, "cnnh-pixels", "mth"]

SECONDS = r'"fit_seconds": [0-9.e-]+'
OWN = """
title = "Mine"
[[parts]]
task = "retrieval"
data = "DATA"
unseen = ["three"]
n_train = 200
n_queries = 20
k = 50
[parts.vary]
method = ["LSH", "ITQ"]
bits = [16]
"""


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_own(data="digits", name="mine"):
    Path(f"{name}.toml").write_text(OWN.replace("DATA", data))
    return f"{name}.toml"


def call(*arguments, code=0):
    done = CliRunner().invoke(main, ["reproduce", *map(str, arguments), "--jobs", "1"])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def fails(*arguments):
    """One line on the standard error, exit status 2."""
    done = call(*arguments, code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def no_run(*_):
    raise AssertionError("something was run")


def test_the_list(inside):
    told = call("--list").stdout.splitlines()
    lines, others = told[: len(NAMES)], told[len(NAMES) :]
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert [line.split()[0] for line in others] == OTHERS
    for name, line in zip(NAMES, lines, strict=True):
        experiment = read_experiment(name)
        assert experiment.title in line
        assert f"({len(experiment.tasks) * experiment.seeds} runs)" in line
    assert "(250 runs)" in lines[NAMES.index("cifar10")]  # 10 methods, 5 lengths, 5 seeds
    assert list(inside.iterdir()) == []


MISTAKES = [
    ([], "say which experiment: --all, or convergence, cifar10, "),
    (["cifar1"], "cifar1: neither an experiment nor a configuration file; did you mean 'cifar10'?"),
    (
        ["absent.toml"],
        "absent.toml: neither an experiment nor a configuration file; there are conv",
    ),
    (["--all", "cifar10"], "--all runs all experiments: name none, or leave it out"),
    (["names", "--quick", "--data", "x"], "--quick has data of its own: leave --data"),
    (["mirflickr", "--quick", "--training", "x"], "--quick has data of its own: leave --data"),
    (["names", "--fresh", "--report-only"], "--fresh and --report-only exclude each other"),
    (["names", "--method", "abc"], "'abc' is not one of 'all', 'zsh'"),
    (["names", "--bits", "7"], "7 is not in the range 8<=x<=1024"),
    (["names", "--seeds", "0"], "0 is not in the range x>=1"),
    (["names", "-o", "no/where"], "there is no folder 'no'"),
]


@pytest.mark.parametrize(("arguments", "cure"), MISTAKES)
def test_mistakes(inside, arguments, cure):
    assert cure in fails(*arguments)
    assert list(inside.iterdir()) == []


def test_a_small_version_twice(inside, monkeypatch):
    done = call("names", "--quick")
    assert "Report: reproduction-quick.html and reproduction-quick.md" in done.stdout
    assert done.stderr == ""
    page = (inside / "reproduction-quick.html").read_text()
    assert page.startswith("<!doctype html>")
    (path,) = (inside / "reproduction-quick" / "runs").rglob("*.json")
    before = path.stat().st_mtime_ns, path.read_bytes()
    assert [run["seed"] for run in json.loads(before[1])["runs"]] == [0, 1]
    monkeypatch.setattr(running, "run_job", no_run)
    call("names", "--quick")
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before
    assert (inside / "reproduction-quick.html").read_text() == page


def test_a_configuration_of_one_s_own(inside):
    call(write_own(), "--seeds", 2, "-o", "out")
    found = sorted(path.name for path in (inside / "out" / "runs" / "digits").iterdir())
    assert [name.rsplit("-", 1)[0] for name in found] == ["retrieval-ITQ-16", "retrieval-LSH-16"]
    text = (inside / "out.md").read_text()
    assert "## Mine" in text
    for method in ("ITQ", "LSH"):
        (path,) = (inside / "out" / "runs" / "digits").glob(f"retrieval-{method}-*")
        runs = json.loads(path.read_text())["runs"]
        assert f"{(runs[0]['map'] + runs[1]['map']) / 2:.3f} ±" in text


def test_the_table_of_one_s_own_experiment(inside):
    call(write_own(), "-o", "out")
    text = (inside / "out.md").read_text()
    assert "| method | MAP | precision |" in text
    assert "n_anchors" not in text


def test_methods_and_lengths_by_options(inside):
    call(write_own(), "--method", "lsh", "--method", "agh", "--bits", 24, "--bits", 8)
    found = sorted(path.name for path in (inside / "reproduction" / "runs").rglob("*.json"))
    assert [name.split("-")[1:3] for name in found] == [
        *(["AGH", "24"], ["AGH", "8"]),
        *(["LSH", "24"], ["LSH", "8"]),
    ]


def test_beginning_afresh(inside, monkeypatch):
    call(write_own(), "--method", "LSH")
    (path,) = (inside / "reproduction" / "runs").rglob("*.json")
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 0, "old": 1'))
    call(write_own(), "--method", "LSH")
    assert '"old"' in path.read_text()
    call(write_own(), "--method", "LSH", "--fresh")
    assert '"old"' not in path.read_text()
    monkeypatch.setattr(running, "run_job", no_run)
    call(write_own(), "--method", "LSH")


def test_for_a_program():
    found = json.loads(call(write_own(), "--json").stdout)
    assert found == {"claims": {"mine": []}, "not run": {}, "report": "reproduction.html"}
    other = write_own("absent.npz", "other")
    found = json.loads(call(write_own(), other, "--json").stdout)
    assert list(found["not run"]) == ["other"]
    assert "there is no absent.npz" in found["not run"]["other"]


def test_claims_are_judged_from_results_alone(inside):
    task = read_experiment("cifar10").tasks[0]
    RunFolder(inside / "reproduction" / "runs").add(task, "", {"seed": 0, "map": 1, "precision": 1})
    found = json.loads(call("cifar10", "names", "--report-only", "--json").stdout)
    assert found["claims"]["cifar10"]
    assert all(claim["verdict"] == "not run" for claim in found["claims"]["cifar10"])
    assert found["claims"]["names"] == []
    assert "There are no results." in (inside / "reproduction.md").read_text()


def test_a_report_needs_no_data(inside):
    call(write_own())
    first = (inside / "reproduction.md").read_text()
    (inside / "reproduction.md").unlink()
    call(write_own(), "--report-only")
    assert (inside / "reproduction.md").read_text() == first
    assert "empty/runs holds no" in fails(write_own(), "--report-only", "-o", "empty")
    assert not (inside / "empty.md").exists()


def test_data_that_is_not_there(inside):
    absent = write_own("absent.npz", "other")
    assert "other can not be run: there is no absent.npz" in fails(absent)
    done = call(absent, write_own())
    assert done.stderr.startswith("other can not be run: there is no absent.npz")
    assert done.stderr.count("\n") == 1
    assert len(list((inside / "reproduction" / "runs").rglob("*.json"))) == 2


def test_data_that_does_not_fit():
    path = write_own()
    Path(path).write_text(OWN.replace("DATA", "digits").replace('["three"]', '["thre"]'))
    assert "can not be run: the data has no category 'thre' (did you mean 'three'?)" in fails(path)
    Path(path).write_text(OWN.replace("DATA", "digits").replace("= 20", "= 2000"))
    assert "mine can not be run: 2000 queries of 183 samples to draw from" in fails(path)


@pytest.mark.filterwarnings("default")
def test_a_damaged_result_is_named_and_run_again(inside):
    call(write_own())
    path = next((inside / "reproduction" / "runs").rglob("*.json"))
    before = path.read_text()
    path.write_text("{")
    for more in (["--report-only"], []):
        assert f"{path.name}: damaged" in call(write_own(), *more).stderr
    timeless = [
        re.sub(r'"fit_seconds": [0-9.e-]+', "", text) for text in (before, path.read_text())
    ]
    assert timeless[0] == timeless[1]


def test_beginning_afresh_loses_nothing_where_it_can_not_be_done(inside):
    call(write_own())
    Path("mine.npz").touch()
    before = {path: path.read_bytes() for path in (inside / "reproduction").rglob("*.json")}
    assert "can not be run" in fails(write_own(), "--fresh", "--data", "mine.npz")
    assert {path: path.read_bytes() for path in (inside / "reproduction").rglob("*.json")} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["seen-ratio", "--method", "LSH"], "--method changes nothing in seen-ratio"),
        (["cifar10", "names", "--training", "x"], "--training changes nothing in cifar10, names"),
        (["names", "--quick", "-o", ".."], "give a name, such as report"),
    ],
)
def test_options_that_are_of_no_use(inside, arguments, message):
    assert message in fails(*arguments)
    assert list(inside.iterdir()) == []


def test_the_report_tells_the_whole_command(inside):
    call(write_own(), "--bits", 8, "--seeds", 1, "-o", "out.html")
    assert "zshash reproduce mine.toml --seeds 1 --bits 8\n" in (inside / "out.md").read_text()
    assert {path.name for path in inside.iterdir()} == {"mine.toml", "out", "out.html", "out.md"}


def test_two_of_one_name():
    Path("sub").mkdir()
    Path("sub/mine.toml").write_text(Path(write_own()).read_text())
    assert "two experiments are called mine" in fails("mine.toml", "sub/mine.toml")


def test_an_interruption_says_how_to_go_on(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run_job", stop)
    done = call(write_own(), code=130)
    assert "Interrupted. The same command goes on from the runs that are stored" in done.stderr


@pytest.mark.study
def test_all_small_versions(inside, monkeypatch):
    monkeypatch.setenv("ZSHASH_CACHE", str(inside / "cache"))
    arguments = ["reproduce", "--all", "--quick", "--jobs", "2", "--json"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["not run"] == {}
    results = RunFolder(inside / "reproduction-quick" / "runs")
    for name in NAMES:
        experiment = read_experiment(name, Changes(quick=True))
        for task in experiment.tasks:
            assert [run["seed"] for run in results.read(task).runs] == list(range(experiment.seeds))
            assert results.read(task).error is None
    page = (inside / "reproduction-quick.html").read_text()
    assert re.findall(r'<section id="([a-z0-9-]+)"', page) == ["summary", *NAMES]
    assert page.count("data:image/png;base64,") == 2 * 2 * (1 + 15)  # queries, methods, pictures
