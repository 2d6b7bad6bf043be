"""The test doubles for users behave as the real things do."""

import numpy as np

from milepost.engine import Engine
from milepost.store import Store
from milepost.testing import FakeEngine, MemoryStore, fake_encoder, fake_index


def test_vectors_are_the_same_every_time() -> None:
    text = "The whale sings at night. The whale sings at noon. Gold melts in fire."
    first, second = fake_encoder().encode(text), fake_encoder().encode(text)
    assert first.vectors.tobytes() == second.vectors.tobytes()
    alike, unlike = first.vectors[0] @ first.vectors[1], first.vectors[0] @ first.vectors[2]
    assert alike > unlike + 0.3


def test_settings_make_another_model() -> None:
    small = fake_encoder(dimensions=8, window=40, longest=20)
    assert small.encode("One. Two.").vectors.shape == (2, 8)
    assert small.fingerprint != fake_encoder().fingerprint
    assert fake_encoder().fingerprint == fake_encoder(dimensions=32).fingerprint


def test_an_index_of_texts() -> None:
    index = fake_index({"bees": "Bees build cells of wax.", "gold": "Gold melts."})
    assert [info.name for info in index.documents()] == ["bees", "gold"]
    assert index.search("who builds cells?", k=1)[0].document == "bees"
    assert fake_index().search("anything") == []


def test_doubles_keep_the_protocols() -> None:
    engine: Engine = FakeEngine(4, 10)
    ids = np.array([[1, 2, 3]], np.int32)
    states = engine.run(ids, np.array([[0, 1, 1]], np.int32), np.array([[2]], np.int32))
    assert states.shape == (1, 1, 4)
    np.testing.assert_allclose(np.linalg.norm(states), 1.0, atol=1e-6)
    store: Store = MemoryStore("f", 4)
    with store.snapshot() as state:
        assert state.documents() == []
