"""Networks of timm."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.images.categories import Categories
from zshash.images.imagenet import imagenet_categories
from zshash.images.torch_extractor import (
    DEFAULT,
    RANDOM,
    TorchExtractor,
    check_weights,
    load_torch,
    load_weights,
    make,
)
from zshash.images.torch_layers import fill, weights_and_biases
from zshash.images.torch_libraries import check_known, labelled, quiet, report_nothing

with needs("images"):
    from PIL import Image

__all__ = ["timm_extractor"]

LARGEST_ERROR = 1e-3  # of the largest output
NOISE_SIZE = (64, 64, 3)


def timm_extractor(
    name: str, *, weights: Any = DEFAULT, device: str | None = None, batch_size: int | None = None
) -> TorchExtractor:
    """A network of timm, without its classifier.

    Parameters
    ----------
    name : str
        As in ``timm.list_models()``, with or without the weights' tag: "resnet50.a1_in1k".
    weights, device, batch_size
        As in `torchvision_extractor`. The extractor has `categories` if the weights have a last
        linear layer and were trained with a set of ImageNet's categories that timm knows.
    """
    report_nothing()
    with needs("torch"):
        import timm
    check_weights(weights)
    label = f"timm:{name}"
    check_known(label, name.partition(".")[0], timm.list_models())

    def create(**options: Any) -> Any:
        with quiet():
            return make(
                label, weights, lambda fetch: timm.create_model(name, pretrained=fetch, **options)
            )

    module = create(num_classes=0)
    with labelled(label):
        rest = load_weights(module, weights)
        config = timm.data.resolve_model_data_config(module)
        return TorchExtractor(
            label,
            module,
            module,
            timm.data.create_transform(**config, is_training=False),
            side=math.ceil(max(config["input_size"][1:]) / config["crop_pct"]),
            device=device,
            batch_size=batch_size,
            find_categories=_find_categories(module, create, weights, rest),
        )


def _find_categories(
    module: Any, create: Callable[[], Any], weights: Any, rest: Mapping[str, Any]
) -> Callable[[TorchExtractor], Categories | None] | None:
    """Function that finds the categories, or None; `rest` is what else a file of weights has.

    To find them, the network is made a second time, with its classifier: so the features are those
    of a network that timm makes without one. Weights that were fetched are in timm's cache by then.
    """
    from timm.data import infer_imagenet_subset

    if weights == RANDOM or infer_imagenet_subset(module) is None:
        return None

    def find(network: TorchExtractor) -> Categories | None:
        full = create()
        if weights != DEFAULT and not fill(full, module.state_dict() | rest):
            return None
        return _categories(network, full.to(next(module.parameters()).device))

    return find


def _categories(network: TorchExtractor, full: Any) -> Categories | None:
    """Categories of a network of timm.

    Parameters
    ----------
    network : TorchExtractor
        The network without its classifier.
    full : torch.nn.Module
        The same network with its classifier.

    Returns
    -------
    Categories or None
        None where the data that it was trained with is unknown to timm, or where the classifier
        is more than a linear layer on top of the features.
    """
    from timm.data import ImageNetInfo, infer_imagenet_subset

    nn = load_torch().nn
    last, subset = full.get_classifier(), infer_imagenet_subset(full)
    if subset is None or not isinstance(last, nn.Linear | nn.Conv2d):
        return None
    directions, biases = weights_and_biases(last)
    ids = ImageNetInfo(subset).label_names()
    if len(ids) != len(directions) or not _explains(directions, biases, network, full):
        return None
    with labelled(network.name):
        return imagenet_categories(directions, biases, ids=ids)


def _explains(
    directions: NDArray[np.float32],
    biases: NDArray[np.float32],
    network: TorchExtractor,
    full: Any,
) -> bool:
    """Whether features, directions and biases give the outputs of the full network for noise."""
    pixels = np.random.RandomState(0).randint(0, 256, NOISE_SIZE, dtype=np.uint8)
    batch = network.prepare(Image.fromarray(pixels))[np.newaxis]
    torch = load_torch()
    device = next(full.parameters()).device
    with torch.inference_mode():
        outputs = full.eval()(torch.from_numpy(batch).to(device)).float().cpu().numpy()
    features = network.run(batch)
    if features.shape[1] != directions.shape[1]:
        return False
    error = np.abs(features @ directions.T + biases - outputs).max()
    return bool(error <= LARGEST_ERROR * np.abs(outputs).max())
