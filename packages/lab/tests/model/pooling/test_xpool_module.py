"""X-Pool in torch: several queries a text, masks, dropout."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab import pooling  # noqa: E402
from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.model.pooling.export import graph  # noqa: E402
from milepost_lab.pooling.xpool import pair_scores  # noqa: E402

pytestmark = pytest.mark.torch

VARIANTS = [
    {},
    {"heads": 2, "temperature": 0.5},
    {"shared_norm": False},
    {"branch": False},
    {"final_norm": False},
    {"start": "random"},
]


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_all_pairs_of_a_batch_are_those_of_the_reference(settings):
    draw = torch.Generator().manual_seed(0)
    lengths = torch.tensor([4, 1, 6])
    states, queries = torch.randn(3, 6, 8, generator=draw), torch.randn(5, 8, generator=draw)
    made = module("xpool", 8, query_width=8, **settings)
    with torch.no_grad():
        for weight in made.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=draw)
        vectors = made(states, lengths, queries.expand(3, -1, -1))
        found = torch.cosine_similarity(vectors, queries[None], dim=-1).T
    flat = torch.cat([row[:n] for row, n in zip(states, lengths, strict=True)])
    wanted = pair_scores(made.reference(), queries.numpy(), flat.numpy(), lengths.numpy())
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-5)


def test_masked_copies_of_the_last_frame_are_not_read_as_in_check_2():
    query, frame = torch.tensor([[1.0, 2, 3, 4]]), torch.tensor([4.0, 1, 2, 0])
    frames = torch.stack([torch.tensor([1.0, 2, 3, 4]), *[frame] * 11])[None]
    made = module("xpool", 4, query_width=4)
    masked = made(frames, torch.tensor([2]), query)
    torch.testing.assert_close(masked, made(frames[:, :2], torch.tensor([2]), query))
    assert not torch.allclose(masked, made(frames, torch.tensor([12]), query), atol=1e-3)


def test_dropout_is_of_training_alone():
    made = module("xpool", 8, query_width=8, dropout=0.5)
    given = torch.randn(1, 5, 8), torch.tensor([5]), torch.randn(1, 8)
    torch.manual_seed(0)
    assert not torch.equal(made(*given), made(*given))
    made.eval()
    torch.testing.assert_close(made(*given), made(*given))
    reference = pooling.get("xpool")(given[0][0].numpy(), [5], queries=given[2].numpy())
    np.testing.assert_allclose(made(*given).detach().numpy(), reference, rtol=1e-4, atol=1e-5)


def test_an_export_in_the_middle_of_training_leaves_it_in_training():
    made = module("xpool", 8, query_width=8, dropout=0.5)
    graph(made, query_width=8)
    assert made.training
    graph(made.eval(), query_width=8)
    assert not made.training


def test_of_states_as_near_as_each_other_the_earlier_is_taken():
    states = torch.tensor([[0.0, 1], [3, 0], [5, 0]])
    made = module("query-top-k", 2, query_width=2, k=1)
    vector = made(states[None], torch.tensor([3]), torch.tensor([[1.0, 0]]))
    shares = made.shares(torch.tensor([[[0.0, 1, 1]]]), torch.ones(1, 1, 3, dtype=torch.bool))
    assert vector.tolist() == [[1.0, 0.0]]
    assert shares.tolist() == [[[0.0, 1.0, 0.0]]]
