"""Tables of the experiment: one for each protocol, a row for each rule."""

from collections.abc import Sequence
from pathlib import Path

from zshash.evaluation.report.document import Block, Table, Text
from zshash.evaluation.statistics import error_of, mean, with_error
from zshash.studies.findings import Findings
from zshash.studies.names2026.rules import RULES

__all__ = ["over_splits", "show", "source_title"]

SOURCES = {
    "wordnet": "WordNet",
    "glove6b_100d_nouns.txt.gz": "GloVe",
    "huang2012_50d.txt": "Huang",
    "awa2_attributes.npz": "attributes",
}


def show(found: Findings) -> list[Block]:
    """Tables of MAP and of right names, for each protocol: data, and which categories are dealt."""
    blocks: list[Block] = []
    for data in found.along("data"):
        for known_to in found.where(data=data).along("known_to"):
            blocks += _protocol(found.where(data=data, known_to=known_to))
    return blocks


def _protocol(own: Findings) -> list[Block]:
    """The tables of one protocol, and its chance."""
    if not own.runs:
        return []
    n_hidden = own.runs[0]["n_hidden"]
    title = f"{Path(own.results[0].task.data).stem}, {_dealt(own)}"
    blocks: list[Block] = [_table(own, "map", f"{title}: MAP")]
    if n_hidden > 1:
        caption = f"{title}: share of hidden pictures with the right one of {n_hidden} names"
        blocks.append(_table(own, "accuracy", caption))
    return [*blocks, Text(_chance(own, n_hidden))]


def _dealt(own: Findings) -> str:
    run, task = own.runs[0], own.results[0].task
    n, n_hidden = run["n_categories"], run["n_hidden"]
    known = f" that {source_title(task.known_to)} know" if task.known_to else ""
    return f"{n} categories{known}, {n_hidden} hidden at a time"


def _chance(own: Findings, n_hidden: int) -> str:
    right = f", right name {1 / n_hidden:.2f}" if n_hidden > 1 else ""
    return f"Chance: MAP {own.need('chance'):.3f}{right}."


def _table(own: Findings, key: str, caption: str) -> Table:
    """A row for each rule, a column for each label source; the best mean of a column is bold."""
    columns = [_column(own, key, labels) for labels in own.along("labels")]
    rules = [rule for rule in RULES if rule in own.along("rule")]
    rows = [[RULES[rule].title, *(column[rule] for column in columns)] for rule in rules]
    return Table(["", *map(source_title, own.along("labels"))], rows, caption)


def _column(own: Findings, key: str, labels: Sequence[str]) -> dict[str, str]:
    """The cells of a label source, by rule."""
    values = {rule: own.values(key, rule=rule, labels=labels) for rule in own.along("rule")}
    best = max((mean(part) for part in values.values() if part), default=None)
    return {rule: _cell(part, best) for rule, part in values.items()}


def _cell(values: Sequence[float], best: float | None) -> str:
    text = over_splits(values)
    return f"**{text}**" if values and mean(values) == best else text


def over_splits(values: Sequence[float]) -> str:
    """Mean and standard error over splits.

    >>> over_splits([0.25, 0.75]), over_splits([0.25]), over_splits([])
    ('0.500 ± 0.250', '0.250', '–')
    """
    return with_error(f"{mean(values):.3f}", error_of(values), 3) if values else "–"


def source_title(labels: Sequence[str]) -> str:
    """Label sources as a text for a person.

    >>> source_title(["wordnet", "words/glove6b_100d_nouns.txt.gz"])
    'WordNet + GloVe'
    """
    names = [Path(source).name for source in labels]
    return " + ".join(SOURCES.get(name, name) for name in names)
