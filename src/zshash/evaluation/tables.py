"""Tables of many runs: a row for each method, a column for each code length."""

import math
from collections.abc import Sequence

from zshash.evaluation import runs
from zshash.evaluation.protocol import changed_parameters, summarize, with_deviation
from zshash.evaluation.report.markdown import table
from zshash.evaluation.tasks import Record
from zshash.hashing.registry import LABEL, METHODS, PAIRWISE, SEMANTIC, UNSUPERVISED

__all__ = ["LEARNS_FROM", "size", "summary", "to_json", "to_markdown"]

LEARNS_FROM = {UNSUPERVISED: "features", PAIRWISE: "pairs", LABEL: "labels", SEMANTIC: "names"}
TITLE = """# Comparison of hashing methods

Queries and database are hashed by the hash function that a method learned, training samples
included. Scores are expected values over random orders within ties. The best mean is bold.
Written by `zshash compare`."""
POOL = (
    " With unlabelled pictures: methods that are able to learned from the other samples of the "
    "database, too, without their labels."
)


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
    """Summary, runs and other stored runs as JSON, one line for each item."""
    return runs.to_json({"summary": summary(records), "runs": records, "others": others})


def to_markdown(records: Sequence[Record]) -> str:
    """Tables of MAP and precision for every data set, as Markdown.

    Runs of earlier versions lack some scores: such a table has only the methods that have the
    score, and is left out if none has.
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
        "map_real": f"MAP@{protocol['k']}, real-valued queries",
        "map_alone": f"MAP@{protocol['k']} among hidden categories alone",
        "map_seen": f"MAP@{protocol['k']} of seen queries",
        "precision": f"Precision, radius {protocol['radius']}",
    }
    tables = [
        f"### {title}\n\n{_table(known, key)}"
        for key, title in titles.items()
        if (known := _known(rows, key))
    ]
    return "\n\n".join([f"## {data}\n\n{_circumstances(records)}", *tables, *_refusals(records)])


def _known(rows: Sequence[Record], key: str) -> list[Record]:
    """Rows of the methods that have this score; "map" and "precision" are never missing."""
    names = {row["method"] for row in rows if row.get(key) is not None}
    return [row for row in rows if row["method"] in names or key in ("map", "precision")]


def _circumstances(records: Sequence[Record]) -> str:
    """A sentence on the split; sizes are left out as long as no run is finished."""
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
    pool = POOL if records[0]["protocol"].get("unlabelled") else ""
    seen = f", {scored['n_seen_queries']} seen queries" if "n_seen_queries" in scored else ""
    return " ".join([f"{who}{sizes}{seen}; {over}.{scale}{pool}", *_settings(records)])


def _settings(records: Sequence[Record]) -> list[str]:
    """Sentences on label sources and on parameters that differ from a method's defaults."""
    found = {}
    for record in records:
        method = METHODS[record["method"]]
        sources = record["labels"] if method.kind == SEMANTIC else []
        own = changed_parameters(method.name, record["parameters"])
        changed = [f"{name}={value}" for name, value in own.items()]
        if sources or changed:
            found[method.name] = ", ".join([*(f"labels from {spec}" for spec in sources), *changed])
    return [f"{name}: {text}." for name, text in found.items()]


def _table(rows: Sequence[Record], key: str) -> str:
    """A table of one score, with the best mean of each column in bold."""
    lengths = sorted({row["bits"] for row in rows})
    best = {bits: max(_score(row, key) for row in rows if row["bits"] == bits) for bits in lengths}
    cells = {(row["method"], row["bits"]): _cell(row, key, best[row["bits"]]) for row in rows}
    names = list(dict.fromkeys(row["method"] for row in rows))
    lines = [
        [
            name,
            LEARNS_FROM[METHODS[name].kind],
            *(cells.get((name, bits), "–") for bits in lengths),
        ]
        for name in names
    ]
    return table(["", "learns from", *map(size, lengths)], lines)


def size(bits: int) -> str:
    """Bits of a code, and the bytes that it takes.

    >>> size(64), size(12)
    ('64 bits, 8 bytes', '12 bits, 2 bytes')
    """
    return f"{bits} bits, {math.ceil(bits / 8)} bytes"


def _score(row: Record, key: str) -> float:
    """A score to compare, or 0 if it is missing."""
    return 0.0 if row[key] is None else float(row[key])


def _cell(row: Record, key: str, best: float) -> str:
    text = with_deviation(row, key)
    return f"**{text}**" if row[key] == best > 0 else text


def _refusals(records: Sequence[Record]) -> list[str]:
    """A list of the errors that left cells empty, each once."""
    reasons = {(record["name"], record["error"]) for record in records if "error" in record}
    return ["\n".join(f"- {name}: {error}" for name, error in sorted(reasons))] if reasons else []
