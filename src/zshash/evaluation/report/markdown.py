"""Reports as GitHub Markdown, with each paragraph on one line."""

import re
from collections.abc import Sequence
from typing import assert_never

from zshash.evaluation.report.document import (
    Block,
    Claims,
    Code,
    Document,
    Gallery,
    Items,
    Plot,
    Section,
    Table,
    Text,
)
from zshash.evaluation.report.inline import Span, spans

__all__ = ["table", "to_markdown"]

# Plain text that GitHub would read as markup: single signs, an underscore that is not inside a
# word, an entity, a bracket that could end a link, the start of HTML.
SIGNS = re.compile(r"[\\`*<~$]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|\](?=[(\[:])")
# Text at the start of a line that GitHub would read as a heading, list, rule or quote.
START = re.compile(r"^(\d*)(?=[.)+#=-]+(?:\s|$)|>)")


def to_markdown(document: Document, plots: str) -> str:
    """The document as Markdown; its pictures are in the folder `plots`."""
    parts = [f"# {_inline(document.title)}", *(_block(block, plots) for block in document.blocks)]
    parts += [_section(section, plots) for section in document.sections]
    return "\n\n".join(parts) + "\n"


def _section(section: Section, plots: str) -> str:
    # GitHub makes an anchor of the title; links in the text lead to the name.
    heading = f'<a id="{section.name}"></a>\n\n## {_inline(section.title)}'
    return "\n\n".join([heading, *(_block(block, plots) for block in section.blocks)])


def _block(block: Block, plots: str) -> str:
    match block:
        case Text():
            return _line(block.text)
        case Items():
            return "\n".join(f"- {_line(item)}" for item in block.items)
        case Code():
            return _code(block.text)
        case Table():
            rows = [[_inline(cell) for cell in row] for row in block.rows]
            head = [_inline(cell) for cell in block.head]
            return _captioned(block.caption, table(head, rows, block.numbers_from))
        case Plot():
            picture = f"![{_escaped(block.alt)}]({plots}/{block.name}.svg)"
            return _captioned(block.caption, picture)
        case Gallery():
            return f"### {_inline(block.title)}\n\n{_gallery(block)}"
        case Claims():
            return _claims(block)
        case _:
            assert_never(block)


def _captioned(caption: str, body: str) -> str:
    return f"{_line(caption)}\n\n{body}" if caption else body


def _code(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _gallery(gallery: Gallery) -> str:
    rows = [
        [
            _escaped(row.name),
            _escaped(row.query.label),
            "".join(picture.mark for picture in row.found),
            row.score,
        ]
        for row in gallery.rows
    ]
    return table(["", "query", "found, nearest first", "right"], rows, numbers_from=3)


def _claims(claims: Claims) -> str:
    rows = [
        [_inline(claim.statement), f"**{claim.verdict}**", _inline(claim.evidence)]
        for claim in claims.claims
    ]
    return table(["claim", "verdict", "evidence"], rows, numbers_from=3)


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int | None = None
) -> str:
    """A table of cells that are Markdown already; only the sign ``|`` is escaped.

    Columns from `numbers_from` on are right-aligned, none by default.
    """
    first = len(head) if numbers_from is None else numbers_from
    rule = ["---:" if column >= first else "---" for column in range(len(head))]
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rule, *lines[1:]])


def _line(text: str) -> str:
    """Running text that starts a line."""
    return START.sub(r"\1\\", _inline(text))


def _inline(text: str) -> str:
    return "".join(_span(span) for span in spans(" ".join(text.split())))


def _span(span: Span) -> str:
    if span.kind == "plain":
        return _escaped(span.text)
    if span.kind == "code":
        return f"`{span.text}`"
    if span.kind == "link":
        return f"[{_inline(span.text)}]({span.address})"
    sign = "**" if span.kind == "bold" else "*"
    return f"{sign}{_inline(span.text)}{sign}"


def _escaped(text: str) -> str:
    r"""Text in which GitHub finds no markup.

    >>> print(_escaped("<b> plant_life *x"))
    \<b> plant_life \*x
    """
    return SIGNS.sub(r"\\\g<0>", re.sub(r"\s+", " ", text))
