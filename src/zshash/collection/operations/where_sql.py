"""Comparisons as SQL: conditions that `where` has read become conditions of SQLite.

No text but the constants in this file gets into the SQL; names and values are parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["BUILT_IN", "Condition", "Value", "WhereError", "compare", "enclose", "join", "negate"]

Value = str | int | float | bool | None


class WhereError(ValueError):
    """A condition that can not be read; the message shows the place and what was expected."""


@dataclass(frozen=True)
class Condition:
    """A boolean expression over the columns id, source, labels and metadata of an item.

    Attributes
    ----------
    sql : str
        Is 0 or 1 for every item, never NULL.
    parameters : tuple
        What its question marks stand for.
    """

    sql: str
    parameters: tuple[str | int | float, ...] = ()


@dataclass(frozen=True)
class Field:
    """Where the values of a field come from.

    Attributes
    ----------
    type, value : str
        SQL for the type of a value, by the names of SQLite's JSON functions, and for the value.
    start, end : str
        SQL that stands around a test and holds if one of the item's values fulfils it.
    parameters : tuple
        What the question marks in `start` stand for.
    kind : str
        The kind of all values, where it is known: ``text`` or ``number``.
    several : bool
        Whether an item may have several values.
    """

    type: str
    value: str
    start: str = "("
    end: str = ")"
    parameters: tuple[str, ...] = ()
    kind: str = ""
    several: bool = False

    def some(self, test: Condition) -> Condition:
        """One of the values fulfils a test."""
        return Condition(self.start + test.sql + self.end, self.parameters + test.parameters)


EACH_LABEL = "EXISTS (SELECT 1 FROM json_each(labels) AS v WHERE "
BUILT_IN = {
    "id": Field("typeof(id)", "id", kind="number"),
    "path": Field("typeof(source)", "source", kind="text"),
    "label": Field("v.type", "v.value", EACH_LABEL, kind="text", several=True),
}

# Kinds of values: SQL for "it is of this kind" and what is compared, where a field's type and
# value go in place of {type} and {value}.
KINDS = {
    "text": ("{type} = 'text'", "{value}"),
    "number": ("{type} IN ('integer', 'real')", "{value}"),
    "truth": ("{type} IN ('true', 'false')", "{type}"),
}
OPPOSITE = {"!=": "=", "not in": "in", "not like": "like"}
LISTS = {"=": "IN", "in": "IN", "!=": "NOT IN", "not in": "NOT IN"}
SINGLE = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "like": "LIKE", "not like": "NOT LIKE"}


def compare(names: Sequence[str], operator: str, values: Sequence[Value]) -> Condition:
    """A comparison of the field with some names; only ``in`` takes several values."""
    field = _field(names)
    known = [value for value in values if value is not None]
    or_missing = len(known) < len(values)
    _check(field, names[0], operator, values)
    if not (field.several or or_missing):
        return field.some(_test(field, operator, known))
    # Where several values count, or none, "not equal" is the opposite of "equal".
    condition = _any_of(field, OPPOSITE.get(operator, operator), known, or_missing)
    return negate(condition) if operator in OPPOSITE else condition


def join(word: str, conditions: Sequence[Condition]) -> Condition:
    """Several conditions joined by AND or OR."""
    if len(conditions) == 1:
        return conditions[0]
    parameters = tuple(value for condition in conditions for value in condition.parameters)
    return Condition(f" {word} ".join(condition.sql for condition in conditions), parameters)


def enclose(condition: Condition) -> Condition:
    """The condition in parentheses; only where needed, because SQLite nests few of them."""
    return Condition(f"({condition.sql})", condition.parameters)


def negate(condition: Condition) -> Condition:
    """The opposite of a condition that is enclosed or one comparison."""
    return Condition(f"NOT {condition.sql}", condition.parameters)


def _field(names: Sequence[str]) -> Field:
    """A column, or the place in the metadata that names lead to, each a key of an object."""
    if len(names) == 1 and names[0] in BUILT_IN:
        return BUILT_IN[names[0]]
    if len(names) > 1 and names[0] == "metadata":
        names = names[1:]
    tables = ["json_each(metadata) AS v0"]
    for depth in range(len(names) - 1):
        # A CASE, for json_each fails on what is not JSON and SQLite picks the order of tests.
        found = f"v{depth}.key = ? AND v{depth}.type = 'object'"
        inside = f"CASE WHEN {found} THEN v{depth}.value ELSE '{{}}' END"
        tables.append(f"json_each({inside}) AS v{depth + 1}")
    last = f"v{len(names) - 1}"
    start = f"EXISTS (SELECT 1 FROM {', '.join(tables)} WHERE {last}.key = ? AND ("
    return Field(f"{last}.type", f"{last}.value", start, "))", tuple(names))


def _check(field: Field, name: str, operator: str, values: Sequence[Value]) -> None:
    kinds = {_kind(value) for value in values}
    if field.kind and kinds - {field.kind, "null"}:
        example = {"text": "a text in 'single quotes'", "number": "a number"}[field.kind]
        raise WhereError(f"{name} is compared with {example}")
    if operator.endswith("like") and kinds != {"text"}:
        raise WhereError("like needs a text in 'single quotes'")
    if operator in SINGLE and kinds & {"truth", "null"}:
        raise WhereError(f"{operator} needs a text or a number; true, false and null have no order")


def _any_of(field: Field, operator: str, values: Sequence[Value], or_missing: bool) -> Condition:
    found = [field.some(_test(field, operator, values))] if values else []
    if or_missing:
        found.append(negate(field.some(Condition(f"{field.type} <> 'null'"))))
    return enclose(join("OR", found))


def _test(field: Field, operator: str, values: Sequence[Value]) -> Condition:
    """A value of the field is of the same kind as one of `values` and compares with all such."""
    found = []
    for kind, (is_kind, subject) in KINDS.items():
        same = tuple(_bound(value) for value in values if _kind(value) == kind)
        if same:
            test = f"{is_kind} AND {subject} {_sql(operator, len(same))}"
            found.append(Condition(test.format(type=field.type, value=field.value), same))
    return join("OR", found)


def _sql(operator: str, n_values: int) -> str:
    """An operator and what stands on its right."""
    if operator in SINGLE:
        return f"{SINGLE[operator]} ?"
    return f"{LISTS[operator]} ({', '.join('?' * n_values)})"


def _kind(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "truth"
    return "text" if isinstance(value, str) else "number"


def _bound(value: Value) -> str | int | float:
    """A value as a parameter; JSON's true and false are types to SQLite, with these names."""
    assert value is not None
    return str(value).lower() if isinstance(value, bool) else value
