"""The training of metric-transfer hashing on a device, as in `hashing.steps.distillation`."""

from functools import partial

import numpy as np
import torch

from zshash.hashing.steps.distillation import GUESS, pace, slope_at, take_steps
from zshash.hashing.steps.imagination import CLOSENESS, MOST
from zshash.hashing.steps.neighborhoods import (
    CLOSE,
    FARTHEST,
    FASTEST,
    NARROWEST,
    SLOWEST,
    STEPS,
)
from zshash.hashing.steps.networks import DECAYS, TINY

__all__ = ["DeviceDistillation"]


class DeviceDistillation:
    """As `Distillation`, on a device and with gradients that PyTorch finds.

    From the same start it draws the same batches.
    """

    def __init__(self, weights, batches, *, perplexity, temperature, rate, n_steps, device):
        self._weights, self._batches, self._device = weights, batches, device
        self._perplexity, self._temperature = perplexity, temperature
        self._rate, self._n_steps = rate, n_steps
        self._guess = torch.tensor(GUESS, device=device)

    def run(self):
        """Take all steps; returns the loss before each step."""
        batches = self._batches
        known = batches.Z, batches.deviations, batches.meanings
        self._Z, self._deviations, self._meanings = map(self._bring, known)
        self._looks = None if batches.looks is None else self._bring(batches.looks)
        self._means, self._lengths = map(
            self._bring, (batches.novelty.means, batches.novelty.lengths)
        )
        learned = [self._bring(array).requires_grad_() for array in self._weights]
        adam = torch.optim.Adam(learned, lr=self._rate, betas=DECAYS, eps=TINY)
        step = partial(self._step, learned=learned, adam=adam)
        losses = take_steps(step, self._n_steps)
        for array, tensor in zip(self._weights, learned, strict=True):
            array[...] = tensor.detach().cpu().numpy()
        return torch.stack(losses).double().cpu().numpy()

    def _bring(self, array):
        return torch.tensor(array, device=self._device)

    def _step(self, progress, learned, adam):
        """Take one step; `progress` is the share of steps done before it. Returns the loss."""
        Z, lesson = self._batch()
        W, b, A, a, outputs = learned
        U = Z @ W + torch.relu(Z @ A + a) @ outputs + b
        loss = self._loss(lesson, torch.tanh(slope_at(progress) * U))
        adam.zero_grad()
        loss.backward()
        adam.param_groups[0]["lr"] = self._rate * pace(progress, self._n_steps)
        adam.step()
        return loss.detach()

    def _batch(self):
        """Rows of the next batch, and the rows that the teacher compares."""
        draw = self._batches.draw()
        numbers = draw.centres, draw.deviations, draw.samples
        centres, deviations, samples = map(self._bring, numbers)
        imagined = CLOSENESS * self._Z[centres] + self._deviations[deviations]
        Z = torch.cat([imagined, self._Z[samples]])
        unknown = Z.new_zeros(len(centres), self._meanings.shape[1])
        meanings = torch.cat([unknown, self._meanings[samples]])
        novelty = float(self._batches.novelty_scale) * self._novelty(Z)
        looks = torch.nn.functional.normalize(Z, dim=1)
        if self._looks is not None:
            looks = torch.cat([looks[: len(centres)], self._looks[samples]])
        return Z, torch.hstack([looks, novelty[:, None], meanings])

    def _novelty(self, Z):
        """As `Novelty`."""
        known = self._batches.novelty
        nearest = (2 * Z @ self._means.T - self._lengths).amax(dim=1)
        raw = Z.square().sum(dim=1) / 2 - nearest
        return ((raw - float(known.centre)) / float(known.spread)).clamp(-MOST, MOST)

    def _loss(self, lesson, V):
        n, n_bits = V.shape
        own = torch.eye(n, dtype=torch.bool, device=self._device)
        p = self._sharpened((lesson @ lesson.T).masked_fill(own, -torch.inf))
        logits = (V @ V.T / (self._temperature * n_bits**0.5)).masked_fill(own, -torch.inf)
        log_q = torch.log_softmax(logits, dim=1).masked_fill(own, 0)
        neighbors = (torch.xlogy(p, p) - p * log_q).sum() / n
        overlap = V.T @ V / n - torch.eye(n_bits, device=self._device)
        return neighbors + V.mean(dim=0).square().mean() + overlap.square().mean()

    def _sharpened(self, s):
        """p with the wanted perplexity, as `neighborhoods` finds it."""
        s = s - s.amax(dim=1, keepdim=True)
        finite = s.nan_to_num(neginf=0)
        width = (-finite.sum(dim=1, keepdim=True) / (len(s) - 1)).clamp(NARROWEST)
        rate = (self._guess / width).clamp(SLOWEST, FASTEST)
        slowest, fastest = torch.full_like(rate, SLOWEST), torch.full_like(rate, FASTEST)
        for _ in range(STEPS):
            p = torch.exp(rate * s)
            total = p.sum(dim=1, keepdim=True)
            p = p / total
            mean = (p * finite).sum(dim=1, keepdim=True)
            spread = ((p * finite.square()).sum(dim=1, keepdim=True) - mean.square()).clamp(1e-12)
            excess = total.log() - rate * mean - np.log(self._perplexity)
            slowest = torch.where(excess > 0, rate, slowest)
            fastest = torch.where(excess > 0, fastest, rate)
            step = (excess / (rate.square() * spread)).clamp(-FARTHEST, FARTHEST)
            moved = rate * step.exp()
            is_between = (slowest < moved) & (moved < fastest)
            moved = torch.where(is_between, moved, (slowest * fastest).sqrt())
            rate = torch.where(excess.abs() < CLOSE, rate, moved)
        self._guess = (rate * width).mean()
        return torch.softmax(rate * s, dim=1)
