"""Records of many runs as tables: a row each method, a column each code length."""

import json
from collections.abc import Sequence
from typing import Any

from zshash.experiments.protocol import summarize, with_deviation
from zshash.hashing.registry import LABEL, METHODS, PAIRWISE, SEMANTIC, UNSUPERVISED

__all__ = ["summary", "to_json", "to_markdown"]

Record = dict[str, Any]
LEARNS_FROM = {UNSUPERVISED: "features", PAIRWISE: "pairs", LABEL: "labels", SEMANTIC: "names"}
TITLE = """# Comparison of hashing methods

Queries and database are hashed by the hash function that a method learned, training samples
included. Scores are expected values over random orders within ties. The best mean is bold.
Written by `zshash compare`."""


def summary(records: Sequence[Record]) -> list[Record]:
    """Mean and deviation over seeds for every data set, method and length, in that order."""
    rows = []
    for data in dict.fromkeys(record["data"] for record in records):
        own = [record for record in records if record["data"] == data and "map" in record]
        known = {record["name"]: record for record in own}
        for row in summarize(own):
            first = known[row["name"]]
            bits = first["parameters"]["n_bits"]
            rows.append({"data": data, "method": first["method"], "bits": bits} | row)
    return rows


def to_json(records: Sequence[Record], others: Sequence[Record] = ()) -> str:
    """The summary of the runs, the runs, and other runs that are just kept; a line each."""
    parts = {"summary": summary(records), "runs": records, "others": others}
    blocks = [
        f'"{key}": [\n' + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"
        for key, rows in parts.items()
    ]
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def to_markdown(records: Sequence[Record]) -> str:
    """Tables of MAP and precision for every data set: a row each method, a column each length.

    Runs of earlier versions know no MAP by asymmetric distance: a table of it names only methods
    that have one, and is left out where none has.
    """
    sections = [TITLE]
    for data in dict.fromkeys(record["data"] for record in records):
        own = [record for record in records if record["data"] == data]
        sections.append(_section(data, own))
    return "\n\n".join(sections) + "\n"


def _section(data: str, records: Sequence[Record]) -> str:
    rows, protocol = summary(records), records[0]["protocol"]
    titles = {
        "map": f"MAP@{protocol['k']}",
        "map_asymmetric": f"MAP@{protocol['k']}, real-valued queries (asymmetric distance)",
        "precision": f"Precision, radius {protocol['radius']}",
    }
    tables = [
        f"### {title}\n\n{_table(known, key)}"
        for key, title in titles.items()
        if (known := _known(rows, key))
    ]
    return "\n\n".join([f"## {data}\n\n{_circumstances(records)}", *tables, *_refusals(records)])


def _known(rows: Sequence[Record], key: str) -> list[Record]:
    """Rows of the methods that have this score; all of them where it can not be missing."""
    names = {row["method"] for row in rows if row[key] is not None}
    return [row for row in rows if row["method"] in names or key != "map_asymmetric"]


def _circumstances(records: Sequence[Record]) -> str:
    """A sentence on the split; numbers that a record has only after its run may be missing."""
    scored = next((record for record in records if "map" in record), {})
    seeds = len({record["seed"] for record in records})
    hidden = records[0]["protocol"]["unseen"]
    if hidden is None:
        who = "No category hidden"
    elif isinstance(hidden, int):
        who = f"{hidden} categories hidden, drawn anew for each seed"
    else:
        who = f"Hidden: {', '.join(scored.get('unseen', map(str, hidden)))}"
    sizes = (
        f"; {scored['n_train']} training samples, {scored['n_queries']} queries, "
        f"{scored['n_database']} samples in the database"
        if scored
        else ""
    )
    over = f"mean ± deviation over {seeds} seeds" if seeds > 1 else "one seed"
    scale = "" if records[0]["parameters"]["normalize"] else " Features not at unit length."
    return " ".join([f"{who}{sizes}; {over}.{scale}", *_settings(records)])


def _settings(records: Sequence[Record]) -> list[str]:
    """Sentences on label sources and on parameters other than a method's own defaults."""
    found = {}
    for record in records:
        method = METHODS[record["method"]]
        sources = record["labels"] if method.kind == SEMANTIC else []
        common = ("n_bits", "normalize", "random_state")
        changed = [
            f"{name}={value}"
            for name, value in record["parameters"].items()
            if name not in common and value != method.parameters[name]
        ]
        if sources or changed:
            found[method.name] = ", ".join([*(f"labels from {spec}" for spec in sources), *changed])
    return [f"{name}: {text}." for name, text in found.items()]


def _table(rows: Sequence[Record], key: str) -> str:
    """The best mean of each column is bold."""
    lengths = sorted({row["bits"] for row in rows})
    best = {bits: max(_score(row, key) for row in rows if row["bits"] == bits) for bits in lengths}
    cells = {(row["method"], row["bits"]): _cell(row, key, best[row["bits"]]) for row in rows}
    names = list(dict.fromkeys(row["method"] for row in rows))
    lines = [["", "learns from", *(f"{bits} bits" for bits in lengths)]]
    lines.append(["---"] * len(lines[0]))
    for name in names:
        lines.append([name, LEARNS_FROM[METHODS[name].kind]])
        lines[-1] += [cells.get((name, bits), "–") for bits in lengths]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _score(row: Record, key: str) -> float:
    """A score to compare; the worst where it is missing."""
    return 0.0 if row[key] is None else float(row[key])


def _cell(row: Record, key: str, best: float) -> str:
    text = with_deviation(row, key)
    return f"**{text}**" if row[key] == best > 0 else text


def _refusals(records: Sequence[Record]) -> list[str]:
    """Why cells are empty, once for each reason."""
    reasons = {(record["name"], record["error"]) for record in records if "error" in record}
    return ["\n".join(f"- {name}: {error}" for name, error in sorted(reasons))] if reasons else []
