import numpy as np
import pytest
from PIL import Image

from tests.images.scenes import cropped, jpeg, saved, scene
from zshash.codes import hamming
from zshash.images.decoding import decode
from zshash.images.prints import CROPS, EMPTY, PRINT_BITS, cropped_prints, fingerprint, shades

SEEDS = range(12)


def bits_between(one, other):
    codes = [np.frombuffer(code, dtype=np.uint8)[None] for code in (one, other)]
    return int(hamming(*codes)[0, 0])


def of(image):
    return fingerprint(image)


@pytest.mark.parametrize(
    "change",
    [
        lambda image: image.resize((60, 45)),
        lambda image: image.resize((600, 450)),
        lambda image: image.resize((100, 100)),
        lambda image: jpeg(image, 30),
        lambda image: decode(saved(image, "WEBP", quality=40)),
        lambda image: image.point(lambda shade: 0.9 * shade),
        lambda image: image.convert("L").convert("RGB"),
    ],
    ids=["small", "large", "stretched", "jpeg", "webp", "darker", "grey"],
)
def test_copies_have_nearly_the_same_print(change):
    for seed in SEEDS:
        image = scene(seed)
        assert bits_between(of(image), of(change(image))) <= 6


def test_other_pictures_have_other_prints():
    prints = [of(scene(seed)) for seed in range(30)]
    nearest = min(bits_between(a, b) for i, a in enumerate(prints) for b in prints[:i])
    assert nearest > 12


def test_bits_are_balanced():
    prints = np.array([list(of(scene(seed))) for seed in range(60)], dtype=np.uint8)
    share = np.unpackbits(prints, axis=1).mean(axis=0)
    assert len(share) == PRINT_BITS
    assert 0.2 < share.min() <= share.max() < 0.8


def test_the_note_of_the_camera_turns_a_picture_upright():
    image = scene(3)
    exif = Image.Exif()
    exif[274] = 6
    lying = saved(image.transpose(Image.Transpose.ROTATE_90), quality=90, exif=exif)
    assert bits_between(of(image), of(decode(lying))) <= 4


@pytest.mark.parametrize("shade", ["white", "black", "#804020"])
def test_a_picture_without_structure_has_an_empty_print(shade):
    assert of(Image.new("RGB", (90, 70), shade)) == EMPTY
    assert len(EMPTY) * 8 == PRINT_BITS


def test_a_picture_of_one_pixel():
    assert of(Image.new("RGB", (1, 1), "red")) == EMPTY


def test_a_part_that_is_missing_makes_no_bit_random():
    """Of a picture that is the same from left to right, whole rows of frequencies are zero."""
    stripes = Image.fromarray(np.repeat(np.arange(0, 240, 8, dtype=np.uint8)[:, None], 40, axis=1))
    stripes = stripes.convert("RGB")
    assert bits_between(of(stripes), of(jpeg(stripes.resize((333, 222)), 60))) <= 3


@pytest.mark.parametrize("place", [0, 7, 14, 21, 35])
def test_prints_after_a_crop(place):
    for seed in SEEDS:
        image = scene(seed, (400, 300))
        left, top, right, bottom = CROPS[place]
        guessed = cropped_prints(shades(image)[None])[0, place].tobytes()
        assert bits_between(guessed, of(cropped(image, left, top, right, bottom))) <= 7


def test_the_first_crop_cuts_off_nothing():
    squares = np.stack([shades(scene(seed)) for seed in SEEDS])
    whole = cropped_prints(squares)[:, 0]
    assert [own.tobytes() for own in whole] == [of(scene(seed)) for seed in SEEDS]


def test_no_pictures():
    assert cropped_prints(np.empty((0, 32, 32), dtype=np.uint8)).shape == (0, len(CROPS), 8)
