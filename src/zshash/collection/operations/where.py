"""Conditions on items, as a user writes them: ``label = 'cat' and year >= 2020``.

A condition becomes a boolean expression of SQLite over the columns of the table of items. Its
text is put together from constants alone (in ``where_sql.py``); names and values from the user are
bound as parameters.

The grammar, with keywords in any case::

    condition  = all { "or" all }
    all        = one { "and" one }
    one        = "not" one | "(" condition ")" | comparison
    comparison = field ( "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) value
               | field [ "not" ] "in" "(" value { "," value } ")"
               | field [ "not" ] "like" text
    field      = name { "." name }          name: a word, or anything in double quotes
    value      = text | number | "true" | "false" | "null"       text: in single quotes
"""

import math
import re
from typing import NamedTuple

from zshash.collection.operations.where_sql import (
    BUILT_IN,
    Condition,
    Value,
    WhereError,
    compare,
    enclose,
    join,
    negate,
)

__all__ = ["Condition", "WhereError", "metadata_fields", "named_fields", "parse"]

MAX_CHARACTERS = 10_000
MAX_COMPARISONS = 100  # SQLite refuses an expression that is 1000 deep,
MAX_NESTING = 10  # and its parser one that nests some dozens of levels
MAX_NAMES = 8  # in a dotted field: each is a table to join

