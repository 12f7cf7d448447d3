"""Mistakes that people make: each is answered with a sentence that says what to do.

Every command line here is wrong. None may end with a traceback, write or replace a file, or exit
with another status than 2.
"""

import hashlib
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from zshash import Collection, fit
from zshash.cli import main

MISTAKES = """
# words that are no commands or options
creat new photos | did you mean 'create'?
serach album | did you mean 'search'?
zzz | zshash --help lists the commands
--version=3 | does not take a value
search album features.npz --nmae cat | Did you mean one of
create new photos --lables none | Did you mean
list album --jsno | Did you mean

# something is missing
create | --help tells what it takes
create new | say which PICTURES
create '' photos | the name of a folder is missing
create new '' | it is empty: give a value
create new photos --labels | requires an argument
add | --help tells what it takes
add album | --help tells what it takes
add album photos --label '' | give a value, or leave the option out
search | --help tells what it takes
search album | say what to search for
search album --name '' | give a value, or leave the option out
search album --not cat | say what to search for
search album - | standard input is empty
list | --help tells what it takes
label album | say which items to label
label album 3 | say which label
label album dog | say which items to label
label album 3 4 '' | give a value
remove album | say which items to remove
remove album --for-good | say which items to remove
restore | --help tells what it takes
restore album --last | no removal that can be undone
label album 3 --without '' | give a value
sync album | say what to look at
sync album --moved photos | requires 2 arguments
refit | --help tells what it takes
reencode album | --help tells what it takes
duplicates | --help tells what it takes
export album | say where the codes go
fit | --help tells what it takes
fit photos | --help tells what it takes
encode features.npz -m model.zshash | --help tells what it takes
eval features.npz | say which category to hide

# paths that lead nowhere
create new nowhere | there is no such file or folder; give a folder of pictures
create new photos --model nowhere | give a file that fit wrote
create new photos --meanings nowhere.txt | say wordnet, or name a file
create new photos --labels nowhere.csv | give none, folders, or a list
create new photos --aliases nowhere | does not exist
create new photos --extractor onnx:nowhere.onnx | there is no such file
create /proc/album photos | check the disk and the permissions
add nowhere photos | zshash create makes a collection
add album nowhere | there is no such file or folder; give a folder of pictures
search nowhere features.npz | zshash create makes a collection
search album nowhere.jpg | there is no such file or folder; give a folder of pictures
list nowhere | zshash create makes a collection
label nowhere 3 dog | zshash create makes a collection
remove nowhere 3 | zshash create makes a collection
restore nowhere 5-2 | zshash create makes a collection
sync album nowhere | is its disk there?
sync nowhere photos | zshash create makes a collection
sync album --moved nowhere elsewhere | no item has a path below
refit nowhere | zshash create makes a collection
reencode album -m nowhere | give a file that fit wrote
duplicates nowhere | zshash create makes a collection
verify nowhere | zshash create makes a collection
compact nowhere | zshash create makes a collection
serve nowhere | zshash create makes a collection
thumbs nowhere | No such command
import album nowhere | does not exist
export album nowhere/codes.npy | there is no folder
fit photos -o nowhere/model | there is no folder
encode features.npz -m model.zshash -o nowhere/c.npy | there is no folder
demo --output nowhere/page.html | there is no folder
info nowhere | there is no such file or folder; give a folder of pictures

# things of another kind
create new notes.txt | give a folder of pictures
create new bad.npz | not a plain NumPy file
create new wrong.csv | there is no column path
create new bad.zshash | give a folder of pictures
create new album | give the pictures or features themselves
create notes.txt photos | is a file: choose another name
create new photos --model notes.txt | give a file that fit wrote
create new photos --labels wordnet | use --meanings
create new photos --labels wrong.csv | there is no column path
create new photos --extractor nothing | there are efficientnet-lite0
create new photos --index nowhere://x | write milvus://host:port/name
add photos photos | zshash create makes one
add notes.txt photos | zshash create makes one
add album notes.txt | give a folder of pictures
search photos photos/cat/1.png | zshash create makes one
search album notes.txt | give a folder of pictures
search album bad.jpg | not a picture of a kind that is read
search model.zshash features.npz | give the --model
list photos | zshash create makes one
refit photos | zshash create makes one
verify photos | zshash create makes one
reencode album -m notes.txt | give a file that fit wrote
import album notes.txt | end its name in one
import album features.npz | no table of codes
export album codes.xyz | end its name in one
label album x y dog | write ids first and one NAME last

# empty folders, broken and strange data
create new empty | there are no pictures in this folder
create new texts | there are no pictures in this folder
create new broken | no picture could be read
create new photos/cat/1.png | give at least two
create new nan.npz | remove or repair them
add album empty | there are no pictures in this folder
add album nan.npz | remove or repair them
add album wide.npz | give features of the same network
search album wide.npz | give features of the same network
encode wide.npz -m model.zshash -o c.npy | give features of the same network
fit empty -o m | there are no pictures in this folder
fit features.npz -o m --unseen horse | zshash info lists them

# numbers and values out of range
create new photos --bits 3 | not in the range 8<=x<=1024
create new photos --bits many | not a valid integer
create new photos --thumbnails -1 | not in the range
create new photos --effort slow | is not one of
create new photos --max-bytes 0 | not in the range
create new photos --alias Rex | write LABEL=MEANING
add album photos --meta year | write NAME=VALUE
add album photos --meta label=x | use --label
search album features.npz --k 0 | not in the range
search album features.npz --k many | not a valid integer
search album features.npz --radius -1 | not in the range
search album features.npz --distance far | is not one of
search album features.npz --rerank 0 | not in the range
search album --name dgo | did you mean 'dog'
search album features.npz --where 'year >' | expected a value
search album features.npz --where 'year = 2 = 3' | expected and, or, or the end
search album features.npz --where 'label = cat' | 'single quotes'
list album --where nonsense | expected an operator
list album --limit 0 | not in the range
label album 999 dog | there is no item 999, so no label was changed
label album --where nonsense dog | expected an operator
remove album 999 | there is no item 999, so nothing was removed
remove album x | not a valid integer
restore album 5-2 | nothing is kept under the key '5-2'
refit album --bits 4 | not in the range
refit album --effort slow | is not one of
duplicates album --radius -1 | not in the range
serve album --port 99999 | not in the range
serve album --token short | a token has at least 16 characters
demo --bits 3 | not in the range
fit features.npz -o m --method nothing | is not one of
fit features.npz -o m --set depth=3 | write NAME=VALUE with one of

# what does not go together
create new -m model.zshash --bits 32 | leave it out
create new -m model.zshash --effort best | leave it out
search album features.npz --radius 2 --k 3 | leave it out
search album --name cat --radius 2 | leave it out
search album features.npz -m model.zshash | leave it out
list album --label cat --unlabelled | leave one of them out
list album --csv --json | leave one of them out
label album 3 --none dog | say which label
label album 3 dog --without cat | say which label
restore album 5-2 --last | not both
remove album 3 --where 'year = 2000' | say which items to remove

# what is there already
create album photos | zshash add album PICTURES
create album -m model.zshash | zshash add album PICTURES
create full photos | the folder is not empty (it holds x): choose another one
export album notes.txt | or --force to replace it
export album album/codes.npy | choose another folder
fit photos -o notes.txt | or --force to replace it
fit features.npz -o features.npz | or --force to replace it
demo --output notes.txt | or --force to replace it
"""
CASES = [line.split(" | ") for line in MISTAKES.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A folder with pictures, a collection, a model, and things that are none of these."""
    home = tmp_path_factory.mktemp("world")
    rng = np.random.RandomState(0)
    for number in range(4):
        path = home / "photos" / ("cat" if number % 2 else "dog") / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.randint(0, 255, (16, 16, 3), dtype=np.uint8)).save(path)
    for name in ("empty", "texts", "broken", "full"):
        (home / name).mkdir()
    (home / "texts" / "notes.txt").write_text("hello")
    (home / "full" / "x").write_text("x")
    (home / "broken" / "a.jpg").write_bytes(b"\xff\xd8\xff nothing")
    (home / "broken" / "b.png").write_bytes(b"")
    (home / "notes.txt").write_text("hello")
    (home / "bad.jpg").write_bytes(b"not a picture")
    (home / "bad.zshash").write_bytes(b"x" * 100)
    (home / "bad.npz").write_bytes(b"PK nothing")
    (home / "wrong.csv").write_text("a,b\n1,2\n")
    X = rng.randn(60, 8).astype(np.float32)
    names = np.array(["cat", "dog", "truck"])
    np.savez(home / "features.npz", X=X, y=np.arange(60) % 3, names=names)
    np.savez(home / "wide.npz", X=rng.randn(60, 9).astype(np.float32))
    fit(str(home / "features.npz"), method="ITQ", n_bits=8).save(home / "model.zshash")
    labels, years = ["cat", "dog", None] * 20, [{"year": 2000 + i} for i in range(60)]
    with Collection.create(home / "album", X, labels=labels, metadata=years, effort="fast"):
        pass
    X[3, 4] = np.nan
    np.savez(home / "nan.npz", X=X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZSHASH_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.chdir(home)
        yield home


def files(home):
    """Contents of all files; SQLite makes and removes those beside the catalogue as it likes."""
    paths = [path for path in home.rglob("*") if not path.name.startswith("catalogue.sqlite-")]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in paths
    }


def test_there_are_many():
    assert len(CASES) >= 100
    assert len({line for line, _ in CASES}) == len(CASES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("line", "cure"), CASES, ids=[line for line, _ in CASES])
def test_a_sentence_says_what_to_do(world, line, cure):
    before = files(world)
    done = CliRunner().invoke(main, shlex.split(line))
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    *others, last = done.stderr.strip().splitlines()
    assert last.startswith("Error: "), done.output
    assert all(line.startswith("Warning: ") for line in others)
    assert cure in last
    assert done.stdout == ""
    assert files(world) == before


def limited(*arguments):
    """Run a command that may not write files of more than 100 KB, as on a disk that is full."""
    return subprocess.run(
        [sys.executable, "-m", "zshash.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )


@pytest.mark.crash
@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "new", "features.npz", "--bits", "1024"),
        ("refit", "album", "--bits", "1024"),
        ("fit", "features.npz", "-o", "new.zshash", "--bits", "1024"),
    ],
    ids=["create", "refit", "fit"],
)
def test_a_full_disk(world, arguments):
    before = files(world)
    done = limited(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "the disk is full" in done.stderr or "File too large" in done.stderr
    with Collection.open(world / "album") as album:
        assert album.verify() == []
        assert album.n_bits == 64
    left = {path for path in files(world) if path not in before and Path(path).is_file()}
    assert all(Path(path).parent == world / "new" for path in left)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_no_permission(world, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    done = CliRunner().invoke(main, ["create", str(locked / "album"), str(world / "features.npz")])
    assert done.exit_code == 2
    assert "Permission denied" in done.stderr
