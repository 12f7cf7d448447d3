import json
import math
import operator
import re
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash.collection.operations import where
from zshash.collection.operations.where import Condition, WhereError, parse

TABLE = "CREATE TABLE items (id INTEGER PRIMARY KEY, source, labels TEXT, metadata TEXT)"


def catalogue(items):
    """A table of items (source, labels, metadata) under the ids 0, 1, …"""
    connection = sqlite3.connect(":memory:")
    connection.execute(TABLE)
    rows = [(i, s, json.dumps(lab), json.dumps(meta)) for i, (s, lab, meta) in enumerate(items)]
    connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", rows)
    return connection


def found(connection, text):
    condition = parse(text)
    rows = connection.execute(f"SELECT id, {condition.sql} FROM items", condition.parameters)
    answers = dict(rows.fetchall())
    assert set(answers.values()) <= {0, 1}  # never NULL, so that NOT and AND mean what they say
    return {number for number, holds in answers.items() if holds}


@pytest.fixture(scope="module")
def pets():
    camera = {"model": "X100", "in": 3}
    return catalogue(
        [
            ("/a/one.jpg", ["cat"], {"year": 2019, "camera": camera, "label": "mine"}),
            ("/a/Two.JPG", ["dog", "cat"], {"year": 2020, "raw": True}),
            (None, [], {"year": "2021", "focal length": 35.5, "raw": False}),
            (b"/b/\xff.jpg", ["dog"], {"year": None, "camera": "none", 'a"b': 1, "größe": 2}),
            ("/b/it's.png", ["O'Hara"], {"tags": ["cat"], "metadata": {"id": 9}, "": 5}),
        ]
    )


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("id = 1", {1}),
        ("id in (0, 4, 77) and id != 4", {0}),
        ("id > 1.5", {2, 3, 4}),
        ("id >= 99999999999999999999999", set()),
        ("id > -9e300", {0, 1, 2, 3, 4}),
        ("label = 'cat'", {0, 1}),
        ("label == 'cat' AND year>=2020", {1}),
        ("label != 'cat'", {2, 3, 4}),
        ("label <> 'dog'", {0, 2, 4}),
        ("label in ('dog', 'O''Hara')", {1, 3, 4}),
        ("label not in ('dog', 'O''Hara')", {0, 2}),
        ("label = null", {2}),
        ("label != null", {0, 1, 3, 4}),
        ("label not in ('dog', null)", {0, 4}),
        ("label < 'b'", {4}),
        ("label like 'C_t'", {0, 1}),
        ("label not like 'c%'", {2, 3, 4}),
        ("path like '%.jpg'", {0, 1}),
        ("path not like '%.jpg'", {4}),
        ("path = '/b/it''s.png'", {4}),
        ("path != '/a/one.jpg'", {1, 4}),
        ("path = null", {2}),
        ("path != null", {0, 1, 3, 4}),
        ("year >= 2020", {1}),
        ("not year >= 2020", {0, 2, 3, 4}),
        ("year != 2020", {0}),
        ("year = 2020.0", {1}),
        ("year = '2021'", {2}),
        ("year = null", {3, 4}),
        ("year in (2019, '2021', null)", {0, 2, 3, 4}),
        ("year not in (2019, 'x')", {1, 2}),
        ("year not in (2019, null)", {1, 2}),
        ("raw = true", {1}),
        ("raw = TRUE or raw = False", {1, 2}),
        ("raw != true", {2}),
        ("raw = 1", set()),
        ("camera.model = 'X100'", {0}),
        ("camera.in = 3", {0}),
        ("camera.model = null", {1, 2, 3, 4}),
        ("camera = 'none'", {3}),
        ("metadata.label = 'mine'", {0}),
        ("metadata.metadata.id = 9", {4}),
        ('"focal length" > 35', {2}),
        ('"a""b" = 1', {3}),
        ('größe = 2 or "" = 5', {3, 4}),
        ("tags = 'cat'", set()),
        ("tags != null", {4}),
        ("id = 0 or id = 1 and id = 2", {0}),
        ("(id = 0 or id = 1) and id = 1", {1}),
        ("not id = 0 and not (id = 1 or id = 2)", {3, 4}),
        ("not not id = 0", {0}),
        ("Year = 2019", set()),
        (" \n id\t=\n0 ", {0}),
    ],
)
def test_conditions(pets, text, ids):
    assert found(pets, text) == ids


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the name of a field at the end: <?>"),
        ("label = cat", "instead of cat; a text stands in 'single quotes': label = <?>cat"),
        ("label = 3", "label is compared with a text in 'single quotes': label = <?>3"),
        ("id in (1, 'a')", "id is compared with a number: id in <?>(1, 'a')"),
        ("path = true", "path is compared with a text in 'single quotes': path = <?>true"),
        ("a-b = 3", 'a name that is not a word needs "double quotes"): a<?>-b = 3'),
        ("x = 'abc", "a text without its closing ': x = <?>'abc"),
        ('"x = 3', 'a name without its closing ": <?>"x = 3'),
        ("x ~ 3", "a character with no meaning here"),
        ("(x = 1", "expected and, or, or a closing parenthesis at the end: (x = 1<?>"),
        ("x = 1)", "expected and, or, or the end instead of ): x = 1<?>)"),
        ("x not = 3", "expected in or like after not instead of =: x not <?>= 3"),
        ("x", "expected an operator, such as = or in at the end: x<?>"),
        ("x in 3", "expected a list of values in parentheses instead of 3: x in <?>3"),
        ("x in (1, ", "expected a value ('text', a number, true, false or null) at the end"),
        ("x in (1 2)", "expected a comma or a closing parenthesis instead of 2: x in (1 <?>2)"),
        ("x in ()", "expected a value ('text', a number, true, false or null) instead of )"),
        ("a. = 3", "expected a name after the dot instead of =: a. <?>= 3"),
        ("x < true", "< needs a text or a number; true, false and null have no order"),
        ("x >= null", ">= needs a text or a number"),
        ("x like 3", "like needs a text in 'single quotes': x like <?>3"),
        ("and = 3", "expected the name of a field instead of and: <?>and = 3"),
        ("x = 1e999", "a number too large to compare with: x = <?>1e999"),
        ("x = nan", "expected a value"),
        ("x = -inf", "a character with no meaning here"),
        ("x = 2020abc", "a number with something else close behind: x = <?>2020abc"),
        ("x = 'a\0b'", "a character that can not be stored in a catalogue: x = 'a<?> b'"),
        ("x = '\udcff'", "a character that can not be stored in a catalogue"),
        ("x = 1; y = 2", "a character with no meaning here"),
        ("x = " + "y" * 9000, "instead of yyyyyyyyyyyyyyyyyyyyyyyyyyyyy…; a text stands in"),
        ("y" * 10001, "at most 10000 characters, this one has 10001"),
        ("(" * 500 + "x = 1" + ")" * 500, "parentheses and not nest at most 10 deep"),
        ("not " * 2000 + "x = 1", "parentheses and not nest at most 10 deep"),
        (" or ".join(["x = 1"] * 101), "at most 100 comparisons; in (…) takes many values"),
        (".".join("abcdefghi") + " = 1", "at most 8 names in a field"),
    ],
)
def test_what_is_not_a_condition(text, message):
    with pytest.raises(WhereError) as caught:
        parse(text)
    said = str(caught.value)
    assert message in said
    assert len(said) < 250
    assert said.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "id = 1 --",
        "id = 1; DROP TABLE items",
        "id = (SELECT 1)",
        "id = 1 UNION SELECT 1, 2",
        "id = random()",
        "1 = 1",
        "x = 'a' || 'b'",
        "id = ?1",
        "id = :a",
        "id = id",
        "/* */ id = 1",
        'x = "id"',
    ],
)
def test_sql_is_not_a_condition(text):
    with pytest.raises(WhereError):
        parse(text)


