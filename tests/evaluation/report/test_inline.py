import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash.evaluation.report.inline import plain, spans

SIGNS = {"plain": "{}", "code": "`{}`", "bold": "**{}**", "italic": "*{}*"}


def written(span):
    if span.kind == "link":
        return f"[{span.text}]({span.address})"
    return SIGNS[span.kind].format(span.text)


@given(st.text("ab *`[]()\\_"))
def test_spans_put_together_are_the_text(text):
    assert "".join(map(written, spans(text))) == text


@pytest.mark.parametrize("text", ["3 * 4 * 5", "a ** b", "[0.1, 0.4] (95 %)", "x*", "``", "a_b_c"])
def test_single_signs_are_no_markup(text):
    assert [span.kind for span in spans(text)] == ["plain"]


def test_markup_inside_markup():
    assert plain("**see *the* [`code` page](docs/a_b.md)**, *a*b") == "see the code page, ab"
