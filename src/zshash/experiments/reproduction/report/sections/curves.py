"""One score along one quantity: iterations, seen categories, training pictures."""

from collections.abc import Sequence

from zshash.experiments.reproduction.report.document import Block, Line, Lines, Plot, Table
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.measures import at_iteration, share_seen
from zshash.experiments.reproduction.report.statistics import deviation, mean, shown
from zshash.experiments.reproduction.tasks import Task

__all__ = ["convergence", "seen_ratio", "training_size"]

MARKED = (1, 2, 3, 5, 10, 20, 30)


def convergence(found: Findings) -> list[Block]:
    """The objective after each iteration; a fit that has ended stays where it is."""
    known = [result for result in found.results if result.values("objective")]
    steps = range(1, max(len(curve) for curve in found.values("objective")) + 1)
    marked = [step for step in steps if step in MARKED or step == steps[-1]]
    lines, rows = [], []
    for result in known:
        curves, label = result.values("objective"), _start(found, result.task)
        own = [at_iteration(curves, step) for step in steps]
        lines.append(Line(label, steps, [mean(v) for v in own], [deviation(v) for v in own]))
        cells = [_large(at_iteration(curves, step)) for step in marked]
        rows.append([label, *cells, shown([float(len(curve)) for curve in curves], 1)])
    heads = ["after iteration", *map(str, marked), "iterations until the codes repeat"]
    panel = Lines("objective", "iteration", "", lines, log_y=True)
    alt = "The objective of ZSH after each iteration, falling from two starts"
    return [Plot(found.experiment.name, [panel], alt), Table(heads, rows)]


def _start(found: Findings, task: Task) -> str:
    """What tells a task from the others: its start, and the method and bits where they differ."""
    others = [str(getattr(task, key)) for key in ("method", "bits") if len(found.along(key)) > 1]
    return ", ".join([*others, f"start of W: {task.parameters.get('init_scale', 'default')}"])


def _large(values: Sequence[float]) -> str:
    """With digits only where they matter."""
    return shown(values, 0 if values and mean(values) >= 100 else 2)


def seen_ratio(found: Findings) -> list[Block]:
    """MAP and precision by the share of the categories that is seen."""
    shares = share_seen(found)
    known = [result for result in found.results if result.task.facts()["unseen"] in shares]
    part = Findings(found.experiment, known)
    return _curve(part, "unseen", "share of the categories that is seen", shares)


def training_size(found: Findings) -> list[Block]:
    """MAP and precision by the number of training pictures."""
    sizes = {number: float(number) for number in found.along("n_train")}
    return _curve(found, "n_train", "training pictures", sizes, log_x=True)


def _curve(
    found: Findings, field: str, title: str, places: dict[int, float], *, log_x: bool = False
) -> list[Block]:
    task = found.results[0].task.facts()
    scores = {"map": f"MAP@{task['k']}", "precision": f"precision, radius {task['radius']}"}
    panels = []
    for key, text in scores.items():
        line = found.line("ZSH", key, field, emphasis=True)
        x = [places[value] for value in found.along(field)]
        panels.append(
            Lines(text, title, "", [Line("", x, line.y, line.deviation, True)], log_x=log_x)
        )
    rows = [
        [f"{places[value]:,g}", *(shown(found.values(key, **{field: value})) for key in scores)]
        for value in found.along(field)
    ]
    alt = f"{' and '.join(scores.values())} of ZSH by {title}"
    return [
        Plot(found.experiment.name, panels, alt),
        Table([title, *scores.values()], rows),
    ]