ATTACKS = ["' OR 1=1 --", '" OR 1=1 --', "'); DROP TABLE items; --", "$.year", "?", "{}", "{type}"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_are_only_names_and_values(pets, attack):
    text, name = attack.replace("'", "''"), attack.replace('"', '""')
    assert found(pets, f"label = '{text}' or path like '{text}' or year = '{text}'") == set()
    assert found(pets, f'"{name}" = 1 or "{name}"."{name}" != null') == set()
    assert len(found(pets, "id >= 0")) == 5
    condition = parse(f"\"{name}\" in ('{text}', 'x')")
    assert condition.parameters == (attack, attack, "x")
    assert set(re.findall(r"[^\w\s(),.=?<>'*]", condition.sql)) == set()


def test_a_malicious_name_finds_its_own_key():
    connection = catalogue([(None, [], {attack: {attack: attack}}) for attack in ATTACKS])
    for number, attack in enumerate(ATTACKS):
        text, name = attack.replace("'", "''"), attack.replace('"', '""')
        assert found(connection, f'"{name}"."{name}" = \'{text}\'') == {number}


def test_the_largest_conditions_fit_into_sqlite(pets):
    comparison = "a.b.c.d.e.f.g.h in ('x', 3, true, null)"
    depth = where.MAX_NESTING
    deep = f"{comparison} or {comparison} and (" * depth + comparison + ")" * depth
    assert found(pets, deep) == {0, 1, 2, 3, 4}
    assert found(pets, " or ".join(["id = 1"] * where.MAX_COMPARISONS)) == {1}
    assert found(pets, "not " * depth + "id = 1") == {1}
    assert found(pets, f"id in ({', '.join(['1'] * 3000)})") == {1}
    assert found(pets, f"label like '{'%a' * 4900}'") == set()


def test_a_condition_can_be_part_of_a_larger_expression(pets):
    condition = parse("id = 0 or id = 1")
    rows = pets.execute(f"SELECT id FROM items WHERE {condition.sql} AND id > 0", (0, 1))
    assert rows.fetchall() == [(1,)]


def test_conditions_are_values():
    assert parse("id=1") == parse("id = 1")
    assert isinstance(parse("id = 1"), Condition)


# An independent reading of the same conditions: trees, written as text and evaluated in Python.

NAMES = ["year", "label", "id", "a.b", "x y", "and", "ü", 'q"']
words = st.sampled_from(["", "a", "A", "b", "ab", "a%", "it's", "é", "É", "10", "ß_"])
numbers = st.one_of(
    st.sampled_from([0, 1, -1, 2020, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 10**30, 0.5, -2.5, 1e300]),
    st.integers(-3, 3),
)
scalars = st.one_of(words, numbers, st.booleans(), st.none())
metadata = st.dictionaries(
    st.sampled_from(NAMES),
    st.one_of(scalars, st.lists(scalars, max_size=2), st.dictionaries(words, scalars, max_size=2)),
    max_size=4,
)
sources = st.one_of(st.none(), words, st.binary(max_size=3))
items = st.tuples(sources, st.lists(words, max_size=3), metadata)

keys = st.one_of(
    st.tuples(st.sampled_from(NAMES)),
    st.tuples(st.sampled_from(NAMES), st.one_of(words, st.sampled_from(NAMES))),
).map(lambda names: ("metadata", *names))
ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def comparisons(field, values):
    known = values.filter(lambda value: value is not None and not isinstance(value, bool))
    texts = values.filter(lambda value: isinstance(value, str))
    maybe = st.one_of(values, st.none())
    return st.one_of(
        st.tuples(st.just(field), st.sampled_from(["=", "!="]), maybe.map(lambda v: [v])),
        st.tuples(st.just(field), st.sampled_from(["in", "not in"]), st.lists(maybe, min_size=1)),
        st.tuples(st.just(field), st.sampled_from(list(ORDERS)), known.map(lambda v: [v])),
        *(
            [
                st.tuples(
                    st.just(field), st.sampled_from(["like", "not like"]), texts.map(lambda v: [v])
                )
            ]
            if field != ("id",)
            else []
        ),
    )


leaves = st.one_of(
    comparisons(("id",), numbers),
    comparisons(("path",), words),
    comparisons(("label",), words),
    keys.flatmap(lambda field: comparisons(field, st.one_of(words, numbers, st.booleans()))),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=6,
)


def written(tree):
    if tree[0] == "not":
        return f"not ({written(tree[1])})"
    if tree[0] in ("and", "or"):
        return f" {tree[0]} ".join(f"({written(part)})" for part in tree[1])
    field, symbol, values = tree
    name = ".".join('"' + part.replace('"', '""') + '"' for part in field)
    literals = [literal(value) for value in values]
    right = f"({', '.join(literals)})" if symbol.endswith("in") else literals[0]
    return f"{name} {symbol} {right}"


def literal(value):
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value)


