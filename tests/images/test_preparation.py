import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image, ImageOps

from zshash.images.preparation import IMAGENET_MEAN, IMAGENET_SCALE, Preparation

PLAIN = {"mean": 0, "scale": 1, "layout": "nhwc"}


def noise(width, height, seed=0):
    pixels = np.random.RandomState(seed).randint(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


@pytest.mark.parametrize(
    ("width", "height"), [(300, 200), (201, 300), (224, 224), (50, 41), (1, 1), (2000, 21)]
)
@pytest.mark.parametrize("name", ["bicubic", "bilinear", "nearest", "lanczos", "box", "hamming"])
def test_the_middle_square(width, height, name):
    image = noise(width, height)
    expected = ImageOps.fit(image, (97, 97), Image.Resampling[name.upper()])
    prepared = Preparation(size=97, filter=name, **PLAIN)(image)
    assert prepared.dtype == np.float32
    assert_array_equal(prepared, np.asarray(expected, np.float32))


def test_a_margin():
    image = noise(320, 180)
    expected = ImageOps.fit(image, (64, 64), Image.Resampling.BICUBIC, bleed=(1 - 0.875) / 2)
    prepared = Preparation(size=64, crop_fraction=0.875, **PLAIN)(image)
    assert_array_equal(prepared, np.asarray(expected, np.float32))


def test_the_whole_picture():
    image = noise(320, 180)
    expected = image.resize((97, 97), Image.Resampling.BILINEAR)
    prepared = Preparation(size=97, resize="stretch", filter="bilinear", **PLAIN)(image)
    assert_array_equal(prepared, np.asarray(expected, np.float32))


def test_much_larger_pictures_are_nearly_as_if_scaled_at_once():
    smooth = noise(30, 20).resize((1500, 1000), Image.Resampling.BICUBIC)
    expected = ImageOps.fit(smooth, (100, 100), Image.Resampling.BICUBIC)
    prepared = Preparation(size=100, **PLAIN)(smooth)
    assert np.abs(prepared - np.asarray(expected, np.float32)).mean() < 1


@pytest.mark.parametrize("color", ["rgb", "bgr"])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_colours_and_layout(color, layout):
    image = Image.new("RGB", (9, 7), (10, 20, 40))
    mean, scale = (1, 2, 4), (2.0, 4.0, 16.0)
    prepared = Preparation(size=5, mean=mean, scale=scale, color=color, layout=layout)(image)
    seen = (10, 20, 40) if color == "rgb" else (40, 20, 10)
    expected = [(x - m) / s for x, m, s in zip(seen, mean, scale, strict=True)]
    assert prepared.shape == ((3, 5, 5) if layout == "nchw" else (5, 5, 3))
    assert prepared.flags.c_contiguous
    assert_array_equal(prepared[:, 2, 3] if layout == "nchw" else prepared[2, 3], expected)


def test_the_place_of_a_pixel():
    pixels = np.zeros((4, 4, 3), dtype=np.uint8)
    pixels[1, 3, 2] = 255
    prepared = Preparation(size=4, mean=0, scale=255)(Image.fromarray(pixels))
    assert np.argwhere(prepared).tolist() == [[2, 1, 3]]


def test_defaults_are_those_of_imagenet():
    image = noise(224, 224)
    pixels = np.asarray(image, np.float64)
    expected = (pixels - IMAGENET_MEAN) / IMAGENET_SCALE
    assert_allclose(Preparation()(image), expected.transpose(2, 0, 1), atol=1e-5)


def test_thin_pictures():
    n = 20_000_001  # more than float32 can count
    for size, middle in (((n, 1), (n // 2, 0)), ((1, n), (0, n // 2))):
        image = Image.new("RGB", size, (200, 0, 0))
        image.putpixel(middle, (0, 100, 50))
        prepared = Preparation(size=32, **PLAIN)(image)
        assert (prepared == (0, 100, 50)).all()
        image.paste((0, 0, 0), (0, 0, *(max(length // 2, 1) for length in size)))
        prepared = Preparation(size=32, resize="stretch", **PLAIN)(image)[..., 0]
        dark, bright = (prepared[:, :12], prepared[:, 20:])
        if size[0] == 1:
            dark, bright = (prepared[:12], prepared[20:])
        assert (dark.max(), bright.min()) == (0, 200)


def test_thin_pictures_take_no_memory():
    pytest.importorskip("resource")
    program = """
        import resource
        from PIL import Image
        from zshash.images.preparation import Preparation

        image = Image.new("RGB", (10_000_000, 1))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for resize in ("crop", "stretch"):
            Preparation(resize=resize, filter="lanczos")(image)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(found.stdout) * unit < 100e6


def test_equal_settings_are_equal():
    a = Preparation(mean=[1, 2, 3], scale=2, size=np.int64(32))
    b = Preparation(mean=(1.0, 2.0, 3.0), scale=2.0, size=32)
    assert a == b
    assert repr(a) == repr(b)
    assert hash(a) == hash(b)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0}, "size must be a whole number from 1 to 4096, got 0"),
        ({"size": 10**9}, "size must be"),
        ({"size": 2.5}, "size must be"),
        ({"size": True}, "size must be"),
        ({"mean": "grey"}, "mean must be one number or three, got 'grey'"),
        ({"mean": (1, 2)}, "mean must be one number or three"),
        ({"mean": float("nan")}, "mean must be one number or three"),
        ({"mean": None}, "mean must be one number or three"),
        ({"scale": (1, 0, 1)}, "scale divides the pixels and must not be 0"),
        ({"scale": (1, 2, float("inf"))}, "scale must be one number or three"),
        ({"layout": "chw"}, "layout must be one of nchw, nhwc, got 'chw'"),
        ({"color": "grey"}, "color must be one of rgb, bgr, got 'grey'"),
        ({"resize": "pad"}, "resize must be one of crop, stretch, got 'pad'"),
        ({"filter": []}, "filter must be one of nearest, box, .*"),
        ({"crop_fraction": 0}, "crop_fraction must be a number from 0.1 to 1, got 0"),
        ({"crop_fraction": 1.1}, "crop_fraction must be"),
        ({"crop_fraction": "all"}, "crop_fraction must be"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        Preparation(**settings)
