"""Networks in ONNX form, run by ONNX Runtime.

One session serves all threads, and each call runs on the thread that makes it. This is faster than
sharing the work of one call, and the features of a picture do not depend on the rest of its batch.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.images.extractor import Extractor, digest
from zshash.images.onnx_files import read_model
from zshash.images.onnx_runtime import onnxruntime
from zshash.images.outputs import check_pool, pooled, try_out
from zshash.images.preparation import IMAGENET_MEAN, IMAGENET_SCALE, Channels, Preparation

with needs("images"):
    from PIL import Image

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["OnnxExtractor", "onnx_extractor", "open_session"]

FATAL = 4
NUMBER_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}
COLOR_AXIS = {"nchw": 1, "nhwc": 3}


def onnx_extractor(
    path: str | Path,
    *,
    output: str | None = None,
    input: str | None = None,
    pool: str | None = None,
    batch_size: int | None = None,
    size: int | None = None,
    mean: Channels | None = None,
    scale: Channels | None = None,
    layout: str | None = None,
    color: str = "rgb",
    resize: str = "crop",
    filter: str = "bicubic",
    crop_fraction: float = 1.0,
) -> "OnnxExtractor":
    """A network from an ONNX file.

    Parameters
    ----------
    path : path-like
    output : str, optional
        Name of an output, or of any tensor inside the graph, such as the one before the last
        layer. By default the only output.
    input : str, optional
        Name of the input. By default the only input that the output needs.
    pool : {"mean", "first"}, optional
        How to reduce an output of shape (n, tokens, d): mean of the tokens, or first token.
    batch_size : int, optional
        Pictures at a time; by default the fixed batch size of the input, else 4.
    size, layout : optional
        By default as the input's shape says; where that is open, 224 and "nchw".
    mean, scale : float or three floats, optional
        ImageNet's usual values by default. An input of bytes gets the pixels as they are.
    color, resize, filter, crop_fraction
        As in `Preparation`.

    Raises
    ------
    ValueError
        If the file is not a network that takes pictures and gives vectors.
    """
    path = Path(path)
    check_pool(pool)
    model = read_model(path, _as_name(input), _as_name(output))
    session = open_session(model.content, str(path), model.folder)
    try:
        found = _Input(session.get_inputs()[0])
        layout = found.choose_layout(layout)
        mean, scale = found.choose_range(mean, scale)
        preparation = Preparation(
            size=found.choose_size(size, layout),
            mean=mean,
            scale=scale,
            layout=layout,
            color=color,
            resize=resize,
            filter=filter,
            crop_fraction=crop_fraction,
        )
        fingerprint = digest(model.fingerprint, repr(preparation), str(pool))
        return OnnxExtractor(f"onnx:{path}", session, preparation, fingerprint, pool, batch_size)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


class OnnxExtractor(Extractor):
    """A network in ONNX form with one input and one output.

    Parameters
    ----------
    name : str
    session : InferenceSession
    preparation : Preparation
    fingerprint : str
    pool : {"mean", "first"}, optional
    batch_size : int, optional
        By default the fixed batch size of the input, else 4.
    """

    def __init__(
        self,
        name: str,
        session: "InferenceSession",
        preparation: Preparation,
        fingerprint: str,
        pool: str | None = None,
        batch_size: int | None = None,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.side = math.ceil(preparation.size / preparation.crop_fraction)
        self._session = session
        self._input = _Input(session.get_inputs()[0])
        self._preparation = preparation
        self._pool = pool
        self.batch_size = batch_size or self._input.fixed_batch or Extractor.batch_size
        self.dimension = try_out(self)

    def prepare(self, image: Image.Image) -> NDArray[np.float32]:
        """Input of the network for one RGB picture of any size."""
        return self._preparation(image)

    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features (n, dimension) of n prepared pictures."""
        if not len(batch):
            return np.empty((0, self.dimension), dtype=np.float32)
        step = self._input.fixed_batch or len(batch)
        parts = [self._run(batch[start : start + step]) for start in range(0, len(batch), step)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features of at most one fixed batch; a smaller batch is filled up for the network."""
        n_missing = max((self._input.fixed_batch or 0) - len(batch), 0)
        if n_missing:
            batch = np.pad(batch, [(0, n_missing), (0, 0), (0, 0), (0, 0)])
        feed = {self._input.name: batch.astype(self._input.dtype, copy=False)}
        try:
            outputs = self._session.run(None, feed)
        except Exception as error:
            raise ValueError(f"ONNX Runtime can not run it ({_reason(error)})") from error
        features = pooled(outputs[0], self._pool)
        if len(features) != len(batch):
            raise ValueError(f"the network gives {len(features)} vectors for {len(batch)} pictures")
        return features[: len(features) - n_missing]


class _Input:
    """Name, type and shape of the input of a session."""

    def __init__(self, node: Any) -> None:
        shape = list(node.shape)
        if node.type not in NUMBER_TYPES or len(shape) != 4:
            raise ValueError(
                f"its input {node.name} is a {node.type} of shape {shape}, no pictures of "
                "shape (n, 3, height, width)"
            )
        self.name: str = node.name
        self.dtype = NUMBER_TYPES[node.type]
        # a size that is left open is a name or None
        self.shape = [
            length if isinstance(length, int) and length > 0 else None for length in shape
        ]

    @property
    def fixed_batch(self) -> int | None:
        """Number of pictures in a batch if the input fixes it, else None."""
        return self.shape[0]

    def choose_layout(self, layout: str | None) -> str:
        if layout is not None and layout not in tuple(COLOR_AXIS):
            raise ValueError(f"layout must be one of {', '.join(COLOR_AXIS)}, got {layout!r}")
        surely = [name for name, axis in COLOR_AXIS.items() if self.shape[axis] == 3]
        perhaps = [name for name, axis in COLOR_AXIS.items() if self.shape[axis] is None]
        possible = surely or perhaps
        if not possible or (layout or possible[0]) not in possible:
            raise ValueError(
                f"its input of shape {self.shape} takes no pictures of three colours"
                + (f" as {layout}" if layout else "")
            )
        return layout or possible[0]

    def choose_size(self, size: int | None, layout: str) -> int:
        lengths = self.shape[2:] if layout == "nchw" else self.shape[1:3]
        fixed = {length for length in lengths if length is not None}
        if len(fixed) > 1:
            raise ValueError(f"the network takes {lengths} pixels, but only squares are made")
        if size is not None and fixed and list(fixed) != [size]:
            raise ValueError(f"size is {size}, but the network takes {fixed.pop()} pixels")
        return fixed.pop() if fixed else 224 if size is None else size

    def choose_range(
        self, mean: Channels | None, scale: Channels | None
    ) -> tuple[Channels, Channels]:
        if self.dtype is np.uint8:
            if mean is not None or scale is not None:
                raise ValueError("its input takes bytes: leave out mean and scale")
            return 0.0, 1.0
        return (
            IMAGENET_MEAN if mean is None else mean,
            IMAGENET_SCALE if scale is None else scale,
        )


def open_session(content: bytes, origin: str, folder: Path | None = None) -> "InferenceSession":
    """ONNX Runtime session without threads of its own: each call runs on its caller's thread.

    Parameters
    ----------
    content : bytes
        A graph in ONNX form.
    origin : str
        Name of the graph in messages.
    folder : Path, optional
        Folder of the weights that are not in the graph.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = FATAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if folder is not None:
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(folder.resolve())
        )
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class of their own
        message = f"{origin}: ONNX Runtime can not load it ({_reason(error)})"
        raise ValueError(message) from error


def _as_name(name: Any) -> str | None:
    """Name of a tensor as text; many names are numbers."""
    return None if name is None else str(name)


def _reason(error: Exception) -> str:
    """Message of ONNX Runtime, in one line and without the number of the error."""
    text = " ".join(str(error).split())
    return text.rpartition(" : ")[2][:200]
