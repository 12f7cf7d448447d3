"""Sentences on the data, the sizes and the seeds that results depend on."""

import re
from collections.abc import Sequence
from typing import Any

from zshash.evaluation.report.document import Block, Code, Items, Text
from zshash.studies.findings import Findings

__all__ = ["circumstances", "preface", "subject", "title"]

COMMON = {
    "method": "{}",
    "bits": "{} bits",
    "unseen": "unseen: {}",
    "k": "K = {}",
    "radius": "radius {}",
}
SIZES = {
    "n_train": "{:,} training pictures",
    "n_queries": "{:,} queries",
    "n_database": "{:,} pictures in the database",
}
SCORES = (
    "Scores are expected values over random orders within ties, mean ± standard deviation over "
    "seeds. Each seed draws training pictures, queries, anchors and the start anew. The database "
    "is hashed by the hash function, training pictures included."
)
RULES = (
    "A claim is *reproduced* if all of it holds here, *partly* if some of it does, for some code "
    "lengths or methods for instance, and *not reproduced* otherwise, which includes an effect "
    "whose 95 % interval reaches zero; *undecided* if there are too few seeds for an interval. "
    "Intervals, in parentheses, are Student's t over seeds, or over categories where these are "
    "compared; those of correlations are Fisher's. Who is ahead is told by means. Only the rivals "
    "that the paper has in the same experiment count for a verdict; methods beyond the paper are "
    "shown beside them."
)


def title(found: Sequence[Findings]) -> str:
    """Title of the report."""
    return "Results" if _is_own(found) else "Zero-shot hashing, re-run"


def subject(found: Sequence[Findings]) -> str:
    """The first paragraph of the report: its subject."""
    if _is_own(found):
        return "Experiments of one's own."
    text = (
        "The experiments of *Zero-Shot Hashing via Transferring Supervised Knowledge* (Yang et "
        "al., ACM Multimedia 2016), re-run, and some beyond it."
    )
    small = (
        " **A small version**, on handwritten digits in place of the paper's data: it shows that "
        "everything runs, and says nothing of the paper's claims."
    )
    return text + small if any(own.experiment.quick for own in found) else text


def _is_own(found: Sequence[Findings]) -> bool:
    return all(own.experiment.file for own in found)


def preface(found: Sequence[Findings], names: Sequence[str]) -> list[Block]:
    """Reservations, and the command that makes the page again; `names` are all experiments."""
    results = {result.task.path(): result for own in found for result in own.results}
    n_runs = sum(len(result.runs) for result in results.values())
    is_paper = not _is_own(found) and not any(own.experiment.quick for own in found)
    notes = [Text(RULES), Text(_reservations(found))] if is_paper else []
    made = f"Written from {n_runs} runs"
    versions = _versions(found)
    made += f", made with {versions}, by" if versions else ", by"
    return [*notes, Text(SCORES), Text(made), Code(f"zshash reproduce {_asked(found, names)}")]


def _asked(found: Sequence[Findings], names: Sequence[str]) -> str:
    chosen = [own.experiment.file or own.experiment.name for own in found]
    asked = "--all" if chosen == list(names) else " ".join(chosen)
    return " ".join([asked, *found[0].experiment.changes.options()])


def _reservations(found: Sequence[Findings]) -> str:
    """Reservations about the data and the parameters."""
    data = {result.task.searched for own in found for result in own.results}
    texts = [
        "Methods have their authors' defaults where the paper says nothing, but for LFH, which is "
        "centred. ZSH has the paper's parameters. The width of its random start, which the paper "
        "leaves open, was chosen with word vectors on the nine categories of CIFAR-10 other than "
        "*truck*, each hidden in turn, after scores of *truck* had been seen, too: where these "
        "categories are searched for, that choice has seen their scores, and 0/1 labels use it "
        "without one of their own (the section on label sources has other widths)."
    ]
    if any("lite0" in name for name in data):
        texts.append(
            "The features are those of an EfficientNet-Lite0 that was trained on ImageNet (the "
            "paper: AlexNet, fc-7, trained on ImageNet, too), so *unseen* means unseen by the hash "
            "function. A principal component analysis brought them to 256 dimensions; it is that "
            "of all pictures, or all training batches of CIFAR-10, unseen categories included."
        )
    return " ".join(reversed(texts))


def _versions(found: Sequence[Findings]) -> str:
    """The versions of the software that made the results."""
    seen: dict[str, set[str]] = {}
    for own in found:
        for result in own.results:
            for run in result.runs:
                for name, number in run.get("versions", {}).items():
                    seen.setdefault(name, set()).add(number)
    return ", ".join(f"{name} {' and '.join(sorted(numbers))}" for name, numbers in seen.items())


def circumstances(found: Findings) -> list[Block]:
    """A paragraph on the data, sizes and seeds of an experiment, and its warnings."""
    if not found.runs:
        return []
    facts = [result.task.facts() for result in found.results]
    data = list(dict.fromkeys(result.task.searched for result in found.results))
    labels = list(dict.fromkeys(" + ".join(own["labels"]) for own in facts if _is_ours(own)))
    sizes = [text.format(size) for key, text in SIZES.items() if (size := _common(found, key))]
    seeds = len({run["seed"] for run in found.runs})
    parts = [f"Data: {' and '.join(f'`{name}`' for name in data)}", *_shared(facts), *sizes]
    if labels:
        parts.append(f"label vectors: {', '.join(labels)}")
    parts.append(f"{seeds} seeds" if seeds > 1 else "one seed")
    errors = [
        f" {result.task.method} at {result.task.bits} bits: {result.error}."
        for result in found.results
        if result.error
    ]
    incomplete = "" if found.is_complete else " **Not all runs are there.**"
    return [Text("; ".join(parts) + "." + incomplete + "".join(errors)), *_notes(found)]


def _notes(found: Findings) -> list[Block]:
    """Warnings of the methods, with counts; warnings that differ only in numbers are one item."""
    texts: dict[str, list[str]] = {}
    for result in found.results:
        for run in result.runs:
            for note in run.get("notes", ()):
                method = result.task.method
                text = note if note.startswith(method) else f"{method}: {note}"
                texts.setdefault(re.sub(r"[0-9]+", "…", text), []).append(text)
    items = [
        f"{own[0] if len(set(own)) == 1 else masked} ({len(own)} runs)"
        for masked, own in texts.items()
    ]
    return [Text("What was warned of:"), Items(items)] if items else []


def _shared(facts: Sequence[dict[str, Any]]) -> list[str]:
    """Settings that all tasks have in common, without sizes."""
    texts = []
    for key, text in COMMON.items():
        if key in ("k", "radius") and facts[0]["task"] == "convergence":
            continue
        values = {str(own.get(key)) for own in facts}
        value = facts[0].get(key)
        if len(values) == 1 and value is not None:
            texts.append(text.format(", ".join(value) if isinstance(value, list) else value))
    return texts


def _is_ours(facts: dict[str, Any]) -> bool:
    return bool(facts["method"] == "ZSH" and facts["labels"])


def _common(found: Findings, key: str) -> int | None:
    """A size that all runs share, or None."""
    sizes = {run[key] for run in found.runs if key in run}
    return int(sizes.pop()) if len(sizes) == 1 else None
