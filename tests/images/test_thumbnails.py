from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from tests.images.scenes import scene
from zshash.images.colours import to_srgb
from zshash.images.decoding import decode
from zshash.images.thumbnails import MOST_BYTES, fitted, media_type, shrunk, size_of, thumbnail

sides = st.integers(1, 70_000)


def opened(content):
    return Image.open(BytesIO(content))


@given(sides, sides, st.sampled_from([1, 8, 128, 320, 1600]))
def test_sizes_that_fit(width, height, side):
    wide, high = fitted(width, height, side)
    assert 1 <= wide <= width
    assert 1 <= high <= height
    assert max(wide, high) <= 16383
    assert wide * high <= max(side**2, 16383) * 1.1 + max(wide, high)
    if max(width, height) <= side:
        assert (wide, high) == (width, height)
    else:
        assert max(wide, high) >= min(side, 16383)
    if min(wide, high) >= 20:  # else whole pixels are too coarse
        assert wide / high == pytest.approx(width / height, rel=0.06)


@pytest.mark.parametrize(
    ("size", "small"),
    [
        ((64, 64), (64, 64)),
        ((4000, 3000), (320, 240)),
        ((3000, 4000), (240, 320)),
        ((4000, 400), (320, 32)),
        ((4000, 100), (1280, 32)),
        ((4000, 3), (4000, 3)),
        ((1, 5000), (1, 5000)),
    ],
)
def test_thin_pictures_are_neither_blurred_nor_lost(size, small):
    assert opened(thumbnail(Image.new("RGB", size, "navy"))).size == small


def noise(width, height, n=256):
    values = np.random.RandomState(0).randint(0, n, (height, width, 3)) * (255 // (n - 1))
    return Image.fromarray(values.astype(np.uint8))


@pytest.mark.parametrize(
    "image", [scene(1), noise(320, 240), noise(900, 900, 2), noise(3200, 32, 2), noise(160, 160)]
)
def test_thumbnails_have_few_bytes(image):
    content = thumbnail(image)
    assert len(content) <= MOST_BYTES
    assert opened(content).format == "WEBP"


def test_small_pictures_stay_fine():
    image = noise(64, 64)
    small = np.asarray(opened(thumbnail(image)).convert("L"), dtype=float)
    assert np.abs(small - np.asarray(image.convert("L"))).mean() < 8


def test_notes_are_left_out():
    image = scene(2)
    image.info = {"exif": b"Exif\0\0secret", "comment": b"secret", "icc_profile": b"secret"}
    content = thumbnail(image)
    assert b"secret" not in content
    assert not opened(content).info.keys() & {"exif", "icc_profile", "xmp"}


def wide_profile():
    """Profile in which the first and the second colour of sRGB have changed places."""
    content = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = content.index(b"rXYZ"), content.index(b"gXYZ")
    content[red], content[green] = content[green], content[red]
    return bytes(content).replace(b"sRGB", b"GRBs").replace("sRGB".encode("utf-16-be"), bytes(8))


FORMS = [("JPEG", {"quality": 95, "subsampling": 0}), ("PNG", {}), ("TIFF", {}), ("WEBP", {})]


@pytest.mark.parametrize(("form", "options"), FORMS)
def test_colours_are_those_of_srgb(form, options):
    file = BytesIO()
    Image.new("RGB", (40, 30), (200, 40, 40)).save(
        file, form, icc_profile=wide_profile(), **options
    )
    plain = decode(file.getvalue())
    assert np.abs(np.asarray(plain, dtype=int) - [200, 40, 40]).max() < 8  # networks see these
    turned = np.asarray(shrunk(plain, 320), dtype=int)
    assert np.abs(turned - [40, 200, 40]).max() < 12
    assert to_srgb(plain).size == plain.size


@pytest.mark.parametrize(
    "profile",
    [b"", b"no profile", bytes(200), b"\0" * 12 + b"mntrRGB " + b"\0" * 16 + b"acsp" + bytes(500)],
)
def test_profiles_that_make_no_sense_are_left_aside(profile):
    image = scene(3)
    image.info = {"icc_profile": profile}
    assert to_srgb(image) is image


@given(st.binary(max_size=60), st.integers(0, 500))
def test_damaged_profiles_stop_nothing(noise, place):
    content = bytearray(wide_profile())
    content[place : place + len(noise)] = noise
    image = Image.new("RGB", (4, 4), "red")
    image.info = {"icc_profile": bytes(content)}
    assert to_srgb(image).size == (4, 4)


def test_sizes_and_types_from_the_first_bytes():
    image = scene(1)
    for form, kind in (("WEBP", "image/webp"), ("JPEG", "image/jpeg")):
        file = BytesIO()
        image.save(file, form)
        content = file.getvalue()
        assert (media_type(content), size_of(content[:1024])) == (kind, image.size)
        assert all(size_of(content[:n]) in (None, image.size) for n in range(0, 200, 3))
    assert size_of(b"here is no picture") is None
