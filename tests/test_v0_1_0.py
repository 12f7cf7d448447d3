"""Every file that version 0.1.0 wrote: this zshash reads it, and gives the answers of 0.1.0.

``tests/data/v0_1_0`` holds the files, the script that made them and, in ``expected.json``, what
0.1.0 said of them. The functions down to `codes_in_file` are all that know how zshash is called.
"""

import hashlib
import io
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import zshash
from zshash.collection.exchange.exchange import import_codes
from zshash.datasets import load_features
from zshash.evaluation.comparison import open_runs as open_comparison
from zshash.evaluation.runs import RunFolder
from zshash.hashing import read_header
from zshash.images import PictureReader
from zshash.images.store import read_shard
from zshash.learning.files import load_codes
from zshash.learning.model import Model
from zshash.studies.experiments import Changes
from zshash.studies.mth2026.study import open_runs
from zshash.studies.zsh2016 import STUDY

FOLDER = Path(__file__).parent / "data" / "v0_1_0"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
MODELS, ALBUMS = EXPECTED["models"], EXPECTED["albums"]
EXCHANGE, RESULTS = EXPECTED["exchange"], EXPECTED["results"]
METHODS = {
    *("AGH", "CCAITQ", "COSDISH", "DGH", "IMH", "ITQ", "KSH", "LFH", "LSH", "MLH", "MTH", "SDH"),
    *("SSH", "SpectralHashing", "ZSH"),
}
REPRODUCED = ("cifar10", "convergence", "names", "alignment", "exemplars", "mirflickr")


def load_model(path):
    return zshash.load(path).hasher


def model_facts(path):
    header = read_header(path)
    return {key: header[key] for key in ("method", "parameters", "notes")}


def codes_by_model(model, rows):
    return [code.tobytes().hex() for code in model.encode(rows)]


def values_by_model(model, rows):
    return model.project(rows)


def open_album(path):
    return zshash.Collection.open(path)


def new_album(path, model):
    return zshash.Collection.create(path, model)


def new_model(rows):
    return zshash.LSH(n_bits=24, random_state=0).fit(rows)


def found_by_features(album, row, k, where=None):
    return by_bits(album.search(row, k=k, where=where, distance="bits"))


def found_by_real_values(album, row, k):
    """Ids and inner products, which 0.1.0 gave in place of cosines."""
    length = np.linalg.norm(album.model.project(row[None])) * np.sqrt(album.n_bits)
    return [(match.id, match.score * length) for match in album.search(row, k=k)]


def found_by_radius(album, row, r):
    return by_bits(album.search(row, radius=r))


def found_by_picture(album, picture, k):
    return by_bits(album.search(picture, k=k, distance="bits"))


def found_by_name(album, name, k):
    return [(match.id, match.score) for match in album.search(name=name, k=k)]


def by_bits(matches):
    return [(match.id, match.bits) for match in matches]


def ids_by_condition(album, where):
    return album.find(where).tolist()


def add_data(album, data):
    added = album.add(data)
    return added.ids.tolist(), added.duplicates.tolist()


def add_files(album, files):
    added = album.add_files(files)
    return added.ids.tolist(), added.duplicates.tolist()


def import_file(album, path):
    return import_codes(album, path).ids.tolist()


def remove_items(album, ids):
    return album.remove(ids)


def reencode_album(album, model):
    return album.reencode(model)


def compact_album(album):
    album.compact()


def problems_of(album):
    return album.verify()


def facts_of(album):
    return album.info()


def labels_of(album):
    return album.labels()


def duplicates_of(album, r):
    return [[item.id for item in group.items] for group in album.duplicates("alike", r=r)]


def items_of(album):
    return [item_facts(album, item) for item in album.items()]


def item_facts(album, item):
    thumbnail = album.thumbnail(item.id)
    return {
        "id": item.id,
        "code": item.code.hex(),
        "source": item.source,
        "content": item.content and item.content.hex(),
        "labels": list(item.labels),
        "metadata": item.metadata,
        "size": item.size,
        "thumbnail": thumbnail and hashlib.sha256(thumbnail).hexdigest(),
    }


