"""Which label each folder of a tree gives to the pictures in it.

folders → tops, the folders whose folders are categories → a label for each folder below them
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from zshash.datasets.clutter import is_library
from zshash.datasets.folder_names import as_label, is_plain_folder, label_folders
from zshash.datasets.listing import Folder, Listing
from zshash.datasets.synset_names import is_synset

__all__ = ["FolderLabels", "label_tree"]

# in the order of their pictures in a data set
SPLITS = ("train", "val", "valid", "validation", "test")
ROOT = 0


@dataclass(frozen=True)
class FolderLabels:
    """Labels of the folders of a tree.

    Attributes
    ----------
    labels : list of str
        For each folder the label of the pictures that lie directly in it; "" for none.
    tops : list of int
        Folders that the folders of categories are directly in: the first folder of the tree, one
        below it that holds all pictures, or the splits of a data set in their order.
    parts : list of int
        For each folder the place in `tops` of the top that it is or lies in; −1 for others.
    branches : list of int
        For each folder the folder directly in a top that it is or lies in; −1 for others.
    """

    labels: list[str]
    tops: list[int]
    parts: list[int]
    branches: list[int]


def label_tree(listing: Listing, every: bool = False) -> FolderLabels:
    """Say which label each folder gives to its pictures.

    The label is the name of the first folder on the way from the first folder of the tree that is
    not plain (`is_plain_folder`), or with `every` the name of the first folder at all. A folder
    that holds all pictures, and folders with pictures, is no label if there are labels below it.
    """
    tree = _Tree(listing)
    path = list(tree.wrappers())
    splits = tree.splits(path[-1])
    found = tree.labelled(splits or path[-1:], path[1:], every)
    if splits or any(found.labels[home] for home in set(listing.homes)):
        return found
    return tree.labelled([ROOT], [], every)


class _Tree:
    """Folders with the numbers of pictures in them and below them."""

    def __init__(self, listing: Listing) -> None:
        self.folders: Sequence[Folder] = listing.folders
        self.names = [as_label(folder.name) for folder in self.folders]
        self.own = [0] * len(self.folders)
        for home in listing.homes:
            self.own[home] += 1
        self.total = list(self.own)
        for number in range(len(self.folders) - 1, ROOT, -1):
            self.total[self.folders[number].parent] += self.total[number]
        self.below: list[list[int]] = [[] for _ in self.folders]
        for number, folder in enumerate(self.folders[1:], start=1):
            if self.total[number]:
                self.below[folder.parent].append(number)

    def wrappers(self) -> Iterator[int]:
        """The first folder, and folders in each other that hold all pictures and folders of them.

        The way ends at splits and at categories with a WordNet id.
        """
        number = ROOT
        yield number
        while not self.own[number] and len(self.below[number]) == 1 and not self.splits(number):
            (number,) = self.below[number]
            if not self.below[number] or is_synset(self.names[number]):
                return
            yield number

    def splits(self, number: int) -> list[int]:
        """Folders of the splits in a folder, in their order; empty if it holds anything else."""
        order = {below: self.names[below].lower() for below in self.below[number]}
        if self.own[number] or not order or not set(order.values()) <= set(SPLITS):
            return []
        return sorted(order, key=lambda below: SPLITS.index(order[below]))

    def labelled(self, tops: list[int], above: Iterable[int], every: bool) -> FolderLabels:
        """Labels of the folders below the tops; `above` are the folders on the way to the tops."""
        first = {self.names[number] for top in tops for number in self.below[top]}
        taken = first if every else label_folders(first, [self.names[number] for number in above])
        labels: list[str | None] = []  # None where the label is further down
        parts: list[int] = []
        branches: list[int] = []
        for number, (_, parent) in enumerate(self.folders):
            is_first = parent in tops
            parts.append(tops.index(number) if number in tops else parts[parent] if number else -1)
            branches.append(number if is_first else branches[parent] if number else -1)
            label = labels[parent] if number else None
            if label is None and not every and is_library(self.names[number]):
                label = ""
            if label is None and branches[number] >= 0:
                label = self._own_label(number, taken if is_first else None)
            labels.append(label)
        return FolderLabels([label or "" for label in labels], tops, parts, branches)

    def _own_label(self, number: int, taken: set[str] | None) -> str | None:
        """The name of a folder if it is a label: one of those taken, where these are known."""
        name = self.names[number]
        is_label = not is_plain_folder(name) if taken is None else name in taken
        return name if is_label else None
