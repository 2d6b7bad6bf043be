"""Random filters and properties, and a plain evaluator to compare with."""

import datetime
import fnmatch
import re
import unicodedata
from collections.abc import Mapping

from hypothesis import strategies as st

from milepost.filters.nodes import NEGATED, Date, Joined, KeyTest, Node, Not

KEYS = ["a", "tags", "k.v-1", "_own", "größe"]
TEXTS = ["", "Lee", "lee", "LEE ", "Straße", "STRASSE", "2020", "2020-03", "2020-03-01", 'a "b" \\',
         "it's", "é", "e\u0301", "2019-12-31T10:00", "x*y", "[a]"]  # fmt: skip
NUMBERS = [0.0, -1.0, 2020.0, 2021.0, 3.5, 1e22, 1e-7]
DATES = [Date("2020-03"), Date("2020-03-01"), Date("2019-12-31"), Date("2021-01")]
"""Years alone are numbers, but for the key ``date``."""

keys = st.sampled_from(KEYS)
texts = st.sampled_from(TEXTS) | st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cf")), max_size=8
).map(lambda text: text if text.isascii() else "ü")
operands = texts | st.sampled_from(NUMBERS) | st.sampled_from(DATES) | st.booleans()


@st.composite
def _compares(draw: st.DrawFn) -> KeyTest:
    operand = draw(operands)
    signs = ["=", "!="] if isinstance(operand, bool) else ["=", "!=", "<", "<=", ">", ">="]
    return KeyTest(draw(keys), draw(st.sampled_from(signs)), (operand,))


several = st.lists(operands, min_size=1, max_size=3).map(tuple)
globs = texts | st.sampled_from(["*", "l?e", "*00", "[kl]*"])
_tests = (
    _compares()
    | st.builds(KeyTest, keys, st.sampled_from(["in", "not in"]), several)
    | st.builds(KeyTest, keys, st.just("contains"), st.tuples(texts))
    | st.builds(KeyTest, keys, st.just("matches"), st.tuples(globs))
    | st.builds(KeyTest, keys, st.sampled_from(["exists", "missing"]))
)


def _nested(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    some = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.builds(Not, inner) | st.builds(Joined, st.sampled_from(["and", "or"]), some)


trees = st.recursive(_tests, _nested, max_leaves=8)

values = (
    texts.filter(bool)
    | st.sampled_from(NUMBERS)
    | st.booleans()
    | st.lists(texts.filter(bool), min_size=1, max_size=3, unique=True).map(tuple)
)
properties = st.dictionaries(keys, values, max_size=4)


def naive(node: Node, held: Mapping[str, object]) -> bool:
    """What docs/filters.md says, as slowly and plainly as it can be said."""
    if isinstance(node, Joined):
        results = [naive(each, held) for each in node.nodes]
        return (sum(results) == len(results)) if node.word == "and" else sum(results) > 0
    if isinstance(node, Not):
        return not naive(node.node, held)
    if node.key not in held:
        return node.operator == "missing"
    if not node.operands:
        return node.operator == "exists"
    several, operand = held[node.key], node.operands[0]
    each = list(several) if isinstance(several, tuple) else [several]
    if node.operator == "contains":
        return any(isinstance(v, str) and fold(operand) in fold(v) for v in each)
    if node.operator == "matches":
        return any(isinstance(v, str) and glob(fold(operand), fold(v)) for v in each)
    if node.operator in ("in", *NEGATED):
        equal = any(order(v, operand) == "=" for v in each for operand in node.operands)
        return equal != (node.operator in NEGATED)
    return any(o is not None and o in node.operator for o in (order(v, operand) for v in each))


def order(value: object, operand: object) -> str | None:
    """``<``, ``=`` or ``>``; None where they cannot be compared."""
    if isinstance(value, bool) or isinstance(operand, bool):
        same = isinstance(value, bool) and isinstance(operand, bool) and value == operand
        return "=" if same else None
    if isinstance(operand, float) and isinstance(value, str):
        if not (operand.is_integer() and 1000 <= operand <= 9999):
            return None
        operand = Date(str(int(operand)))
    if isinstance(operand, Date):
        day = first_day(value)
        if day is None:
            return None
        parts = [int(part) for part in operand.text.split("-")]
        mine = [int(part) for part in str(value)[:10].split("-")]
        if mine[: len(parts)] == parts:
            return "="
        return "<" if (day, len(mine)) < (first_day(operand.text), len(parts)) else ">"
    if isinstance(value, str) and isinstance(operand, str):
        value, operand = fold(value), fold(operand)
    elif isinstance(value, str) or isinstance(operand, str):
        return None
    return "=" if value == operand else "<" if value < operand else ">"  # type: ignore[operator]


def first_day(value: object) -> datetime.date | None:
    """The day with which a date begins."""
    if not isinstance(value, str):
        return None
    for size, rest in ((4, "-01-01"), (7, "-01"), (10, "")):
        if len(value) == size or (size == 10 and value[10:11] in ("T", " ")):
            try:
                return datetime.date.fromisoformat(value[:size] + rest)
            except ValueError:
                return None
    return None


def fold(text: str) -> str:
    """Without regard to case and Unicode form."""
    return unicodedata.normalize("NFC", text).casefold()


def glob(pattern: str, text: str) -> bool:
    """Whether a text fits ``*``, ``?`` and ``[…]``."""
    return re.match(fnmatch.translate(pattern), text) is not None
