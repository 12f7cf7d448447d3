"""Features of pictures in a file of their own."""

from pathlib import Path
from typing import Any

import numpy as np

from zshash._files import whole_file
from zshash.datasets import DataError
from zshash.datasets.tables import as_arrays
from zshash.images import PictureReader

__all__ = ["extract_data"]


def extract_data(source: str, output: Path, reader: PictureReader) -> dict[str, Any]:
    """Write features with all that is known of them (.npz), as `load_features` reads them."""
    if output.suffix != ".npz":
        raise DataError(f"{output}: features are written to .npz")
    dataset = reader.read(source)
    with whole_file(output) as file:
        np.savez(file, X=dataset.X, **as_arrays(dataset))
    return {
        "output": str(output),
        "n": len(dataset),
        "dimension": dataset.X.shape[1],
        "extractor": dataset.extractor,
    }
