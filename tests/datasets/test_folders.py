import numpy as np
import pytest

from zshash.datasets import DataError, read_folder
from zshash.datasets.folders import SUFFIXES, FolderWarning, read_imagenet


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


def labelled(pictures, root):
    files = [path.relative_to(root).as_posix() for path in pictures.sources]
    return list(zip(files, (pictures.names[label] for label in pictures.labels), strict=True))


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


def test_pictures_beside_categories(write):
    root = write("cat/1.jpg", "stray.jpg", "other.jpg")
    with pytest.raises(DataError, match=r"\(2, such as other\.jpg\): move them .*CSV file"):
        read_folder(root)


def test_empty_categories_are_left_out(write):
    root = write("cat/1.jpg", "dog/readme.txt", "eel/.x.jpg", "fox/2.jpg")
    with pytest.warns(UserWarning, match="no pictures in dog, eel: left out"):
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
    with pytest.warns(UserWarning, match="no pictures in loop"):
        pictures = read_folder(root)
    assert len(pictures) == 1


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


def test_a_split_without_labels_is_left_out(write):
    root = write("train/cat/1.jpg", "test/1.jpg", "test/2.jpg")
    with pytest.warns(UserWarning, match="test: 2 pictures without labels: left out"):
        pictures = read_folder(root)
    assert labelled(pictures, root) == [("train/cat/1.jpg", "cat")]


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
        with pytest.warns(FolderWarning, match="2021 and DCIM are no labels: the names of dates"):
            pictures = read_folder(root)
        assert pictures.names == ("Rex", "東京")
        files = [path.relative_to(root).as_posix() for path in pictures.sources]
        words = [[pictures.names[i] for i in np.flatnonzero(row)] for row in pictures.labels]
        assert dict(zip(files, words, strict=True)) == {
            "2021/a.jpg": [],
            "DCIM/100CANON/d.jpg": [],
            "Rex/b.jpg": ["Rex"],
            "Rex/e.jpg": ["Rex"],
            "東京/c.jpg": ["東京"],
        }
        assert files == sorted(files)

    def test_every_folder_if_asked_for(self, write):
        root = write("2021/a.jpg", "Rex/b.jpg", "DCIM/d.jpg")
        pictures = read_folder(root, every_folder=True)
        assert pictures.names == ("2021", "DCIM", "Rex")
        assert pictures.labels.tolist() == [0, 1, 2]

    def test_nothing_but_dates(self, write):
        root = write("2021/b.jpg", "2020/08/a.jpg", "z.jpg", "2019/c.jpg")
        with pytest.warns(FolderWarning, match="2019, 2020 and 2021 are no labels"):
            pictures = read_folder(root)
        assert (pictures.labels, pictures.names) == (None, ())
        files = [path.relative_to(root).as_posix() for path in pictures.sources]
        assert files == ["2019/c.jpg", "2020/08/a.jpg", "2021/b.jpg", "z.jpg"]
        with pytest.raises(DataError, match="pictures are beside the folders of categories"):
            read_folder(root, every_folder=True)

    def test_digits_are_labels(self, write):
        root = write(
            *(f"{part}/{digit}/1.png" for part in ("train", "test") for digit in range(10))
        )
        pictures = read_folder(root)
        assert pictures.names == tuple(map(str, range(10)))
        assert pictures.labels.tolist() == [*range(10), *range(10)]

    def test_in_splits(self, write):
        root = write("train/cat/1.jpg", "train/2021/2.jpg", "val/2021/3.jpg", "val/dog/4.jpg")
        with pytest.warns(FolderWarning, match="2021 is no label"):
            pictures = read_folder(root)
        assert pictures.names == ("cat", "dog")
        assert pictures.labels.tolist() == [
            [False, False],
            [True, False],
            [False] * 2,
            [False, True],
        ]

    def test_pictures_beside_labels_are_still_refused(self, write):
        root = write("2021/a.jpg", "Rex/b.jpg", "stray.jpg")
        with (
            pytest.warns(FolderWarning),
            pytest.raises(DataError, match=r"\(1, such as stray\.jpg\)"),
        ):
            read_folder(root)

    def test_the_warning_points_at_the_caller(self, write):
        with pytest.warns(FolderWarning) as caught:
            read_folder(write("2021/a.jpg"))
        assert caught[0].filename == __file__


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
    with pytest.warns(UserWarning, match="val: 1 pictures without labels"):
        assert read_imagenet(root).synsets == ("n02123045",)


def test_what_is_not_imagenet(write):
    with pytest.raises(DataError, match="not ImageNet: folders such as n02123045"):
        read_imagenet(write("cat/1.jpg"))


def test_real_pictures(data_folder):
    pictures = read_folder(data_folder / "images" / "tiny")
    assert len(pictures) == 200
    assert np.bincount(pictures.labels).tolist() == [10] * 20
    assert pictures.names[pictures.synsets.index("n02123045")] == "tabby, tabby cat"


def test_kinds_that_are_not_read_are_told(write):
    root = write(
        "cat/1.jpg", "cat/deep/IMG_1.HEIC", "dog/2.heic", "dog/2.png", "dog/x.cr2", "a.txt"
    )
    with pytest.warns(UserWarning, match=r"not read are left out \(1 \.cr2, 2 \.heic\): convert"):
        assert len(read_folder(root)) == 2
