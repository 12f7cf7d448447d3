"""Networks by name: the function that makes each kind, and its options."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from zshash.images.extractor import Extractor

__all__ = ["DEFAULT", "FORMS", "extractor", "fetches"]

DEFAULT = "efficientnet-lite0"


class _Kind(NamedTuple):
    """Kind of network: a function that makes its extractors, imported when needed."""

    form: str
    about: str
    module: str
    function: str
    fetches: bool = False

    def load(self) -> Callable[..., Extractor]:
        function: Callable[..., Extractor] = getattr(
            import_module(f"zshash.images.{self.module}"), self.function
        )
        return function


KINDS = {
    DEFAULT: _Kind(
        DEFAULT,
        "EfficientNet-Lite0, 1280 numbers; comes with the extra 'images'",
        "efficientnet",
        "efficientnet_lite0",
    ),
    "efficientnet-lite2": _Kind(
        "efficientnet-lite2",
        "EfficientNet-Lite2, 1280 numbers, larger and slower; comes with the extra 'lite2'",
        "efficientnet",
        "efficientnet_lite2",
    ),
    "onnx": _Kind(
        "onnx:FILE",
        "a network in ONNX form",
        "onnx_network",
        "onnx_extractor",
    ),
    "torchvision": _Kind(
        "torchvision:NETWORK[.LAYER]",
        "of torchvision, such as torchvision:alexnet.fc7",
        "torchvision_network",
        "torchvision_extractor",
        fetches=True,
    ),
    "timm": _Kind(
        "timm:NETWORK",
        "of timm, such as timm:resnet50.a1_in1k",
        "timm_network",
        "timm_extractor",
        fetches=True,
    ),
    "open_clip": _Kind(
        "open_clip:NETWORK/WEIGHTS",
        "of OpenCLIP, such as open_clip:ViT-B-32/laion2b_s34b_b79k",
        "open_clip_network",
        "open_clip_extractor",
        fetches=True,
    ),
    "pixels": _Kind(
        "pixels:SIDE",
        "no network: SIDE × SIDE grey values, such as pixels:8 for digits",
        "pixels",
        "pixel_extractor",
    ),
}
FORMS = {kind.form: kind.about for kind in KINDS.values()}
"""Forms that a name may have, each with a few words about it."""


def extractor(name: str = DEFAULT, **options: Any) -> Extractor:
    """A network that turns pictures into features.

    Parameters
    ----------
    name : str
        "efficientnet-lite0", "efficientnet-lite2", "onnx:FILE", "torchvision:NETWORK[.LAYER]",
        "timm:NETWORK", "open_clip:NETWORK/WEIGHTS" or "pixels:SIDE".
    **options
        Options of the network. All have `batch_size`. Of ONNX files: `output`, `input`, `pool`,
        `size`, `mean`, `scale`, `layout`, `color`, `resize`, `filter`, `crop_fraction`. Of
        torchvision, timm and OpenCLIP: `weights`, `device`. Of pixels: `invert`,
        `margins`.

    Raises
    ------
    ValueError
        If there is no such network or option.
    MissingExtra
        If the network needs a package that is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> network = extractor("efficientnet-lite0")
    >>> network
    <extractor efficientnet-lite0: 1280 dimensions>
    >>> network.extract(np.zeros((2, 32, 32, 3), dtype=np.uint8)).shape
    (2, 1280)
    """
    key, colon, rest = name.partition(":")
    kind = KINDS.get(key)
    if kind is None or bool(colon) != (":" in kind.form) or bool(rest) != bool(colon):
        raise ValueError(f"no network {name!r}{_near(name)}; there are {', '.join(FORMS)}")
    function = kind.load()
    _check_options(kind.form, function, options)
    return function(rest, **options) if colon else function(**options)


def fetches(name: str) -> bool:
    """Whether the weights of a network are downloaded, unless an option names a file of them.

    >>> fetches("timm:resnet50"), fetches("onnx:model.onnx")
    (True, False)
    """
    kind = KINDS.get(name.partition(":")[0])
    return kind is not None and kind.fetches


def _near(name: str) -> str:
    if name.lower().endswith(".onnx"):
        return f" (did you mean 'onnx:{name}'?)"
    key, colon, rest = name.partition(":")
    if key in KINDS:
        return f" (write {KINDS[key].form})"
    known = key.lower() in KINDS
    near = [key.lower()] if known else sorted(get_close_matches(key.lower(), KINDS, n=2))
    meant = " or ".join(repr(each + colon + rest) for each in near)
    return f" (did you mean {meant}?)" if near else ""


def _check_options(form: str, function: Callable[..., Extractor], options: dict[str, Any]) -> None:
    parameters = inspect.signature(function).parameters.values()
    known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    unknown = sorted(options.keys() - set(known))
    if unknown:
        raise ValueError(f"{form} has no option {', '.join(unknown)}; it has {', '.join(known)}")
    size = options.get("batch_size")
    if size is not None and (type(size) is not int or size < 1):
        raise ValueError(f"batch_size must be a whole number above 0, got {size!r}")