def holds(tree, number, item):
    if tree[0] == "not":
        return not holds(tree[1], number, item)
    if tree[0] in ("and", "or"):
        answers = [holds(part, number, item) for part in tree[1]]
        return all(answers) if tree[0] == "and" else any(answers)
    field, symbol, literals = tree
    source, labels, known = item
    if field == ("label",):
        return label_holds(labels, symbol, literals)
    if field in (("id",), ("path",)):
        value = number if field == ("id",) else source
    else:
        value = known
        for name in field[1:]:
            value = value.get(name) if isinstance(value, dict) else None
    return value_holds(value, symbol, literals)


def label_holds(labels, symbol, literals):
    if symbol in ("!=", "not in", "not like"):
        return not label_holds(labels, {"!=": "="}.get(symbol, symbol[4:]), literals)
    missing = None in literals and not labels and symbol in ("=", "in")
    return missing or any(value_holds(label, symbol, literals) for label in labels)


def value_holds(value, symbol, literals):
    if symbol in ("=", "in"):
        return any(equal(value, one) for one in literals)
    if symbol in ("!=", "not in"):
        differs = any(
            (one is None and value is not None) or (one is not None and kind(one) == kind(value))
            for one in literals
        )
        return differs and not any(equal(value, one) for one in literals)
    (one,) = literals
    if kind(value) != kind(one):
        return False
    if symbol in ORDERS:
        return ORDERS[symbol](stored(value), stored(one))
    return like(value, one) == (symbol == "like")


