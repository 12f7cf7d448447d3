"""Experiments as configurations: a TOML file names data, label sources, methods, bits and seeds.

title = "Truck unseen"
like = "cifar10"          # take what is not said here from another experiment, if any
seeds = 5
quick_seeds = 2

[parameters.KSH]          # of a method, wherever it runs
n_anchors = 1000

[[parts]]                 # a task, or as many as `vary` gives
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
unseen = ["truck"]

[parts.vary]              # every combination of these
method = ["ZSH", "KSH"]
bits = [16, 32, 64]

[parts.replaced]          # what is other where a user replaces the data
k = 1000

[[quick]]                 # the same for a small version, in place of `parts`
...
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

from zshash.datasets import DataError
from zshash.experiments.reproduction.checks import (
    check_method,
    check_number,
    check_parameters,
    check_text,
    checked,
    refuse_unknown,
)
from zshash.experiments.reproduction.tasks import TASKS, Task
from zshash.semantics.names import near_misses

__all__ = ["NAMES", "Changes", "Experiment", "read_experiment"]

NAMES = (
    "convergence",
    "cifar10",
    "unseen-category",
    "seen-ratio",
    "training-size",
    "imagenet",
    "related",
    "mirflickr",
    "exemplars",
    "names",
    "labels",
    "alignment",
    "structure",
)
"""The experiments that come with the package, in the order of the report."""

TOP = {"title", "like", "seeds", "quick_seeds", "parameters", "parts", "quick"}
FILES = {"data", "training", "pictures", "labels", "known_to"}


@dataclass(frozen=True)
class Changes:
    """What a user wants other than the configuration says; None and empty leave it as it is.

    `data` and `training` take the place of the data to search and to learn from; `methods` and
    `bits` of those that are varied.
    """

    quick: bool = False
    seeds: int | None = None
    methods: tuple[str, ...] = ()
    bits: tuple[int, ...] = ()
    data: str | None = None
    training: str | None = None

    def without_effect(self, tasks: Sequence[Task]) -> list[str]:
        """The options that changed nothing in these tasks."""
        unused = []
        if self.methods and not set(self.methods) >= {task.method for task in tasks}:
            unused.append("--method")
        if self.data and not any(task.data == self.data for task in tasks):
            unused.append("--data")
        if self.training and not any(getattr(t, "training", "") == self.training for t in tasks):
            unused.append("--training")
        return unused

    def options(self) -> list[str]:
        """The same on the command line.

        >>> Changes(seeds=2, bits=(16, 32)).options()
        ['--seeds 2', '--bits 16', '--bits 32']
        """
        flags = ["--quick"] if self.quick else []
        single = {"--seeds": self.seeds, "--data": self.data, "--training": self.training}
        several = {"--method": self.methods, "--bits": self.bits}
        flags += [f"{flag} {value}" for flag, value in single.items() if value]
        return flags + [f"{flag} {item}" for flag, items in several.items() for item in items]


@dataclass(frozen=True)
class Experiment:
    """Tasks that belong together, and how often each is run.

    Attributes
    ----------
    name : str
        What its section of the report and its plots are called.
    title : str
    tasks : tuple of Task
    seeds : int
    file : str
        The configuration it was read from, empty for one that comes with the package.
    changes : Changes
        What is other than there.
    """

    name: str
    title: str
    tasks: tuple[Task, ...]
    seeds: int
    file: str = ""
    changes: Changes = Changes()

    @property
    def quick(self) -> bool:
        """Whether this is the small version."""
        return self.changes.quick


def read_experiment(name: str, changes: Changes | None = None) -> Experiment:
    """An experiment by its name, or by the path of a configuration.

    Raises
    ------
    DataError
        If there is none, or it can not be understood; the message says where.
    """
    changes = changes or Changes()
    content = _read(name)
    _check_top(name, content)
    if "like" in content:
        other = _read(content["like"])
        _check_top(content["like"], other)
        content = other | content
    key, seeds_key = ("quick", "quick_seeds") if changes.quick else ("parts", "seeds")
    if not content.get(key):
        raise DataError(f"{name}: there is no [[{key}]]")
    shared = content.get("parameters", {})
    parts = [
        _located(part, Path(name).parent) if name not in NAMES else part for part in content[key]
    ]
    made = [
        _make_task(name, point, shared) for part in parts for point in _points(name, part, changes)
    ]
    tasks = {_identity(task): task for task in made}.values()
    seeds = changes.seeds or content.get(seeds_key, 1)
    title = content.get("title", Path(name).stem)
    if name in NAMES:
        return Experiment(name, title, tuple(tasks), seeds, changes=changes)
    own = re.sub(r"[^A-Za-z0-9_-]", "-", Path(name).stem)
    return Experiment(own, title, tuple(tasks), seeds, name, changes)


def _identity(task: Task) -> tuple[Any, ...]:
    """Some tasks do not look at all that is varied; files of one name are not the same."""
    files = task.data, getattr(task, "training", None), getattr(task, "pictures", None)
    return task.path(), files, task.setup().labels


def _read(name: str) -> dict[str, Any]:
    if name in NAMES:
        text = _included(name)
    elif Path(name).is_file():
        text = Path(name).read_text(encoding="utf-8", errors="replace")
    else:
        near = near_misses(name, NAMES)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NAMES)}"
        raise DataError(f"{name}: neither an experiment nor a configuration file; {hint}")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name}: not a configuration in TOML: {error}") from error


@cache
def _included(name: str) -> str:
    return (resources.files(__package__) / "configs" / f"{name}.toml").read_text(encoding="utf-8")


def _check_top(origin: str, content: Mapping[str, Any]) -> None:
    refuse_unknown(origin, content, TOP)
    for key in ("seeds", "quick_seeds"):
        check_number(origin, key, content.get(key, 1))
    for key in ("parts", "quick"):
        parts = content.get(key, [])
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise DataError(f"{origin}: {key} must be written as [[{key}]]")
    for key in ("title", "like"):
        check_text(origin, key, content.get(key, ""))
    parameters = content.get("parameters", {})
    for method, own in checked(origin, "parameters", parameters).items():
        check_method(origin, method)
        check_parameters(origin, method, checked(origin, "parameters", own))


def _located(part: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A part with the files that are beside the configuration at their place."""

    def locate(value: Any) -> Any:
        if isinstance(value, list):
            return [locate(item) for item in value]
        beside = isinstance(value, str) and value and (folder / value).exists()
        return str(folder / value) if beside else value

    vary = part.get("vary", {})
    if isinstance(vary, dict):
        vary = {key: locate(value) if key in FILES else value for key, value in vary.items()}
    own = {key: locate(value) if key in FILES else value for key, value in part.items()}
    return own | ({"vary": vary} if vary else {})


