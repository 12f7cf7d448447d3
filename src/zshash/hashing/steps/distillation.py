"""Teach a network the neighbourhoods of its inputs.

For a batch of inputs z, the teacher's similarities are inner products of lessons: the cosine of z_i
and z_j, and terms for novelty and meaning (see `Batches.lesson`). The student's similarities are
v_i·v_j / l, where v = tanh(s u(z)) stands for l bits and s grows from 1 to 3 during the training.
Minimise, over the weights of u, the mean over i of KL(p_i‖q_i) between the neighbourhoods of both
(see `neighborhoods`), and two terms that make every bit halve the samples and carry information of
its own: the mean over bits of the square of their means, and the mean square of VᵀV/n − I.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from zshash._progress import is_watched, progress_bar
from zshash._threads import map_blocks, run_blocks
from zshash.hashing.steps.neighborhoods import compare
from zshash.hashing.steps.networks import Adam

PART_ROWS = 256  # rows of a batch worked on at a time
WARM_UP = 0.05  # share of the training in which steps grow
GUESS = 8.0  # w/τ in the first call of `compare`


class Training(Protocol):
    """The training of a network, wherever its numbers are: `Distillation`, or the same on a GPU."""

    def run(self) -> NDArray[np.float64]:
        """Take all steps; returns the loss before each step."""


class Distillation:
    """The training of a network in place.

    Parameters
    ----------
    weights : Weights
    batches : Batches
    perplexity : float
        How many neighbours a row of a batch has for the teacher.
    temperature : float
        Temperature of the student's softmax, in units of the deviation of v·v / l for random bits,
        1/√l. The higher it is, the more bits neighbours must share.
    rate : float
        Size of the largest step.
    n_steps : int
    """

    def __init__(self, weights, batches, *, perplexity, temperature, rate, n_steps):
        self.weights, self.batches = weights, batches
        self.perplexity, self.temperature = perplexity, temperature
        self.rate, self.n_steps = rate, n_steps
        self._adam, self._guess = Adam(weights), GUESS

    def run(self):
        """Take all steps; returns the loss before each step."""
        return np.array(take_steps(self._step, self.n_steps))

    def _step(self, progress):
        """Take one step; `progress` is the share of steps done before it. Returns the loss."""
        draw = self.batches.draw()
        Z = self.batches.rows(draw)
        H, V = self._forward(Z, slope := slope_at(progress))
        loss, dV = self._loss(self.batches.lesson(draw, Z), V)
        dU = dV * (np.float32(slope) * (1 - np.square(V)))
        parts = map_blocks(lambda p: self.weights.gradients(Z[p], H[p], dU[p]), _parts(Z))
        gradients = next(parts)
        for part in parts:
            gradients += part
        self._adam.step(gradients, self.rate * pace(progress, self.n_steps))
        return loss

    def _forward(self, Z, slope):
        """Hidden layer (n, h) and soft bits V (n, l) of a batch."""
        H = np.empty((len(Z), len(self.weights.O)), dtype=np.float32)
        V = np.empty((len(Z), len(self.weights.b)), dtype=np.float32)

        def fill(part):
            H[part] = self.weights.hidden(Z[part])
            V[part] = np.tanh(np.float32(slope) * self.weights.outputs(Z[part], H[part]))

        run_blocks(fill, _parts(Z))
        return H, V

    def _loss(self, lesson, V):
        """Loss of soft bits V for the teacher's `lesson`, and its gradient by V."""
        neighbors, dV = self._neighborhood_loss(lesson, V)
        balance, by_balance = balance_loss(V)
        overlap, by_overlap = overlap_loss(V)
        return neighbors + balance + overlap, dV + by_balance + by_overlap

    def _neighborhood_loss(self, lesson, V):
        n, n_bits = V.shape
        scale = np.float32(1 / (self.temperature * np.sqrt(n_bits)))
        guess = self._guess

        def work(part):
            teacher, student = lesson[part] @ lesson.T, (V[part] * scale) @ V.T
            loss, found = compare(teacher, student, part.start, float(self.perplexity), guess)
            return loss, found, student @ V, student.T @ V[part]

        losses, found, rows, columns = zip(*map_blocks(work, _parts(V)), strict=True)
        self._guess = float(np.mean(found))
        dV = np.concatenate(rows)
        for block in columns:
            dV += block
        return sum(losses) / n, dV * np.float32(scale / n)


def take_steps(step, n_steps):
    """Results of ``step(share of steps done before it)`` for all steps; a bar shows how many."""
    results = []
    with progress_bar(n_steps, is_watched(), desc="learning", unit=" steps") as bar:
        for number in range(n_steps):
            results.append(step(number / n_steps))
            bar.update(1)
    return results


def _parts(Z):
    return gen_batches(len(Z), PART_ROWS)


def balance_loss(V):
    """Mean over bits of the square of their mean, and its gradient by V."""
    means = V.mean(axis=0)
    return float(np.square(means).mean()), (means * np.float32(2 / V.size))[None, :]


def overlap_loss(V):
    """Mean square of VᵀV/n − I, and its gradient by V."""
    n, n_bits = V.shape
    C = V.T @ V / np.float32(n)
    C[np.diag_indices(n_bits)] -= 1
    return float(np.square(C).mean()), (V @ C) * np.float32(4 / (n * C.size))


def slope_at(progress):
    """How steeply bits follow the network: they harden as the training goes on."""
    return 1 + 2 * progress


def pace(progress, n_steps):
    """Size of a step, as a share of the largest: it grows, then falls in a line to nothing."""
    growing = progress / WARM_UP + 1 / max(1.0, WARM_UP * n_steps)
    return min(1.0, growing, (1 - progress) / (1 - WARM_UP))
