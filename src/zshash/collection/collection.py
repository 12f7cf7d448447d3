"""Pictures with their codes in a folder that survives a crash."""

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from zshash._interrupts import guarding
from zshash.codes import check_codes, check_integer
from zshash.collection.errors import CollectionError
from zshash.collection.operations import (
    adding,
    choosing,
    clearing,
    copies,
    creating,
    duplicates,
    filtering,
    items,
    labelling,
    listing,
    maintenance,
    making,
    naming,
    reencoding,
    refitting,
    relocating,
    remaking,
    removing,
    reviewing,
    searching,
    syncing,
    verifying,
)
from zshash.collection.operations.choosing import Choice
from zshash.collection.operations.clearing import Cleared
from zshash.collection.operations.creating import specs_of
from zshash.collection.operations.facets import FacetCounts
from zshash.collection.operations.facets import facets as count_facets
from zshash.collection.operations.fields import (
    check_contents,
    check_labels,
    check_metadata,
    check_sources,
)
from zshash.collection.operations.inputs import Columns
from zshash.collection.operations.queries import Many, Page, Picture, Query, make_queries
from zshash.collection.operations.ranking import Ranking
from zshash.collection.operations.recent import Recent
from zshash.collection.operations.refitting import Recipe
from zshash.collection.results import (
    Added,
    Duplicates,
    Found,
    Group,
    Relocated,
    Remade,
    Removed,
    Synced,
    Verified,
    View,
)
from zshash.collection.storage.files import is_model
from zshash.collection.storage.remote import check_free
from zshash.collection.storage.removed import Removal
from zshash.collection.storage.rows import Ids, Item
from zshash.collection.storage.store import Store
from zshash.images import Extractor, PictureReader
from zshash.index import CodeIndex
from zshash.learning.model import Model
from zshash.learning.names import Meaning, NearName
from zshash.learning.sources import reader_for

__all__ = ["Collection"]

Names = str | Sequence[str]
Words = Names | Mapping[str, float] | None


