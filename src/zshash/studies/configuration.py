"""Experiments as configurations: a TOML file names data, label sources, methods, bits and seeds.

title = "Truck unseen"
like = "cifar10"          # take missing keys from another experiment (optional)
seeds = 5
quick_seeds = 2

[parameters.KSH]          # for this method, in all parts
n_anchors = 1000

[[parts]]                 # one task, or one for each combination of `vary`
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
unseen = ["truck"]

[parts.vary]              # a task for every combination of these values
method = ["ZSH", "KSH"]
bits = [16, 32, 64]

[parts.replaced]          # used instead when a user replaces the data
k = 1000

[[quick]]                 # the parts of the small version
...
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from zshash.datasets import DataError
from zshash.semantics.names import near_misses
from zshash.studies.checks import (
    check_method,
    check_number,
    check_parameters,
    check_text,
    checked,
    refuse_unknown,
)
from zshash.studies.experiments import About, Changes, Experiment
from zshash.studies.tasks import MethodTask, Retrieval

__all__ = ["Study"]

TOP = {"title", "like", "seeds", "quick_seeds", "parameters", "parts", "quick"}
FILES = {"data", "training", "pictures", "labels", "known_to"}
Kinds = Mapping[str, type[MethodTask]]


class Study:
    """Experiments that come with the package; a user's own may build on them by `like`.

    Parameters
    ----------
    experiments : sequence of About
        In the order of the report.

    Attributes
    ----------
    names : tuple of str
        Names of the experiments, in the order of the report.
    kinds : mapping of str to type
        Kinds of tasks, by the name that a configuration gives them.
    """

    def __init__(self, experiments: Sequence[About]) -> None:
        self._included = {about.name: about for about in experiments}
        self.names = tuple(self._included)
        kinds: list[type[MethodTask]] = [
            Retrieval,
            *(kind for about in experiments for kind in about.kinds),
        ]
        self.kinds: Kinds = {kind.kind: kind for kind in kinds}

    def read(self, name: str, changes: Changes | None = None) -> Experiment:
        """An experiment by its name, or by the path of a configuration.

        Raises
        ------
        DataError
            If there is no such experiment, or its configuration is wrong; the message says where.
        """
        changes, about = changes or Changes(), self._included.get(name)
        content = self._content(name)
        key, seeds_key = ("quick", "quick_seeds") if changes.quick else ("parts", "seeds")
        if not content.get(key):
            raise DataError(f"{name}: there is no [[{key}]]")
        parts = content[key] if about else [_located(p, Path(name).parent) for p in content[key]]
        points = [point for part in parts for point in _points(name, part, changes)]
        made = [_make_task(name, self.kinds, point, content) for point in points]
        tasks = tuple({_identity(task): task for task in made}.values())
        title = content.get("title", Path(name).stem)
        seeds = changes.seeds or content.get(seeds_key, 1)
        own = name if about else re.sub(r"[^A-Za-z0-9_-]", "-", Path(name).stem)
        file, show = "" if about else name, self._show(about, tasks)
        return Experiment(own, title, tasks, seeds, file, changes, about, show)

    def _show(self, about: About | None, tasks: Sequence[MethodTask]) -> Any:
        """The function that shows an experiment: by the kind of its tasks, its own, or None."""
        kinds = {type(task) for task in tasks}
        every = self._included.values()
        of_kind = (other.show for other in every if other.shows_kind and kinds == {*other.kinds})
        return next(of_kind, about.show if about else None)

    def _content(self, name: str) -> dict[str, Any]:
        """A configuration, with missing keys from the experiment that it is `like`."""
        content = _parsed(name, self._text(name))
        if "like" not in content:
            return content
        return _parsed(content["like"], self._text(content["like"])) | content

    def _text(self, name: str) -> str:
        if name in self._included:
            return self._included[name].runs
        if Path(name).is_file():
            return Path(name).read_text(encoding="utf-8", errors="replace")
        near = near_misses(name, self.names)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self.names)}"
        raise DataError(f"{name}: neither an experiment nor a configuration file; {hint}")


def _identity(task: MethodTask) -> tuple[Any, ...]:
    """Key of a task: equal tasks are run once; files of one name may differ in their folders."""
    files = task.data, getattr(task, "training", None), getattr(task, "pictures", None)
    return task.path(), files, task.setup().labels


def _parsed(origin: str, text: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{origin}: not a configuration in TOML: {error}") from error
    _check_top(origin, content)
    return content


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
    """A part with full paths for the files that lie beside the configuration."""

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
    """Every combination of the values that a part varies, with a user's changes."""
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


def _make_task(
    origin: str, kinds: Kinds, point: Mapping[str, Any], content: Mapping[str, Any]
) -> MethodTask:
    point = dict(point)
    kind = point.pop("task", None)
    if not isinstance(kind, str) or kind not in kinds:
        raise DataError(f"{origin}: task is {kind!r}, which is none of {', '.join(kinds)}")
    known = {item.name: item for item in fields(kinds[kind])}
    refuse_unknown(origin, point, known)
    missing = [
        name
        for name, item in known.items()
        if name not in point and item.default is MISSING and item.default_factory is MISSING
    ]
    if missing:
        raise DataError(f"{origin}: a task {kind!r} needs {', '.join(missing)}")
    values = {key: checked(origin, key, value) for key, value in point.items()}
    task = kinds[kind](**values)
    check_method(origin, task.method)
    return _with_parameters(origin, task, content.get("parameters", {}).get(task.method, {}))


def _with_parameters(origin: str, task: MethodTask, shared: Mapping[str, Any]) -> MethodTask:
    """The task with the parameters of the whole experiment; the text "none" becomes None."""
    merged = {**shared, **task.parameters}
    check_parameters(origin, task.method, merged)
    nothing = {key: None for key, value in merged.items() if value == "none"}  # TOML has no None
    return replace(task, parameters=merged | nothing)
