import numpy as np
import pytest
from PIL import Image, ImageEnhance

from tests.images.scenes import cropped, jpeg, scene, with_a_blot
from zshash.images.decoding import decode
from zshash.images.likeness import are_same, difference

SEEDS = range(6)


def small(image):
    image = image.copy()
    image.thumbnail((128, 128))
    return jpeg(image, 80)


def is_copy(copy, image, edges=(0, 0, 1, 1)):
    return are_same(difference(small(copy), small(image), edges))


COPIES = {
    "as it is": lambda image: image,
    "small": lambda image: image.resize((60, 45)),
    "large": lambda image: image.resize((700, 525)),
    "compressed": lambda image: jpeg(image, 30),
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.1),
    "darker": lambda image: ImageEnhance.Brightness(image).enhance(0.9),
    "more contrast": lambda image: ImageEnhance.Contrast(image).enhance(1.1),
}
OTHERS = {
    "something came in": with_a_blot,
    "something of another colour": lambda image: with_a_blot(image, "red"),
    "other colours": lambda image: Image.merge("RGB", image.split()[::-1]),
    "mirrored": lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    "negative": lambda image: image.point(lambda shade: 255 - shade),
    "half as bright": lambda image: ImageEnhance.Brightness(image).enhance(0.5),
}


@pytest.mark.parametrize("change", COPIES)
def test_copies(change):
    for seed in SEEDS:
        image = scene(seed)
        assert is_copy(COPIES[change](image), image)
        assert is_copy(image, COPIES[change](image))


@pytest.mark.parametrize("change", OTHERS)
def test_no_copies(change):
    for seed in SEEDS:
        image = scene(seed)
        assert not is_copy(OTHERS[change](image), image)


@pytest.mark.parametrize("crop", [(0.05, 0, 0, 0.05), (0.1, 0.1, 0.1, 0.1), (0, 0.02, 0.08, 0)])
def test_crops_that_are_known_roughly(crop):
    left, top, right, bottom = crop
    edges = np.clip([left - 0.02, top + 0.02, 1 - right + 0.02, 1 - bottom - 0.02], 0, 1)
    for seed in SEEDS:
        image = scene(seed, (400, 300))
        copy = cropped(image, *crop)
        assert is_copy(copy, image, edges)
        assert not is_copy(with_a_blot(copy), image, edges)


def test_different_pictures():
    images = [scene(seed) for seed in range(8)]
    assert not any(is_copy(one, other) for one in images for other in images if one is not other)


def test_flat_pictures_agree_in_nothing():
    grey, white = Image.new("RGB", (90, 60), "#808080"), Image.new("RGB", (90, 60), "#848484")
    assert not is_copy(grey, white)


def test_what_was_cut_off_at_white_is_no_difference():
    paper = Image.new("RGB", (200, 150), "white")
    paper.paste(scene(1, (100, 75)), (50, 40))
    assert is_copy(ImageEnhance.Brightness(paper).enhance(1.1), paper)
    assert is_copy(paper, ImageEnhance.Brightness(paper).enhance(1.1))


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 2), (5, 5)])
def test_tiny_pictures_are_compared_without_an_error(size):
    image = decode(np.random.RandomState(0).randint(0, 256, (*size[::-1], 3), dtype=np.uint8))
    assert not are_same(difference(image, scene(0)))
