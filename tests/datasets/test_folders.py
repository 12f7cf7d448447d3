import unicodedata

import numpy as np
import pytest

from tests.datasets.locking import deny
from zshash.datasets import DataError, read_folder
from zshash.datasets.folders import (
    SUFFIXES,
    FolderWarning,
    labels_told,
    read_imagenet,
    warn_of_plain,
)


@pytest.fixture
def write(tmp_path):
    """Write empty files, and read the folder as a list of (file, category)."""

    def write(*names):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path

    return write


def files(pictures, root):
    return [path.relative_to(root).as_posix() for path in pictures.sources]


def words(pictures):
    """The label of each picture, or an empty text."""
    if pictures.labels is None:
        return [""] * len(pictures)
    if pictures.labels.ndim == 1:
        return [pictures.names[label] for label in pictures.labels]
    assert (pictures.labels.sum(axis=1) <= 1).all()
    return [pictures.names[row.argmax()] if row.any() else "" for row in pictures.labels]


def labelled(pictures, root):
    return list(zip(files(pictures, root), words(pictures), strict=True))


def test_a_folder_for_each_category(write):
    root = write("tabby_cat/2.jpg", "tabby_cat/1.PNG", "Dog/deep/er/x.jpeg", "Dog/a.webp")
    write("notes.txt", "Dog/readme.md", ".hidden/1.jpg", "Dog/.2.jpg", "__MACOSX/Dog/1.jpg")
    pictures = read_folder(str(root))
    assert pictures.names == ("Dog", "tabby_cat")
    assert labelled(pictures, root) == [
        ("Dog/a.webp", "Dog"),
        ("Dog/deep/er/x.jpeg", "Dog"),
        ("tabby_cat/1.PNG", "tabby_cat"),
        ("tabby_cat/2.jpg", "tabby_cat"),
    ]
    assert pictures.labels.dtype == np.int64
    assert pictures.synsets == ()
    assert ".jpg" in SUFFIXES


def test_pictures_alone_have_no_labels(write):
    root = write("b.jpg", "a.jpg", "doc/readme.txt", "empty/x.txt")
    pictures = read_folder(root)
    assert [path.name for path in pictures.sources] == ["a.jpg", "b.jpg"]
    assert pictures.labels is None
    assert pictures.names == ()


def test_pictures_beside_categories_have_no_labels(write):
    root = write("cat/1.jpg", "stray.jpg", "dog/2.jpg", "a.jpg")
    pictures = read_folder(root)
    assert labelled(pictures, root) == [
        ("a.jpg", ""),
        ("cat/1.jpg", "cat"),
        ("dog/2.jpg", "dog"),
        ("stray.jpg", ""),
    ]
    assert pictures.plain_folders == ()


def test_empty_categories_are_left_out(write):
    root = write("cat/1.jpg", "dog/readme.txt", "eel/.x.jpg", "fox/2.jpg", "2021/readme.txt")
    with pytest.warns(UserWarning, match="no pictures in dog and eel: left out"):
        pictures = read_folder(root)
    assert pictures.names == ("cat", "fox")
    assert pictures.labels.tolist() == [0, 1]


@pytest.mark.parametrize("names", [[], ["cat/readme.txt", "dog/x.txt"], ["train/cat/x.txt"]])
def test_nothing_to_read(write, names):
    with pytest.raises(DataError, match="there are no pictures in this folder"):
        read_folder(write(*names))


def test_no_such_folder(tmp_path):
    with pytest.raises(DataError, match="nothing: there is no such folder"):
        read_folder(tmp_path / "nothing")


def test_a_link_back_is_no_category(write):
    root = write("cat/1.jpg")
    (root / "loop").symlink_to(root)
    (root / "up").symlink_to(root.parent)
    assert labelled(read_folder(root), root) == [("cat/1.jpg", "cat")]


def test_a_linked_category(write, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "1.jpg").touch()
    root = write("cat/1.jpg")
    (root / "dog").symlink_to(elsewhere)
    assert labelled(read_folder(root), root) == [("cat/1.jpg", "cat"), ("dog/1.jpg", "dog")]


def test_splits_are_united_in_order(write):
    root = write("test/dog/1.jpg", "Val/eel/1.jpg", "train/dog/2.jpg", "train/cat/1.jpg")
    pictures = read_folder(root)
    assert pictures.names == ("cat", "dog", "eel")
    assert labelled(pictures, root) == [
        ("train/cat/1.jpg", "cat"),
        ("train/dog/2.jpg", "dog"),
        ("Val/eel/1.jpg", "eel"),
        ("test/dog/1.jpg", "dog"),
    ]


def test_a_category_that_one_split_lacks_is_no_reason_to_warn(write):
    root = write("train/cat/1.jpg", "train/dog/1.jpg", "val/cat/2.jpg", "val/dog/x.txt")
    assert read_folder(root).names == ("cat", "dog")


