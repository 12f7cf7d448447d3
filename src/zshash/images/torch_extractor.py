"""Networks that PyTorch runs, and weights for them from files."""

import hashlib
import re
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.images.categories import Categories, TextTower
from zshash.images.extractor import Extractor, digest
from zshash.images.outputs import check_pool, pooled, try_out
from zshash.images.torch_text import TorchText

with needs("images"):
    from PIL import Image

__all__ = [
    "DEFAULT",
    "RANDOM",
    "TorchExtractor",
    "check_weights",
    "load_torch",
    "load_weights",
    "make",
]

DEFAULT, RANDOM = "default", "random"
WRAPPERS = ("state_dict", "model")
MOST_ELONGATED = 10
BATCH_SIZE = 32


def load_torch() -> Any:
    """PyTorch, imported when it is needed."""
    with needs("torch"):
        import torch
    return torch


class TorchExtractor(Extractor):
    """A network that PyTorch runs.

    Parameters
    ----------
    name : str
    module : torch.nn.Module
        The network, with its weights.
    forward : callable
        Function from prepared pictures to features, which calls the module.
    transform : callable
        The network's own preparation, from a picture to a tensor.
    side : int
        Size of the pictures that the transform needs.
    device : str, optional
        "cuda" where there is one, else "cpu".
    batch_size : int, optional
        Pictures at a time; 32 by default.
    pool : {"mean", "first"}, optional
        How to reduce an output of shape (n, tokens, d): mean of the tokens, or first token.
    find_categories : callable, optional
        Function from this extractor to its categories, called when they are first asked for.
    encode_text : callable, optional
        Function from a list of texts to a tensor with a row for each, which calls the module.
    """

    def __init__(
        self,
        name: str,
        module: Any,
        forward: Callable[[Any], Any],
        transform: Callable[[Any], Any],
        *,
        side: int = 0,
        device: str | None = None,
        batch_size: int | None = None,
        pool: str | None = None,
        find_categories: Callable[["TorchExtractor"], Categories | None] | None = None,
        encode_text: Callable[[list[str]], Any] | None = None,
    ) -> None:
        check_pool(pool)
        self.name = name
        self.side = side
        self.batch_size = batch_size or BATCH_SIZE
        self._device = _device(device)
        self._module = module.to(self._device).eval()
        self._forward = forward
        self._transform = transform
        self._pool = pool
        self._find_categories = find_categories
        self._encode_text = encode_text
        self._lock = threading.Lock()
        self.dimension = try_out(self)
        weights = _digest_weights(module.state_dict())
        self.fingerprint = digest(name, str(pool), weights, _without_addresses(repr(transform)))

    @cached_property
    def categories(self) -> Categories | None:
        """What the network was trained to tell apart, if that is known."""
        return None if self._find_categories is None else self._find_categories(self)

    @cached_property
    def text(self) -> TextTower | None:
        """The part of the network that reads texts, if it has one."""
        encode = self._encode_text
        if encode is None:
            return None
        return TorchText(lambda texts: self._call(encode, texts), self.dimension)

    def prepare(self, image: Image.Image) -> NDArray[np.float32]:
        """Input of the network for one RGB picture of any size."""
        return np.asarray(self._transform(_shortened(image)), dtype=np.float32)

    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features (n, dimension) of n prepared pictures; one batch at a time, on all cores."""
        if not len(batch):
            return np.empty((0, self.dimension), dtype=np.float32)
        torch = load_torch()
        writable = np.require(batch, requirements=["C", "W"])  # PyTorch warns of read-only arrays
        values = self._call(
            lambda pixels: self._forward(torch.from_numpy(pixels).to(self._device)), writable
        )
        return pooled(values, self._pool)

    def _call(self, function: Callable[[Any], Any], inputs: Any) -> NDArray[np.float32]:
        """Output of a function that calls the module; one call at a time."""
        torch = load_torch()
        with self._lock, torch.inference_mode():
            values = function(inputs)
            if not isinstance(values, torch.Tensor):
                raise ValueError(f"the network gives a {type(values).__name__} instead of numbers")
            numbers: NDArray[np.float32] = values.float().cpu().numpy()
            return numbers


def _device(device: str | None) -> Any:
    torch = load_torch()
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except Exception as error:  # each device has errors of its own
        raise ValueError(f"device {device!r} is not available; cpu always is") from error
    return chosen


def _shortened(image: Image.Image) -> Image.Image:
    """The middle of a very thin picture: scaled by its shorter side it would become huge."""
    longest = MOST_ELONGATED * min(image.size)
    if max(image.size) <= longest:
        return image
    width, height = (min(length, longest) for length in image.size)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def _digest_weights(state: Mapping[str, Any]) -> str:
    total = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        plain = tensor.detach().cpu().contiguous().reshape(-1).view(load_torch().uint8)
        total.update(plain.numpy())
    return total.hexdigest()


def _without_addresses(text: str) -> str:
    """A description that is the same in every process.

    >>> _without_addresses("Lambda(<function rgb at 0x7f2a>)")
    'Lambda(<function rgb>)'
    """
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def check_weights(weights: Any) -> None:
    """Raise ValueError unless `weights` is "default", "random" or an existing file."""
    if weights not in (DEFAULT, RANDOM) and not Path(str(weights)).is_file():
        raise ValueError(f"weights must be {DEFAULT!r}, {RANDOM!r} or a file, got {str(weights)!r}")


def make(name: str, weights: Any, create: Callable[[bool], Any]) -> Any:
    """Make a network with `create`, a function that takes whether to fetch the weights.

    A network without fetched weights starts from random numbers, which are always the same.
    """
    torch = load_torch()
    try:
        if weights == DEFAULT:
            return create(True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return create(False)
    except Exception as error:  # the libraries have many ways to fail at this
        reason = " ".join(str(error).split())[:200]
        if weights != DEFAULT:
            raise ValueError(f"{name}: can not be made ({reason})") from error
        raise ValueError(
            f"{name}: its weights could not be fetched ({reason}); give a file of them as weights="
        ) from error


def load_weights(module: Any, weights: Any) -> dict[str, Any]:
    """Load weights into a network, if `weights` is a file.

    Returns
    -------
    dict of str to Any
        Other weights in the file, such as the last layer of a classifier.
    """
    if weights in (DEFAULT, RANDOM):
        return {}
    path = Path(weights)
    state, own = _read_state(path), module.state_dict()
    missing = [key for key in own if key not in state and not key.endswith("num_batches_tracked")]
    if missing:
        raise ValueError(f"{path}: not weights of this network ({missing[0]} is missing)")
    for key in own.keys() & state.keys():
        if own[key].shape != getattr(state[key], "shape", None):
            raise ValueError(f"{path}: not weights of this network ({key} has another shape)")
    module.load_state_dict({key: state[key] for key in own if key in state}, strict=False)
    return {key: value for key, value in state.items() if key not in own}


def _read_state(path: Path) -> dict[str, Any]:
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            state = load_file(path)
        else:
            state = load_torch().load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # meaningless bytes can make it raise any error
        raise ValueError(f"{path}: not a file of weights, or damaged") from error
    for wrapper in WRAPPERS:
        if isinstance(state, dict) and isinstance(state.get(wrapper), dict):
            state = state[wrapper]
    if not isinstance(state, dict):
        raise ValueError(f"{path}: no dictionary of weights")
    return {str(key).removeprefix("module."): value for key, value in state.items()}