def thumbnail_of(album, number):
    return album.thumbnail(number)


def picture_of(album, number):
    return album.picture(number)


def features_in_file(path):
    return load_features(path)


def features_in_cache(path):
    return read_shard(path)[1]


def records_of_comparison(path):
    return list(open_comparison(path))


def records_of_study(path):
    return list(open_runs(path))


def runs_of_reproduction(folder):
    """Seeds of all tasks that have been run, by the paths of their files."""
    results, found = RunFolder(folder), {}
    for name in REPRODUCED:
        methods = ("ITQ", "ZSH") if name == "cifar10" else ()
        changes = Changes(quick=True, seeds=1, methods=methods, bits=(16,))
        for task in STUDY.read(name, changes).tasks:
            if runs := results.read(task).runs:
                found[task.path().as_posix()] = [run["seed"] for run in runs]
    return found


def codes_in_file(path, model):
    return load_codes(path, Model.load(model, PictureReader()))


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A copy of all files, which is also where the model finds its word vectors."""
    folder = shutil.copytree(FOLDER, tmp_path / "photos")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(params=ALBUMS)
def name(request):
    return request.param


@pytest.fixture
def album(old, name):
    with open_album(old / "albums" / name) as opened:
        yield opened


def rows_for(n_features):
    """The features that 0.1.0 was asked about."""
    if n_features == 16:
        return np.load(FOLDER / "queries.npy")
    return np.load(FOLDER / "exchange" / "features.npz")["X"]


def rows_of(name):
    return rows_for(64 if name == "pictures" else 16)


def new_rows(name):
    """Rows that are in no album."""
    return rows_of(name)[:5] + np.float32(0.25)


def check_answers(album, name):
    """Ask everything that 0.1.0 was asked."""
    rows = rows_of(name)
    for asked in ALBUMS[name]["searches"]:
        if asked["by"] == "condition":
            assert ids_by_condition(album, asked["query"]) == asked["ids"], asked["query"]
        elif "error" in asked:
            with pytest.raises(ValueError, match=asked["query"] + "|does not learn"):
                found_by_name(album, asked["query"], 5)
        else:
            check_found(answer(album, rows, asked), asked)


def answer(album, rows, asked):
    by, query = asked["by"], asked["query"]
    if by == "name":
        return found_by_name(album, query, asked["k"])
    if by == "picture":
        return found_by_picture(album, FOLDER / query, asked["k"])
    if by == "radius":
        return found_by_radius(album, rows[query], asked["r"])
    if by == "real values":
        return found_by_real_values(album, rows[query], asked["k"])
    return found_by_features(album, rows[query], asked["k"], asked.get("where"))


def check_found(found, asked):
    assert [number for number, _ in found] == asked["ids"], asked
    assert [distance for _, distance in found] == pytest.approx(asked["distances"], abs=1e-4)


def without(items, *keys):
    return [{key: own[key] for key in own if key not in keys} for own in items]


def test_there_is_a_model_of_every_method():
    assert {own["method"] for own in MODELS.values()} == METHODS <= set(zshash.methods())
    assert {path.stem for path in (FOLDER / "models").iterdir()} == set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_the_same_codes(old, name):
    wanted = MODELS[name]
    model = load_model(old / "models" / f"{name}.zshash")
    rows = rows_for(model.n_features_in_)
    assert (type(model).__name__, model.n_bits) == (wanted["method"], wanted["bits"])
    assert codes_by_model(model, rows) == wanted["codes"]
    np.testing.assert_allclose(values_by_model(model, rows)[0], wanted["values"], atol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_says_how_it_was_made(old, name):
    found = model_facts(old / "models" / f"{name}.zshash")
    assert found == {key: MODELS[name][key] for key in found}


def test_an_album_holds_what_was_put_in(album, name):
    wanted = ALBUMS[name]
    assert items_of(album) == wanted["items"]
    facts = facts_of(album)
    assert {key: facts[key] for key in wanted["info"]} == wanted["info"]
    assert labels_of(album) == wanted["labels"]
    assert duplicates_of(album, 1) == wanted["duplicates"]
    assert problems_of(album) == wanted["problems"] == []


def test_an_album_gives_the_same_answers(album, name):
    check_answers(album, name)


def test_an_album_takes_more(old, album, name):
    next_id, before = ALBUMS[name]["info"]["next id"], len(ALBUMS[name]["items"])
    ids, known = add_data(album, new_rows(name))
    assert ids == list(range(next_id, next_id + 5))
    assert known == []
    assert add_data(album, new_rows(name)) == ([], ids)
    assert [number for number, _ in found_by_features(album, new_rows(name)[2], 30)].count(ids[2])
    assert problems_of(album) == []
    album.close()
    with open_album(old / "albums" / name) as again:
        assert len(items_of(again)) == before + 5
        assert remove_items(again, ids) == 5
        check_answers(again, name)
        assert problems_of(again) == []


def test_an_album_loses_what_is_removed(old, album, name):
    kept = [own["id"] for own in ALBUMS[name]["items"]]
    gone, kept = kept[::2], kept[1::2]
    assert remove_items(album, gone) == len(gone)
    album.close()
    with open_album(old / "albums" / name) as again:
        assert [own["id"] for own in items_of(again)] == kept
        assert problems_of(again) == []


def test_an_album_is_compacted(old, album, name):
    compact_album(album)
    assert problems_of(album) == []
    album.close()
    with open_album(old / "albums" / name) as again:
        assert items_of(again) == ALBUMS[name]["items"]
        check_answers(again, name)


@pytest.mark.parametrize("name", [name for name in ALBUMS if name != "features"], indirect=True)
def test_an_album_is_encoded_again(old, album, name):
    n = len(ALBUMS[name]["items"])
    assert reencode_album(album, new_model(rows_of(name))) == n
    assert problems_of(album) == []
    album.close()
    with open_album(old / "albums" / name) as again:
        assert facts_of(again)["bits"] == 24
        wanted = without(ALBUMS[name]["items"], "code")
        assert without(items_of(again), "code") == wanted
        assert len(found_by_features(again, rows_of(name)[0], 100)) == n


@pytest.mark.parametrize("name", ["features"], indirect=True)
def test_an_album_without_features_keeps_its_codes(album, name):
    with pytest.raises(zshash.CollectionError):
        reencode_album(album, new_model(rows_of(name)))
    assert items_of(album) == ALBUMS[name]["items"]
    check_answers(album, name)


@pytest.mark.parametrize("name", ["features", "behind", "unsaved", "words"], indirect=True)
def test_an_album_knows_its_features_again(album):
    rows = np.load(FOLDER / "animals.npz")["X"]
    there = {own["id"] for own in items_of(album) if own["content"]}
    _, known = add_data(album, rows[:12])
    assert set(known) == there & set(range(12))


@pytest.mark.parametrize("name", ["pictures"], indirect=True)
def test_an_album_knows_its_pictures_again(old, album):
    ids, known = add_data(album, old / "pictures")
    assert (ids, known) == ([25], [number for number in range(12) if number != 3])  # 3 was removed
    copies = [path.read_bytes() for path in sorted((album.path / "pictures").iterdir())]
    ids, known = add_files(album, copies)
    assert ids == []
    assert set(known) == set(range(12, 24)) - {14}
    assert problems_of(album) == []


@pytest.mark.parametrize("name", ["pictures"], indirect=True)
def test_an_album_has_its_pictures_wherever_it_lies(album):
    for number in set(range(12, 24)) - {14}:
        path = picture_of(album, number)
        assert path.parent == album.path / "pictures"
        assert found_by_picture(album, path.read_bytes(), 1) == [(number, 0)]
    assert picture_of(album, 0) == Path("/photos/pictures/circle/0.png")
    with Image.open(io.BytesIO(thumbnail_of(album, 0))) as image:
        assert (image.format, image.size) == ("JPEG", (16, 16))


def test_two_albums_were_never_closed():
    logs = {path.parent.name for path in FOLDER.glob("albums/*/*-wal") if path.stat().st_size}
    saved = {path.parent.name for path in FOLDER.glob("albums/*/index-*.codes")}
    assert logs == {"behind", "unsaved"}
    assert saved == {*ALBUMS} - {"unsaved"}


@pytest.mark.parametrize("file", EXCHANGE)
def test_codes_are_imported(old, file):
    wanted = EXCHANGE[file]
    with new_album(old / "new", old / "models" / f"{wanted['model']}.zshash") as album:
        ids = import_file(album, old / "exchange" / file)
        assert ids == list(range(len(wanted["items"])))
        assert items_of(album) == wanted["items"]
        assert problems_of(album) == []


@pytest.mark.parametrize("file", ["pictures.npz", "pictures.parquet"])
def test_an_album_skips_codes_that_came_from_it(old, file):
    with open_album(old / "albums" / "pictures") as album:
        assert import_file(album, old / "exchange" / file) == []


def test_ids_lie_beside_the_index_for_faiss(old):
    ids = np.load(old / "exchange" / "exported.faiss.ids.npy")
    assert ids.tolist() == [own["id"] for own in ALBUMS["features"]["items"]]


@pytest.mark.parametrize(("file", "name"), [("codes.npz", "ZSH-pictures"), ("codes.npy", "ITQ")])
def test_codes_are_read_without_an_album(old, file, name):
    codes = codes_in_file(old / "exchange" / file, old / "models" / f"{name}.zshash")
    wanted = [own["code"] for own in EXCHANGE[file]["items"]]
    assert [code.tobytes().hex() for code in codes.packed] == wanted
    if file == "codes.npz":
        assert codes.describe(0)["labels"] == ["circle"]
        assert Path(codes.describe(0)["path"]).name == "0.png"


def test_features_are_read(old):
    dataset = features_in_file(old / "exchange" / "features.npz")
    assert dataset.X.shape == (12, 64)
    assert dataset.names == ("circle", "cross", "square", "triangle")
    assert dataset.labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert dataset.extractor == MODELS["MTH-pictures"]["notes"]["extractor"]
    np.testing.assert_array_equal(features_in_cache(old / "exchange/features.shard"), dataset.X)


def test_features_are_those_of_the_pictures(old):
    with new_album(old / "new", old / "models" / "ITQ-pictures.zshash") as album:
        add_data(album, old / "exchange" / "features.npz")
        codes = [own["code"] for own in items_of(album)]
        assert codes == MODELS["ITQ-pictures"]["codes"]
        assert found_by_picture(album, old / "pictures/cross/1.png", 1) == [(4, 0)]


def test_a_comparison_is_read(old):
    records = records_of_comparison(old / "results" / "comparison.json")
    assert [[own["method"], own.get("map")] for own in records] == RESULTS["comparison"]
    assert "anchors" in records[-1]["error"]


def test_a_selection_is_read(old):
    found = json.loads((old / "results" / "selection.json").read_text())
    assert {key: found[key] for key in RESULTS["selection"]} == RESULTS["selection"]


def test_results_of_the_paper_s_experiments_are_read(old):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of results that do not count
        found = runs_of_reproduction(old / "results" / "reproduction" / "runs")
    assert found == RESULTS["reproduction"]


def test_records_of_the_study_are_read(old):
    records = records_of_study(old / "results" / "transfer.json")
    found = [[own["setup"], own["split"], own["map"]] for own in records]
    assert found == RESULTS["transfer"]


def test_the_files_are_few_and_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 1_500_000