class Collection:
    """Pictures or features with their codes, in a folder on disk.

    A collection is made by `create` and opened by `open`. When a method returns, its changes are
    on the disk, whatever happens afterwards. One process at a time may write; any number may read
    meanwhile, and each sees what the others have written. Threads may share a `Collection` object,
    processes may not.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from zshash import ITQ, Collection
    >>> X = np.random.RandomState(0).randn(100, 32)
    >>> folder = tempfile.TemporaryDirectory()
    >>> hasher = ITQ(n_bits=16, random_state=0).fit(X)
    >>> with Collection.create(f"{folder.name}/photos.zshash", hasher) as photos:
    ...     added = photos.add(X, labels=["cat"] * 50 + ["dog"] * 50)
    ...     found = photos.search(X[60], k=3, where="label = 'dog'")
    >>> found[0].id, found[0].labels, found[0].bits, len(found), found.total
    (60, ('dog',), 0, 3, 50)
    >>> folder.cleanup()
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def create(
        cls,
        path: str | Path,
        source: Any,
        *,
        labels: str | Path | Sequence[Any] | None = None,
        metadata: Sequence[dict[str, Any] | None] | None = None,
        extractor: str | Extractor | None = None,
        semantics: str | Sequence[str] | None = None,
        aliases: Mapping[str, str] | None = None,
        keep_features: bool | None = None,
        thumbnails: int | None = 320,
        exif: bool = True,
        reader: PictureReader | None = None,
        index: str | None = None,
        progress: bool = False,
        **learning: Any,
    ) -> Self:
        """Make a collection: from pictures, which it learns from and adds, or for a model.

        Pictures need no labels. If the call is interrupted, the same call goes on where it ended.

        Parameters
        ----------
        path : path-like
            Folder of the collection, which must not exist or be empty, or hold the beginning of
            the same collection.
        source : path, list of paths, ndarray, Dataset or Pictures; or Model, Hasher
            Pictures or features as for `add`: a folder of pictures, for instance. For an empty
            collection: a model, the file of one, or a fitted hasher.
        labels : str, path or list, optional
            Where the labels of pictures come from: "auto" (from folders that look like categories,
            the default), "folders" (from every folder), "none", or a list of pictures with labels
            (.csv); or the labels themselves, as for `add`.
        metadata : list of dict, optional
            As for `add`.
        extractor : str or Extractor, optional
            The network that turns pictures into features, see `zshash.images.extractor`; models
            know theirs. For a hasher: the network that made the features it was trained on.
        semantics : str or list of str, optional
            Where names get their meanings: "wordnet" or files of word vectors. By default what the
            model says that it was trained with.
        aliases : dict of str to str, optional
            What labels mean, as for `zshash.fit`.
        keep_features : bool, optional
            Keep the features of each item, so that `refit` and `reencode` need no pictures, and
            searches can `rerank`. By default they are kept, unless a model is given.
        thumbnails : int
            Longer side of the small pictures that are kept, 0 for none. Small pictures are never
            enlarged, and long and thin ones get more.
        exif : bool
            Whether date, place, camera and size of a picture become metadata.
        reader : PictureReader, optional
            How pictures are read, in place of `extractor`.
        index : str, optional
            Where the codes are searched: "memory", or ``milvus://host:port/name``, an address as
            of `zshash.index.MilvusIndex`. Passwords are not stored.
        progress : bool
            Show a bar, on a terminal or in a notebook.
        **learning
            How the model is learned: `method`, `n_bits`, `random_state` and parameters of the
            method, as for `zshash.fit`. By default MTH with 64 bits and ``effort="fast"``.

        Raises
        ------
        CollectionError
            If there is something in the folder already.
        DataError
            If there are no pictures, or fewer than two can be read.

        Warns
        -----
        PictureWarning
            If pictures can not be read; they are left out.
        """
        if index is not None:
            check_free(index)
        about = {"keep_features": keep_features, "thumbnails": thumbnails, "exif": exif}
        if is_model(source):
            if learning or aliases or labels is not None or metadata is not None:
                raise TypeError("a model has been learned already: give what to learn from, or it")
            return cls._for_model(path, source, extractor, semantics, reader, index, about)
        reader = reader_for(extractor, reader)
        if isinstance(labels, str | os.PathLike):
            reader, labels = replace(reader, labels=labels), None
        recipe = Recipe(semantics=specs_of(semantics), aliases=dict(aliases or {}) or None)
        making.make(
            _absolute(path),
            source,
            replace(reader, progress=progress or reader.progress),
            recipe.changed(**learning),
            labels=labels,
            metadata=metadata,
            index=index,
            **about | {"keep_features": keep_features is not False},
        )
        return cls.open(path, reader=reader)

    @classmethod
    def _for_model(
        cls,
        path: str | Path,
        model: Any,
        extractor: str | Extractor | None,
        semantics: str | Sequence[str] | None,
        reader: PictureReader | None,
        index: str | None,
        about: dict[str, Any],
    ) -> Self:
        """Make an empty collection for a model."""
        if isinstance(model, Model):
            semantics = semantics or model.semantics
            reader = reader or (model.reader if extractor is None else None)
        reader = reader_for(extractor, reader)
        creating.create(_absolute(path), model, reader, semantics=semantics, **about)
        return cls.open(path, reader=reader, index=index)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        reader: PictureReader | None = None,
        index: str | None = None,
        patience: float = 0.0,
    ) -> Self:
        """Open an existing collection.

        Parameters
        ----------
        path : path-like
        reader : PictureReader, optional
            How pictures are read.
        index : str, optional
            Where the codes are searched from now on, as for `create`; by default where they
            were searched before.
        patience : float
            Seconds that a change waits while another process is writing, before it is refused.

        Raises
        ------
        CollectionError
            If there is no collection, it is damaged, or a later version of zshash has written it.
        """
        opened: list[Self] = []
        with guarding(lambda: [one.close() for one in opened]):
            reader = reader or PictureReader()
            opened.append(cls(Store(_absolute(path), reader, index, patience)))
        return opened[0]

    def close(self) -> None:
        """End the use of the folder. A closed collection can not be used any more."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            facts = f"{len(self):,} items, {self.n_bits} bits by {self.model.method}"
        except CollectionError:  # closed, or opened by another process
            facts = "not open"
        return f"<{type(self).__name__} {str(self.path)!r}: {facts}>"

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
        """Folder of the collection."""
        return self._store.folder

    @property
    def n_bits(self) -> int:
        """Length of the codes in bits."""
        with self._store.reading() as state:
            return state.n_bits

    @property
    def model(self) -> Model:
        """The model that turns pictures and features into codes; it also has `notes` and `seen`."""
        with self._store.reading():
            return self._store.model

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
        """Facts about the collection, ready for JSON: items, bits, method, model and others."""
        return maintenance.describe(self._store)

    def add(
        self,
        data: Any,
        *,
        labels: Sequence[Any] | None = None,
        metadata: Sequence[dict[str, Any] | None] | None = None,
        sources: Sequence[str | Path | None] | None = None,
    ) -> Added:
        """Add pictures or features that the collection does not have yet.

        Items are added in batches. If the call is interrupted, the finished batches stay, and the
        same call goes on from there.

        Parameters
        ----------
        data : path, list of paths, ndarray, Dataset or Pictures
            A picture, a folder of them or anything else that `zshash.datasets.open_data` reads;
            several such paths; features (n, d); pixels (n, height, width[, 3]) of uint8.
        labels : list, optional
            For each item a word, a list of words or None; by default the labels of the data.
        metadata : list of dict, optional
            For each item a dict that JSON can hold, or None.
        sources : list of str, optional
            For each item a path or an address; by default the paths of the pictures.

        Returns
        -------
        Added
            Ids of the new items; for each thing that the collection had already, the id of the
            item that it equals; what could not be read, and why.

        Warns
        -----
        PictureWarning
            If pictures can not be read; they are left out.
        """
        return adding.add_data(self._store, data, labels, metadata, sources)

    def add_files(
        self,
        files: Sequence[bytes],
        *,
        labels: Sequence[Any] | None = None,
        metadata: Sequence[dict[str, Any] | None] | None = None,
    ) -> Added:
        """Add pictures given as the bytes of their files; the collection keeps a copy of each.

        The other parameters are those of `add`. A copy lies in the folder of the collection and
        is deleted with its item.
        """
        return copies.add_files(self._store, files, labels, metadata)

    def add_codes(
        self,
        codes: ArrayLike,
        *,
        sources: Sequence[str | Path | None] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Sequence[dict[str, Any] | None] | None = None,
        contents: Sequence[bytes | None] | None = None,
        model: str | None = None,
    ) -> Added:
        """Add packed codes (n, bytes) that the collection's hasher has made elsewhere.

        Parameters
        ----------
        codes : ndarray of shape (n, bytes), uint8
        sources, labels, metadata
            As for `add`.
        contents : list of bytes, optional
            Hashes of the pictures or features that the codes were made from. A code whose hash the
            collection has is left out.
        model : str, optional
            Checksum of the model that made the codes, such as `Model.checksum` or `Found.model`.
            By default, the model that the collection has when it begins to write.

        Raises
        ------
        OtherModel
            If the collection has another model, or gets one before all codes are written. What was
            written before that has been encoded again with all other items.
        """
        with self._store.reading() as state:
            adding.check_model(self.path, state, model)
            codes = check_codes("codes", codes, state.n_bits)
        n = len(codes)
        columns = Columns(
            check_sources(sources, n),
            check_labels(labels, n),
            check_metadata(metadata, n),
            check_contents(contents, n),
        )
        return adding.add_codes(self._store, codes, columns, model)

    def remove(self, ids: ArrayLike, *, undo: bool = True) -> Removed:
        """Remove items; if an id is unknown, nothing is removed. Files of pictures stay.

        Parameters
        ----------
        ids : list of int
        undo : bool
            Keep the items, so that `restore` can bring them back, until `compact` or until more
            than 100,000 items are kept; the first ones are forgotten then. Copies of pictures that
            `add_files` has made are kept as long. Without this, all is gone at once.

        Returns
        -------
        Removed
            The number of items, with the `key` that restores them.
        """
        return removing.remove(self._store, np.unique(items.check_ids(ids)), undo=undo)

    def restore(self, removed: Removed | str) -> Ids:
        """Undo a removal: the items come back under their ids, with all that they had.

        Another process may have removed them. Items that another model has encoded get codes of the
        present one.

        Parameters
        ----------
        removed : Removed or str
            What `remove` has returned, or its `key`.

        Returns
        -------
        ndarray of int64
            Ids of the items.

        Raises
        ------
        CollectionError
            If nothing is kept under the key, or the picture of an item was added again: then
            nothing is restored.
        """
        key = removed.key if isinstance(removed, Removed) else removed
        return removing.restore(self._store, key or "")

    def removals(self) -> list[Removal]:
        """Removals that `restore` can undo, the last one first."""
        return removing.list_removals(self._store)

    def find(self, where: str) -> Ids:
        """Ids of the items that meet a condition, such as ``label = 'cat' and year > 2015``."""
        return filtering.find(self._store, where)

    def label(self, ids: ArrayLike, labels: str | Sequence[str] | None, *, how: str = "set") -> int:
        """Give items labels, or take some away, all in one transaction.

        Parameters
        ----------
        ids : list of int
            If one of them is unknown, nothing is changed.
        labels : str, list of str or None
            By default the labels that the items have from now on; None or an empty list takes all
            away.
        how : {"set", "also", "without"}
            Whether the labels take the place of those that the items have ("set"), come beside them
            ("also"), or are taken away from them ("without").

        Returns
        -------
        int
            Number of items whose labels have changed.
        """
        return labelling.label(self._store, np.unique(items.check_ids(ids)), labels, how)

    def unknown_fields(self, where: str) -> list[str]:
        """Metadata keys in a condition that no item has: most likely they are misspelled."""
        return filtering.unknown_fields(self._store, where)

    def labels(self) -> dict[str, int]:
        """Number of items with each label, the most frequent first; "" counts those without."""
        return dict(filtering.label_counts(self._store))

    def facets(self) -> FacetCounts:
        """Number of items by month, by camera and by place."""
        return count_facets(self._store)

    def items(self, ids: ArrayLike | None = None) -> list[Item]:
        """Items with the given ids, in the order of the ids; by default all items."""
        with self._store.reading():
            wanted = self._store.ids() if ids is None else items.check_ids(ids)
            items.check_known(self._store, wanted)
            return items.items(self._store, wanted.tolist())

    def each(self, where: str | None = None) -> Iterator[Item]:
        """All items in the order of ids, or those that meet a condition, one after the other.

        They are those of one state, whatever others write meanwhile, and only some thousand of
        them are in memory.
        """
        return listing.each(self._store, where)

    def metadata_keys(self, where: str | None = None) -> list[str]:
        """Keys of the metadata of all items, or of those that meet a condition, sorted."""
        return listing.metadata_keys(self._store, where)

    def pictured(self, ids: ArrayLike) -> set[int]:
        """Those of the given ids whose items have a thumbnail."""
        with self._store.reading() as state:
            return items.pictured(self._store, state, items.check_ids(ids).tolist())

    def thumbnail(self, number: int) -> bytes | None:
        """Thumbnail of an item, as the bytes of a WebP file, or None.

        Albums of earlier versions have JPEG files, until `remake_thumbnails`.
        """
        with self._store.reading():
            items.check_known(self._store, items.check_ids([number]))
            return items.thumbnail(self._store, int(number))

    def remake_thumbnails(self, side: int = 320) -> Remade:
        """Make the thumbnails of all items again that are not WebP of this longer side.

        They are made from the files of the pictures; pictures that are added later get such
        thumbnails, too. Items whose picture is gone or has changed keep what they have. If the call
        is interrupted, the same call goes on where it ended.

        Returns
        -------
        Remade
            How many are new, how many were fine, and why the others could not be made.
        """
        return remaking.remake(self._store, side)

    def sizes(self, pictured: Sequence[Item]) -> dict[int, tuple[int, int]]:
        """Width and height of the pictures of items as they are seen, by id.

        They come from the metadata, or else from the thumbnail, which may have fewer pixels; items
        without both are left out.
        """
        return items.sizes(self._store, pictured)

    def picture(self, number: int) -> Path | None:
        """Path where the picture of an item should be, or None if that is unknown."""
        return copies.picture(self._store, self[number])

    @overload
    def search(
        self, query: Picture, *, name: Words = ..., without: Names = ..., **page: Unpack[Page]
    ) -> Found: ...
    @overload
    def search(
        self, query: Many, *, name: Words = ..., without: Names = ..., **page: Unpack[Page]
    ) -> list[Found]: ...
    @overload
    def search(
        self, *, name: str | Mapping[str, float], without: Names = ..., **page: Unpack[Page]
    ) -> Found: ...
    @overload
    def search(self, *, name: list[str] | tuple[str, ...], **page: Unpack[Page]) -> list[Found]: ...
    @overload
    def search(self, *, item: int, **page: Unpack[Page]) -> Found: ...
    @overload
    def search(self, *, item: list[int] | Ids, **page: Unpack[Page]) -> list[Found]: ...
    @overload
    def search(self, *, code: bytes, **page: Unpack[Page]) -> Found: ...
    @overload
    def search(
        self,
        query: Any = ...,
        *,
        name: Words = ...,
        without: Names = ...,
        item: ArrayLike | None = ...,
        code: bytes | ArrayLike | None = ...,
        values: ArrayLike | None = ...,
        **page: Unpack[Page],
    ) -> Found | list[Found]: ...
    def search(
        self,
        query: Any = None,
        *,
        name: Words = None,
        without: Names = (),
        item: int | ArrayLike | None = None,
        code: bytes | ArrayLike | None = None,
        values: ArrayLike | None = None,
        k: int | None = None,
        radius: int | None = None,
        offset: int = 0,
        where: str | None = None,
        distance: str | None = None,
        rerank: int | None = None,
        model: str | None = None,
    ) -> Found | list[Found]:
        """The items that fit a query best, best first.

        Exactly one of `query`, `name`, `item`, `code` and `values` says what is searched for; a
        picture and a name may be given together. Many queries of one kind give a list of `Found`,
        all of them by the same model.

        Parameters
        ----------
        query : path, bytes or ndarray
            A picture's file, its bytes, its pixels (uint8), or features (d,). Many: a list of
            pictures, pixels (n, height, width, 3), features (n, d), `Dataset` or `Pictures`.
        name : str, list of str, or dict of str to float
            Name of what pictures show, also of something that nobody labelled: a word, a sense of
            it ("crane (bird)"), a label, or a phrase ("a dog on a beach"). A dict has names with
            weights, which are searched for together; so are names beside a `query`. A list alone
            has many queries.
        without : str or list of str
            Names of what is not wanted, beside a `name` or a `query`.
        item : int or list of int
            Id of an item, whose code is searched for; it finds itself, too.
        code : bytes or ndarray of shape (bytes,) or (n, bytes), uint8
            Packed code.
        values : ndarray of shape (n_bits,) or (n, n_bits)
            Real numbers, one for each bit, such as the values before the sign that
            `Model.project` returns.
        k : int
            Number of matches to return; by default 20, and with a `radius` all.
        radius : int, optional
            Largest number of bits in which the code of a match may differ from the query's.
        offset : int
            Number of matches to skip: the next page begins at the `offset` of this one plus `k`.
        where : str, optional
            Only items that meet this condition, see `find`.
        distance : {"real", "bits"}
            With "real" (the default), the query's values before the sign are compared with the bits
            of the items; with "bits" (the default with a `radius`), bits with bits. For an item or
            a code both are the same; a name has a rule of its own.
        rerank : int, optional
            Number of best matches that are ranked again by the features that the collection keeps;
            all others follow in their order. For a picture, features or an item.
        model : str, optional
            Checksum of the model that made `code` or `values`, as `Found.model` says it.

        Returns
        -------
        Found
            A list of `Match`; its `total` counts the matches on all pages.

        Raises
        ------
        OtherModel
            If `model` is not the collection's model.
        NoFeatures
            If matches are to be ranked again, and the collection keeps no features.

        Warns
        -----
        PictureWarning
            If one of many pictures can not be read; nothing is found for it.
        """
        page: dict[str, Any] = {"k": k, "radius": radius, "offset": offset, "distance": distance}
        page |= {"rerank": rerank, "model": model}
        queries, is_many = make_queries(query, name, item, code, values, without, **page)
        found = self.search_each(queries, where=where)
        return found if is_many else found[0]

    def search_each(
        self, queries: Sequence[Query], *, where: str | None = None, recent: Recent | None = None
    ) -> list[Found]:
        """Search for several queries, each of any kind and with its own page; all by one model.

        `recent` keeps the items that were found, for later searches: they must not be changed.
        """
        return searching.search(self._store, queries, where, recent)

    def rank_each(self, queries: Sequence[Query], *, where: str | None = None) -> list[Ranking]:
        """Ids and scores of what `search_each` finds: no item is read, so it takes less time."""
        return list(searching.rank(self._store, queries, where))

    def explain_name(self, name: str) -> Meaning:
        """What a name means to the model: the seen categories nearest to it, and a forecast."""
        return naming.explain_name(self._store, name)

    def explain_code(
        self,
        code: ArrayLike | None = None,
        *,
        item: int | None = None,
        model: str | None = None,
        n: int = 10,
    ) -> list[NearName]:
        """The names of categories nearest to what a code means, nearest first.

        These are the categories that the model has seen, and all other labels of items as far as
        their meaning is known. Give a packed `code` (bytes,), and the checksum of its `model` if it
        is known; or the id of an `item`.
        """
        return searching.names_near(self._store, Query(code=code, item=item, model=model), n)

    def view(self) -> View:
        """Generation, model and codes of one state of the collection."""
        with self._store.reading() as state:
            return View(state.generation, self._store.model, copy(self._store.mirror.index))

    def duplicates(self, level: str = "same", *, r: int = 2, kept: bool = False) -> Duplicates:
        """Groups of items that are copies of each other, or look alike.

        Groups share no members, except that an item with equal files may also be in a group of
        copies of one picture.

        Parameters
        ----------
        level : {"identical", "same", "alike"}
            "identical": items with other files of the same bytes. "same": these, and copies of one
            picture that are scaled, compressed, turned by the camera's note, cropped by up to a
            tenth at each side, or a little brighter. Different shots of one scene are no copies.
            "alike": items whose codes differ in at most `r` bits from those of the group's first
            one, which are often different pictures.
        r : int
            Number of bits, for the level "alike".
        kept : bool
            Whether groups that `keep_group` has marked are there, too.

        Returns
        -------
        Duplicates
            A list of `Group`; its `unknown` counts items that could not be compared.
        """
        check_integer("r", r, 0)
        found = duplicates.duplicates(self._store, level, r)
        if not kept:
            found[:] = self.reviewed().without(found)
        return found

    def keep_group(self, ids: ArrayLike) -> str:
        """Mark a group of copies as wanted, all of it: `duplicates` leaves it out from now on.

        The mark is of the contents of the items, so it lasts when they are removed and added again.
        Returns a key, which `forget_group` takes.
        """
        return reviewing.keep_group(self._store, self.items(ids))

    def forget_group(self, key: str) -> None:
        """Undo `keep_group`: the group is among the `duplicates` again."""
        reviewing.forget_kept(self._store, key)

    def reviewed(self) -> reviewing.Reviewed:
        """The groups that `keep_group` has marked."""
        return reviewing.reviewed(self._store)

    def choose_copies(self, groups: Sequence[Group], keep: str = "largest") -> list[Choice]:
        """Choose the picture to keep of each group of copies; nothing is changed.

        Parameters
        ----------
        groups : list of Group
            As `duplicates` returns them, but not those of the level "alike".
        keep : {"largest", "oldest"}
            The picture with most pixels, then most bytes; or the one with the earliest time, of
            the camera or else of the file. A camera's raw file comes first, and pictures that are
            cut out of another one come last.
        """
        return choosing.choose(self._store, groups, keep)

    def remove_copies(self, choices: Sequence[Choice], *, delete_files: bool = False) -> Cleared:
        """Remove the pictures that `choose_copies` did not choose; delete their files if wanted.

        Parameters
        ----------
        choices : list of Choice
        delete_files : bool
            Delete the files, too, and other files with the same bytes. A file is deleted only if
            it and the picture that is kept are still what was added; what can not be deleted
            safely stays, with its item. Without this, no file is touched.

        Returns
        -------
        Cleared
            What was removed and deleted, and what stays, and why.
        """
        return clearing.clear(self._store, choices, delete_files=delete_files)

    def sync(
        self, folder: str | Path, *, keep_labels: bool = False, dry_run: bool = False
    ) -> Synced:
        """Make the items agree with the picture files of a folder: add, change, move and remove.

        A file is read again if its size or time has changed, and counts as changed if its content
        has changed, too. A file that was moved keeps its id, labels and metadata, and so does one
        that was changed. Only items whose source lies in the folder are ever removed. A folder
        without pictures is refused if items come from it: its disk may be missing.

        Parameters
        ----------
        folder : path-like
            A folder, a picture, or a list of pictures as `zshash.datasets.read_manifest` reads it.
        keep_labels : bool
            Leave labels as they are where a file has moved to another folder. By default, the label
            that its earlier folder gave is replaced by that of the new folder.
        dry_run : bool
            Change nothing; the result says what would be done, as far as it can be told without
            decoding pictures.

        Returns
        -------
        Synced
            Ids of the items that were added, changed, moved and removed; what could not be read;
            files that are copies of others.

        Warns
        -----
        PictureWarning
            If pictures can not be read; they are left out. Of each of them only the first call
            warns, until its file changes.
        """
        return syncing.sync(self._store, folder, keep_labels=keep_labels, dry_run=dry_run)

    def relocate(self, old: str | Path, new: str | Path, *, dry_run: bool = False) -> Relocated:
        """Tell the collection that pictures have moved: what was in folder `old` is in `new` now.

        Ids, labels and codes stay. Files are looked for, but not read. All paths change in one
        transaction.

        Returns
        -------
        Relocated
            Ids of the items, and new paths where there is no file, or one of another size.

        Raises
        ------
        CollectionError
            If no item has a path in `old`, or none of their files is in `new`.
        """
        return relocating.relocate(self._store, old, new, dry_run=dry_run)

    def reencode(self, model: Any) -> int:
        """Give all items the codes of another model, or none; return how many got a new code.

        Features come from the collection where it keeps them, else from the pictures at the
        items' sources.

        Parameters
        ----------
        model : Model, Hasher or path-like
            As for `create`. A hasher is taken for one that was trained on features of the same
            network as the model before.

        Raises
        ------
        CollectionError
            If an item has neither features nor a picture.
        """
        return reencoding.reencode(self._store, model)

    def refit(self, **changes: Any) -> int:
        """Learn again from all pictures, and give them the codes of the new model in one step.

        Labels that items have by now are learned from, too. Others see the codes of the model
        before until all items have new ones. Features come from the collection where it keeps
        them, else from the pictures; of more than 100,000 items that many are learned from.

        Parameters
        ----------
        **changes
            What is to be different from the last time: `method`, `n_bits`, `semantics`, `aliases`,
            `random_state` and parameters of the method, as for `zshash.fit`.

        Returns
        -------
        int
            Number of items that got a new code.

        Raises
        ------
        CollectionError
            If an item has neither features nor a picture.
        """
        with self._store.reading():
            recipe = refitting.recipe_of(self._store)
        return refitting.refit(self._store, recipe.changed(**changes))

    @property
    def n_unlearned(self) -> int:
        """Number of items that came after the model was learned, if `refit` would pay; else 0."""
        return refitting.n_unlearned(self._store)

    def compact(self) -> dict[str, Any]:
        """Free the space of removed items, and delete files that are no longer needed."""
        return maintenance.compact(self._store)

    def verify(self, deep: bool = False) -> Verified:
        """Everything that is wrong with the files of the collection, a sentence each.

        Parameters
        ----------
        deep : bool
            Also encode a random sample of items again and compare their codes, which finds codes
            of another model. Features come from the collection where it keeps them, else from
            pictures that are still there and unchanged.

        Returns
        -------
        Verified
            A list of sentences. `encoded` is the number of items that were encoded again, and
            `not_encoded` of those that could not be.
        """
        return verifying.verify(self._store, deep)


def _absolute(path: str | Path) -> Path:
    return Path(path).absolute()