def test_pictures_of_a_split_without_labels(write):
    root = write("train/cat/1.jpg", "test/1.jpg", "test/2.jpg", "annotations/x.xml")
    assert labelled(read_folder(root), root) == [
        ("train/cat/1.jpg", "cat"),
        ("test/1.jpg", ""),
        ("test/2.jpg", ""),
    ]


def test_splits_without_any_labels(write):
    pictures = read_folder(write("test/1.jpg", "train/2.jpg"))
    assert [path.name for path in pictures.sources] == ["2.jpg", "1.jpg"]
    assert pictures.labels is None


def test_a_train_among_other_vehicles_is_a_category(write):
    assert read_folder(write("train/1.jpg", "truck/1.jpg")).names == ("train", "truck")


def test_imagenet(write):
    root = write("n02123045/a.JPEG", "n02084071/b.JPEG", "n00000009/c.JPEG")
    pictures = read_folder(root)
    assert pictures.synsets == ("n00000009", "n02084071", "n02123045")
    assert pictures.names == ("n00000009", "dog", "tabby")
    assert pictures.labels.tolist() == [0, 1, 2]


def test_ids_among_other_names(write):
    root = write("n02123045/a.jpg", "Rex/b.jpg", "tabby/c.jpg", "n02084071/d.jpg")
    pictures = read_folder(root)
    assert pictures.names == ("Rex", "dog", "tabby (n02123045)", "tabby")
    assert pictures.synsets == ("", "n02084071", "n02123045", "")
    assert pictures.labels.tolist() == [0, 1, 2, 3]
    with pytest.raises(DataError, match="not ImageNet"):
        read_imagenet(root)


def test_words_for_some_of_the_names(write):
    root = write("n02123045/a.jpg", "Rex/b.jpg")
    (root / "words.txt").write_text("n02123045\tTiger\n")
    assert read_folder(root).names == ("Rex", "Tiger")


class TestPlainFolders:
    """Folders that are named by dates, cameras and programs."""

    def test_their_pictures_have_no_labels(self, write):
        root = write("2021/a.jpg", "Rex/b.jpg", "東京/c.jpg", "DCIM/100CANON/d.jpg", "Rex/e.jpg")
        pictures = read_folder(root)
        assert pictures.names == ("Rex", "東京")
        assert labelled(pictures, root) == [
            ("2021/a.jpg", ""),
            ("DCIM/100CANON/d.jpg", ""),
            ("Rex/b.jpg", "Rex"),
            ("Rex/e.jpg", "Rex"),
            ("東京/c.jpg", "東京"),
        ]
        assert pictures.plain_folders == ("2021", "DCIM")

    def test_every_folder_if_asked_for(self, write):
        root = write("2021/a.jpg", "Rex/b.jpg", "DCIM/d.jpg")
        pictures = read_folder(root, labels="folders")
        assert pictures.names == ("2021", "DCIM", "Rex")
        assert pictures.labels.tolist() == [0, 1, 2]

    def test_nothing_but_dates(self, write):
        root = write("2021/b.jpg", "2020/08/a.jpg", "z.jpg", "2019/c.jpg")
        pictures = read_folder(root)
        assert (pictures.labels, pictures.names) == (None, ())
        assert files(pictures, root) == ["2019/c.jpg", "2020/08/a.jpg", "2021/b.jpg", "z.jpg"]
        assert pictures.plain_folders == ("2019", "2020", "2021")
        assert words(read_folder(root, labels="folders")) == ["2019", "2020", "2021", ""]

    def test_digits_are_labels(self, write):
        root = write(
            *(f"{part}/{digit}/1.png" for part in ("train", "test") for digit in range(10))
        )
        pictures = read_folder(root)
        assert pictures.names == tuple(map(str, range(10)))
        assert pictures.labels.tolist() == [*range(10), *range(10)]

    def test_in_splits(self, write):
        root = write("train/cat/1.jpg", "train/2021/2.jpg", "val/2021/3.jpg", "val/dog/4.jpg")
        pictures = read_folder(root)
        assert pictures.names == ("cat", "dog")
        assert words(pictures) == ["", "cat", "", "dog"]
        assert pictures.plain_folders == ("2021",)

    def test_the_warning_points_at_the_caller(self, write):
        pictures = read_folder(write("2021/a.jpg", "DCIM/b.jpg"))
        match = "photos: 2021 and DCIM are no labels: the names of dates"
        with pytest.warns(FolderWarning, match=match) as caught:
            warn_of_plain(pictures, "photos")
        assert caught[0].filename == __file__
        warn_of_plain(read_folder(write("cat/a.jpg"), labels="none"), "photos")


