from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zshash.datasets import DataError, read_manifest


@pytest.fixture
def write(tmp_path):
    def write(text, name="list.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.fixture
def write_parquet(tmp_path):
    def write(**columns):
        path = tmp_path / "list.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    return write


def test_one_label_each(write):
    path = write("path,label\na/1.jpg,dog\n/abs/2.jpg,cat\n3.jpg,dog\n")
    pictures = read_manifest(str(path))
    assert pictures.sources == (
        path.parent / "a" / "1.jpg",
        Path("/abs/2.jpg"),
        path.parent / "3.jpg",
    )
    assert pictures.names == ("cat", "dog")
    assert pictures.labels.tolist() == [1, 0, 1]
    assert pictures.synsets == ()


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_and_encodings(write, mark, encoding, end):
    lines = [mark.join(cells) for cells in (["Path", "size", " Label"], ["ü.jpg", "7", "Käfer"])]
    pictures = read_manifest(write(end.join(lines) + end, encoding=encoding))
    assert pictures.sources[0].name == "ü.jpg"
    assert pictures.names == ("Käfer",)


@pytest.mark.parametrize("column", ["path", "file", "filename", "image"])
@pytest.mark.parametrize("label", ["label", "category", "class"])
def test_names_of_columns(write, column, label):
    pictures = read_manifest(write(f"id,{label},{column}\n1,cat,1.jpg\n"))
    assert pictures.names == ("cat",)
    assert pictures.sources[0].name == "1.jpg"


@pytest.mark.parametrize("column", ["labels", "tags"])
def test_several_labels_each(write, column):
    text = f'path,{column}\n1.jpg,"goldfish, Carassius auratus | bowl"\n2.jpg,\n3.jpg,bowl;;sky\n'
    pictures = read_manifest(write(text))
    assert pictures.names == ("bowl", "goldfish, Carassius auratus", "sky")
    assert pictures.labels.tolist() == [
        [True, True, False],
        [False, False, False],
        [True, False, True],
    ]


def test_semicolons_in_both_roles(write):
    pictures = read_manifest(write('path;tags\n1.jpg;"a;b"\n2.jpg;b\n'))
    assert pictures.labels.tolist() == [[True, True], [False, True]]


def test_some_without_a_label(write):
    pictures = read_manifest(write("path,label\n1.jpg,cat\n2.jpg,\n\n3.jpg, dog \n"))
    assert pictures.names == ("cat", "dog")
    assert pictures.labels.tolist() == [[True, False], [False, False], [False, True]]


@pytest.mark.parametrize("text", ["path\n1.jpg\n2.jpg\n", "path,label\n1.jpg,\n2.jpg,\n"])
def test_no_labels(write, text):
    pictures = read_manifest(write(text))
    assert len(pictures) == 2
    assert pictures.labels is None
    assert pictures.names == ()


def test_synsets(write):
    text = "path,label,wnid\n1.jpg,crane,n03126707\n2.jpg,,n02012849\n3.jpg,crane,n02012849\n"
    pictures = read_manifest(write(text + "4.jpg,,n02123045\n"))
    assert pictures.synsets == ("n02012849", "n02123045", "n03126707")
    assert pictures.names == ("crane (n02012849)", "tabby", "crane (n03126707)")
    assert pictures.labels.tolist() == [2, 0, 0, 1]


def test_synsets_without_labels(write):
    pictures = read_manifest(write("path,wnid\n1.jpg,n02123045\n"))
    assert pictures.names == ("tabby",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"there are no rows below the header"),
        ("path,label\n", "there are no rows below the header"),
        ("name,label\n1.jpg,cat\n", r"or X for features \(the columns are: name, label\)"),
        ("path,label\n1.jpg,cat\n\n ,dog\n", "line 4 has no path"),
        ("path,label\n1.jpg,cat\n2.jpg\n", "line 3 has 1 cells, the header 2"),
        ("path,label\n1.jpg,goldfish, Carassius\n", "line 2 has 3 cells, the header 2"),
        ("path,path\n1.jpg,2.jpg\n", "several columns have the same name"),
        ('path,label\n1.jpg,"cat\n', "not a CSV file"),
        ("path,label,tags\n1.jpg,a,b\n", "labels and label exclude each other"),
        ("path,wnid,tags\n1.jpg,n02123045,b\n", "labels and wnid exclude each other"),
        ("path,wnid\n1.jpg,n02123045\n2.jpg,cat\n", "line 3: 'cat' is no WordNet id"),
        (
            "path,label,wnid\n1.jpg,cat,n02123045\n2.jpg,dog,n02123045\n",
            "line 3: n02123045 is 'dog', but 'cat' further up",
        ),
    ],
)
def test_bad_manifests(write, text, message):
    path = write(text)
    with pytest.raises(DataError, match=message) as caught:
        read_manifest(path)
    assert str(caught.value).startswith(str(path))


def test_bad_files(write, tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_manifest(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="not UTF-8 text: save it as UTF-8"):
        read_manifest(write("path,label\n1.jpg,Käfer\n", encoding="latin1"))
    with pytest.raises(DataError, match="not a Parquet file, or damaged"):
        read_manifest(write("path,label\n", name="list.parquet"))


def test_parquet(write_parquet):
    path = write_parquet(path=["1.jpg", "2.jpg"], label=["dog", "cat"], size=[1, 2])
    pictures = read_manifest(path)
    assert pictures.sources == (path.parent / "1.jpg", path.parent / "2.jpg")
    assert pictures.names == ("cat", "dog")
    assert pictures.labels.tolist() == [1, 0]


def test_parquet_with_lists_of_labels(write_parquet):
    path = write_parquet(File=["1.jpg", "2.jpg", "3.jpg"], labels=[["b", "a;b"], None, []])
    pictures = read_manifest(path)
    assert pictures.names == ("a;b", "b")
    assert pictures.labels.tolist() == [[True, True], [False, False], [False, False]]


def test_parquet_with_numbers_as_labels(write_parquet):
    path = write_parquet(path=["1.jpg", "2.jpg", "3.jpg"], label=[3.0, float("nan"), 3.0])
    pictures = read_manifest(path)
    assert pictures.names == ("3",)
    assert pictures.labels.tolist() == [[True], [False], [True]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"path": ["1.jpg", None]}, "row 1 has no path"),
        ({"image": [{"bytes": b"x", "path": "1.jpg"}]}, "row 0 has no path"),
        ({"name": ["1.jpg"]}, r"or X for features \(the columns are: name\)"),
        ({"label": ["cat"]}, r"or X for features \(the columns are: label\)"),
        ({"path": pa.array([], pa.string())}, "no rows"),
    ],
)
def test_bad_parquet(write_parquet, columns, message):
    with pytest.raises(DataError, match=message):
        read_manifest(write_parquet(**columns))
