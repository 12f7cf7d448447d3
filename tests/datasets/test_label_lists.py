import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from zshash.datasets import DataError, Pictures, open_data, read_folder
from zshash.datasets.label_lists import with_listed_labels


@pytest.fixture
def tree(tmp_path):
    for name in ("2021/1.jpg", "2021/2.jpg", "cat/3.jpg", "4.jpg"):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "photos"


@pytest.fixture
def write(tmp_path):
    def write(*lines, name="list.csv", encoding="utf-8"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["path,label", *lines]), encoding=encoding)
        return path

    return write


def words(pictures, root):
    labels = pictures.labels
    if labels.ndim == 1:
        labels = np.eye(len(pictures.names), dtype=bool)[labels]
    own = [[pictures.names[i] for i in np.flatnonzero(row)] for row in labels]
    files = [path.relative_to(root).as_posix() for path in pictures.sources]
    return {name: found for name, found in zip(files, own, strict=True) if found}


def test_relative_to_the_list_or_to_the_tree(tree, write):
    rows = ("photos/2021/1.jpg,dog", "2021/2.jpg,eel", f"{tree / 'cat' / '3.jpg'},fox")
    expected = {"2021/1.jpg": ["dog"], "2021/2.jpg": ["eel"], "cat/3.jpg": ["fox"]}
    pictures = open_data(tree, labels=write(*rows))
    assert words(pictures, tree) == expected
    assert (pictures.labels_from, pictures.plain_folders) == ("list.csv", ())
    assert words(open_data(tree, labels=str(write(*rows))), tree) == expected


def test_a_list_inside_of_the_tree(tree, write):
    path = write("1.jpg,dog", "../4.jpg,eel", name="photos/2021/list.csv")
    assert words(open_data(tree, labels=path), tree) == {"2021/1.jpg": ["dog"], "4.jpg": ["eel"]}


def test_every_picture_has_one_label(tree, write):
    rows = (f"{path},{path.stem}" for path in read_folder(tree).sources)
    pictures = open_data(tree, labels=write(*rows))
    assert pictures.labels.dtype == np.int64
    assert [path.stem for path in pictures.sources] == [pictures.names[i] for i in pictures.labels]


def test_a_tree_behind_a_link(tree, write, tmp_path):
    (tmp_path / "link").symlink_to(tree)
    path = write("link/4.jpg,dog", f"{tree.resolve() / 'cat' / '3.jpg'},eel")
    found = words(open_data(tmp_path / "link", labels=path), tmp_path / "link")
    assert found == {"4.jpg": ["dog"], "cat/3.jpg": ["eel"]}


def test_accents_in_another_form(tree, write):
    (tree / unicodedata.normalize("NFD", "Café.jpg")).touch()
    pictures = open_data(tree, labels=write(unicodedata.normalize("NFC", "Café.jpg,cup")))
    assert list(words(pictures, tree).values()) == [["cup"]]


def test_a_picture_with_several_rows_has_all_their_labels(tree, write):
    pictures = open_data(tree, labels=write("4.jpg,dog", "4.jpg,sofa", "cat/3.jpg,dog"))
    assert words(pictures, tree) == {"4.jpg": ["dog", "sofa"], "cat/3.jpg": ["dog"]}


def test_several_labels_in_parquet(tree, tmp_path):
    table = pa.table({"path": ["4.jpg", "4.jpg", "cat/3.jpg"], "tags": [["a", "b"], ["c"], []]})
    parquet.write_table(table, tmp_path / "list.parquet")
    pictures = open_data(tree, labels=tmp_path / "list.parquet")
    assert words(pictures, tree) == {"4.jpg": ["a", "b", "c"]}


def test_ids_of_wordnet(tree, tmp_path):
    (tmp_path / "list.tsv").write_text("path\twnid\n4.jpg\tn02123045\n")
    pictures = open_data(tree, labels=tmp_path / "list.tsv")
    assert (pictures.names, pictures.synsets) == (("tabby",), ("n02123045",))


def test_files_that_are_not_in_the_tree(tree, write):
    path = write("4.jpg,dog", "nothing.jpg,cat", "../photos2/4.jpg,cat")
    with pytest.warns(UserWarning, match=r"list\.csv: 2 of its 3 files are not in .*photos: left"):
        pictures = open_data(tree, labels=path)
    assert words(pictures, tree) == {"4.jpg": ["dog"]}
    with pytest.raises(DataError, match=r"none of its 1 files is in .*photos"):
        open_data(tree, labels=write("nothing.jpg,cat"))


def test_lists_that_can_not_be_used(tree, write, tmp_path):
    with pytest.raises(DataError, match=r"list\.csv: there are no labels: add a column label"):
        open_data(tree, labels=write("4.jpg,"))
    with pytest.raises(DataError, match=r"nothing\.csv: there is no such file"):
        open_data(tree, labels=tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="wordnet: there is no such file"):
        open_data(tree, labels="wordnet")
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(DataError, match=r"x\.npy: features have labels of their own"):
        open_data(tmp_path / "x.npy", labels=write("4.jpg,dog"))
    pixels = Pictures(np.zeros((2, 8, 8), dtype=np.uint8))
    with pytest.raises(DataError, match="these pictures are no files"):
        with_listed_labels(pixels, write("4.jpg,dog"), tree)


def test_a_list_for_a_list(tree, write):
    sources = write("photos/4.jpg,dog", "photos/cat/3.jpg,eel", name="sources.csv")
    pictures = open_data(sources, labels=write("photos/4.jpg,fox"))
    assert words(pictures, tree) == {"4.jpg": ["fox"]}
    assert len(pictures) == 2
