"""A result's path follows from its task, and from nothing else."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from zshash.studies.tasks import Retrieval
from zshash.studies.zsh2016 import STUDY
from zshash.studies.zsh2016.convergence import Convergence
from zshash.studies.zsh2016.mirflickr import Transfer

BASE = {"data": "features/animals.npz", "unseen": ("cat",), "labels": ("wordnet",)}
CHANGED = {
    "data": "features/others.npz",
    "method": "LSH",
    "bits": 32,
    "parameters": {"max_iter": 3},
    "labels": ("wordnet", "words.txt"),
    "extractor": "pixels",
    "categories": 5,
    "known_to": ("wordnet",),
    "n_train": 100,
    "unseen": ("dog",),
    "n_queries": 10,
    "k": 20,
    "radius": 3,
    "related_hops": 5,
    "related_k": 50,
}
MOVED = {"training": "others", "tags": ("sky",), "n_mosaics": 9, "pool": 7, "shared": 1}


@pytest.mark.parametrize("field", CHANGED)
def test_any_change_leads_elsewhere(field):
    task = Retrieval(**BASE)
    assert Retrieval(**BASE).path() == task.path()
    assert replace(task, **{field: CHANGED[field]}).path() != task.path()


@pytest.mark.parametrize("field", MOVED)
def test_any_change_of_a_transfer_leads_elsewhere(field):
    task = Transfer(data="pictures", training="imagenet")
    assert replace(task, **{field: MOVED[field]}).path() != task.path()


def test_other_changes_that_lead_elsewhere():
    base = Retrieval(**BASE)
    paths = [
        base.path(),
        Convergence(**BASE).path(),
        replace(base, unseen=("cat", "dog")).path(),
        replace(base, unseen=1).path(),
        replace(base, labels=("words.txt", "wordnet")).path(),
        replace(base, parameters={"graph": None}).path(),
    ]
    assert len(set(paths)) == len(paths)


def test_fields_that_are_tried_are_all_there_are():
    assert CHANGED.keys() == {field.name for field in fields(Retrieval)}
    assert MOVED.keys() == {field.name for field in fields(Transfer)} - CHANGED.keys()


def test_folders_do_not_matter():
    task = Retrieval(**BASE | {"labels": ("words/huang.txt",)})
    moved = replace(task, data="/elsewhere/animals.npz", labels=("/my/huang.txt",))
    assert moved.path() == task.path()
    transfer = Transfer(data="/a/mirflickr", training="/b/imagenet")
    assert replace(transfer, data="mirflickr", training="c/imagenet").path() == transfer.path()


def test_labels_that_a_method_does_not_look_at_do_not_matter():
    task = Retrieval(**BASE, method="LSH")
    assert replace(task, labels=()).path() == task.path()
    default = Retrieval(**BASE)
    assert replace(default, labels=()).path() == default.path()  # WordNet, where nobody says


@pytest.mark.parametrize("data", ["..", ".", "a/..", "/", "c:\\x", "Bilder für Ännchen", "a/b c"])
def test_a_path_stays_below_the_folder_of_results(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Retrieval(data=data, unseen=1).path()
    assert not path.is_absolute()
    assert ".." not in path.parts
    assert str(path).isascii()
    assert " " not in str(path)


def test_a_folder_that_one_is_in_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inside").mkdir()
    named = Retrieval(data=str(tmp_path), unseen=1).path()
    assert Retrieval(data=".", unseen=1).path() == named
    assert Retrieval(data=".", unseen=1).searched == tmp_path.name
    assert Retrieval(data="inside/..", unseen=1).path() == named


def test_a_default_of_a_method_is_part_of_it(monkeypatch):
    task = Retrieval(**BASE)
    explicit = replace(task, parameters={"init_scale": 35.0})
    assert explicit.path() == task.path()
    before = task.path()
    monkeypatch.setattr(Retrieval, "format", 2)
    assert task.path() != before


def test_a_person_can_tell_from_the_path():
    path = Retrieval(**BASE, method="KSH", bits=48).path()
    assert path.parent == Path("animals")
    assert path.name.startswith("retrieval-KSH-48-")
    assert path.suffix == ".json"
    assert all(task.kind == kind for kind, task in STUDY.kinds.items())