INT64 = range(-(2**63), 2**63)
KEYWORDS = {"and", "or", "not", "in", "like", "true", "false", "null"}
TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*")
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?!\w))
    | (?P<word>[^\W\d]\w*)
    | (?P<symbol>==|!=|<>|<=|>=|[=<>(),.])
    | (?P<end>$)
    )""",
    re.VERBOSE,
)
SYMBOLS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
PROBLEMS = {"'": "a text without its closing '", '"': 'a name without its closing "'}
PROBLEMS |= dict.fromkeys("0123456789", "a number with something else close behind")
OTHER_PROBLEM = 'a character with no meaning here (a name that is not a word needs "double quotes")'
VALUES = "a value ('text', a number, true, false or null)"


def parse(text: str) -> Condition:
    """Read a condition.

    A field is ``id``, ``path``, ``label`` or a key of the item's metadata: ``year``,
    ``camera.model`` for an object in an object, ``"focal length"`` for a name that is not a word,
    ``metadata.label`` for a key that has the name of a field. Upper and lower case differ.

    A comparison does not hold where the field is missing or its value is of another type than
    the one that it is compared with; so ``not year >= 2020`` holds for an item without a year,
    ``year != 2020`` does not. ``year = null`` holds where the year is missing or null. An item
    may have several labels: a comparison holds if one of them fulfils it, ``label != 'cat'``,
    ``label not in (…)`` and ``label not like …`` if none fulfils the opposite. ``like`` takes
    ``%`` for any characters and ``_`` for one, and ignores the case of the letters A to Z.

    Raises
    ------
    WhereError
        If the text is not such a condition.

    Examples
    --------
    >>> parse("id < 7").parameters
    (7,)
    >>> parse("label = 'cat' and year >=")
    Traceback (most recent call last):
    zshash.collection.operations.where_sql.WhereError: expected a value ('text', a number, true,
    false or null) at the end: label = 'cat' and year >=<?>
    """
    if len(text) > MAX_CHARACTERS:
        raise WhereError(
            f"a condition has at most {MAX_CHARACTERS} characters, this one has {len(text)}"
        )
    return _Reader(text).whole()


def metadata_fields(text: str) -> dict[str, Condition]:
    """Which keys of the metadata a condition names, and for each the condition that it is there.

    >>> list(metadata_fields("label = 'cat' and not camera.model = 'X'"))
    ['camera.model']
    """
    own = [names for names in named_fields(text) if names[0] not in BUILT_IN]
    return {".".join(names): enclose(compare(names, "!=", [None])) for names in own}


def named_fields(text: str) -> list[list[str]]:
    """Fields that a condition looks at, each as the names that its dots divide.

    >>> named_fields("id = 1 or not camera.model like 'path%'")
    [['id'], ['camera', 'model']]
    """
    reader = _Reader(text)
    reader.whole()
    return reader.fields


class Token(NamedTuple):
    kind: str
    text: str
    start: int


class _Reader:
    """Reads the text from left to right, one method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        bad = re.search("[\0\ud800-\udfff]", text)
        if bad:
            raise self._error("a character that can not be stored in a catalogue", bad.start())
        self._end = 0
        self._token = self._scan()
        self._n_comparisons = 0
        self.fields: list[list[str]] = []

    def whole(self) -> Condition:
        condition = self._condition(0)
        if self._token.kind != "end":
            raise self._expected("and, or, or the end")
        return enclose(condition)

    def _condition(self, depth: int) -> Condition:
        found = [self._all(depth)]
        while self._take("or"):
            found.append(self._all(depth))
        return join("OR", found)

    def _all(self, depth: int) -> Condition:
        found = [self._one(depth)]
        while self._take("and"):
            found.append(self._one(depth))
        return join("AND", found)

    def _one(self, depth: int) -> Condition:
        if depth > MAX_NESTING:
            raise self._error(
                f"parentheses and not nest at most {MAX_NESTING} deep", self._token.start
            )
        if self._take("not"):
            return negate(self._one(depth + 1))
        if self._take("("):
            condition = self._condition(depth + 1)
            self._need(")", "and, or, or a closing parenthesis")
            return enclose(condition)
        return self._comparison()

    def _comparison(self) -> Condition:
        self._n_comparisons += 1
        if self._n_comparisons > MAX_COMPARISONS:
            raise self._error(
                f"at most {MAX_COMPARISONS} comparisons; in (…) takes many values as one",
                self._token.start,
            )
        names = self._field()
        self.fields.append(names)
        operator, place = self._operator(), self._token.start
        values = self._list() if operator.endswith("in") else [self._value()]
        try:
            return compare(names, operator, values)
        except WhereError as error:
            raise self._error(str(error), place) from None

    def _field(self) -> list[str]:
        names = [self._name(KEYWORDS)]
        while self._take("."):
            names.append(self._name(set()))
        if len(names) > MAX_NAMES:
            raise self._error(f"at most {MAX_NAMES} names in a field", self._token.start)
        return names

    def _name(self, reserved: set[str]) -> str:
        token = self._token
        if token.kind == "quoted":
            self._advance()
            return token.text[1:-1].replace('""', '"')
        if token.kind != "word" or token.text.lower() in reserved:
            raise self._expected("the name of a field" if reserved else "a name after the dot")
        self._advance()
        return token.text

    def _operator(self) -> str:
        token = self._token
        if token.kind == "symbol" and token.text in SYMBOLS:
            self._advance()
            return SYMBOLS[token.text]
        prefix = "not " if self._take("not") else ""
        for word in ("in", "like"):
            if self._take(word):
                return prefix + word
        if prefix:
            raise self._expected("in or like after not")
        raise self._expected("an operator, such as = or in")

    def _list(self) -> list[Value]:
        self._need("(", "a list of values in parentheses")
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        self._need(")", "a comma or a closing parenthesis")
        return values

    def _value(self) -> Value:
        token, word = self._token, self._token.text.lower()
        if token.kind == "text":
            value: Value = token.text[1:-1].replace("''", "'")
        elif token.kind == "number":
            value = self._number(token)
        elif token.kind == "word" and word in WORDS:
            value = WORDS[word]
        elif token.kind in ("word", "quoted"):
            raise self._expected(VALUES, "; a text stands in 'single quotes'")
        else:
            raise self._expected(VALUES)
        self._advance()
        return value

    def _number(self, token: Token) -> int | float:
        number = float(token.text)
        if math.isinf(number):
            raise self._error("a number too large to compare with", token.start)
        if re.fullmatch("[+-]?[0-9]+", token.text) and abs(number) < 1e19:
            whole = int(token.text)
            # SQLite, too, takes a whole number that needs more than 64 bits for a float.
            return whole if whole in INT64 else number
        return number

    def _take(self, text: str) -> bool:
        token = self._token
        if token.kind not in ("word", "symbol") or token.text.lower() != text:
            return False
        self._advance()
        return True

    def _need(self, text: str, expected: str) -> None:
        if not self._take(text):
            raise self._expected(expected)

    def _advance(self) -> None:
        self._end = self._token.start + len(self._token.text)
        self._token = self._scan()

    def _scan(self) -> Token:
        match = TOKEN.match(self._text, self._end)
        if match is None:
            rest = self._text[self._end :]
            start = self._end + len(rest) - len(rest.lstrip())
            character = self._text[start]
            raise self._error(PROBLEMS.get(character, OTHER_PROBLEM), start)
        kind = match.lastgroup or ""
        return Token(kind, match[kind], match.start(kind))

    def _expected(self, what: str, hint: str = "") -> WhereError:
        text = self._token.text
        text = text if len(text) < 30 else text[:29] + "…"
        found = f"instead of {text}" if text else "at the end"
        return self._error(f"expected {what} {found}{hint}", self._token.start)

    def _error(self, problem: str, place: int) -> WhereError:
        before, after = self._text[:place], self._text[place:]
        before = "…" + before[-40:] if len(before) > 41 else before
        after = after[:40] + "…" if len(after) > 41 else after
        message = f"{problem}: {before}<?>{after}"
        return WhereError("".join(c if c.isprintable() else " " for c in message))