def test_labels_at_any_depth(write):
    root = write("2021/cats/1.jpg", "cats/2021/2.jpg", "2021/08/3.jpg", "2021/08/Rex/sofa/4.jpg")
    pictures = read_folder(root)
    assert labelled(pictures, root) == [
        ("2021/08/3.jpg", ""),
        ("2021/08/Rex/sofa/4.jpg", "Rex"),
        ("2021/cats/1.jpg", "cats"),
        ("cats/2021/2.jpg", "cats"),
    ]
    assert labels_told(pictures) == "labels from folders: cats (2), Rex (1); no labels: 2021"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_one_label_for_both_forms_of_an_accent(write, form):
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    first, second = (unicodedata.normalize(name, "Café") for name in (form, other))
    root = write(f"{first}/1.jpg", f"2021/{second}/2.jpg", "京都/3.jpg")
    pictures = read_folder(root)
    assert pictures.names == (unicodedata.normalize("NFC", "Café"), "京都")
    assert set(files(pictures, root)) == {f"{first}/1.jpg", f"2021/{second}/2.jpg", "京都/3.jpg"}


def test_no_labels_if_asked_for(write):
    root = write("val/dog/1.jpg", "train/cat/1.jpg")
    pictures = read_folder(root, labels="none")
    assert (pictures.labels, pictures.names, pictures.labels_from) == (None, (), "")
    assert files(pictures, root) == ["train/cat/1.jpg", "val/dog/1.jpg"]
    with pytest.raises(ValueError, match="labels must be auto, folders or none, not 'all'"):
        read_folder(root, labels="all")


def test_labels_are_told(write):
    root = write(*(f"animal {i:02}/{j}.jpg" for i in range(12) for j in range(1 + (i == 7))))
    told = labels_told(read_folder(root))
    assert told.startswith("labels from folders: animal 07 (2), animal 00 (1), animal 01 (1), ")
    assert told.endswith(", animal 06 (1), and 4 more")
    assert labels_told(read_folder(root, labels="none")) == "no labels"
    assert labels_told(read_folder(write("a.jpg") / "animal 03")) == "no labels"


@pytest.mark.parametrize("place", ["train", "."])
def test_imagenet_with_words(write, place):
    root = write("train/n02012849/a.JPEG", "train/n03126707/b.JPEG", "val/n02123045/c.JPEG")
    (root / place / "words.txt").write_text("n02012849\tcrane\nn03126707\tcrane\n")
    pictures = read_folder(root)
    assert pictures.names == ("crane (n02012849)", "tabby", "crane (n03126707)")
    assert pictures.labels.tolist() == [0, 2, 1]


def test_words_above_the_categories(write):
    root = write("pictures/n02123045/a.JPEG")
    (root / "words.txt").write_text("n02123045\ttabby, tabby cat\n")
    assert read_folder(root / "pictures").names == ("tabby, tabby cat",)


def test_imagenet_as_its_archives_put_it(write):
    root = write(
        "ILSVRC/Data/CLS-LOC/train/n02123045/1.JPEG",
        "ILSVRC/Data/CLS-LOC/val/1.JPEG",
        "ILSVRC/Annotations/x.xml",
    )
    with pytest.warns(UserWarning, match="1 pictures without labels: left out"):
        pictures = read_imagenet(root)
    assert pictures.synsets == ("n02123045",)
    assert (len(pictures), pictures.labels.tolist()) == (1, [0])


def test_what_is_not_imagenet(write):
    with pytest.raises(DataError, match="not ImageNet: folders such as n02123045"):
        read_imagenet(write("cat/1.jpg"))


def test_real_pictures(data_folder):
    pictures = read_folder(data_folder / "images" / "tiny")
    assert len(pictures) == 200
    assert np.bincount(pictures.labels).tolist() == [10] * 20
    assert pictures.names[pictures.synsets.index("n02123045")] == "tabby, tabby cat"


def test_what_is_left_out_is_told(write):
    root = write("cat/1.jpg", "cat/deep/IMG_1.SVG", "dog/2.svg", "dog/2.png", "dog/x.psd", "a.txt")
    write("a.mp4", "cat/b.MOV", "cat/c.mov", "@eaDir/d.mp4", ".e.mp4")
    match = (
        r"not read are left out \(1 \.psd, 2 \.svg\): convert them; "
        r"videos are left out \(2 \.mov, 1 \.mp4\)$"
    )
    with pytest.warns(UserWarning, match=match):
        assert len(read_folder(root)) == 2


def test_nothing_but_videos(write):
    with pytest.raises(DataError, match=r"no pictures in this folder; videos are left out \(1 \.m"):
        read_folder(write("a.mp4"))


def test_a_folder_that_can_not_be_read(write, monkeypatch):
    root = write("cat/1.jpg", "private/2.jpg", "cat/3.jpg")
    deny(monkeypatch, root / "private")
    with pytest.warns(UserWarning, match=r"left out: .*/private \(Permission denied\)$"):
        pictures = read_folder(root)
    assert labelled(pictures, root) == [("cat/1.jpg", "cat"), ("cat/3.jpg", "cat")]
    with pytest.raises(DataError, match=r"private: Permission denied$"):
        read_folder(root / "private")
