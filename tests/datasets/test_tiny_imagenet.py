import pytest

from zshash.datasets import DataError, read_folder, read_tiny_imagenet


@pytest.fixture
def tiny(tmp_path):
    """The published layout with three categories."""
    root = tmp_path / "tiny-imagenet-200"
    ids = ["n02124075", "n01443537", "n02123045"]
    (root / "val" / "images").mkdir(parents=True)
    (root / "test" / "images").mkdir(parents=True)
    (root / "test" / "images" / "test_0.JPEG").touch()
    (root / "wnids.txt").write_text("\n".join(ids))
    (root / "words.txt").write_text("n01443537\tgoldfish, Carassius auratus\nn02124075\tcat\n")
    for synset in ids:
        folder = root / "train" / synset / "images"
        folder.mkdir(parents=True)
        for number in (10, 2):
            (folder / f"{synset}_{number}.JPEG").touch()
        (folder.parent / f"{synset}_boxes.txt").write_text("x\t0\t0\t63\t63\n")
    lines = []
    for number, synset in enumerate([*ids, ids[0]]):
        (root / "val" / "images" / f"val_{number}.JPEG").touch()
        lines.append(f"val_{number}.JPEG\t{synset}\t0\t32\t44\t62\n")
    (root / "val" / "val_annotations.txt").write_text("".join(lines))
    return root


@pytest.mark.parametrize("read", [read_tiny_imagenet, read_folder])
def test_training_then_validation(tiny, read):
    pictures = read(tiny)
    assert pictures.synsets == ("n01443537", "n02123045", "n02124075")
    assert pictures.names == ("goldfish, Carassius auratus", "tabby", "cat")
    assert [path.name for path in pictures.sources] == [
        "n01443537_10.JPEG",
        "n01443537_2.JPEG",
        "n02123045_10.JPEG",
        "n02123045_2.JPEG",
        "n02124075_10.JPEG",
        "n02124075_2.JPEG",
        "val_0.JPEG",
        "val_1.JPEG",
        "val_2.JPEG",
        "val_3.JPEG",
    ]
    assert pictures.labels.tolist() == [0, 0, 1, 1, 2, 2, 2, 0, 1, 2]


def test_the_folder_above(tiny):
    assert len(read_tiny_imagenet(tiny.parent)) == 10


def test_validation_pictures_sorted_into_folders(tiny):
    annotations = tiny / "val" / "val_annotations.txt"
    for line in annotations.read_text().splitlines():
        name, synset = line.split("\t")[:2]
        (tiny / "val" / synset).mkdir(exist_ok=True)
        (tiny / "val" / "images" / name).rename(tiny / "val" / synset / name)
    (tiny / "val" / "images").rmdir()
    annotations.unlink()
    pictures = read_tiny_imagenet(tiny)
    assert pictures.labels.tolist() == [0, 0, 1, 1, 2, 2, 0, 1, 2, 2]


def test_a_part_of_the_collection(tiny):
    for path in (tiny / "train" / "n01443537").rglob("*.JPEG"):
        path.unlink()
    (tiny / "val" / "images" / "val_1.JPEG").unlink()
    with pytest.warns(UserWarning, match="no pictures of n01443537: left out"):
        pictures = read_tiny_imagenet(tiny)
    assert pictures.synsets == ("n02123045", "n02124075")
    assert pictures.labels.tolist() == [0, 0, 1, 1, 1, 0, 1]


def test_a_label_that_nobody_knows(tiny):
    with (tiny / "val" / "val_annotations.txt").open("a") as file:
        file.write("val_9.JPEG\tn99999999\t0\t0\t1\t1\n")
    with pytest.raises(DataError, match=r"val_annotations\.txt: line 5: 'n99999999' is not in"):
        read_tiny_imagenet(tiny)


def test_a_picture_without_a_label(tiny):
    (tiny / "val" / "images" / "val_7.JPEG").touch()
    with pytest.raises(DataError, match=r"val_7\.JPEG: not in val_annotations\.txt"):
        read_tiny_imagenet(tiny)


def test_a_folder_that_nobody_knows(tiny):
    (tiny / "train" / "n02084071").mkdir()
    with pytest.raises(DataError, match=r"n02084071: a category that is not in wnids\.txt"):
        read_tiny_imagenet(tiny)


def test_missing_files(tiny):
    (tiny / "val" / "val_annotations.txt").unlink()
    with pytest.raises(DataError, match="there is no such file, so the pictures in val have no"):
        read_tiny_imagenet(tiny)
    (tiny / "wnids.txt").unlink()
    with pytest.raises(DataError, match=r"not Tiny-ImageNet: there is no wnids\.txt"):
        read_tiny_imagenet(tiny)
