"""The code in the documents runs, and what they link to is there."""

import json
import re
from pathlib import Path

import pytest

import zshash
from zshash.evaluation.protocol import with_deviation
from zshash.evaluation.tables import summary, to_markdown

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
COMPARED = list(zshash.methods())
PAGES += [f"docs/methods/{path.name}" for path in (ROOT / "docs" / "methods").glob("*.md")]


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/guide.md",
        "docs/pictures.md",
        "docs/collections.md",
        "docs/search.md",
        "docs/python.md",
        pytest.param("docs/scale.md", marks=pytest.mark.cluster),
        "docs/selecting.md",
    ],
)
def test_python_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert ((ROOT / page).parent / target).exists(), target


def test_every_method_has_a_page():
    methods = {path.stem for path in (ROOT / "docs" / "methods").glob("*.md")}
    assert methods == {name.lower() for name in zshash.methods()}


def test_the_makefile_has_the_commands_of_the_readme():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        named = re.findall(r"^make ([a-z-]+)", (ROOT / page).read_text(), re.MULTILINE)
        assert named
        assert set(named) <= targets


@pytest.mark.parametrize("name", ["comparison", "comparison-seen"])
def test_tables_follow_from_their_runs(name):
    runs = json.loads((ROOT / "docs" / f"{name}.json").read_text())["runs"]
    assert (ROOT / "docs" / f"{name}.md").read_text() == to_markdown(runs)
    assert {run["method"] for run in runs} == set(COMPARED)


def test_the_readme_quotes_the_comparison():
    runs = json.loads((ROOT / "docs" / "comparison.json").read_text())["runs"]
    rows = {(row["data"], row["method"]): row for row in summary(runs) if row["bits"] == 64}
    lines = (ROOT / "README.md").read_text().replace("**", "").splitlines()
    for name in COMPARED:
        cells = [
            with_deviation(rows[data, name], key)
            for data in ("cifar10", "tiny100")
            for key in ("map", "precision")
        ]
        (line,) = (line for line in lines if line.startswith(f"| {name} | "))
        assert line.endswith(f" | {' | '.join(cells)} |")


def test_every_file_that_contributing_names_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    folders = ("src", "tests", "benchmarks", "tools")
    files = [path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.py")]
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 50
    assert [
        name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)
    ] == []
