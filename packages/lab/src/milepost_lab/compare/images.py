"""The task on images: digits classified by a small patch transformer that ends in the pooling.

Nothing is frozen: network and pooling are trained together (``data/digits.py``), as in the
papers that pool patches. Operators that read a query are left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from milepost._optional import require
from milepost_lab.compare.cache import ACCURACY, Asked
from milepost_lab.compare.rows import TRAINED, CompareRow

TASK = "images"


@dataclass(frozen=True, slots=True)
class Measure:
    """A task on other data than text: row and seed in, one figure for each query out.

    Attributes:
        asked: the task.
        measure: gives one figure for each query, in the order of ``asked.names``.
        fits: whether a row can be measured.
    """

    asked: Asked
    measure: Callable[[CompareRow, int], tuple[float, ...]]
    fits: Callable[[CompareRow], bool]


def there() -> bool:
    """Whether digits can be read: they come with scikit-learn."""
    return find_spec("sklearn") is not None


def images() -> Measure:
    """The digits that are tested, one cluster each.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    require("sklearn", extra="lab")
    from milepost_lab.compare import digits

    count = len(digits.digits()[1]) - digits.TRAINED
    names = tuple(f"digit {number}" for number in range(count))
    key = hashlib.sha256(repr((digits.DigitRecipe(), digits.TRAINED)).encode()).hexdigest()[:16]
    asked = Asked(TASK, key, "digits", names, names, count, 16, ACCURACY)

    def measure(row: CompareRow, seed: int) -> tuple[float, ...]:
        outcome = digits.train_digits(row.operator, dict(row.settings), seed)
        return tuple(map(float, outcome.right))

    return Measure(asked, measure, fits)


def fits(row: CompareRow) -> bool:
    """Whether a row fits: images have no queries and no other network, and one vector each."""
    known = row.known
    if known.late or known.make is not None:
        return False
    return row.network == TRAINED and "queries" not in known.needs
