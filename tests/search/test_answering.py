"""What a judge makes of the best passages: which one is first, and whether any answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from milepost.search.answering import READ, judged
from milepost.search.ranking import log_odds
from milepost.types import Passage
from milepost.verdicts import ANSWERED, VERDICTS, WindowReading
from support.claims import passage


class _Judge:
    """Gives each sentence the log-odds that it was told."""

    def __init__(self, odds: Mapping[str, float]) -> None:
        self._odds = odds

    def judge(
        self, claim: str, sentences: Sequence[str], most_about: int = 0
    ) -> tuple[WindowReading, int]:
        verdicts = np.zeros(len(VERDICTS), np.float32)
        verdicts[ANSWERED] = self._odds[sentences[most_about]]
        return WindowReading(np.ones(len(sentences), np.float32), verdicts), most_about


def _scored(sentence: str, score: float) -> Passage:
    made = passage(sentence)
    hits = (replace(made.best, score=score), replace(made.best, score=score / 2))
    return replace(made, score=score, hits=hits)


FIRST, SECOND, THIRD = (
    _scored(sentence, score)
    for sentence, score in (
        ("Bees build cells of wax.", 0.8),
        ("The cells of bees have six sides.", 0.6),
        ("Bees sleep in winter.", 0.5),
    )
)


@pytest.mark.parametrize(("odds", "first"), [((-1.0, 1.0), SECOND), ((-0.2, 0.2), FIRST)])
def test_the_passage_that_answers_best_is_first(odds: tuple[float, float], first: Passage) -> None:
    judge = _Judge(dict(zip((FIRST.text, SECOND.text), odds, strict=True)))
    _, found = judged(judge, "how many sides has a cell", [FIRST, SECOND, THIRD], 0.5)
    assert found[0].text == first.text
    assert [each.score for each in found] == [0.8, 0.6, 0.5]
    assert [[hit.score for hit in each.hits] for each in found] == [
        pytest.approx([score, score / 2]) for score in (0.8, 0.6, 0.5)
    ]
    assert found[READ:] == [THIRD]


def test_the_best_answer_moves_the_probability_of_the_search() -> None:
    asked = "how many sides has a cell"
    likely, unlikely = (
        judged(_Judge({FIRST.text: -2.0, SECOND.text: odds}), asked, [FIRST, SECOND], 0.5)[0]
        for odds in (3.0, -3.0)
    )
    assert likely > 0.5 > unlikely
    assert log_odds(likely) - log_odds(unlikely) == pytest.approx(0.42 * 5.0)


def test_what_is_not_english_stays_as_it_was() -> None:
    given = [FIRST, _scored("Die Zellen der Bienen haben sechs Seiten und sind aus Wachs.", 0.6)]
    judge = _Judge({given[0].text: -3.0, given[1].text: 3.0})
    assert judged(judge, "how many sides has a cell", given, 0.4) == (0.4, given)
