"""The page of ``milepost view`` beside Python: the same question of the same documents."""

from pathlib import Path

import pytest

from milepost.index import Index
from milepost.search import SearchResult
from milepost.wording import without_options
from support.browser_page import Page

TOLERANCE = 1e-5
"""Of a probability; studies/view states it."""

SHOWN = """([question, chosen]) => {
  const found = milepost.search(question, 5, chosen);
  const shown = ({ document, start, end, score, heading, hits }) => ({
    document: document.name, start, end, score, heading,
    hits: hits.map((hit) => [hit.start, hit.end, hit.score]),
  });
  return {
    passages: found.passages.map(shown), notes: found.notes, signals: found.signals,
    phrases: [...(found.phrases ?? [])], excluded: [...(found.excluded ?? [])],
  };
}"""


def compare(
    page: Page, index: Index, question: str, documents: list[str] | None = None
) -> SearchResult:
    """Hold what the page shows to what Python finds, which is returned."""
    listed = [info.name for info in index.documents() if info.characters]
    chosen = None if documents is None else [listed.index(name) for name in documents]
    shown = page.evaluate(SHOWN, [question, chosen])
    result = index.search_detailed(question, documents=documents)
    assert [(each["document"], each["start"], each["end"]) for each in shown["passages"]] == [
        (Path(each.document).name, each.start, each.end) for each in result.passages
    ]
    for each, passage in zip(shown["passages"], result.passages, strict=True):
        assert each["score"] == pytest.approx(passage.score, abs=TOLERANCE)
        assert each["heading"] == passage.heading
        assert [hit[:2] for hit in each["hits"]] == [[hit.start, hit.end] for hit in passage.hits]
        scores = [hit.score for hit in passage.hits]
        assert [hit[2] for hit in each["hits"]] == pytest.approx(scores, abs=TOLERANCE)
    assert shown["notes"] == list(map(without_options, result.notes))
    assert shown["signals"] == pytest.approx(result.signals, abs=TOLERANCE)
    assert shown["phrases"] == [[*each] for each in result.phrases.items()]
    assert shown["excluded"] == [[*each] for each in result.excluded.items()]
    return result
