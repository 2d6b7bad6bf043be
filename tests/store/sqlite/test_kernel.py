"""The rounded scan finds what the exact scan finds, in the same order, with the same scores."""

import numpy as np
import pytest

from milepost.store.sqlite import schema, segment, vectors

pytest.importorskip("numkong", reason="needs the extra scan")


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> vectors.View:
    """30,000 rows near to a few directions, so that many nearly tie; every tenth is a copy."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((20, 64))
    rows = centres[rng.integers(0, 20, 30_000)] + 0.1 * rng.standard_normal((30_000, 64))
    rows[::10] = rows[0]
    folder = tmp_path_factory.mktemp("index")
    (folder / "vectors.seg").write_bytes(segment.pack(unit(rows)))
    meta = schema.Meta("", 64, generation=0, next_row=30_000, next_place=30_000)
    held = segment.Segment(folder / "vectors.seg", 30_000, 64)
    return vectors.View(folder, meta, held, {0, 20_000})


RUNS = np.array([[0, 12_000, 0, 0], [20_000, 9_000, 20_000, 0]])  # with a gap between them


@pytest.mark.parametrize("n", [1, 400, 5_000])
def test_the_same_rows_scores_and_order(
    n: int, view: vectors.View, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = unit(np.random.default_rng(n).standard_normal((10, 64)))
    found = [view.nearest(RUNS, query, n) for query in queries]
    monkeypatch.setattr(vectors, "products", lambda: None)
    for (rows, scores), query in zip(found, queries, strict=True):
        due_rows, due_scores = view.nearest(RUNS, query, n)
        assert rows.tolist() == due_rows.tolist()
        assert scores.tolist() == due_scores.tolist()
