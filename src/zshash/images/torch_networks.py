"""Networks of torchvision, timm and OpenCLIP."""

import logging
import math
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from zshash._extras import needs
from zshash._warnings import warn_user
from zshash.images.torch_extractor import (
    DEFAULT,
    TorchExtractor,
    check_weights,
    load_torch,
    load_weights,
    make,
)

__all__ = ["open_clip_extractor", "timm_extractor", "torchvision_extractor"]

FULLY_CONNECTED = ("fc6", "fc7")
LAYER = "layer"
SWITCH = "HF_HUB_DISABLE_TELEMETRY"


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
        Weights that torchvision fetches, random numbers, or a file with a state dictionary.
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
    _check_known(label, network, torchvision.models.list_models(module=torchvision.models))
    with _quiet():
        module = make(label, weights, lambda fetch: _torchvision_network(network, fetch)).eval()
    with _labelled(label):
        module = _up_to(module, layer) if layer else _without_last_linear(module)
        load_weights(module, weights)
        transform = torchvision.models.get_model_weights(network).DEFAULT.transforms()
        return TorchExtractor(
            label,
            module,
            (lambda pixels: module(pixels)[LAYER]) if layer else module,
            transform,
            side=max(transform.resize_size),
            device=device,
            batch_size=batch_size,
            pool=pool,
        )


def _torchvision_network(name: str, fetch: bool) -> Any:
    from torchvision.models import get_model

    if fetch:
        return get_model(name, weights="DEFAULT", progress=sys.stderr.isatty())
    return get_model(name, weights=None)


def _without_last_linear(module: Any) -> Any:
    nn = load_torch().nn
    linear = [name for name, part in module.named_modules() if isinstance(part, nn.Linear)]
    if not linear:
        raise ValueError("it has no linear layer to leave out; name a layer behind a dot")
    module.set_submodule(linear[-1], nn.Identity())
    return module


def _up_to(module: Any, layer: str) -> Any:
    from torchvision.models.feature_extraction import (
        create_feature_extractor,
        get_graph_node_names,
    )

    layer = _full_name(module, layer)
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


def timm_extractor(
    name: str, *, weights: Any = DEFAULT, device: str | None = None, batch_size: int | None = None
) -> TorchExtractor:
    """A network of timm, without its classifier.

    Parameters
    ----------
    name : str
        As in ``timm.list_models()``, with or without the weights' tag: "resnet50.a1_in1k".
    weights, device, batch_size
        As in `torchvision_extractor`.
    """
    _report_nothing()
    with needs("torch"):
        import timm
    check_weights(weights)
    label = f"timm:{name}"
    _check_known(label, name.partition(".")[0], timm.list_models())
    with _quiet():
        module = make(
            label,
            weights,
            lambda fetch: timm.create_model(name, pretrained=fetch, num_classes=0),
        )
    with _labelled(label):
        load_weights(module, weights)
        config = timm.data.resolve_model_data_config(module)
        return TorchExtractor(
            label,
            module,
            module,
            timm.data.create_transform(**config, is_training=False),
            side=math.ceil(max(config["input_size"][1:]) / config["crop_pct"]),
            device=device,
            batch_size=batch_size,
        )


def open_clip_extractor(
    name: str, *, weights: Any = DEFAULT, device: str | None = None, batch_size: int | None = None
) -> TorchExtractor:
    """The part of a CLIP network that encodes pictures.

    Parameters
    ----------
    name : str
        The network and the name of its weights: "ViT-B-32/laion2b_s34b_b79k". The name of
        the weights may be left out if `weights` is a file or "random".
    weights, device, batch_size
        As in `torchvision_extractor`.
    """
    _report_nothing()
    with needs("torch"):
        import open_clip
    check_weights(weights)
    network, _, tag = name.partition("/")
    label = f"open_clip:{name}"
    _check_known(label, network, open_clip.list_models())
    if tag or weights == DEFAULT:
        _check_known(label, tag, open_clip.list_pretrained_tags_by_model(network))
    with _quiet():
        module, _, transform = make(
            label,
            weights,
            lambda fetch: open_clip.create_model_and_transforms(
                network, pretrained=tag if fetch else None
            ),
        )
    with _labelled(label):
        load_weights(module, weights)
        return TorchExtractor(
            label,
            module,
            module.encode_image,
            transform,
            side=_longest(module.visual.image_size),
            device=device,
            batch_size=batch_size,
        )


def _report_nothing() -> None:
    """Keep Hugging Face's client, which timm and OpenCLIP import, from reporting about its host."""
    if SWITCH in os.environ:
        return
    client = sys.modules.get("huggingface_hub.constants")  # reads the variable at its import
    if client is not None and not getattr(client, SWITCH, False):
        warn_user(
            "huggingface_hub was imported before zshash could switch its telemetry off: with each "
            "download it tells Hugging Face which software this machine runs. To prevent this, set "
            f"the environment variable {SWITCH}=1 before the program starts"
        )
    os.environ[SWITCH] = "1"


def _longest(size: int | Sequence[int]) -> int:
    return size if isinstance(size, int) else max(size)


def _check_known(label: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=5) or list(known)[:5]
        raise ValueError(f"{label}: no {name!r} there; some are {', '.join(near)}")


@contextmanager
def _labelled(label: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the libraries' messages about loading; errors are raised all the same."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