def equal(value, one):
    return kind(value) == kind(one) and stored(value) == stored(one)


def kind(value):
    """What can be compared with what; bytes, lists and objects with nothing."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return type(value)
    return "number" if isinstance(value, int | float) else object()


def stored(value):
    """Whole numbers of more than 64 bits are floats in SQLite."""
    too_large = type(value) is int and not -(2**63) <= value < 2**63
    return float(value) if too_large else value


def like(value, pattern):
    parts = {"%": "(?s:.*)", "_": "(?s:.)"}
    expression = "".join(parts.get(c, re.escape(c)) for c in pattern)
    return re.fullmatch(expression, value, re.IGNORECASE | re.ASCII) is not None


@settings(max_examples=300, deadline=None)
@given(st.lists(items, min_size=1, max_size=6), st.lists(trees, min_size=1, max_size=4))
def test_any_condition_means_what_it_says(some, conditions):
    connection = catalogue(some)
    for tree in conditions:
        expected = {i for i, item in enumerate(some) if holds(tree, i, item)}
        assert found(connection, written(tree)) == expected


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ax1.'\"()=<>!,% \n-+e\0", max_size=30))
def test_any_text_is_a_condition_or_a_clear_error(text):
    try:
        condition = parse(text)
    except WhereError as error:
        said = str(error)
    else:
        said = ""
        assert condition.sql.count("?") == len(condition.parameters)
        assert all(math.isfinite(p) for p in condition.parameters if isinstance(p, float))
        catalogue([]).execute(f"SELECT id FROM items WHERE {condition.sql}", condition.parameters)
    assert said.isprintable()


def test_a_key_inside_of_one_that_has_the_name_of_a_field():
    assert parse("path.name = 'x'").parameters == ("path", "name", "x")
