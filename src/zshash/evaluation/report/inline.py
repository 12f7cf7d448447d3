"""The markup of running text: ``**bold**``, ``*italic*``, code in backticks, ``[a](address)``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Span", "plain", "spans"]

MARKUP = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\*\*(?P<bold>\S|\S.*?\S)\*\*"
    r"|\*(?P<italic>[^\s*]|[^\s*].*?[^\s*])\*"
    r"|\[(?P<link>[^\[\]]+)\]\((?P<address>[^()\s]+)\)"
)


@dataclass(frozen=True)
class Span:
    """A piece of running text; `kind` is plain, code, bold, italic or link."""

    kind: str
    text: str
    address: str = ""


def spans(text: str) -> Iterator[Span]:
    """Running text in pieces; the text of bold, italic and link pieces may hold further markup.

    >>> [(span.kind, span.text) for span in spans("a **b** `c*d*` [e](#f)")]
    [('plain', 'a '), ('bold', 'b'), ('plain', ' '), ('code', 'c*d*'), ('plain', ' '),
     ('link', 'e')]
    """
    end = 0
    for match in MARKUP.finditer(text):
        if match.start() > end:
            yield Span("plain", text[end : match.start()])
        kind = next(kind for kind in ("code", "bold", "italic", "link") if match[kind])
        yield Span(kind, match[kind], match["address"] or "")
        end = match.end()
    if end < len(text):
        yield Span("plain", text[end:])


def plain(text: str) -> str:
    """Running text without its markup.

    >>> plain("**MAP** of [`zsh`](#zsh)")
    'MAP of zsh'
    """
    return "".join(
        span.text if span.kind in ("plain", "code") else plain(span.text) for span in spans(text)
    )
