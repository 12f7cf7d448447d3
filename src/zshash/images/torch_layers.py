"""Last layers of PyTorch's classifiers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.images.torch_extractor import load_torch

__all__ = ["feeds", "fill", "last_linear", "weights_and_biases"]


def last_linear(module: Any) -> str | None:
    """Name of the last linear layer, or None."""
    nn = load_torch().nn
    linear = [name for name, part in module.named_modules() if isinstance(part, nn.Linear)]
    return linear[-1] if linear else None


def feeds(module: Any, layer: str, last: str) -> bool:
    """Whether the last layer takes the output of `layer`, both being parts of one sequence.

    Dropout between them does nothing, as the network is not trained here.
    """
    nn = load_torch().nn
    folder, _, last = last.rpartition(".")
    parent, _, first = layer.rpartition(".")
    parts = module.get_submodule(folder)
    children = parts.named_modules(remove_duplicate=False)
    names = [name for name, _ in children if name and "." not in name]
    if parent != folder or first not in names or not isinstance(parts, nn.Sequential):
        return False
    start, end = names.index(first), names.index(last)
    return start < end and all(isinstance(part, nn.Dropout) for part in parts[start + 1 : end])


def fill(module: Any, state: Mapping[str, Any], prefix: str = "") -> bool:
    """Load weights into a layer or network if all of them are there and have the right shapes.

    Parameters
    ----------
    module : torch.nn.Module
    state : mapping of str to tensor
    prefix : str
        What names in `state` have in front of the names in the module.

    Returns
    -------
    bool
        Whether the weights were loaded.
    """
    own = module.state_dict()
    found = {name: state.get(f"{prefix}{name}") for name in own}
    if any(getattr(found[name], "shape", None) != own[name].shape for name in own):
        return False
    module.load_state_dict(found)
    return True


def weights_and_biases(last: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights (c, d) and biases (c,) of a linear layer, or of a convolution of single pixels."""
    weights = last.weight.detach().float().cpu().flatten(1).numpy()
    if last.bias is None:
        return weights, np.zeros(len(weights), dtype=np.float32)
    return weights, last.bias.detach().float().cpu().numpy()
