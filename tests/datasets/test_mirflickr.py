import pytest

from zshash.datasets import DataError, read_mirflickr
from zshash.datasets.mirflickr import is_mirflickr

TAGS = {
    "sky.txt": "1\n3\n10\n",
    "plant_life.txt": "3\n\n25000\n",
    "baby.txt": "",
    "sky_r1.txt": "10\n",
    "README.txt": "about the tags, 1 of 2",
    "._sky.txt": "\0",
}


@pytest.fixture
def write(tmp_path):
    def write(pictures=".", annotations="annotations", numbers=(10, 1, 3, 2), **tags):
        for number in numbers:
            path = tmp_path / pictures / f"im{number}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        (tmp_path / pictures / "doc").mkdir(exist_ok=True)
        for name, content in (TAGS | {f"{tag}.txt": text for tag, text in tags.items()}).items():
            path = tmp_path / annotations / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path / pictures

    return write


PLACES = [
    (".", "annotations"),
    (".", "mirflickr25k_annotations_v080"),
    ("mirflickr", "mirflickr25k_annotations"),
    ("mirflickr", "mirflickr/annotations"),
    ("mirflickr", "mirflickr"),
]


@pytest.mark.parametrize(("pictures", "annotations"), PLACES)
@pytest.mark.parametrize("above", [True, False])
def test_tags_as_a_matrix(write, tmp_path, pictures, annotations, above):
    folder = write(pictures, annotations)
    folder = tmp_path if above else folder
    assert is_mirflickr(folder)
    found = read_mirflickr(str(folder))
    assert [path.name for path in found.sources] == ["im1.jpg", "im2.jpg", "im3.jpg", "im10.jpg"]
    assert found.names == ("baby", "plant_life", "sky")
    assert found.labels.dtype == bool
    assert found.labels.astype(int).tolist() == [[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 1]]


def test_relevant_tags_alone(write):
    found = read_mirflickr(write(), relevant=True)
    assert found.names == ("sky",)
    assert found.labels[:, 0].tolist() == [False, False, False, True]


@pytest.mark.parametrize("line", ["25001", "0", "-1", "im1", "1 2", "1.0", "٣", "9" * 5000])
def test_a_number_that_no_picture_has(write, line):
    folder = write(sky=f"1\n{line}\n3\n")
    with pytest.raises(DataError, match=r"sky\.txt: line 2: '.*' is no number of a picture"):
        read_mirflickr(folder)


def test_nothing_there(tmp_path):
    with pytest.raises(DataError, match=r"there are no pictures such as im1\.jpg"):
        read_mirflickr(tmp_path)
    (tmp_path / "im1.jpg").touch()
    with pytest.raises(DataError, match="there is no folder of annotations: unpack"):
        read_mirflickr(tmp_path)
    assert not is_mirflickr(tmp_path)


def test_boxes_of_other_people_are_not_tags(tmp_path):
    (tmp_path / "annotations").mkdir()
    (tmp_path / "im1.jpg").touch()
    (tmp_path / "annotations" / "im1.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    assert not is_mirflickr(tmp_path)
