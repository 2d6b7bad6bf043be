"""Filters that leave more documents than a query names: rows of the index are read until enough."""

from pathlib import Path

import pytest

pytest.importorskip("lancedb", reason="needs the extra lance")

from milepost.filters import parse
from milepost.store import DocumentSelection, Store
from milepost.store.lance import reading, schema
from support.store_entries import entry, opened, rows
from support.store_reads import nearest


def test_many_documents_are_not_named_in_a_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "INDEX_FROM", 20)
    monkeypatch.setattr(reading, "_MANY", 3)
    plain, tables = opened(None), opened(f"lance://{tmp_path / 'index'}")
    for number in range(20):
        given = entry(f"d{number}", ["w common "] * 5, seed=number, properties={"part": number % 5})
        for each in (plain, tables):
            each.put(given)
    tables.delete("d7")
    plain.delete("d7")
    for where in ("part < 9", "part = 3", "not part = 3", "part in (1, 2)"):
        agree(plain, tables, DocumentSelection(None, parse(where)))


def agree(plain: Store, tables: Store, among: DocumentSelection) -> None:
    with plain.snapshot() as theirs, tables.snapshot() as ours:
        left = theirs.select(among) or []
        found = ours.select(among) or []
        assert [info.name for info in found] == [info.name for info in left]
        for seed in range(3):
            query = rows(1, 100 + seed)[0]
            due, scores = nearest(theirs, query, 8, left)
            near, ours_scores = nearest(ours, query, 8, found)
            assert len(near) == len(due)
            assert abs(ours_scores - scores).max(initial=0) < 1e-6
            chosen, complete = ours.select_candidates(
                query, ["common"], most=3, candidates=6, among=among
            )
            assert not complete
            assert {info.name for info in chosen} <= {info.name for info in left}
