"""Train the convolutional network: soft bits that follow codes, outputs that tell classes apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.hashing.steps.distillation import pace
from zshash.studies.cnnh2014.efficientnet import lite_network
from zshash.studies.cnnh2014.network import convolutional_network, outputs_of
from zshash.studies.cnnh2014.protocol import Goals

with needs("torch"):
    import torch
    from torch.nn import functional

__all__ = ["Schedule", "learn", "pixel_loss", "prepared", "train_network"]

TUNING = 5e-4  # the largest step of weights that have learned something before
ENCODED = 500  # pictures that the network sees at a time, after it has learned


@dataclass(frozen=True)
class Schedule:
    """How long a network is trained, and how fast."""

    epochs: int = 60
    batch: int = 64
    rate: float = 2e-3  # of the largest step
    decay: float = 5e-4  # of weights


def learn(
    pixels: NDArray[np.uint8],
    train: NDArray[np.int64],
    goals: Goals,
    epochs: int,
    seed: int,
    device: str,
    side: int | None = None,
) -> tuple[NDArray[np.float32], list[float]]:
    """Train a network on the pictures `train`.

    It is the paper's, or with a `side` EfficientNet-Lite0 on pictures that are enlarged to it.
    Returns its outputs (n, bits[ + c]) for all pictures, and the mean loss of each epoch.
    """
    values = (prepared(pixels, train) if side is None else as_tensor(pixels)).to(device)
    signs, shares = (None if own is None else torch.from_numpy(own).to(device) for own in goals)
    n_outputs = sum(own.shape[1] for own in goals if own is not None)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if side is None:
            network = convolutional_network(values.shape[3], values.shape[1], n_outputs)
            schedule = Schedule(epochs)
        else:
            network = lite_network(side, n_outputs)
            schedule = Schedule(epochs, rate=TUNING)
    network.to(device)
    rows = torch.from_numpy(train).to(device)
    losses = train_network(network, values[rows], signs, shares, schedule, seed)
    return outputs_of(network, values, ENCODED).numpy(), losses


def as_tensor(pixels: NDArray[np.uint8]) -> Any:
    """Pictures (n, height, width[, 3]) as a tensor (n, channels, height, width), float32."""
    pixels = pixels[..., None] if pixels.ndim == 3 else pixels
    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float()


def prepared(pixels: NDArray[np.uint8], train: NDArray[np.int64]) -> Any:
    """The tensor of `as_tensor`, with mean 0 and deviation 1 over training pictures."""
    values = as_tensor(pixels)
    own = values[torch.from_numpy(train)]
    return (values - own.mean(dim=0)) / own.std().clamp(min=1e-6)


def pixel_loss(outputs: Any, codes: Any, shares: Any) -> Any:
    """Mean over rows of the loss of `code_loss`; `shares` (n, c) may be None."""
    n_bits = codes.shape[1]
    loss = functional.mse_loss(torch.tanh(outputs[:, :n_bits]), codes)
    if shares is None:
        return loss
    return loss + functional.cross_entropy(outputs[:, n_bits:], shares)


def train_network(
    network: Any,
    pixels: Any,
    codes: Any,
    shares: Any,
    schedule: Schedule,
    seed: int,
) -> list[float]:
    """Train in place on mirrored and plain pictures; returns the mean loss of each epoch."""
    order = torch.Generator().manual_seed(seed)
    adam = torch.optim.AdamW(network.parameters(), weight_decay=schedule.decay)
    n_batches = -(-len(pixels) // schedule.batch)
    losses = []
    for epoch in range(schedule.epochs):
        network.train()
        total = 0.0
        shuffled = torch.randperm(len(pixels), generator=order).to(pixels.device)
        for number, rows in enumerate(shuffled.chunk(n_batches)):
            progress = (epoch + number / n_batches) / schedule.epochs
            adam.param_groups[0]["lr"] = schedule.rate * pace(progress, n_batches * schedule.epochs)
            own = _mirrored(pixels[rows], order)
            known = None if shares is None else shares[rows]
            loss = pixel_loss(network(own), codes[rows], known)
            adam.zero_grad()
            loss.backward()
            adam.step()
            total += float(loss.detach()) * len(rows)
        losses.append(total / len(pixels))
    return losses


def _mirrored(pixels: Any, order: Any) -> Any:
    """Half of the pictures, chosen at random, mirrored."""
    chosen = torch.rand(len(pixels), generator=order) < 0.5
    return torch.where(chosen[:, None, None, None].to(pixels.device), pixels.flip(3), pixels)
