"""Pictures with their codes in a folder that survives a crash."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.codes import check_codes, check_integer
from zshash.collection import (
    adding,
    checking,
    creating,
    explaining,
    filtering,
    grouping,
    keeping,
    naming,
    reencoding,
    searching,
    syncing,
    tidying,
)
from zshash.collection.explaining import Meaning, NearName
from zshash.collection.fields import (
    check_contents,
    check_labels,
    check_metadata,
    check_sources,
)
from zshash.collection.inputs import Columns
from zshash.collection.remote import check_free
from zshash.collection.rows import Added, Found, Ids, Item, Match, Page, Synced
from zshash.collection.store import Store
from zshash.encoding import Encoder
from zshash.images import Extractor, PictureReader
from zshash.index import CodeIndex
from zshash.index._checks import check_vectors

__all__ = ["Collection"]


class Collection:
    """Pictures or features with their codes, in a folder on disk.

    A collection is made by `create` and opened by `open`. What a method has added or removed
    when it returns is on the disk, whatever happens afterwards. One process at a time may write,
    any number may read meanwhile, and each sees what the others have written. Threads may share
    an object, processes may not.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from zshash import ITQ, Collection
    >>> X = np.random.RandomState(0).randn(100, 32)
    >>> folder = tempfile.TemporaryDirectory()
    >>> hasher = ITQ(n_bits=16, random_state=0).fit(X)
    >>> with Collection.create(f"{folder.name}/photos.zshash", hasher) as photos:
    ...     added = photos.add(X, labels=["cat"] * 50 + ["dog"] * 50)
    ...     best = photos.search(X[60], k=3, where="label = 'dog'")[0]
    >>> len(added.ids), best.item.id, best.item.labels, best.distance
    (100, 60, ('dog',), 0)
    >>> folder.cleanup()
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def create(
        cls,
        path: str | Path,
        hasher: Any,
        *,
        extractor: str | Extractor | None = None,
        semantics: str | Sequence[str] | None = None,
        keep_features: bool = False,
        thumbnails: int | None = 128,
        reader: PictureReader | None = None,
        index: str | None = None,
    ) -> Self:
        """Make a collection.

        Parameters
        ----------
        path : path-like
            Its folder, which must not exist or be empty.
        hasher : Hasher or path-like
            A fitted hasher, or the file of a model.
        extractor : str or Extractor, optional
            The network that made the features that the hasher was trained on, where the hasher
            is no file that says so.
        semantics : str or list of str, optional
            Where the vectors of names come from, for `search_name`: "wordnet" or files of word
            vectors. By default what the model says that it was trained with.
        keep_features : bool
            Keep the features of each item, so that it can be encoded again without its picture.
        thumbnails : int
            The longer side of the small pictures that are kept, 0 for none.
        reader : PictureReader, optional
            How pictures are read, in place of `extractor`.
        index : str, optional
            Where the codes are searched: "memory", or ``milvus://host:port/name``, an address as
            of `zshash.index.MilvusIndex`. Passwords are not stored.

        Raises
        ------
        CollectionError
            If there is something in the folder already.
        """
        if index is not None:
            check_free(index)
        reader = creating.reader_for(extractor, reader)
        options = {"keep_features": keep_features, "thumbnails": thumbnails}
        creating.create(_absolute(path), hasher, reader, semantics=semantics, **options)  # type: ignore[arg-type]
        return cls.open(path, reader=reader, index=index)

    @classmethod
    def open(
        cls, path: str | Path, *, reader: PictureReader | None = None, index: str | None = None
    ) -> Self:
        """Open a collection that is there.

        Parameters
        ----------
        path : path-like
        reader : PictureReader, optional
            How pictures are read.
        index : str, optional
            Where the codes are searched from now on, as for `create`; by default where they were.

        Raises
        ------
        CollectionError
            If there is none, it is damaged, or a later version of zshash has written it.
        """
        return cls(Store(_absolute(path), reader or PictureReader(), index))

    def close(self) -> None:
        """End the use of the folder. A closed collection can not be used any more."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}.open({str(self.path)!r})"

    def __len__(self) -> int:
        with self._store.reading() as state:
            return state.items.n

    def __contains__(self, number: object) -> bool:
        return number in self.index

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __getitem__(self, number: int) -> Item:
        return self.items([number])[0]

    @property
    def path(self) -> Path:
        """The folder."""
        return self._store.folder

    @property
    def n_bits(self) -> int:
        """Length of the codes in bits."""
        with self._store.reading() as state:
            return state.n_bits

    @property
    def hasher(self) -> Any:
        """The fitted hasher."""
        with self._store.reading():
            return self._store.encoder.hasher

    @property
    def encoder(self) -> Encoder:
        """What turns pictures and features into codes."""
        with self._store.reading():
            return self._store.encoder

    @property
    def notes(self) -> dict[str, Any]:
        """What the model's file says besides the model."""
        with self._store.reading():
            return dict(self._store.encoder.notes)

    @property
    def seen(self) -> tuple[str, ...]:
        """Names of the categories that the model was trained on, as far as its file says."""
        return tuple(self.notes.get("seen") or ())

    @property
    def knows_names(self) -> bool:
        """Whether items can be searched by name."""
        return naming.knows_names(self._store)

    @property
    def generation(self) -> int:
        """A number that grows whenever items change."""
        with self._store.reading() as state:
            return state.generation

    @property
    def ids(self) -> Ids:
        """Ids of all items in ascending order."""
        with self._store.reading():
            return self._store.ids()

    @property
    def index(self) -> CodeIndex:
        """Index of all items' codes, up to date; it belongs to the collection: only search it."""
        with self._store.reading():
            return self._store.mirror.index

    def info(self) -> dict[str, Any]:
        """What there is to say of the collection, ready for JSON."""
        return checking.describe(self._store)

    def add(
        self,
        data: Any,
        *,
        labels: Sequence[Any] | None = None,
        metadata: Sequence[dict[str, Any] | None] | None = None,
        sources: Sequence[str | Path | None] | None = None,
    ) -> Added:
        """Add pictures or features that are not there yet.

        Works in batches, and what it has done stays done if it is interrupted: the same call
        goes on from there.

        Parameters
        ----------
        data : path, list of paths, ndarray, Dataset or Pictures
            A picture, a folder of them or anything else that `zshash.datasets.open_data` reads;
            several such paths; features (n, d); pixels (n, height, width[, 3]) of uint8.
        labels : list, optional
            For each item a word, a list of words or None; by default what the data says.
        metadata : list of dict, optional
            For each item whatever JSON can say.
        sources : list of str, optional
            For each item a path or an address; by default the paths of the pictures.

        Returns
        -------
        Added
            New ids; what each thing that was there already equals; what could not be read.

        Warns
        -----
        PictureWarning
            Of pictures that can not be read; they are left out.
        """
        return adding.add_data(self._store, data, labels, metadata, sources)

    def add_files(
        self,
        files: Sequence[bytes],
        *,
        labels: Sequence[Any] | None = None,
        metadata: Sequence[dict[str, Any] | None] | None = None,
    ) -> Added:
        """Add pictures whose files are given as bytes, for which the collection keeps copies.

        The other parameters are those of `add`. A copy lies in the folder of the collection and
        goes when its item does.
        """
        return keeping.add_files(self._store, files, labels, metadata)

    def add_codes(
        self,
        codes: ArrayLike,
        *,
        sources: Sequence[str | Path | None] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Sequence[dict[str, Any] | None] | None = None,
        contents: Sequence[bytes | None] | None = None,
    ) -> Added:
        """Add packed codes (n, bytes) that the collection's hasher has made elsewhere.

        The other parameters are those of `add`; `contents` are hashes of what each code stands
        for, and a code whose hash is there already is left out.
        """
        codes = check_codes("codes", codes, self.n_bits)
        n = len(codes)
        columns = Columns(
            check_sources(sources, n),
            check_labels(labels, n),
            check_metadata(metadata, n),
            check_contents(contents, n),
        )
        return adding.add_codes(self._store, codes, columns)

    def remove(self, ids: ArrayLike) -> int:
        """Remove items and return how many; if one of them is unknown, nothing is removed."""
        wanted = np.unique(searching.check_ids(ids))
        keeping.remove(self._store, wanted)
        return len(wanted)

    def find(self, where: str) -> Ids:
        """Ids of the items that meet a condition, such as ``label = 'cat' and year > 2015``."""
        return filtering.find(self._store, where)

    def unknown_fields(self, where: str) -> list[str]:
        """Which keys of metadata a condition names that no item has: most likely misspelled."""
        return filtering.unknown_fields(self._store, where)

    def labels(self) -> dict[str, int]:
        """How many items have each label, the most frequent first; "" stands for none."""
        return dict(filtering.label_counts(self._store))

    def items(self, ids: ArrayLike | None = None) -> list[Item]:
        """The items under some ids, in their order; by default all of them."""
        with self._store.reading():
            wanted = self._store.ids() if ids is None else searching.check_ids(ids)
            searching.check_known(self._store, wanted)
            return searching.items(self._store, wanted.tolist())

    def pictured(self, ids: ArrayLike) -> set[int]:
        """Which of some ids have a thumbnail."""
        with self._store.reading() as state:
            return searching.pictured(self._store, state, searching.check_ids(ids).tolist())

    def thumbnail(self, number: int) -> bytes | None:
        """A small picture of an item as JPEG, None where there is none."""
        with self._store.reading():
            searching.check_known(self._store, searching.check_ids([number]))
            return searching.thumbnail(self._store, int(number))

    def picture(self, number: int) -> Path | None:
        """Where the picture of an item should be, None where that is unknown."""
        return keeping.picture(self._store, self[number])

    def search(
        self, query: Any, k: int = 20, *, where: str | None = None, distance: str = "hamming"
    ) -> list[Match]:
        """The `k` items nearest to a picture or to features, nearest first.

        Parameters
        ----------
        query : path, bytes, ndarray
            A picture's file, its bytes, its pixels (uint8), or features (d,).
        k : int
        where : str, optional
            Only items that meet this condition, see `find`.
        distance : {"hamming", "asymmetric"}
            Compare bits with bits, or the real values before they became the query's bits with
            the bits of the items: `Match.distance` is then the sum of these values, each with the
            sign that the item's bit says, and the highest is the best.
        """
        return searching.nearest_to(self._store, query, Page(k), where, distance).matches

    def radius(self, query: Any, r: int = 2, *, where: str | None = None) -> list[Match]:
        """All items whose codes differ from the query's in at most `r` bits; see `search`."""
        return searching.within_reach(self._store, query, r, where)

    def encode(self, query: Any) -> NDArray[np.uint8]:
        """The packed code (bytes,) of a picture or of features; see `search`."""
        encoder = self.encoder
        code: NDArray[np.uint8] = encoder.quantize(searching.projection_of_query(encoder, query))[0]
        return code

    def project(self, query: Any) -> NDArray[np.float32]:
        """The real values (n_bits,) of a picture or of features whose signs are its code."""
        values: NDArray[np.float32] = searching.projection_of_query(self.encoder, query)[0]
        return values

    def search_codes(
        self, codes: ArrayLike, k: int = 20, *, where: str | None = None
    ) -> list[list[Match]]:
        """For each packed code the `k` nearest items, nearest first."""
        checked = check_codes("codes", codes, self.n_bits)
        found = searching.pages(self._store, checked, [Page(k)] * len(checked), where)
        return [page.matches for page in found]

    def pages(
        self,
        codes: ArrayLike,
        pages: Sequence[Page],
        *,
        where: str | None = None,
        encoder: Encoder | None = None,
    ) -> list[Found]:
        """For each packed code a page of its nearest items, and how many there are on all pages.

        Parameters
        ----------
        codes : array of shape (n, bytes), uint8
        pages : list of Page
            One for each code.
        where : str, optional
            Only items that meet this condition, see `find`.
        encoder : Encoder, optional
            What made the codes, if that was the collection's `encoder` some time ago.

        Raises
        ------
        OtherModel
            If the collection has another encoder by now.
        """
        checked = check_codes("codes", codes, (encoder or self.encoder).hasher.n_bits)
        return searching.pages(self._store, checked, pages, where, encoder)

    def search_weighted(
        self, vectors: ArrayLike, k: int = 20, *, where: str | None = None
    ) -> list[list[Match]]:
        """For each vector (n_bits,) the `k` items of the largest inner product, largest first.

        Vectors are real values as `project` gives them; a bit of an item counts as 1 or −1.
        `Match.distance` is the product: the highest is the best.
        """
        checked = check_vectors(vectors, self.n_bits)
        found = searching.weighted_pages(self._store, checked, [Page(k)] * len(checked), where)
        return [page.matches for page in found]

    def weighted_pages(
        self,
        vectors: ArrayLike,
        pages: Sequence[Page],
        *,
        where: str | None = None,
        encoder: Encoder | None = None,
    ) -> list[Found]:
        """As `pages`, for vectors as `search_weighted` takes them; pages have no radius."""
        checked = check_vectors(vectors, (encoder or self.encoder).hasher.n_bits)
        return searching.weighted_pages(self._store, checked, pages, where, encoder)

    def radius_codes(
        self, codes: ArrayLike, r: int = 2, *, where: str | None = None
    ) -> list[list[Match]]:
        """For each packed code all items at a distance of at most `r`."""
        checked = check_codes("codes", codes, self.n_bits)
        return searching.within(self._store, checked, r, where)

    def search_name(self, name: str, k: int = 20, *, where: str | None = None) -> list[Match]:
        """The `k` items that fit the name of a category best, best first.

        The name may be of a category that the model has never seen. What `Match.distance` holds
        is a score here: the higher, the better.
        """
        return naming.search_name(self._store, name, Page(k), where).matches

    def page_of_name(self, name: str, page: Page, *, where: str | None = None) -> Found:
        """A page of the items that fit a name best, and how many there are on all pages."""
        return naming.search_name(self._store, name, page, where)

    def explain_name(self, name: str) -> Meaning:
        """What a name means to the model: the seen categories nearest to it, and a forecast."""
        return explaining.explain_name(self._store, name)

    def explain_code(self, code: ArrayLike, n: int = 10) -> list[NearName]:
        """The names of categories nearest to what a packed code (bytes,) means, nearest first.

        These are the categories that the model has seen, and all other labels of items as far as
        their meaning is known.
        """
        checked = check_codes("code", np.atleast_2d(np.asarray(code)), self.n_bits)
        return explaining.explain_code(self._store, checked[0], n)

    def duplicates(self, r: int = 2) -> list[list[int]]:
        """Groups of items that look alike: each within `r` bits of the group's first one.

        Groups have at least two members, come in the order of their lowest ids, and share none.
        """
        check_integer("r", r, 0)
        with self._store.reading() as state:
            return grouping.groups(self._store.in_memory(state), r)

    def sync(self, folder: str | Path) -> Synced:
        """Add, change, move and remove items as the picture files of a folder were.

        A file is read again if its size or time is another one, and counts as changed if its
        content is, too. A file that was moved keeps its id, labels and metadata, and so does one
        that was changed. Only items whose source lies in the folder are ever removed. A folder
        without any picture is refused where items are from there: its disk may be missing.

        Returns
        -------
        Synced
            Ids of the items that were added, changed, moved and removed; what could not be read.
        """
        return syncing.sync(self._store, folder)

    def reencode(self, hasher: Any) -> int:
        """Give all items the codes of another hasher, or none of them; how many got one.

        Features come from the collection where it keeps them, else from the pictures at the
        items' sources.

        Parameters
        ----------
        hasher : Hasher or path-like
            As for `create`. A hasher that is no file is taken for one that was trained on
            features of the same network as the one before.

        Raises
        ------
        CollectionError
            If an item has neither features nor a picture.
        """
        return reencoding.reencode(self._store, hasher)

    def compact(self) -> dict[str, Any]:
        """Give back the space of what was removed, and delete files that nobody needs."""
        return tidying.compact(self._store)

    def verify(self) -> list[str]:
        """All that is wrong with the files of the collection; nothing where all is well."""
        return checking.verify(self._store)


def _absolute(path: str | Path) -> Path:
    return Path(path).absolute()
