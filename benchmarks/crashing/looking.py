"""The process that checks: it compares the collection with the expected state."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crashing.working import exported, use_format
from crashing.world import READER, Pool, Row, World, outcomes, wrong_id
from zshash import Collection
from zshash.codes import hamming
from zshash.collection import CollectionError, Query

__all__ = ["Facts", "check", "check_searches", "facts_of", "faults_of", "settle_any"]


def check(world: World, pool: Pool, seed: int) -> tuple[list[str], int, World]:
    """Faults, the number of checked items, and the present state of the world."""
    use_format(world.formats)
    pending, world = world.pending, replace(world, pending=None)
    try:
        collection = Collection.open(world.folder, reader=READER)
    except CollectionError as error:
        if world.created or not (pending and pending["op"] == "create"):
            return [f"it can not be opened: {error}"], 0, world
        return [], 0, world  # was cut off while it was made: it is made anew
    world.created = True
    with collection:
        found = {item.id: facts_of(item) for item in collection.items(collection.ids)}
        faults = settle_any(world, pending, found, pool)
        faults += faults_of(collection, world, pool, found, seed)
        if pending and pending["op"] == "export" and exported(world).exists():
            faults += check_export(exported(world), found)
        try:
            with collection._store.writing():
                pass
        except CollectionError as error:
            faults.append(f"it can not be written to: {error}")
    return faults, len(found), world


def settle_any(
    world: World, pending: dict[str, Any] | None, found: dict[int, "Facts"], pool: Pool
) -> list[str]:
    """Accept the present state as the truth after any operation, if it is an allowed one."""
    if pending and pending["op"] == "sync":
        return settle_sync(world, pending["files"], found, pool)
    return settle(world, pending, found, pool)


def faults_of(
    collection: Collection, world: World, pool: Pool, found: dict[int, "Facts"], seed: int
) -> list[str]:
    """Faults of searches, of copies of pictures, and those that `verify` finds."""
    faults = check_searches(collection, found, np.random.RandomState(seed))
    for number, row in world.items.items():
        if row.how == "files" and number in found:
            path = collection.picture(number)
            if not path or not path.is_file() or path.read_bytes() != pool.pictures[row.number]:
                faults.append(f"item {number}: its picture is not the one that was added")
    return faults + [f"verify: {problem}" for problem in collection.verify()]


def check_export(path: Path, found: dict[int, "Facts"]) -> list[str]:
    """A file that an interrupted export leaves must be whole."""
    try:
        with np.load(path) as arrays:
            codes = [code.tobytes() for code in arrays["codes"]]
            there = dict(zip(arrays["ids"].tolist(), codes, strict=True))
    except Exception as error:  # of whatever kind NumPy raises for half a file
        return [f"export: half a file: {error!r}"]
    return [] if there == {i: own[0] for i, own in found.items()} else ["export: other codes"]


SIZE = ("width", "height")
Facts = tuple[bytes, str | None, tuple[str, ...], str]


def facts_of(item: Any) -> Facts:
    """All facts of an item that are compared; the size of its picture is not among them."""
    said = {key: value for key, value in item.metadata.items() if key not in SIZE}
    return item.code, item.source, item.labels, json.dumps(said)


def expected_facts(row: Row, model: int, pool: Pool) -> Facts:
    """All facts that an item must have."""
    return pool.codes[model][row.number].tobytes(), row.source, row.labels, row.metadata


def settle(
    world: World, pending: dict[str, Any] | None, found: dict[int, Facts], pool: Pool
) -> list[str]:
    """Accept the present state as the truth, if it is one of the allowed states."""
    for items, model in outcomes(world, pending, pool):
        if found == {i: expected_facts(row, model, pool) for i, row in items.items()}:
            world.take(items, model)
            return []
    before = {i: expected_facts(row, world.model, pool) for i, row in world.items.items()}
    lost = sum(number not in found for number in before)
    other = sum(before[number] != facts for number, facts in found.items() if number in before)
    more = sum(number not in before for number in found)
    after = pending["op"] if pending else "nothing"
    return [f"after {after}: of {len(before)} items {lost} lost, {other} other, {more} new"]


def settle_sync(
    world: World, files: dict[str, int], found: dict[int, Facts], pool: Pool
) -> list[str]:
    """Check that each item is as before the sync or as after it, and none is lost."""
    items, faults = {}, []
    kept = set(files.values())
    for number, row in world.items.items():
        is_gone = row.how == "picture" and row.number not in kept
        if number not in found and not is_gone:
            faults.append(f"after sync: item {number} is lost")
    for number, facts in found.items():
        name = Path(str(facts[1])).name
        new = Row("picture", files.get(name, -1), str(world.photos / name))
        old = world.items.get(number)
        if old and facts == expected_facts(old, world.model, pool):
            items[number] = old
        elif name in files and facts == expected_facts(new, world.model, pool):
            items[number] = new
            faults += wrong_id(world, number, new)
        else:
            faults.append(f"after sync: item {number} is neither as before nor as the file")
    world.take(items)
    return faults


def check_searches(collection: Collection, found: dict[int, Facts], rng: Any) -> list[str]:
    """Searches against NumPy, and a condition against the labels."""
    ids = np.array(sorted(found), dtype=np.int64)
    codes = np.array([list(found[i][0]) for i in ids.tolist()], dtype=np.uint8).reshape(-1, 4)
    queries = rng.randint(0, 256, (4, 4), dtype=np.uint8)
    distances = hamming(queries, codes)
    near = collection.search_each([Query(code=code, k=10) for code in queries])
    around = collection.search_each([Query(code=code, radius=9) for code in queries])
    faults = []
    for row, nearest, ball in zip(distances, near, around, strict=True):
        order = np.lexsort((ids, row))
        expected = [(int(ids[place]), int(row[place])) for place in order]
        if [(match.id, match.bits) for match in nearest] != expected[:10]:
            faults.append("a search gives other items than NumPy")
        if [(m.id, m.bits) for m in ball] != [pair for pair in expected if pair[1] <= 9]:
            faults.append("a search within a radius gives other items than NumPy")
        if any(facts_of(match.item) != found[match.id] for match in nearest):
            faults.append("a search gives an item that is not as it was read")
    cats = [number for number in ids.tolist() if "cat" in found[number][2]]
    if collection.find("label = 'cat'").tolist() != cats:
        faults.append("find gives other items than have the label")
    return faults