def _points(origin: str, part: Mapping[str, Any], changes: Changes) -> Iterator[dict[str, Any]]:
    """Every combination of what a part varies, with what a user changes."""
    fixed = {key: value for key, value in part.items() if key not in ("vary", "replaced")}
    vary, replaced = (part.get(key, {}) for key in ("vary", "replaced"))
    if not isinstance(vary, dict) or not isinstance(replaced, dict):
        raise DataError(f"{origin}: vary and replaced must be tables, such as [parts.vary]")
    vary = dict(vary)
    for key, values in vary.items():
        if not isinstance(values, list) or not values:
            raise DataError(f"{origin}: vary.{key} must be a list of values")
    for key in ("data", "training"):
        if getattr(changes, key) and key in {**fixed, **vary}:
            vary.pop(key, None)
            fixed[key] = getattr(changes, key)
    if changes.data:
        fixed |= replaced
    for key, values in (("method", changes.methods), ("bits", changes.bits)):
        if values and key in vary:
            vary[key] = values
        elif values and key == "bits":
            fixed.pop(key, None)
            vary[key] = values
    for values in product(*vary.values()):
        yield fixed | dict(zip(vary, values, strict=True))


def _make_task(origin: str, point: Mapping[str, Any], shared: Mapping[str, Any]) -> Task:
    point = dict(point)
    kind = point.pop("task", None)
    if not isinstance(kind, str) or kind not in TASKS:
        raise DataError(f"{origin}: task is {kind!r}, which is none of {', '.join(TASKS)}")
    known = {item.name: item for item in fields(TASKS[kind])}
    refuse_unknown(origin, point, known)
    missing = [
        name
        for name, item in known.items()
        if name not in point and item.default is MISSING and item.default_factory is MISSING
    ]
    if missing:
        raise DataError(f"{origin}: a task {kind!r} needs {', '.join(missing)}")
    values = {key: checked(origin, key, value) for key, value in point.items()}
    task = TASKS[kind](**values)
    check_method(origin, task.method)
    return _with_parameters(origin, task, shared.get(task.method, {}))


def _with_parameters(origin: str, task: Task, shared: Mapping[str, Any]) -> Task:
    """With the parameters that the method has in the whole experiment, and "none" as None."""
    merged = {**shared, **task.parameters}
    check_parameters(origin, task.method, merged)
    nothing = {key: None for key, value in merged.items() if value == "none"}  # TOML has no None
    return replace(task, parameters=merged | nothing)
