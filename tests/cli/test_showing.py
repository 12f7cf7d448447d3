"""`zshash demo`, as a newcomer types it."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from zshash import Collection
from zshash.cli import main, serving
from zshash.studies.demo import clipart, digits

MISSING = "import sys; sys.modules['PIL'] = None; from zshash.cli import main; main()"
QUICK = ("--bits", 16, "--seeds", 1)


@pytest.fixture(autouse=True)
def few(tmp_path, monkeypatch):
    """Twenty drawings and one method, in place of all."""
    folder = tmp_path / "drawings"
    folder.mkdir()
    for path in sorted(clipart.PICTURES.glob("*.webp"))[:20]:
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(clipart, "PICTURES", folder)
    quickest = digits.setups(16)[2:]
    monkeypatch.setattr(digits, "setups", lambda _: quickest)
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def served(monkeypatch):
    """The number and the first label of the items of each collection that was served."""
    seen = []

    def start(folder, on_start, **_):
        on_start("http://127.0.0.1:1/")
        with Collection.open(folder) as album:
            seen.append((len(album), album[0].labels, folder))

    monkeypatch.setattr(serving, "_service", lambda _: start)
    monkeypatch.setattr("webbrowser.open", lambda _: None)
    return seen


def call(*arguments, code=0):
    done = CliRunner().invoke(main, ["demo", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def refused(*arguments):
    """The one line that says what is wrong."""
    line = call(*arguments, code=2).stderr
    assert line.count("\n") == 1
    return line


def test_both_parts(tmp_path):
    output = call(*QUICK, "--album", "album").output
    assert "20 drawings without a label became an album in" in output
    assert "guitar" in output
    assert "LSH" in output
    assert output.endswith("Pictures: zshash-demo.html\n")
    assert (tmp_path / "zshash-demo.html").read_text().startswith("<!doctype html>")
    with Collection.open(tmp_path / "album") as album:
        assert len(album) == 20
    assert "album" in refused(*QUICK, "--album", "album")


def test_the_album_is_temporary_unless_it_is_wanted(tmp_path):
    found = json.loads(call(*QUICK, "-o", "page.html", "--json").stdout)
    assert found["clipart"]["pictures"] == 20
    assert len(found["clipart"]["names"]["bird"]) == 6
    assert len(found["digits"]["runs"]) == 1
    assert found["page"] == "page.html"
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "drawings", "page.html"}


def test_digits_alone():
    output = call(*QUICK, "--digits").output
    assert "drawings" not in output
    assert "Handwritten digits, 16 bits, two digits hidden; one run:" in output
    assert "clipart" not in json.loads(call(*QUICK, "--digits", "--json").stdout)
    assert "--album has no meaning with --digits" in refused("--digits", "--album", "here")


def test_a_folder_that_is_taken(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    assert "letter.txt" in refused(*QUICK, "--album", "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    assert not (tmp_path / "zshash-demo.html").exists()


def test_serving(served):
    page = "The page is at http://127.0.0.1:1/"
    assert page in call("--serve", "--album", "album", "--bits", 16).output
    assert page in call("--serve", "--digits", "--bits", 16).output
    assert [(n, labels) for n, labels, _ in served] == [(20, ()), (1797, ("zero",))]
    assert [folder.exists() for _, _, folder in served] == [True, False]
    assert "--seeds has no meaning with --serve" in refused("--serve", "--seeds", 2)


def test_without_the_packages_for_pictures():
    command = [sys.executable, "-c", MISSING, "demo", *map(str, QUICK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "Error: PIL is not installed: pip install 'zshash[images]' (or show digits alone: zshash "
        "demo --digits)\n"
    )
