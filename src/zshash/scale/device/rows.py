"""Features for a device, block by block."""

import numpy as np
import torch
from sklearn.utils import gen_batches

from zshash.scale.samples import ShardedSamples
from zshash.scale.shards import ShardRows
from zshash.scale.workers import Here

__all__ = ["ShardBlocks", "TensorRows"]

BLOCK_ROWS = 2**21  # rows of a block: 4 GB of Ψ at 1,000 anchors
READ_ROWS = 2**14  # rows that are read at a time


def cut(n):
    """Slices of blocks of n rows."""
    return list(gen_batches(n, BLOCK_ROWS))


class TensorRows:
    """Rows of a tensor (n, d) that is on the device."""

    def __init__(self, X):
        self._X, self.is_half = X.contiguous(), X.dtype == torch.float16

    def __len__(self):
        return len(self._X)

    @property
    def n_features(self):
        """Number of features d."""
        return self._X.shape[1]

    def sizes(self):
        """Rows of each block."""
        return [part.stop - part.start for part in cut(len(self))]

    def blocks(self):
        """The rows, block by block."""
        return (self._X[part] for part in cut(len(self)))

    def take(self, numbers):
        """Rows by their numbers, float32 on the host."""
        places = torch.as_tensor(numbers, device=self._X.device)
        return self._X[places].float().cpu().numpy()


class ShardBlocks:
    """Rows of shards, which are read and brought to the device on demand."""

    is_half = False

    def __init__(self, shards, device):
        self._shards, self._device = shards, device
        self._samples = ShardedSamples(shards, Here())
        self.take, self.n_features = self._samples.take, self._samples.n_features

    def __len__(self):
        return len(self._samples)

    def sizes(self):
        """Rows of each block."""
        return [part.stop - part.start for _, part in self._parts()]

    def blocks(self):
        """The rows, block by block."""
        return (self._read(shard, part) for shard, part in self._parts())

    def _parts(self):
        return [(shard, part) for shard in self._shards for part in cut(shard.shape[0])]

    def _read(self, shard, part):
        rows = ShardRows(shard)
        X = torch.empty((part.stop - part.start, self.n_features), device=self._device)
        for first in range(part.start, part.stop, READ_ROWS):
            piece = rows[first : min(first + READ_ROWS, part.stop)]
            X[first - part.start :][: len(piece)] = torch.from_numpy(np.ascontiguousarray(piece))
        return X
