"""Two pictures for PyTorch's networks, and features of them."""

import numpy as np
from PIL import Image

RANDOM = {"weights": "random", "device": "cpu"}
PIXELS = np.random.RandomState(0).randint(0, 256, (2, 40, 60, 3), dtype=np.uint8)
IMAGES = [Image.fromarray(pixels).resize((300, 260)) for pixels in PIXELS]


def forward(module, transform, images=IMAGES):
    import torch  # when it is called: doctests are looked for here where there is no PyTorch

    with torch.no_grad():
        return module.eval()(torch.stack([transform(image) for image in images]))


def features(network):
    return network.run(np.stack([network.prepare(image) for image in IMAGES]))


def outputs(network):
    """Outputs of a classifier, from the features and what the network knows."""
    known = network.categories
    return features(network) @ known.directions.T + known.biases
