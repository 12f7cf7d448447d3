from pathlib import Path

import pytest

from zshash.evaluation.report.document import (
    NOT,
    Claim,
    Claims,
    Code,
    Document,
    Gallery,
    GalleryRow,
    Items,
    Picture,
    Plot,
    Section,
    Table,
    Text,
)
from zshash.evaluation.report.markdown import to_markdown

HOSTILE = '<script>"&amp; a|b *c `d _e_ ~f~ $g$ [h](i j) \\'


def rendered(*blocks):
    """What a reader of the Markdown sees, by a parser of another project."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    text = to_markdown(Document("Title", blocks, []), "plots")
    tokens = parser.parse(text)
    assert not any(token.type == "html_block" for token in tokens)
    inline = [token for token in tokens if token.type == "inline"]
    return ["".join(child.content for child in token.children) for token in inline][1:]


def test_the_whole_document():
    found = [Picture(None, "truck", right) for right in (True, False, True)]
    sections = [
        Section(
            "Codes *and* bits",
            [
                Items(["one", "**two**"]),
                Table(["method", "MAP"], [["ZSH", "**0.4**"], ["a|b", "0.3"]], "By bits."),
                Plot("map", [], "MAP by bits", "Higher is better."),
            ],
            "codes",
        ),
        Section(
            "Pictures",
            [
                Gallery("Trucks", [GalleryRow("ZSH", Picture(Path("no"), "truck"), found)]),
                Claims([Claim("ZSH wins", NOT, "it `lost`")]),
                Code("zshash reproduce --all\n"),
            ],
            "pictures",
        ),
    ]
    document = Document("Report", [Text("A line\nand [more](#codes).")], sections)
    assert to_markdown(document, "results/plots") == (
        "# Report\n\nA line and [more](#codes).\n\n"
        '<a id="codes"></a>\n\n## Codes *and* bits\n\n- one\n- **two**\n\n'
        "By bits.\n\n"
        "| method | MAP |\n| --- | ---: |\n| ZSH | **0.4** |\n| a\\|b | 0.3 |\n\n"
        "Higher is better.\n\n![MAP by bits](results/plots/map.svg)\n\n"
        '<a id="pictures"></a>\n\n## Pictures\n\n### Trucks\n\n'
        "|  | query | found, nearest first | right |\n| --- | --- | --- | ---: |\n"
        "| ZSH | truck | ✓✗✓ | 2 of 3 |\n\n"
        "| claim | verdict | evidence |\n| --- | --- | --- |\n"
        "| ZSH wins | **not reproduced** | it `lost` |\n\n"
        "```\nzshash reproduce --all\n```\n"
    )


def test_names_are_shown_letter_by_letter():
    row = GalleryRow(HOSTILE, Picture(None, HOSTILE), [])
    text = HOSTILE.replace("`", "")  # a sign that could open code is tested in the gallery
    shown = rendered(Text(text), Items([text]), Table([text], [[text]]), Gallery("T", [row]))
    assert shown[:4] == [text] * 4
    assert shown[-4:-2] == [HOSTILE] * 2


@pytest.mark.parametrize("text", ["# a", "- a", "+ a", "2016. a", "1) a", "> a", ">a", "---"])
def test_no_paragraph_turns_into_something_else(text):
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    tokens = parser.parse(to_markdown(Document("T", [Text(text)], []), "plots"))
    assert [token.type for token in tokens[3:]] == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(child.content for child in tokens[4].children) == text


def test_numbers_stay_as_they_are():
    text = to_markdown(Document("T", [Text("-0.3 [0.1, 0.2], plant_life, 5 > 4")], []), "plots")
    assert text == "# T\n\n-0.3 [0.1, 0.2], plant_life, 5 > 4\n"


def test_code_with_fences():
    text = to_markdown(Document("T", [Code("```\na\n```")], []), "plots")
    assert text == "# T\n\n````\n```\na\n```\n````\n"
