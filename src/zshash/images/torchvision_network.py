"""Networks of torchvision."""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from zshash._extras import needs
from zshash.images.categories import Categories
from zshash.images.imagenet import imagenet_categories, imagenet_ids
from zshash.images.torch_extractor import (
    DEFAULT,
    RANDOM,
    TorchExtractor,
    check_weights,
    load_torch,
    load_weights,
    make,
)
from zshash.images.torch_layers import feeds, fill, last_linear, weights_and_biases
from zshash.images.torch_libraries import check_known, labelled, quiet

__all__ = ["torchvision_extractor"]

FULLY_CONNECTED = ("fc6", "fc7")
LAYER = "layer"


def torchvision_extractor(
    name: str,
    *,
    weights: Any = DEFAULT,
    device: str | None = None,
    batch_size: int | None = None,
    pool: str | None = None,
) -> TorchExtractor:
    """A network of torchvision, up to a layer.

    Parameters
    ----------
    name : str
        Such as "alexnet.fc7", the network and a layer of it: "fc6" and "fc7" of AlexNet and VGG
        (behind the ReLU), or a node as torchvision's ``create_feature_extractor`` names it.
        Without a layer, the network without its last linear layer.
    weights : "default", "random" or path-like
        Weights that torchvision fetches, random numbers, or a file with a state dictionary. The
        extractor has `categories` if the weights have a last linear layer of 1,000 categories,
        which are taken for ImageNet's, and if that layer takes the features, as of "fc7".
    device : str, optional
        "cuda" where there is one, else "cpu".
    batch_size : int, optional
        Pictures at a time; 32 by default.
    pool : {"mean", "first"}, optional
        How to reduce an output of shape (n, tokens, d): mean of the tokens, or first token.
    """
    with needs("torch"):
        import torchvision
    check_weights(weights)
    network, _, layer = name.partition(".")
    label = f"torchvision:{name}"
    check_known(label, network, torchvision.models.list_models(module=torchvision.models))
    with quiet():
        full = make(label, weights, lambda fetch: _create(network, fetch)).eval()
    with labelled(label):
        layer = _full_name(full, layer)
        last = _last_layer(full, layer)
        module = _up_to(full, layer) if layer else _without_last_linear(full)
        rest = load_weights(module, weights)
        described = torchvision.models.get_model_weights(network).DEFAULT
        transform = described.transforms()
        return TorchExtractor(
            label,
            module,
            (lambda pixels: module(pixels)[LAYER]) if layer else module,
            transform,
            side=max(transform.resize_size),
            device=device,
            batch_size=batch_size,
            pool=pool,
            find_categories=_find_categories(last, weights, rest, described.meta),
        )


def _create(name: str, fetch: bool) -> Any:
    from torchvision.models import get_model

    if fetch:
        return get_model(name, weights="DEFAULT", progress=sys.stderr.isatty())
    return get_model(name, weights=None)


def _last_layer(module: Any, layer: str) -> tuple[str, Any] | None:
    """Name and part of the last linear layer, if the features are what it takes."""
    name = last_linear(module)
    if name is None or (layer and not feeds(module, layer, name)):
        return None
    return name, module.get_submodule(name)


def _find_categories(
    last: tuple[str, Any] | None, weights: Any, rest: Mapping[str, Any], meta: Mapping[str, Any]
) -> Callable[[TorchExtractor], Categories | None] | None:
    """Function that finds the categories, or None; `rest` is what else a file of weights has."""
    if last is None or weights == RANDOM:
        return None
    name, part = last
    if weights == DEFAULT:
        return lambda network: _categories(network.name, part, meta["categories"])
    if not fill(part, rest, f"{name}."):
        return None
    return lambda network: _categories(network.name, part, None)


def _without_last_linear(module: Any) -> Any:
    last = last_linear(module)
    if last is None:
        raise ValueError("it has no linear layer to leave out; name a layer behind a dot")
    module.set_submodule(last, load_torch().nn.Identity())
    return module


def _up_to(module: Any, layer: str) -> Any:
    from torchvision.models.feature_extraction import (
        create_feature_extractor,
        get_graph_node_names,
    )

    nodes = get_graph_node_names(module, suppress_diff_warning=True)[1]
    if not any(f"{node}.".startswith(f"{layer}.") for node in nodes):
        near = get_close_matches(layer, nodes, n=5, cutoff=0.4) or nodes[-5:]
        raise ValueError(f"no layer {layer!r}; near: {', '.join(near)}")
    return create_feature_extractor(module, {layer: LAYER}, suppress_diff_warning=True)


def _full_name(module: Any, layer: str) -> str:
    """Full name of a layer: "fc6" and "fc7" are short names in AlexNet and VGG."""
    nn = load_torch().nn
    parts = getattr(module, "classifier", None)
    if layer not in FULLY_CONNECTED or not isinstance(parts, nn.Sequential):
        return layer
    places = [n for n, part in enumerate(parts) if isinstance(part, nn.ReLU)]
    if len(places) != len(FULLY_CONNECTED):
        return layer
    return f"classifier.{places[FULLY_CONNECTED.index(layer)]}"


def _categories(label: str, last: Any, names: Sequence[str] | None) -> Categories | None:
    """Categories of a network of torchvision.

    Parameters
    ----------
    label : str
        Name of the network in messages.
    last : torch.nn.Linear
        The last layer, with its weights.
    names : sequence of str, optional
        Names of the categories, where the network's weights tell them.

    Returns
    -------
    Categories or None
        None where there are not as many categories as in ImageNet: nobody says what they are.
    """
    directions, biases = weights_and_biases(last)
    if len(directions) != len(imagenet_ids()):
        return None
    with labelled(label):
        return imagenet_categories(directions, biases, names=names)
