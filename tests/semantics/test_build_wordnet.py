import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "build_wordnet.py"
PACKAGED = ROOT / "src" / "zshash" / "semantics" / "data"
DEBIAN = Path("/usr/share/wordnet")

# WordNet ends its lines with two spaces
HEADER = """\
  1 Permission to use, copy, modify and distribute is granted.
  2
  3 WordNet 3.0 Copyright 2006 by Princeton University.
""".replace("\n", "  \n")
# entity over animal and pet; both over dog; Rex is an instance of dog
DATA = """\
00000100 03 n 01 entity 0 002 ~ 00000200 n 0000 ~ 00000300 n 0000 | what is
00000200 03 n 02 animal 0 beast 0 001 @ 00000100 n 0000 | it moves
00000300 03 n 01 pet 0 002 @ 00000100 n 0000 + 00000900 v 0101 | it purrs | or barks
00000400 05 n 02 dog 0 domestic_dog 0 002 @ 00000200 n 0000 @ 00000300 n 0000 | it barks
00000500 05 n 01 Rex 0 001 @i 00000400 n 0000 | a certain one
""".replace("\n", "  \n")
INDEX = """\
animal n 1 2 @ ~ 1 1 00000200
beast n 2 2 @ ~ 2 1 00000400 00000200
dog n 1 1 @ 1 1 00000400
domestic_dog n 1 1 @ 1 0 00000400
entity n 1 1 ~ 1 1 00000100
pet n 1 1 @ 1 1 00000300
rex n 1 1 @i 1 0 00000500
""".replace("\n", "  \n")
FILES = {"data.noun": HEADER + DATA, "index.noun": HEADER + INDEX, "noun.exc": "oxen ox\n"}


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build_wordnet", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wordnet").mkdir()
    for name, content in FILES.items():
        (tmp_path / "wordnet" / name).write_text(content, "utf-8")
    return tmp_path / "wordnet"


def load(path):
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def test_a_small_wordnet(build, folder, tmp_path):
    assert build([str(folder), "--output", str(tmp_path / "new" / "data")]) == 0
    arrays = load(tmp_path / "new" / "data" / "nouns.npz")
    texts = {key: arrays.pop(key).tobytes().decode() for key in ("names", "lemmas", "irregular")}
    assert texts | {key: value.tolist() for key, value in arrays.items()} == {
        "format": 1,
        "offsets": [100, 200, 300, 400, 500],
        "below": [5, 3, 3, 2, 1],
        "hypernym_starts": [0, 0, 1, 2, 4, 5],
        "hypernyms": [0, 0, 1, 2, 3],
        "names": "entity\nanimal\npet\ndog\nRex",
        "lemmas": "animal\nbeast\ndog\ndomestic_dog\nentity\npet\nrex",
        "sense_starts": [0, 1, 3, 4, 5, 6, 7, 8],
        "senses": [1, 3, 1, 3, 3, 0, 2, 4],
        "irregular": "oxen ox",
    }


def test_the_licence_has_no_line_numbers(build, folder, tmp_path):
    assert build([str(folder), "--output", str(tmp_path)]) == 0
    assert (tmp_path / "LICENSE.wordnet").read_text("utf-8") == (
        "Permission to use, copy, modify and distribute is granted.\n\n"
        "WordNet 3.0 Copyright 2006 by Princeton University.\n"
    )


def test_same_input_same_bytes(build, folder, tmp_path):
    for name in ("a", "b"):
        assert build([str(folder), "--output", str(tmp_path / name)]) == 0
    assert (tmp_path / "a/nouns.npz").read_bytes() == (tmp_path / "b/nouns.npz").read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data.noun", None, "data.noun is missing; on Debian, `apt install wordnet-base`"),
        ("index.noun", None, "index.noun is missing"),
        ("noun.exc", None, "noun.exc is missing"),
        ("data.noun", DATA, "the header of data.noun is not that of WordNet 3.0"),
        (
            "data.noun",
            HEADER + DATA.replace("@ 00000100", "+ 00000100"),
            "the noun hierarchy of data.noun does not have exactly one root",
        ),
        (
            "data.noun",
            HEADER + DATA.replace("@ 00000200", "@ 00000500"),
            "the noun hierarchy of data.noun has a cycle",
        ),
        (
            "data.noun",
            HEADER + DATA.replace("@ 00000200", "@ 00000777"),
            "damaged files or a mix of versions: 777",
        ),
        ("data.noun", HEADER + "00000100 03\n", "damaged files or a mix of versions"),
        ("index.noun", HEADER + INDEX.replace("00000500", "00000501"), "mix of versions: 501"),
    ],
)
def test_errors_are_one_line(build, folder, tmp_path, capsys, name, content, message):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content, "utf-8")
    assert build([str(folder), "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("build_wordnet: ")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_script_runs_by_itself(folder, tmp_path):
    command = [sys.executable, SCRIPT, folder, "--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "nouns.npz").is_file()


def test_the_packaged_files_come_from_this_script(build, tmp_path):
    data = DEBIAN / "data.noun"
    if not data.is_file() or b"WordNet 3.0" not in data.read_bytes()[:2000]:
        pytest.skip(f"WordNet 3.0 is not at {DEBIAN} (Debian: wordnet-base)")
    assert build([str(DEBIAN), "--output", str(tmp_path)]) == 0
    fresh, packaged = load(tmp_path / "nouns.npz"), load(PACKAGED / "nouns.npz")
    assert fresh.keys() == packaged.keys()
    for name, array in fresh.items():
        np.testing.assert_array_equal(array, packaged[name], err_msg=name)
    licence = "LICENSE.wordnet"
    assert (tmp_path / licence).read_bytes() == (PACKAGED / licence).read_bytes()
