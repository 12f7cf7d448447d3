"""What results depend on, in sentences."""

from collections.abc import Sequence
from typing import Any

from zshash.experiments.reproduction.configuration import NAMES
from zshash.experiments.reproduction.report.document import Block, Code, Text
from zshash.experiments.reproduction.report.findings import Findings

__all__ = ["circumstances", "preface"]

SIZES = {
    "n_train": "{:,} training pictures",
    "n_queries": "{:,} queries",
    "n_database": "{:,} pictures in the database",
}
VERDICTS = (
    "A claim is *reproduced* if all of it holds here, *partly* if some of it does, for some code "
    "lengths or methods for instance, and *not reproduced* otherwise, which includes an effect "
    "whose 95 % interval (in parentheses, Student's t over seeds) reaches zero. Methods are "
    "ordered by their means. Where the paper compares methods, only its own five rivals count for "
    "the verdict; methods beyond the paper are shown beside them."
)


def preface(found: Sequence[Findings]) -> list[Block]:
    """What this page is, how to make it again, and what to keep in mind."""
    quick = any(own.experiment.quick for own in found)
    command = "zshash reproduce " + _asked(found) + (" --quick" if quick else "")
    blocks: list[Block] = [Text(_about(found)), Code(command)]
    if all(own.experiment.file for own in found):
        return blocks
    if quick:
        note = (
            "**A small version**, on handwritten digits in place of the paper's data: it shows "
            "that everything runs, and says nothing of the paper's claims."
        )
        return [*blocks, Text(note)]
    return [*blocks, Text(_reservations(found)), Text(VERDICTS)]


def _asked(found: Sequence[Findings]) -> str:
    names = [own.experiment.file or own.experiment.name for own in found]
    return "--all" if tuple(names) == NAMES else " ".join(names)


def _about(found: Sequence[Findings]) -> str:
    runs = sum(len(own.runs) for own in found)
    versions = _versions(found)
    made = f" Made with {versions}." if versions else ""
    return (
        f"{_subject(found)}: {runs} runs.{made} Scores are "
        "expected values over random orders within ties, mean ± standard deviation over seeds; "
        "each seed draws training pictures, queries, anchors and the start anew. The database is "
        "hashed by the hash function, training pictures included. This page is written from result "
        "files by"
    )


def _subject(found: Sequence[Findings]) -> str:
    if all(own.experiment.file for own in found):
        return "Experiments of one's own"
    return (
        "The experiments of *Zero-Shot Hashing via Transferring Supervised Knowledge* (Yang et "
        "al., ACM Multimedia 2016), re-run, and some beyond it"
    )


def _reservations(found: Sequence[Findings]) -> str:
    """What to keep in mind about the data and the parameters."""
    data = {result.task.searched for own in found for result in own.results}
    texts = []
    if any("lite0" in name for name in data):
        texts.append(
            "The features are those of an EfficientNet-Lite0 that was trained on ImageNet (the "
            "paper: AlexNet, fc-7, trained on ImageNet, too), so *unseen* means unseen by the hash "
            "function."
        )
    if any("tiny100" in name for name in data):
        texts.append("100 categories of Tiny-ImageNet stand in for ImageNet.")
    texts.append(
        "Methods have their authors' defaults. ZSH has the paper's parameters; the width of its "
        "random start, which the paper leaves open, was chosen after scores of *truck* had been "
        "seen."
    )
    return " ".join(texts)


def _versions(found: Sequence[Findings]) -> str:
    """The versions that all results were made with, or which there are."""
    seen: dict[str, set[str]] = {}
    for own in found:
        for result in own.results:
            for run in result.runs:
                for name, number in run["versions"].items():
                    seen.setdefault(name, set()).add(number)
    return ", ".join(f"{name} {' and '.join(sorted(numbers))}" for name, numbers in seen.items())


def circumstances(found: Findings) -> list[Block]:
    """Data, sizes and seeds of an experiment."""
    if not found.runs:
        return []
    facts = [result.task.facts() for result in found.results]
    data = list(dict.fromkeys(result.task.searched for result in found.results))
    labels = list(dict.fromkeys(" + ".join(own["labels"]) for own in facts if _is_ours(own)))
    sizes = [text.format(size) for key, text in SIZES.items() if (size := _common(found, key))]
    seeds = found.experiment.seeds
    parts = [f"Data: {' and '.join(f'`{name}`' for name in data)}", *sizes]
    if labels:
        parts.append(f"label vectors: {', '.join(labels)}")
    parts.append(f"{seeds} seeds" if seeds > 1 else "one seed")
    errors = [
        f" {result.task.method} at {result.task.bits} bits: {result.error}."
        for result in found.results
        if result.error
    ]
    incomplete = "" if found.is_complete else " **Not all runs are there.**"
    return [Text("; ".join(parts) + "." + incomplete + "".join(errors))]


def _is_ours(facts: dict[str, Any]) -> bool:
    return bool(facts["method"] == "ZSH" and facts["labels"])


def _common(found: Findings, key: str) -> int | None:
    """A size that all runs share."""
    sizes = {run[key] for run in found.runs if key in run}
    return int(sizes.pop()) if len(sizes) == 1 else None
